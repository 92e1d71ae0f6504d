package postgres

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/internal/sqldb"
)

const someConns = 4

// unlooked returns a pool that does not check its connections before use, as a pool does
// not check those that it used within the last second.
func unlooked(t *testing.T) *pgxpool.Pool {
	t.Helper()
	cfg := pgtest.Pool(t, pgtest.Config{}).Config()
	cfg.MaxConns = someConns
	cfg.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// killAll terminates all sessions of a pool on the server, after opening as many as the
// pool may have.
func killAll(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	var held []*pgxpool.Conn
	for range someConns {
		conn, err := pool.Acquire(t.Context())
		require.NoError(t, err)
		held = append(held, conn)
	}
	for _, conn := range held[1:] {
		_, err := held[0].Exec(t.Context(), "SELECT pg_terminate_backend($1, 10000)", conn.Conn().PgConn().PID())
		require.NoError(t, err)
	}
	_, err := held[0].Exec(t.Context(), "DO $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); END $$")
	require.Error(t, err)
	for _, conn := range held {
		conn.Release()
	}
}

func selects(ctx context.Context, t sqldb.Tx, text string) error {
	rows, err := t.Query(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		continue
	}
	return rows.Err()
}

// After a restart of the server a pool has only dead connections. Reads succeed all the
// same.
func TestReadsOutliveDeadConnections(t *testing.T) {
	t.Parallel()
	pool := unlooked(t)
	d := newDB(pool, pgtest.Schema(pool))
	for name, read := range map[string]func(context.Context, func(sqldb.Tx) error) error{"read": d.Read, "read one": d.ReadOne} {
		killAll(t, pool)
		require.NoError(t, read(t.Context(), func(tx sqldb.Tx) error { return selects(t.Context(), tx, "SELECT 1") }), name)

		tries := 0
		require.NoError(t, read(t.Context(), func(tx sqldb.Tx) error {
			if tries++; tries == 1 {
				return selects(t.Context(), tx, "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(10)")
			}
			return selects(t.Context(), tx, "SELECT 1")
		}), name)
		assert.Equal(t, 2, tries, "%s: it broke on the way", name)
	}
}

// A read that kills every connection fails in the end. A read whose context ended, or whose
// query is wrong, fails at once. A write is never run twice.
func TestNotEverythingIsReadAgain(t *testing.T) {
	t.Parallel()
	pool := unlooked(t)
	d := newDB(pool, pgtest.Schema(pool))
	tries := 0
	dies := func(tx sqldb.Tx) error {
		tries++
		return selects(t.Context(), tx, "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(10)")
	}
	require.Error(t, d.Read(t.Context(), dies))
	assert.Equal(t, someConns+1, tries)

	tries = 0
	require.Error(t, d.Write(t.Context(), dies))
	assert.Equal(t, 1, tries)

	tries = 0
	require.Error(t, d.ReadOne(t.Context(), func(tx sqldb.Tx) error {
		tries++
		return selects(t.Context(), tx, "nonsense")
	}))
	assert.Equal(t, 1, tries)

	tries = 0
	ctx, hangUp := context.WithCancel(t.Context())
	require.Error(t, d.ReadOne(ctx, func(tx sqldb.Tx) error {
		tries++
		hangUp()
		return selects(ctx, tx, "SELECT pg_sleep(10)")
	}))
	assert.Equal(t, 1, tries)
}
