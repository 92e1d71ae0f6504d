package postgres

import (
	"context"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/internal/sqldb"
)

const touches = "UPDATE {migrations} SET name = name"

// ended returns the ways in which a transaction fails.
func ended(cancel func()) map[string]func(ctx context.Context, t sqldb.Tx) error {
	exec := func(ctx context.Context, t sqldb.Tx, text string) error {
		_, err := t.Exec(ctx, text)
		return err
	}
	return map[string]func(ctx context.Context, t sqldb.Tx) error{
		"nothing is sent":  func(context.Context, sqldb.Tx) error { return nil },
		"nothing, failing": func(context.Context, sqldb.Tx) error { return assert.AnError },
		"the first statement cannot be parsed": func(ctx context.Context, t sqldb.Tx) error {
			return exec(ctx, t, "nonsense")
		},
		"the first statement fails": func(ctx context.Context, t sqldb.Tx) error {
			return exec(ctx, t, "SELECT 1 / (version - version) FROM {migrations}")
		},
		"the first query fails": func(ctx context.Context, t sqldb.Tx) error {
			return selects(ctx, t, "SELECT 1 / (version - version) FROM {migrations}")
		},
		"a query is not read": func(ctx context.Context, t sqldb.Tx) error {
			_, err := t.Query(ctx, "SELECT version FROM {migrations}")
			return err
		},
		"a later statement fails": func(ctx context.Context, t sqldb.Tx) error {
			if err := exec(ctx, t, touches); err != nil {
				return err
			}
			return exec(ctx, t, "nonsense")
		},
		"what failed is not looked at": func(ctx context.Context, t sqldb.Tx) error {
			if err := exec(ctx, t, touches); err != nil {
				return err
			}
			_ = exec(ctx, t, "nonsense")
			return nil
		},
		"the caller goes before": func(ctx context.Context, t sqldb.Tx) error {
			cancel()
			return exec(ctx, t, touches)
		},
		"the caller goes while": func(ctx context.Context, t sqldb.Tx) error {
			time.AfterFunc(time.Millisecond, cancel)
			return exec(ctx, t, touches+" FROM pg_sleep(0.3)")
		},
		"the caller goes after": func(ctx context.Context, t sqldb.Tx) error {
			defer cancel()
			return exec(ctx, t, touches)
		},
		"a script fails": func(ctx context.Context, t sqldb.Tx) error {
			_, err := t.Exec(ctx, touches+"; nonsense", pgx.QueryExecModeSimpleProtocol)
			return err
		},
		"the connection is lost": func(ctx context.Context, t sqldb.Tx) error {
			return exec(ctx, t, "SELECT pg_terminate_backend(pg_backend_pid())")
		},
	}
}

// However a transaction ends, its connection has no open transaction and no settings left,
// and its locks are released.
func TestNoConnectionIsLeftInATransaction(t *testing.T) {
	t.Parallel()
	modes := []string{"cache_statement", "exec", "simple_protocol"}
	if os.Getenv("SIGNALBOX_TEST_FULL") != "1" {
		modes = modes[:1]
	}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			pool := pgtest.Pool(t, pgtest.Config{Settings: map[string]string{
				"default_query_exec_mode": mode, "pool_max_conns": "1", "statement_timeout": "10s",
			}})
			var acquired atomic.Int64
			cfg := pool.Config()
			cfg.PrepareConn = func(_ context.Context, conn *pgx.Conn) (bool, error) {
				acquired.Add(1)
				assert.Equal(t, "I", string(conn.PgConn().TxStatus()))
				return true, nil
			}
			watched, err := pgxpool.NewWithConfig(t.Context(), cfg)
			require.NoError(t, err)
			t.Cleanup(watched.Close)
			d := newDB(watched, pgtest.Schema(pool))
			require.NoError(t, d.Prepare(t.Context()))
			badBegin := []string{toWrite, "SELECT set_config('no_such_thing', 'off', true)"}
			for name := range ended(nil) {
				for what, run := range map[string]func(ctx context.Context, f func(sqldb.Tx) error) error{
					"write": d.Write, "read": d.Read, "read one": d.ReadOne,
					"bad": func(ctx context.Context, f func(sqldb.Tx) error) error { return d.once(ctx, f, badBegin...) },
				} {
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					end := ended(cancel)[name]
					_ = run(ctx, func(tx sqldb.Tx) error { return end(ctx, tx) })
					cancel()
					afterwards(t, watched, d, what+": "+name)
				}
			}
			assert.Positive(t, acquired.Load())
		})
	}
}

// afterwards requires that the next transaction begins on a connection without settings of
// the one before.
func afterwards(t *testing.T, pool *pgxpool.Pool, d *db, what string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var seqscan string
	require.NoError(t, pool.QueryRow(ctx, "SELECT current_setting('enable_seqscan')").Scan(&seqscan), what)
	assert.Equal(t, "on", seqscan, what)
	require.NoError(t, d.Write(ctx, func(tx sqldb.Tx) error {
		n, err := tx.Exec(ctx, touches)
		assert.Positive(t, n, what)
		return err
	}), what)
}
