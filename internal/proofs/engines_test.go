package proofs

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/store/postgres"
	"github.com/signalbox/signalbox/store/sqlite"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// engine is empty storage, opened by two programs that share it. In memory both are the
// same program.
type engine struct {
	one, other store.Set
	verify     func(t *testing.T) // requires that stored and computed sums agree; nil in memory
}

func inMemory(t *testing.T) engine {
	t.Helper()
	set := memory.New()
	return engine{one: set, other: set}
}

func inSQLite(t *testing.T) engine {
	t.Helper()
	file := filepath.Join(t.TempDir(), "signalbox.db")
	var pool *sql.DB
	open := func() store.Set {
		var err error
		pool, err = sql.Open("sqlite", file)
		require.NoError(t, err)
		mine := pool
		t.Cleanup(func() { assert.NoError(t, mine.Close()) })
		set, err := sqlite.New(t.Context(), pool, sqlite.Config{})
		require.NoError(t, err)
		return set
	}
	return engine{open(), open(), func(t *testing.T) {
		t.Helper()
		agreed(t)(sqlite.Verify(t.Context(), pool, sqlite.Config{}))
	}}
}

func inPostgres(t *testing.T) engine {
	t.Helper()
	pool := pgtest.Pool(t, pgtest.Config{})
	open := func() store.Set {
		set, err := postgres.New(t.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
		require.NoError(t, err)
		return set
	}
	return engine{open(), open(), func(t *testing.T) {
		t.Helper()
		agreed(t)(postgres.Verify(t.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)}))
	}}
}

// agreed returns a function that requires a verification without differences.
func agreed(t *testing.T) func(store.Verified, error) {
	t.Helper()
	return func(found store.Verified, err error) {
		t.Helper()
		require.NoError(t, err)
		assert.Empty(t, found.Differences)
	}
}

// on runs a test on every storage.
func on(t *testing.T, test func(t *testing.T, e engine)) {
	t.Helper()
	onEach(t, func(t *testing.T, open func(*testing.T) engine) {
		t.Helper()
		test(t, open(t))
	})
}

// onEach runs a test for every storage. The test opens the storage itself.
func onEach(t *testing.T, test func(t *testing.T, open func(*testing.T) engine)) {
	t.Helper()
	for name, open := range map[string]func(*testing.T) engine{
		"memory": inMemory, "SQLite": inSQLite, "PostgreSQL": inPostgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open)
		})
	}
}
