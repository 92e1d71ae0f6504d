package sqlite_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/internal/sqldb"
)

// fault is a way in which a database fails.
type fault struct {
	what   string
	onward bool // every later operation fails too
}

const (
	refused = "a transaction does not begin"
	before  = "a statement is not run"
	after   = "a statement is run and fails"
	undone  = "a transaction is not committed"
	unknown = "nobody knows whether a transaction was committed"
)

func everyFault() []fault {
	return []fault{
		{refused, false},
		{refused, true},
		{before, false},
		{before, true},
		{after, false},
		{undone, false},
		{undone, true},
		{unknown, false},
	}
}

var errFault = errors.New("the disk is on fire")

// failing is a database of which the n-th operation fails.
type failing struct {
	sqldb.DB
	fault

	n, seen int // not synchronized: for one caller at a time
}

// strikes reports whether an operation of this kind fails now.
func (f *failing) strikes(what string) bool {
	if what != f.what {
		return false
	}
	f.seen++
	return f.seen == f.n || f.onward && f.seen > f.n
}

// Read implements [sqldb.DB].
func (f *failing) Read(ctx context.Context, do func(sqldb.Tx) error) error {
	if f.strikes(refused) {
		return errFault
	}
	return f.DB.Read(ctx, func(tx sqldb.Tx) error { return do(failingTx{tx, f}) })
}

// ReadOne implements [sqldb.DB].
func (f *failing) ReadOne(ctx context.Context, do func(sqldb.Tx) error) error {
	return f.Read(ctx, do)
}

// WriteRows implements [sqldb.DB].
func (f *failing) WriteRows(ctx context.Context, statements ...sqldb.RowsStatement) error {
	return f.Write(ctx, func(tx sqldb.Tx) error { return f.RunRows(ctx, tx, statements...) })
}

// Write implements [sqldb.DB].
func (f *failing) Write(ctx context.Context, do func(sqldb.Tx) error) error {
	if f.strikes(refused) {
		return errFault
	}
	err := f.DB.Write(ctx, func(tx sqldb.Tx) error {
		if err := do(failingTx{tx, f}); err != nil {
			return err
		}
		if f.strikes(undone) {
			return errFault
		}
		return nil
	})
	if err == nil && f.strikes(unknown) {
		return fmt.Errorf("%w: %w", sqldb.ErrUnknown, errFault)
	}
	return err
}

type failingTx struct {
	sqldb.Tx

	of *failing
}

// Exec implements [sqldb.Tx].
func (t failingTx) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	if t.of.strikes(before) {
		return 0, errFault
	}
	n, err := t.Tx.Exec(ctx, text, args...)
	if err == nil && t.of.strikes(after) {
		return 0, errFault
	}
	return n, err
}

// Query implements [sqldb.Tx].
func (t failingTx) Query(ctx context.Context, text string, args ...any) (sqldb.Rows, error) {
	if t.of.strikes(before) {
		return nil, errFault
	}
	rows, err := t.Tx.Query(ctx, text, args...)
	if err == nil && t.of.strikes(after) {
		rows.Close()
		return nil, errFault
	}
	return rows, err
}
