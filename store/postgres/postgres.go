// Package postgres keeps everything in PostgreSQL, for programs that are
// several processes.
//
// The one thing to know first: limits stay exact whatever the number of
// processes, because what spending waits for is a row in the database.
//
// Its tables have a schema of their own, so that their names cannot collide with
// those of the program. [Migrate] creates them; its role needs CREATE on the
// database, or on the schema where that exists already. [Open] needs no right to
// create anything. Its role, here called service, needs
//
//	GRANT USAGE ON SCHEMA signalbox TO service;
//	GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA signalbox TO service;
//	GRANT USAGE ON ALL SEQUENCES IN SCHEMA signalbox TO service;
//
// These statements cover the tables that exist when they are executed: execute them
// again after a Migrate of a later version.
//
// It needs PostgreSQL 15 or newer, or a database that speaks its language, and
// keeps to what CockroachDB and YugabyteDB take, too. Any isolation from READ
// COMMITTED up will do. Calls that arrive together share a transaction, which is
// sent whole, its commit with it; when there are many, a process runs two such
// transactions at once, each on a connection of the pool, and one at stricter
// isolations. Reads survive a restart of the server: connections that turn out to
// be dead are replaced.
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
	// ErrNewer says that a later version of this module has migrated the database.
	ErrNewer = sqldb.ErrNewer
	// ErrNotMigrated says that [Migrate] has to be called first.
	ErrNotMigrated = sqldb.ErrNotMigrated
	// ErrConfig is wrapped by every error about a mistake in a [Config].
	ErrConfig = errors.New("invalid configuration")
)

//go:embed migrations/*.sql
var files embed.FS

func migrations() (fs.FS, error) { return fs.Sub(files, "migrations") }

// Config says where in a database the tables are.
type Config struct {
	// Schema holds all tables and nothing else: lower-case letters, digits and
	// underscores, at most 48. Default "signalbox".
	Schema string
}

// DefaultSchema is where the tables are unless a [Config] says otherwise.
const DefaultSchema = "signalbox"

// Migrate makes the schema and its tables, or brings them up to date, also when
// several processes start at once. Where nothing is missing it only reads. A schema
// that is there already is used as it is.
//
// Nothing is lost that running servers of an earlier version have written, but what
// they do afterwards may fail. An error is [ErrConfig], [ErrNewer], or the
// database's.
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

// Open returns the stores in pool, which the caller opens and closes. It creates
// nothing: a database that [Migrate] has not brought up to date is
// [ErrNotMigrated], one of a later version [ErrNewer].
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

// New is [Migrate] and [Open]. Where nothing is left to migrate, a role without the
// right to create anything may call it, too.
func New(ctx context.Context, pool *pgxpool.Pool, cfg Config) (store.Set, error) {
	if err := Migrate(ctx, pool, cfg); err != nil {
		return store.Set{}, err
	}
	return Open(ctx, pool, cfg)
}

// open returns the database of a pool as it is configured, and the migrations that
// it should have.
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
