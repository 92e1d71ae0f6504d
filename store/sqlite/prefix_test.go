package sqlite_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/store/sqlite"
)

// hosts creates tables and indexes of a program under some of our names, with a row in
// each table. TestConformance runs beside them.
const hosts = `
	CREATE TABLE accounts (id int); INSERT INTO accounts VALUES (1);
	CREATE TABLE keys (door text); INSERT INTO keys VALUES ('front');
	CREATE TABLE events (at text); INSERT INTO events VALUES ('2026-11-21');
	CREATE INDEX holds_open ON events (at);
	CREATE TABLE migrations (version bigint, name text); INSERT INTO migrations VALUES (9999, 'ours')`

func TestOpenCreatesNothing(t *testing.T) {
	t.Parallel()
	pool := open(t, filepath.Join(t.TempDir(), "signalbox.db"))
	_, err := sqlite.Open(t.Context(), pool, sqlite.Config{})
	require.ErrorIs(t, err, sqlite.ErrNotMigrated)
	require.EqualError(t, err, "sqlite: the schema is missing or older than this program, call Migrate first: it has version 0, this program needs 1")
	_, err = sqlite.Verify(t.Context(), pool, sqlite.Config{})
	require.ErrorIs(t, err, sqlite.ErrNotMigrated)
	var tables int
	require.NoError(t, pool.QueryRowContext(t.Context(), "SELECT count(*) FROM sqlite_master").Scan(&tables))
	assert.Zero(t, tables)
}

// Several services may share a file.
func TestPrefixesAreSeparate(t *testing.T) {
	t.Parallel()
	pool := open(t, filepath.Join(t.TempDir(), "signalbox.db"))
	for _, prefix := range []string{"", "other_", "_"} {
		_, err := sqlite.New(t.Context(), pool, sqlite.Config{Prefix: prefix})
		require.NoError(t, err)
	}
	var tables int
	require.NoError(t, pool.QueryRowContext(t.Context(), `SELECT count(*) FROM sqlite_master
		WHERE type = 'table' AND name IN ('signalbox_lines', 'other_lines', '_lines')`).Scan(&tables))
	assert.Equal(t, 3, tables)
}

func TestPrefixNames(t *testing.T) {
	t.Parallel()
	pool := open(t, filepath.Join(t.TempDir(), "signalbox.db"))
	for _, prefix := range []string{"Upper", "a b", `a"b`, "1a", "a.b", "ä", strings.Repeat("a", 49), "a;"} {
		for name, err := range map[string]error{
			"Migrate": sqlite.Migrate(t.Context(), pool, sqlite.Config{Prefix: prefix}),
			"Open":    second(sqlite.Open(t.Context(), pool, sqlite.Config{Prefix: prefix})),
			"Verify":  second(sqlite.Verify(t.Context(), pool, sqlite.Config{Prefix: prefix})),
		} {
			require.ErrorIs(t, err, sqlite.ErrConfig, name, prefix)
			assert.Equal(t, 1, strings.Count(err.Error(), "sqlite: "), err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
