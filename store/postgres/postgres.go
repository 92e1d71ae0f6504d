// Package postgres keeps everything in PostgreSQL, for programs that are
// several processes.
//
// The one thing to know first: limits stay exact whatever the number of
// processes, because what spending waits for is a row in the database.
//
// It needs PostgreSQL 15 or newer, or a database that speaks its language, and
// keeps to what CockroachDB and YugabyteDB take, too. Any isolation from READ
// COMMITTED up will do. Tables are made in the first schema of the pool's
// search_path. Calls that arrive together share a transaction, which is sent whole,
// its commit with it; when there are many, two such transactions of a process are
// at work at once, each on a connection of the pool, and one at stricter
// isolations. A server that was started anew is not noticed by who reads:
// connections that turn out to be dead are replaced on the way.
package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/sqlstore"
	"github.com/signalbox/signalbox/store"
)

// ErrNewer is a database that a later version of this module has written.
var ErrNewer = sqlstore.ErrNewer

//go:embed migrations/*.sql
var migrations embed.FS

// New returns the stores in pool and brings its schema up to date, also when
// several processes start at once. The caller opens and closes pool. Processes of
// an earlier version lose nothing that they have written, but what they do from
// then on may fail: a table that they use may be gone.
func New(ctx context.Context, pool *pgxpool.Pool) (store.Set, error) {
	db := newDB(pool)
	if err := db.prepareSchema(ctx); err != nil {
		return store.Set{}, fmt.Errorf("postgres: %w", err)
	}
	if err := db.findIsolation(ctx); err != nil {
		return store.Set{}, fmt.Errorf("postgres: %w", err)
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return store.Set{}, err
	}
	if err := sqlstore.Migrate(ctx, db, files); err != nil {
		return store.Set{}, fmt.Errorf("postgres: %w", err)
	}
	return sqlstore.Set(db), nil
}
