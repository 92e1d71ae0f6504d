package postgres_test

import (
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/dataset"
	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/postgres"
)

// dataOf returns generated data of a size.
func dataOf(size dataset.Size) *dataset.Data {
	return dataset.New(size, 1, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
}

// fill writes generated data to a schema and returns its DSN.
func fill(tb testing.TB, d *dataset.Data) string {
	tb.Helper()
	dsn := pgtest.DSN(tb, pgtest.Config{})
	pool, err := pgxpool.New(tb.Context(), dsn)
	require.NoError(tb, err)
	defer pool.Close()
	_, err = postgres.New(tb.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
	require.NoError(tb, err)
	require.NoError(tb, d.Fill(tb.Context(), postgres.DB(pool)))
	_, err = pool.Exec(tb.Context(), "VACUUM (ANALYZE) accounts, workspaces, keys, events, usage_by_key, usage_by_account, lines, holds") // as the server does by itself in time
	require.NoError(tb, err)
	return dsn
}

func TestLargeDataAddsUp(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), fill(t, dataOf(dataset.Size{Accounts: 4, Keys: 500, Largest: 60, Events: 5_001})))
	require.NoError(t, err)
	defer pool.Close()
	found, err := postgres.Verify(t.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
	require.NoError(t, err)
	assert.Empty(t, found.Differences)
	assert.Equal(t, 5_001, found.Events)
}

// With SIGNALBOX_BENCH_SIZE=full it measures and verifies a million keys and ten million
// events: some minutes, ten gigabytes, and a long -timeout.
func BenchmarkLarge(b *testing.B) {
	size := dataset.Quick()
	full := os.Getenv("SIGNALBOX_BENCH_SIZE") == "full"
	if full {
		size = dataset.Full()
	}
	d, start := dataOf(size), time.Now()
	dsn := fill(b, d)
	b.Logf("%+v: filled in %.0f s", size, time.Since(start).Seconds())
	dataset.Bench(b, d, func() (store.Set, func(), error) {
		pool, err := pgxpool.New(b.Context(), dsn)
		if err != nil {
			return store.Set{}, nil, err
		}
		set, err := postgres.New(b.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
		return set, pool.Close, err
	})
	if !full {
		return
	}
	pool, err := pgxpool.New(b.Context(), dsn)
	require.NoError(b, err)
	defer pool.Close()
	start = time.Now()
	found, err := postgres.Verify(b.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
	require.NoError(b, err)
	require.Empty(b, found.Differences)
	b.Logf("verified %d events and %d lines in %.0f s", found.Events, found.Lines, time.Since(start).Seconds())
}

// With SIGNALBOX_BENCH_SIZE=full it prunes half of a million events.
func BenchmarkPrune(b *testing.B) {
	size, calls := dataset.FewOld()
	if os.Getenv("SIGNALBOX_BENCH_SIZE") == "full" {
		size, calls = dataset.Old()
	}
	d := dataOf(size)
	pool, err := pgxpool.New(b.Context(), fill(b, d))
	require.NoError(b, err)
	defer pool.Close()
	cfg := postgres.Config{Schema: pgtest.Schema(pool)}
	set, err := postgres.Open(b.Context(), pool, cfg)
	require.NoError(b, err)
	dataset.BenchPrune(b, d, set, calls)
	found, err := postgres.Verify(b.Context(), pool, cfg)
	require.NoError(b, err)
	require.Empty(b, found.Differences)
}
