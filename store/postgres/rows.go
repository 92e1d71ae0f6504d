package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalbox/signalbox/internal/sqldb"
)

var errTx = errors.New("postgres: the transaction belongs to another database")

// RunRows implements [sqldb.DB]. It sends all statements in one batch and then reads the
// results.
func (d *db) RunRows(ctx context.Context, t sqldb.Tx, statements ...sqldb.RowsStatement) error {
	ours, ok := t.(*inTx)
	if !ok {
		return errTx
	}
	batch, err := d.batchOf(statements, false)
	if err != nil || batch.Len() == 0 {
		return err
	}
	return ours.SendBatch(ctx, batch).Close()
}

// WriteRows implements [sqldb.DB]. The whole transaction, with its commit, is one batch.
// That saves a round trip to this process, and to the processes that wait for its rows.
// The server itself checks how many rows each statement changed.
func (d *db) WriteRows(ctx context.Context, statements ...sqldb.RowsStatement) error {
	return d.retry(ctx, func() error {
		batch, err := d.batchOf(statements, true)
		if err != nil || batch.Len() == 0 {
			return err
		}
		began, err := d.begin(ctx, d.writing()...)
		if err != nil {
			return sqldb.Unavailable(ctx, fmt.Errorf("%w: %w", sqldb.ErrAway, err))
		}
		err = began.CommitWith(ctx, batch)
		if err != nil {
			rollBack(ctx, began)
		}
		if isChanged(err) {
			return sqldb.ErrChanged
		}
		return outcome(err)
	})
}

// batchOf returns statements with their rows as a batch. If checked, a statement fails on
// the server when it changes fewer rows than it must.
func (d *db) batchOf(statements []sqldb.RowsStatement, checked bool) (*pgx.Batch, error) {
	batch := &pgx.Batch{}
	for i := range statements {
		s := &statements[i]
		if len(s.Rows) == 0 {
			continue
		}
		args, err := d.arrays(s.Columns, s.Rows)
		if err != nil {
			return nil, err
		}
		if checked && s.Changed >= 0 {
			batch.Queue(d.text(s, true), append(args, s.Changed)...)
			continue
		}
		answer(batch.Queue(d.text(s, false), args...), s)
	}
	return batch, nil
}

// answer registers what to do with the result of a statement.
func answer(queued *pgx.QueuedQuery, s *sqldb.RowsStatement) {
	if s.Scan == nil {
		queued.Exec(func(done pgconn.CommandTag) error {
			if s.Changed >= 0 && s.Changed != done.RowsAffected() {
				return sqldb.ErrChanged
			}
			return nil
		})
		return
	}
	queued.Query(func(found pgx.Rows) error {
		for found.Next() {
			if err := s.Scan(found); err != nil {
				return err
			}
		}
		return found.Err()
	})
}

// statement is the key of an expanded text.
type statement struct {
	text    string
	checked bool
}

// failure is an expression that fails, by a division by zero, because PostgreSQL has none that
// raises an error. With constants only it would fail in every plan.
const failure = "1 / (count(*) - count(*))"

// text returns the text of a statement with its table "n". Texts stay cached: the program
// has finitely many, and each always has the same columns.
func (d *db) text(s *sqldb.RowsStatement, checked bool) string {
	key := statement{s.Text, checked}
	if known, ok := d.texts.Load(key); ok {
		text, _ := known.(string)
		return text
	}
	text := strings.Replace(d.names.In(s.Text), "{n}", table(s.Columns), 1)
	if checked {
		text = fmt.Sprintf("WITH changed AS (%s RETURNING 1) SELECT CASE count(*) WHEN CAST($%d AS bigint) THEN 0 ELSE %s END FROM changed",
			text, len(s.Columns)+1, failure)
	}
	d.texts.Store(key, text)
	return text
}

// table returns a subquery "n" with one array parameter for each column. It unnests the
// arrays in the SELECT list. In the FROM list PostgreSQL would materialize all rows before
// the first one is used.
func table(columns []string) string {
	selected := make([]string, len(columns))
	for i, column := range columns {
		name, kind, _ := strings.Cut(column, " ")
		selected[i] = fmt.Sprintf("unnest(CAST($%d AS %s[])) AS %s", i+1, kind, name)
	}
	return "(SELECT " + strings.Join(selected, ", ") + ") AS n"
}

// isChanged reports whether a checked statement changed fewer rows than it must.
func isChanged(err error) bool {
	failed, ok := errors.AsType[*pgconn.PgError](err)
	return ok && failed.Code == "22012" // division by zero; see failure
}
