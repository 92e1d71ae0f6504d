// Package sqlite keeps all stores in one SQLite database file: durable storage for a
// program that is one process.
//
// The program brings the driver and opens the database; this package links no driver.
// It sets what durability needs by itself: a write-ahead log and full synchronization
// at every commit. [Migrate] and [Open] fail where a write-ahead log is impossible. On a
// locked file a connection waits up to ten seconds. Connections that the stores write to
// keep temporary data in memory and checkpoint the log every 4,000 pages. A program that
// uses the same pool must not change these pragmas or busy_timeout.
//
// The names of tables and indexes begin with a prefix ([Config.Prefix]), so that the file
// may also hold tables of the program. SQLite 3.37 or newer is required.
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

// Config names the tables. The zero value is the default.
type Config struct {
	// Prefix begins the name of every table and index: lower-case letters, digits
	// and underscores, at most 48. Default "signalbox_".
	Prefix string
}

// DefaultPrefix is the prefix of a zero [Config].
const DefaultPrefix = "signalbox_"

// Migrate creates the tables or brings them up to date. Several processes may call it at
// once. When nothing is missing it only reads. Errors wrap [ErrConfig], [ErrNewer] or an
// error of the database.
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

// Open returns the stores in pool. It creates no table: it returns [ErrNotMigrated] if
// [Migrate] has not brought the database up to date, and [ErrNewer] if a later version
// has.
//
// The caller owns pool and closes it. Other processes should not write to the file while
// this one does; it is safe but slow. The stores use one connection for each concurrent
// reader. A pool of ":memory:" databases needs SetMaxOpenConns(1), because each of its
// connections is a database of its own.
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

// New calls [Migrate] and then [Open].
func New(ctx context.Context, pool *sql.DB, cfg Config) (store.Set, error) {
	if err := Migrate(ctx, pool, cfg); err != nil {
		return store.Set{}, err
	}
	return Open(ctx, pool, cfg)
}

// prepare returns the database in a pool, ready to be written to, and the migrations
// that it should have.
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
