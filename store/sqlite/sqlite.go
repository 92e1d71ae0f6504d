// Package sqlite keeps everything in one SQLite database, on disk: the durable
// storage of a program that is one process.
//
// The one thing to know first: the program brings the driver and opens the
// database. This package links none, and sets for itself what durability asks
// for: a write-ahead log and full synchronization at every commit. Where there
// can be no such log, [Migrate] and [Open] fail. A connection that finds the file
// locked waits ten seconds. The connections that it writes to also keep temporary data in memory
// and the log for 4,000 pages: a program that uses the same pool leaves these
// pragmas, and busy_timeout, as they are.
//
// The names of its tables and indexes begin with a prefix ([Config]), so that the
// file may also hold tables of the program.
//
// It needs SQLite 3.37 or newer.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

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

// Config says what the tables are called.
type Config struct {
	// Prefix begins the name of every table and index: lower-case letters, digits
	// and underscores, at most 48. Default "signalbox_".
	Prefix string
}

// DefaultPrefix begins the names of tables unless a [Config] says otherwise.
const DefaultPrefix = "signalbox_"

// Migrate makes the tables, or brings them up to date, also when several pools do
// so at once. Where nothing is missing it only reads. An error is [ErrConfig],
// [ErrNewer], or the database's.
func Migrate(ctx context.Context, pool *sql.DB, cfg Config) error {
	db, migrations, err := prepare(ctx, pool, cfg)
	if err == nil {
		err = sqldb.Migrate(ctx, db, migrations)
	}
	if err != nil {
		return fmt.Errorf("sqlite: migrate: %w", err)
	}
	return nil
}

// Open returns the stores in pool. It creates no table: a database that [Migrate]
// has not brought up to date is [ErrNotMigrated], one of a later version [ErrNewer].
//
// The caller opens and closes pool; no other process should write to the same file
// while this one does, though none would break anything. It makes as many connections
// as it has readers at once. A pool of ":memory:" databases needs
// SetMaxOpenConns(1), because each connection has its own.
func Open(ctx context.Context, pool *sql.DB, cfg Config) (store.Set, error) {
	db, migrations, err := prepare(ctx, pool, cfg)
	if err == nil {
		err = sqldb.Check(ctx, db, migrations)
	}
	if err != nil {
		return store.Set{}, fmt.Errorf("sqlite: %w", err)
	}
	return sqlstore.Set(db), nil
}

// New is [Migrate] and [Open].
func New(ctx context.Context, pool *sql.DB, cfg Config) (store.Set, error) {
	if err := Migrate(ctx, pool, cfg); err != nil {
		return store.Set{}, err
	}
	return Open(ctx, pool, cfg)
}

// prepare returns the database in a pool, made ready to be written to, and the
// migrations that it should have.
func prepare(ctx context.Context, pool *sql.DB, cfg Config) (*db, fs.FS, error) {
	db, migrations, err := databaseOf(pool, cfg)
	if err != nil {
		return nil, nil, err
	}
	return db, migrations, db.prepareFile(ctx)
}

func databaseOf(pool *sql.DB, cfg Config) (*db, fs.FS, error) {
	if cfg.Prefix == "" {
		cfg.Prefix = DefaultPrefix
	}
	if !sqldb.ValidName(cfg.Prefix) {
		return nil, nil, fmt.Errorf("%w: Prefix may hold 1 to 48 lower-case letters, digits and underscores, no digit first", ErrConfig)
	}
	migrations, err := migrations()
	return newDB(pool, cfg.Prefix), migrations, err
}
