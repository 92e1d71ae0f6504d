package sqldb

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/router"
)

// ErrUnknown reports that a transaction may or may not have been committed: its
// connection broke during the commit.
var ErrUnknown = fmt.Errorf("sqldb: the outcome of the transaction is unknown (%w)", router.ErrUnavailable)

// ErrAway reports that a transaction did not begin because there is no connection.
var ErrAway = errors.New("sqldb: no connection to the database")

// Unavailable wraps err in [router.ErrUnavailable]. It returns err as it is when the
// caller cancelled ctx or when err is wrapped already.
func Unavailable(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) || errors.Is(err, router.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", router.ErrUnavailable, err)
}

// Rows is the result of a query. It must be closed before the next statement of the
// same [Tx].
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close()
}

// Tx runs statements in one transaction. {name} in a statement stands for the table
// of that name (see [Names]).
type Tx interface {
	// Exec returns the number of rows that the statement changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	Query(ctx context.Context, query string, args ...any) (Rows, error)
}

// RowsStatement is a statement about many rows. The rows form the table "n" with
// the given columns; the statement refers to it as {n}. A column has a name and a
// type, as in "id text" or "at bigint". One Text always has the same Columns. An
// engine may run a query in several parts, so its ORDER BY holds within each part
// only. With no Rows nothing runs.
type RowsStatement struct {
	Text    string
	Columns []string
	Rows    [][]any
	// Scan makes the statement a query and is called for each row of the result.
	// Without Scan, Changed is the number of rows that the statement must change;
	// -1 allows any number.
	Scan    func(Rows) error
	Changed int64
}

// ErrChanged reports a statement that changed fewer rows than it must.
var ErrChanged = errors.New("sqldb: a statement changed fewer rows than it must")

// DB is a database. It is safe for concurrent use. Its errors wrap
// [router.ErrUnavailable] while the database cannot be reached or cannot work.
type DB interface {
	// Read runs f in a transaction that sees one snapshot.
	Read(ctx context.Context, f func(Tx) error) error
	// ReadOne runs f, which issues exactly one query. A single query is a
	// consistent snapshot, so no transaction is needed.
	ReadOne(ctx context.Context, f func(Tx) error) error
	// Write runs f in a transaction. The transaction is durable when Write returns
	// nil. It is rolled back when Write returns an error, except ErrUnknown. Write
	// runs f again when the database asks for a retry. ErrAway means that the
	// transaction did not begin.
	//
	// A query that ends with "FOR UPDATE" locks the rows that it returns, in the
	// order of its ORDER BY.
	Write(ctx context.Context, f func(Tx) error) error
	// WriteRows runs statements, none of them a query, as one [DB.Write].
	WriteRows(ctx context.Context, statements ...RowsStatement) error
	// Portion returns how many events one transaction folds into the roll-ups.
	// A large portion updates fewer rows per event; other writers of a file wait
	// longer for it.
	Portion() int
	// Writers returns how many transactions of one process may usefully write at
	// once: 1 where concurrent transactions only wait for each other or conflict.
	Writers() int
	// RunRows runs statements in order, in as few round trips as the engine needs.
	RunRows(ctx context.Context, tx Tx, statements ...RowsStatement) error
	// Script runs statements without arguments, separated by semicolons.
	Script(ctx context.Context, tx Tx, statements string) error
	// Migrated reports whether the table {migrations} exists.
	Migrated(ctx context.Context, tx Tx) (bool, error)
	// Prepare creates the table {migrations} (version, name) with the row of
	// version 0, and the schema around it, unless they exist.
	Prepare(ctx context.Context) error
}

// WriteIdempotent is [DB.Write] of an idempotent f: it runs f again until the
// outcome is known or ctx ends.
func WriteIdempotent(ctx context.Context, db DB, f func(Tx) error) error {
	for {
		if err := db.Write(ctx, f); ctx.Err() != nil || !errors.Is(err, ErrUnknown) {
			return err
		}
	}
}

// QueryRows runs a query about rows and calls scan for each row of the result.
func QueryRows(ctx context.Context, db DB, tx Tx, scan func(Rows) error, text string, columns []string, rows [][]any) error {
	return db.RunRows(ctx, tx, RowsStatement{Text: text, Columns: columns, Rows: rows, Scan: scan})
}

// ExecRows runs a statement about rows, which may change any number of rows.
func ExecRows(ctx context.Context, db DB, tx Tx, text string, columns []string, rows [][]any) error {
	return db.RunRows(ctx, tx, RowsStatement{Text: text, Columns: columns, Rows: rows, Changed: -1})
}

// Query runs a query and calls scan for each row of the result.
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

// List returns the result of scan for each row. The slice is never nil.
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

// One returns the result of scan for the first row, or the error missing when there
// is no row. With a nil missing it returns the zero T.
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

// ScanText scans a row of one text column.
func ScanText(rows Rows) (s string, err error) {
	err = rows.Scan(&s)
	return s, err
}

// Count returns the number in a result of one row and one column.
func Count(ctx context.Context, tx Tx, text string, args ...any) (n int, err error) {
	err = Query(ctx, tx, func(rows Rows) error { return rows.Scan(&n) }, text, args...)
	return n, err
}
