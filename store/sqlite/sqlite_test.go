package sqlite_test

import (
	"database/sql"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/sqlite"
	"github.com/signalbox/signalbox/store/storetest"
)

// open opens the database in a file, until the test ends.
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

// full reports whether the passes that only CI needs run too.
func full() bool { return os.Getenv("SIGNALBOX_TEST_FULL") == "1" }

// TestMain draws fewer random histories than rapid does, because each of their steps
// waits for a database. -rapid.checks gives another number.
func TestMain(m *testing.M) {
	if checks := flag.Lookup("rapid.checks"); checks != nil && !full() {
		_ = checks.Value.Set("20") // the command line comes later
	}
	m.Run()
}

// TestConformance runs the suite in a file that also holds tables of a program.
func TestConformance(t *testing.T) {
	t.Parallel()
	migrated := filepath.Join(t.TempDir(), "program.db")
	pool, err := sql.Open("sqlite", migrated)
	require.NoError(t, err)
	_, err = pool.ExecContext(t.Context(), hosts)
	require.NoError(t, err)
	require.NoError(t, sqlite.Migrate(t.Context(), pool, sqlite.Config{}))
	require.NoError(t, pool.Close())
	empty, err := os.ReadFile(migrated)
	require.NoError(t, err)
	storetest.Run(t, func(t *testing.T) store.Set {
		t.Helper()
		file := filepath.Join(t.TempDir(), "program.db") // a copy costs less than another migration
		require.NoError(t, os.WriteFile(file, empty, 0o600))
		set, err := sqlite.Open(t.Context(), open(t, file), sqlite.Config{})
		require.NoError(t, err)
		return set
	})
}

// A pool of one connection must not wait for itself. TestConformanceOfRepetition has
// such a pool as well.
func TestConformanceOfOneConnection(t *testing.T) {
	t.Parallel()
	if !full() {
		t.Skip("SIGNALBOX_TEST_FULL is not 1")
	}
	storetest.Run(t, func(t *testing.T) store.Set {
		t.Helper()
		set, err := sqlite.New(t.Context(), single(t), sqlite.Config{})
		require.NoError(t, err)
		return set
	})
}

// single returns a pool of one connection to a database in memory.
func single(tb testing.TB) *sql.DB {
	tb.Helper()
	pool := open(tb, ":memory:")
	pool.SetMaxOpenConns(1)
	return pool
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
