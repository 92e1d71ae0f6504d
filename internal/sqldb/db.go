package sqldb

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/router"
)

// ErrUnknown is a write of which nobody knows whether it happened: the
// connection broke while it was being committed.
var ErrUnknown = fmt.Errorf("sqldb: the outcome of the transaction is unknown (%w)", router.ErrUnavailable)

// ErrAway is a transaction that did not begin, for want of a connection.
var ErrAway = errors.New("sqldb: no connection to the database")

// Unavailable marks what a caller is told of a database that is away, unless the
// caller itself has gone.
func Unavailable(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) || errors.Is(err, router.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", router.ErrUnavailable, err)
}

// Rows are what a query found. They must be closed before the next statement
// of the same [Tx].
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close()
}

// Tx runs statements. {name} in one stands for the table with that name, see
// [Names].
type Tx interface {
	// Exec returns how many rows it changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	Query(ctx context.Context, query string, args ...any) (Rows, error)
}

// RowsStatement is a statement on many rows at once: they are the table "n" with
// these columns, and stand where the text says {n}. Each column has a kind, as
// in "id text" or "at bigint", and a text always comes with the same ones. A
// query may be run in parts, so that its order holds for each part only. No rows
// are no work.
type RowsStatement struct {
	Text    string
	Columns []string
	Rows    [][]any
	// Scan gets each row of a query; without it, Changed is how many rows the
	// statement must change, unless it is -1.
	Scan    func(Rows) error
	Changed int64
}

// ErrChanged is a statement that changed fewer rows than it must.
var ErrChanged = errors.New("sqldb: rows are there, or gone, that should not be")

// DB is a database. It is safe for concurrent use. Errors of one that is away, or
// that can do nothing just now, are [router.ErrUnavailable].
type DB interface {
	// Read runs f in a transaction that sees one instant.
	Read(ctx context.Context, f func(Tx) error) error
	// ReadOne runs f, which makes one query: that sees one instant by itself.
	ReadOne(ctx context.Context, f func(Tx) error) error
	// Write runs f in a transaction that is on stable storage when Write returns
	// nil, and undone when it returns an error, but for ErrUnknown. It runs f
	// again when the database asks for it. ErrAway says that it did not begin.
	//
	// A query that ends with "FOR UPDATE" locks the rows that it returns, in the
	// order of ORDER BY.
	Write(ctx context.Context, f func(Tx) error) error
	// WriteRows is Write of statements, none of them a query, and nothing else.
	WriteRows(ctx context.Context, statements ...RowsStatement) error
	// Portion is how many events one transaction adds to the roll-ups: the more,
	// the fewer rows change for each of them, but who else writes to a file waits.
	Portion() int
	// Writers is how many transactions of one process may as well write at once:
	// 1 where they would only wait for each other, or fail for it.
	Writers() int
	// RunRows runs statements one after the other, with as few waits for the
	// database as it can.
	RunRows(ctx context.Context, tx Tx, statements ...RowsStatement) error
	// Script runs statements without arguments, separated by semicolons.
	Script(ctx context.Context, tx Tx, statements string) error
	// Migrated says whether the table {migrations} is there.
	Migrated(ctx context.Context, tx Tx) (bool, error)
	// Prepare makes the table {migrations} (version, name) with the row 0, and what
	// it stands in, unless they are there.
	Prepare(ctx context.Context) error
}

// WriteIdempotent is [DB.Write] of what makes no difference when it happens twice: it
// runs f until the outcome is known.
func WriteIdempotent(ctx context.Context, db DB, f func(Tx) error) error {
	for {
		if err := db.Write(ctx, f); ctx.Err() != nil || !errors.Is(err, ErrUnknown) {
			return err
		}
	}
}

// QueryRows runs a query on rows.
func QueryRows(ctx context.Context, db DB, tx Tx, scan func(Rows) error, text string, columns []string, rows [][]any) error {
	return db.RunRows(ctx, tx, RowsStatement{Text: text, Columns: columns, Rows: rows, Scan: scan})
}

// ExecRows runs a statement on rows, whatever it changes.
func ExecRows(ctx context.Context, db DB, tx Tx, text string, columns []string, rows [][]any) error {
	return db.RunRows(ctx, tx, RowsStatement{Text: text, Columns: columns, Rows: rows, Changed: -1})
}

// Query runs a query and gives each row to scan.
func Query(ctx context.Context, tx Tx, scan func(Rows) error, text string, args ...any) error {
	rows, err := tx.Query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// List returns what scan makes of each row; never nil.
func List[T any](ctx context.Context, tx Tx, scan func(Rows) (T, error), text string, args ...any) ([]T, error) {
	found := []T{}
	err := Query(ctx, tx, func(rows Rows) error {
		v, err := scan(rows)
		found = append(found, v)
		return err
	}, text, args...)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// One returns what scan makes of the first row, or missing when there is none.
func One[T any](ctx context.Context, tx Tx, missing error, scan func(Rows) (T, error), text string, args ...any) (T, error) {
	found, err := List(ctx, tx, scan, text, args...)
	if err != nil || len(found) == 0 {
		var zero T
		if err == nil {
			err = missing
		}
		return zero, err
	}
	return found[0], nil
}

// ScanText scans a row of one text.
func ScanText(rows Rows) (s string, err error) {
	err = rows.Scan(&s)
	return s, err
}

// Count returns the number that a query of one row and column gives.
func Count(ctx context.Context, tx Tx, text string, args ...any) (n int, err error) {
	err = Query(ctx, tx, func(rows Rows) error { return rows.Scan(&n) }, text, args...)
	return n, err
}
