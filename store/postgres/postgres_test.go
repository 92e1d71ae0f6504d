package postgres_test

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/postgres"
	"github.com/signalbox/signalbox/store/storetest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// full reports whether the passes that only CI needs run too.
func full() bool { return os.Getenv("SIGNALBOX_TEST_FULL") == "1" }

// newSet returns empty stores.
func newSet(tb testing.TB, cfg pgtest.Config) store.Set {
	tb.Helper()
	pool := pgtest.Pool(tb, cfg)
	set, err := postgres.New(tb.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
	require.NoError(tb, err)
	return set
}

// empty deletes all rows of a schema. That takes a fraction of the time in which a
// schema is created and migrated.
func empty(t *testing.T, pool *pgxpool.Pool, schema string) {
	t.Helper()
	_, err := pool.Exec(t.Context(), `DO $$ DECLARE name text; BEGIN
		FOR name IN SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
			WHERE schemaname = '`+schema+`' AND tablename <> 'migrations' LOOP
			EXECUTE 'DELETE FROM ' || name;
		END LOOP;
	END $$`)
	require.NoError(t, err)
}

// TestConformanceByIsolation holds the stores to their promises at the isolations that
// TestConformance does not have.
func TestConformanceByIsolation(t *testing.T) {
	t.Parallel()
	if !full() {
		t.Skip("SIGNALBOX_TEST_FULL is not 1")
	}
	for _, isolation := range []string{"repeatable read", "serializable"} {
		t.Run(isolation, func(t *testing.T) {
			t.Parallel()
			pool := pgtest.Pool(t, pgtest.Config{Settings: map[string]string{"default_transaction_isolation": isolation}})
			cfg := postgres.Config{Schema: pgtest.Schema(pool)}
			require.NoError(t, postgres.Migrate(t.Context(), pool, cfg))
			storetest.Run(t, func(t *testing.T) store.Set {
				t.Helper()
				empty(t, pool, cfg.Schema)
				set, err := postgres.Open(t.Context(), pool, cfg)
				require.NoError(t, err)
				return set
			})
		})
	}
}

func TestNewRefusesANewerSchema(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{})
	_, err := postgres.New(t.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), "INSERT INTO migrations (version, name) VALUES (9999, 'later')")
	require.NoError(t, err)
	_, err = postgres.New(t.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
	require.ErrorIs(t, err, postgres.ErrNewer)
	assert.ErrorContains(t, err, "9999")
}

func TestNewManyAtOnce(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{})
	done := make(chan error)
	for range 8 {
		go func() {
			_, err := postgres.New(t.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
			done <- err
		}()
	}
	for range 8 {
		assert.NoError(t, <-done)
	}
}
