package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"github.com/signalbox/signalbox/internal/sqldb"
)

// statement returns the prepared statement for a text, or nil. The pool prepares it
// once on each connection.
func (d *db) statement(text string) *sql.Stmt {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.statements[text]
}

// prepare prepares texts for later transactions. It runs after the transaction, because
// within one it would wait for ever in a pool of a single connection. A text that cannot
// be prepared stays unprepared until its next use.
func (d *db) prepare(ctx context.Context, texts []string) {
	for _, text := range texts {
		s, err := d.pool.PrepareContext(ctx, d.ours(text)) //nolint:sqlclosecheck // it stays for as long as the pool
		if err != nil {
			return
		}
		d.mu.Lock()
		if d.statements[text] == nil {
			d.statements[text], s = s, nil
		}
		d.mu.Unlock()
		if s != nil {
			_ = s.Close() // another goroutine prepared it first
		}
	}
}

// ours translates a text for SQLite: to SQLite, $1 is the name of a parameter, and FOR
// UPDATE is unknown and not needed with a single writer.
func (d *db) ours(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(d.names.In(text), "FOR UPDATE", ""), "$", "?")
}

// tx is a transaction.
type tx struct {
	db  *db
	tx  *sql.Tx
	new []string // texts to prepare afterwards
}

// prepared returns the prepared statement for a text in this transaction, or nil.
func (t *tx) prepared(ctx context.Context, text string) *sql.Stmt {
	s := t.db.statement(text)
	if s == nil {
		t.new = append(t.new, text)
		return nil
	}
	return t.tx.StmtContext(ctx, s)
}

// Exec implements [sqldb.Tx].
func (t *tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	var res sql.Result
	var err error
	if s := t.prepared(ctx, query); s != nil { //nolint:sqlclosecheck // its transaction does
		res, err = s.ExecContext(ctx, args...)
	} else {
		res, err = t.tx.ExecContext(ctx, t.db.ours(query), args...)
	}
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Query implements [sqldb.Tx].
func (t *tx) Query(ctx context.Context, query string, args ...any) (sqldb.Rows, error) {
	var found *sql.Rows
	var err error
	if s := t.prepared(ctx, query); s != nil { //nolint:sqlclosecheck // its transaction does
		found, err = s.QueryContext(ctx, args...) //nolint:rowserrcheck // the caller checks
	} else {
		found, err = t.tx.QueryContext(ctx, t.db.ours(query), args...) //nolint:rowserrcheck // the caller checks
	}
	if err != nil {
		return nil, err
	}
	return rows{found}, nil
}

type rows struct{ *sql.Rows }

// Close implements [sqldb.Rows].
func (r rows) Close() { _ = r.Rows.Close() }
