package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/postgres"
	"github.com/signalbox/signalbox/store/storetest"
)

// hosts creates tables of a program under some of our names, with a row in each.
const hosts = `
	CREATE TABLE accounts (id int); INSERT INTO accounts VALUES (1);
	CREATE TABLE keys (door text); INSERT INTO keys VALUES ('front');
	CREATE TABLE events (at date); INSERT INTO events VALUES ('2026-11-21');
	CREATE TABLE migrations (version bigint, name text); INSERT INTO migrations VALUES (9999, 'ours')`

// grants returns what the package documentation tells an administrator to grant to the
// role that serves.
func grants(schema, role string) string {
	const granted = `
		GRANT USAGE ON SCHEMA signalbox TO service;
		GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA signalbox TO service;
		GRANT USAGE ON ALL SEQUENCES IN SCHEMA signalbox TO service`
	return strings.NewReplacer("signalbox", schema, " service", " "+role).Replace(granted)
}

// as returns a pool of another role in the same database.
func as(t *testing.T, pool *pgxpool.Pool, role string) *pgxpool.Pool {
	t.Helper()
	cfg := pool.Config()
	cfg.ConnConfig.RuntimeParams["role"] = role
	cfg.ConnConfig.RuntimeParams["search_path"] = "public"
	other, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(other.Close)
	return other
}

// role creates a role without rights, which is dropped when the test ends.
func role(t *testing.T) string {
	t.Helper()
	pool := pgtest.Pool(t, pgtest.Config{})
	var name string
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT current_schema() || '_service'").Scan(&name))
	_, err := pool.Exec(t.Context(), "CREATE ROLE "+name)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := pool.Exec(context.Background(), "DROP ROLE "+name) // the test's context is over
		assert.NoError(t, err)
	})
	return name
}

// TestConformance runs the suite in a database that also holds tables of a program. The
// role that serves has no right but the documented ones.
func TestConformance(t *testing.T) {
	t.Parallel()
	service := role(t)
	pool := pgtest.Pool(t, pgtest.Config{OwnDatabase: true})
	_, err := pool.Exec(t.Context(), hosts)
	require.NoError(t, err)
	cfg := postgres.Config{}
	require.NoError(t, postgres.Migrate(t.Context(), pool, cfg))
	_, err = pool.Exec(t.Context(), grants(postgres.DefaultSchema, service))
	require.NoError(t, err)
	serving := as(t, pool, service)
	_, err = serving.Exec(t.Context(), "CREATE TABLE signalbox.x (id int)")
	require.ErrorContains(t, err, "permission denied")
	require.NoError(t, postgres.Migrate(t.Context(), serving, cfg), "it only reads")
	storetest.Run(t, func(t *testing.T) store.Set {
		t.Helper()
		empty(t, serving, postgres.DefaultSchema)
		set, err := postgres.Open(t.Context(), serving, cfg)
		require.NoError(t, err)
		return set
	})
}

func TestOpenCreatesNothing(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{OwnDatabase: true})
	_, err := postgres.Open(t.Context(), pool, postgres.Config{})
	require.ErrorIs(t, err, postgres.ErrNotMigrated)
	require.EqualError(t, err, "postgres: the schema is missing or older than this program, call Migrate first: it has version 0, this program needs 1")
	_, err = postgres.Verify(t.Context(), pool, postgres.Config{})
	require.ErrorIs(t, err, postgres.ErrNotMigrated)
	var schemas int
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM pg_namespace WHERE nspname = 'signalbox'").Scan(&schemas))
	assert.Zero(t, schemas)
}

// In a schema that an administrator has created, the role that migrates needs no right to
// create schemas.
func TestMigrateInASchemaThatIsThere(t *testing.T) {
	t.Parallel()
	service := role(t)
	pool := pgtest.Pool(t, pgtest.Config{OwnDatabase: true})
	_, err := pool.Exec(t.Context(), "CREATE SCHEMA theirs AUTHORIZATION "+service)
	require.NoError(t, err)
	_, err = postgres.New(t.Context(), as(t, pool, service), postgres.Config{Schema: "theirs"})
	require.NoError(t, err)
	_, err = postgres.New(t.Context(), as(t, pool, service), postgres.Config{})
	require.ErrorContains(t, err, "permission denied")
	_, err = pool.Exec(t.Context(), "DROP SCHEMA theirs CASCADE")
	require.NoError(t, err)
}

// Several services may share a database.
func TestSchemasAreSeparate(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{OwnDatabase: true})
	for _, schema := range []string{"", "other", "user"} { // the last is a reserved word
		_, err := postgres.New(t.Context(), pool, postgres.Config{Schema: schema})
		require.NoError(t, err)
	}
	var tables int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(DISTINCT schemaname) FROM pg_tables
		WHERE tablename = 'lines' AND schemaname IN ('signalbox', 'other', 'user')`).Scan(&tables))
	assert.Equal(t, 3, tables)
}

func TestSchemaNames(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{OwnDatabase: true})
	for _, schema := range []string{"Upper", "a b", `a"b`, "1a", "a.b", "ä", strings.Repeat("a", 49), "a;"} {
		for name, err := range map[string]error{
			"Migrate": postgres.Migrate(t.Context(), pool, postgres.Config{Schema: schema}),
			"Open":    second(postgres.Open(t.Context(), pool, postgres.Config{Schema: schema})),
			"Verify":  second(postgres.Verify(t.Context(), pool, postgres.Config{Schema: schema})),
		} {
			require.ErrorIs(t, err, postgres.ErrConfig, name, schema)
			assert.Equal(t, 1, strings.Count(err.Error(), "postgres: "), err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// A schema that has a type with the name of a table is refused after a bounded number of
// attempts.
func TestTypesInTheWayAreToldOf(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{})
	_, err := pool.Exec(t.Context(), "CREATE TYPE migrations AS ENUM ('a')")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err = postgres.Migrate(ctx, pool, postgres.Config{Schema: pgtest.Schema(pool)})
	require.ErrorContains(t, err, `type "migrations" already exists`)
	require.NoError(t, ctx.Err())
}
