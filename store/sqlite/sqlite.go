// Package sqlite keeps everything in one SQLite database, on disk: the durable
// storage of a program that is one process.
//
// The one thing to know first: the program brings the driver and opens the
// database. This package links none, and sets for itself what durability asks
// for: a write-ahead log and full synchronization at every commit. Where there
// can be no such log, [New] fails. Whoever finds the file locked waits ten
// seconds. The connections that it writes to also keep temporary data in memory
// and the log for 4,000 pages: a program that uses the same pool leaves these
// pragmas, and busy_timeout, as they are.
//
// It needs SQLite 3.37 or newer.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/signalbox/signalbox/internal/sqlstore"
	"github.com/signalbox/signalbox/store"
)

// ErrNewer is a database that a later version of this module has written.
var ErrNewer = sqlstore.ErrNewer

//go:embed migrations/*.sql
var migrations embed.FS

// New returns the stores in pool and brings its schema up to date. The caller
// opens and closes pool; no other process should write to the same file while
// this one does, though none would break anything. It makes as many connections
// as it has readers at once. A pool of ":memory:" databases needs
// SetMaxOpenConns(1), because each connection has its own.
func New(ctx context.Context, pool *sql.DB) (store.Set, error) {
	db := newDB(pool)
	if err := db.prepareFile(ctx); err != nil {
		return store.Set{}, fmt.Errorf("sqlite: %w", err)
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return store.Set{}, err
	}
	if err := sqlstore.Migrate(ctx, db, files); err != nil {
		return store.Set{}, fmt.Errorf("sqlite: %w", err)
	}
	return sqlstore.Set(db), nil
}
