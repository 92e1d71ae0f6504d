package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/postgres"
	"github.com/signalbox/signalbox/store/storetest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// newSet returns empty stores.
func newSet(tb testing.TB, cfg pgtest.Config) store.Set {
	tb.Helper()
	pool := pgtest.Pool(tb, cfg)
	set, err := postgres.New(tb.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
	require.NoError(tb, err)
	return set
}

// TestConformance holds the stores to their promises at whatever isolation the
// database gives them.
func TestConformance(t *testing.T) {
	t.Parallel()
	isolations := []string{"read committed", "repeatable read", "serializable"}
	if testing.Short() { // the code is the same
		isolations = isolations[:1]
	}
	for _, isolation := range isolations {
		t.Run(isolation, func(t *testing.T) {
			t.Parallel()
			cfg := pgtest.Config{Settings: map[string]string{"default_transaction_isolation": isolation}}
			storetest.Run(t, func(t *testing.T) store.Set {
				t.Helper()
				return newSet(t, cfg)
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
