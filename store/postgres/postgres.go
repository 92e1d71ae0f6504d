// Package postgres keeps all stores in PostgreSQL, for programs that run as several
// processes. Limits are exact for any number of processes, because spending on a limit
// waits for one row of the database.
//
// All tables are in a schema of their own, so that their names cannot collide with tables
// of the program. [Migrate] creates them. Its role needs CREATE on the database, or on the
// schema if that exists. [Open] creates nothing. Its role, here called service, needs
//
//	GRANT USAGE ON SCHEMA signalbox TO service;
//	GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA signalbox TO service;
//	GRANT USAGE ON ALL SEQUENCES IN SCHEMA signalbox TO service;
//
// These statements cover the tables that exist when they are executed: execute them
// again after a Migrate of a later version.
//
// PostgreSQL 15 or newer is required, or a compatible database: the SQL is limited to what
// CockroachDB and YugabyteDB also support. Any isolation from READ COMMITTED up works.
// Concurrent calls share a transaction, which is sent in one piece with its commit. Under
// load a process runs two such transactions at once, each on a connection of the pool; at
// isolations above READ COMMITTED it runs one. Reads survive a restart of the server:
// dead connections are replaced.
package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/internal/sqlstore"
	"github.com/signalbox/signalbox/store"
)

var (
	// ErrNewer reports a database that a later version of this module has migrated.
	ErrNewer = sqldb.ErrNewer
	// ErrNotMigrated reports a database for which [Migrate] must be called first.
	ErrNotMigrated = sqldb.ErrNotMigrated
	// ErrConfig is wrapped by every error about a mistake in a [Config].
	ErrConfig = errors.New("invalid configuration")
)

//go:embed migrations/*.sql
var files embed.FS

func migrations() (fs.FS, error) { return fs.Sub(files, "migrations") }

// Config names the schema of the tables. The zero value is the default.
type Config struct {
	// Schema holds all tables and nothing else: lower-case letters, digits and
	// underscores, at most 48. Default "signalbox".
	Schema string
}

// DefaultSchema is the schema of a zero [Config].
const DefaultSchema = "signalbox"

// Migrate creates the schema and its tables or brings them up to date. It uses an existing
// schema as it is. Several processes may call it at once. When nothing is missing it only
// reads.
//
// It keeps what running servers of an earlier version have written, but later calls of
// those servers may fail. Errors wrap [ErrConfig], [ErrNewer] or an error of the database.
func Migrate(ctx context.Context, pool *pgxpool.Pool, cfg Config) error {
	db, migrations, err := open(ctx, pool, cfg)
	if err == nil {
		err = sqldb.Migrate(ctx, db, migrations)
	}
	if err != nil {
		return fmt.Errorf("postgres: migrate: %w", err)
	}
	return nil
}

// Open returns the stores in pool, which the caller owns and closes. It creates nothing:
// it returns [ErrNotMigrated] if [Migrate] has not brought the database up to date, and
// [ErrNewer] if a later version has.
func Open(ctx context.Context, pool *pgxpool.Pool, cfg Config) (store.Set, error) {
	db, migrations, err := open(ctx, pool, cfg)
	if err == nil {
		err = sqldb.Check(ctx, db, migrations)
	}
	if err != nil {
		return store.Set{}, fmt.Errorf("postgres: %w", err)
	}
	return sqlstore.Set(db), nil
}

// New calls [Migrate] and then [Open]. When nothing is missing, a role without the right
// to create anything may call it.
func New(ctx context.Context, pool *pgxpool.Pool, cfg Config) (store.Set, error) {
	if err := Migrate(ctx, pool, cfg); err != nil {
		return store.Set{}, err
	}
	return Open(ctx, pool, cfg)
}

// open returns the database of a pool and the migrations that it should have.
func open(ctx context.Context, pool *pgxpool.Pool, cfg Config) (*db, fs.FS, error) {
	if cfg.Schema == "" {
		cfg.Schema = DefaultSchema
	}
	if !sqldb.ValidName(cfg.Schema) {
		return nil, nil, fmt.Errorf("%w: Schema may hold 1 to 48 lower-case letters, digits and underscores, no digit first", ErrConfig)
	}
	migrations, err := migrations()
	if err != nil {
		return nil, nil, err
	}
	db := newDB(pool, cfg.Schema)
	return db, migrations, db.detect(ctx)
}
