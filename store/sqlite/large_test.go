package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/dataset"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/sqlite"
)

// dataOf returns generated data of a size.
func dataOf(size dataset.Size) *dataset.Data {
	return dataset.New(size, 1, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
}

// fill returns a file with generated data.
func fill(tb testing.TB, d *dataset.Data) string {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "signalbox.db")
	pool, err := sql.Open("sqlite", file+"?_pragma=cache_size(-1000000)")
	require.NoError(tb, err)
	defer func() { assert.NoError(tb, pool.Close()) }()
	_, err = sqlite.New(tb.Context(), pool, sqlite.Config{})
	require.NoError(tb, err)
	require.NoError(tb, d.Fill(tb.Context(), sqlite.DB(pool)))
	return file
}

func TestLargeDataAddsUp(t *testing.T) {
	t.Parallel()
	file := fill(t, dataOf(dataset.Size{Accounts: 4, Keys: 500, Largest: 60, Events: 5_001}))
	found, err := sqlite.Verify(t.Context(), open(t, file), sqlite.Config{})
	require.NoError(t, err)
	assert.Empty(t, found.Differences)
	assert.Equal(t, 5_001, found.Events)
}

// The same seed generates the same data.
func TestLargeDataIsTheSameAgain(t *testing.T) {
	t.Parallel()
	size := dataset.Size{Accounts: 3, Keys: 300, Largest: 50, Events: 1_000}
	sum := func(d *dataset.Data) []string {
		var parts []string
		pool := open(t, fill(t, d))
		for _, text := range []string{
			`SELECT group_concat(hash || workspace || creator, '') FROM (SELECT * FROM signalbox_keys ORDER BY hash)`,
			`SELECT group_concat(id || admitted || model || prompt || credit || total, '') FROM (SELECT * FROM signalbox_events ORDER BY id)`,
			`SELECT group_concat(owner || win || spent_credit || spent_total, '') FROM (SELECT * FROM signalbox_lines ORDER BY owner, win)`,
		} {
			var part string
			require.NoError(t, pool.QueryRowContext(t.Context(), text).Scan(&part))
			require.NotEmpty(t, part)
			parts = append(parts, part)
		}
		return parts
	}
	one := sum(dataOf(size))
	assert.Equal(t, one, sum(dataOf(size)))
	assert.NotEqual(t, one, sum(dataset.New(size, 2, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))))
}

// With SIGNALBOX_BENCH_SIZE=full it measures and verifies a million keys and ten million
// events: some minutes, ten gigabytes, and a long -timeout.
func BenchmarkLarge(b *testing.B) {
	size := dataset.Quick()
	if os.Getenv("SIGNALBOX_BENCH_SIZE") == "full" {
		size = dataset.Full()
	}
	d, start := dataOf(size), time.Now()
	file := fill(b, d)
	info, err := os.Stat(file)
	require.NoError(b, err)
	b.Logf("%+v: %d MB, filled in %.0f s", size, info.Size()>>20, time.Since(start).Seconds())
	dataset.Bench(b, d, func() (store.Set, func(), error) {
		pool, err := sql.Open("sqlite", file)
		if err != nil {
			return store.Set{}, nil, err
		}
		set, err := sqlite.New(b.Context(), pool, sqlite.Config{})
		return set, func() { assert.NoError(b, pool.Close()) }, err
	})
	if os.Getenv("SIGNALBOX_BENCH_SIZE") == "full" {
		start = time.Now()
		found, err := sqlite.Verify(b.Context(), open(b, file), sqlite.Config{})
		require.NoError(b, err)
		require.Empty(b, found.Differences)
		b.Logf("verified %d events and %d lines in %.0f s", found.Events, found.Lines, time.Since(start).Seconds())
	}
}

// With SIGNALBOX_BENCH_SIZE=full it prunes half of a million events.
func BenchmarkPrune(b *testing.B) {
	size, calls := dataset.FewOld()
	if os.Getenv("SIGNALBOX_BENCH_SIZE") == "full" {
		size, calls = dataset.Old()
	}
	d := dataOf(size)
	pool := open(b, fill(b, d))
	set, err := sqlite.Open(b.Context(), pool, sqlite.Config{})
	require.NoError(b, err)
	dataset.BenchPrune(b, d, set, calls)
	found, err := sqlite.Verify(b.Context(), pool, sqlite.Config{})
	require.NoError(b, err)
	require.Empty(b, found.Differences)
}
