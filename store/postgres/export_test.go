package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/internal/sqlstore"
	"github.com/signalbox/signalbox/store"
)

// Begin is the function that begins transactions.
type Begin = func(ctx context.Context, statements ...string) (session, error)

// Session is a transaction.
type Session = session

// Reads reports whether a transaction that begins with these statements only reads.
func Reads(statements []string) bool { return len(statements) == 0 || statements[0] == toRead }

// NewWith is New, but transactions begin with wrap's result once the schema is migrated.
func NewWith(ctx context.Context, pool *pgxpool.Pool, wrap func(Begin) Begin) (store.Set, error) {
	if _, err := New(ctx, pool, Config{Schema: pgtest.Schema(pool)}); err != nil {
		return store.Set{}, err
	}
	d := newDB(pool, pgtest.Schema(pool))
	d.begin = wrap(d.begin)
	return sqlstore.Set(d), nil
}

// DB returns a pool as the stores use it.
func DB(pool *pgxpool.Pool) sqldb.DB { return newDB(pool, pgtest.Schema(pool)) }
