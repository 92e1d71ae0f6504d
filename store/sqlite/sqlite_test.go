package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/sqlite"
	"github.com/signalbox/signalbox/store/storetest"
)

// open opens the database in a file.
func open(tb testing.TB, file string) *sql.DB {
	tb.Helper()
	pool, err := sql.Open("sqlite", file)
	require.NoError(tb, err)
	tb.Cleanup(func() { assert.NoError(tb, pool.Close()) })
	return pool
}

// newSet returns empty stores.
func newSet(tb testing.TB) store.Set {
	tb.Helper()
	set, err := sqlite.New(tb.Context(), open(tb, filepath.Join(tb.TempDir(), "signalbox.db")), sqlite.Config{})
	require.NoError(tb, err)
	return set
}

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Set {
		t.Helper()
		return newSet(t)
	})
}

// A pool of one connection must not wait for itself.
func TestConformanceOfOneConnection(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Set {
		t.Helper()
		pool := open(t, ":memory:")
		pool.SetMaxOpenConns(1)
		set, err := sqlite.New(t.Context(), pool, sqlite.Config{})
		require.NoError(t, err)
		return set
	})
}

func TestNewAppliesEachMigrationOnce(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "signalbox.db")
	for range 2 {
		_, err := sqlite.New(t.Context(), open(t, file), sqlite.Config{})
		require.NoError(t, err)
	}
}

func TestNewRefusesANewerSchema(t *testing.T) {
	t.Parallel()
	pool := open(t, filepath.Join(t.TempDir(), "signalbox.db"))
	_, err := sqlite.New(t.Context(), pool, sqlite.Config{})
	require.NoError(t, err)
	_, err = pool.ExecContext(t.Context(), "INSERT INTO signalbox_migrations (version, name) VALUES (9999, 'later')")
	require.NoError(t, err)
	_, err = sqlite.New(t.Context(), pool, sqlite.Config{})
	require.ErrorIs(t, err, sqlite.ErrNewer)
	assert.ErrorContains(t, err, "9999")
}
