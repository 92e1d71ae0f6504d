package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalbox/signalbox/internal/sqlstore"
)

var (
	errKind = errors.New("postgres: a value is not of its column's kind")
	errTx   = errors.New("postgres: a transaction of another database")
)

// RunRows implements [sqlstore.DB]: it sends all statements, then reads all
// answers.
func (d *db) RunRows(ctx context.Context, t sqlstore.Tx, statements ...sqlstore.RowsStatement) error {
	ours, ok := t.(*inTx)
	if !ok {
		return errTx
	}
	batch := &pgx.Batch{}
	for i := range statements {
		s := &statements[i]
		if len(s.Rows) == 0 {
			continue
		}
		args, err := arrays(s.Columns, s.Rows)
		if err != nil {
			return err
		}
		answer(batch.Queue(d.withRows(s), args...), s)
	}
	if batch.Len() == 0 {
		return nil
	}
	return ours.SendBatch(ctx, batch).Close()
}

// answer says what becomes of the answer to a statement.
func answer(queued *pgx.QueuedQuery, s *sqlstore.RowsStatement) {
	if s.Scan == nil {
		queued.Exec(func(done pgconn.CommandTag) error {
			if s.Changed >= 0 && s.Changed != done.RowsAffected() {
				return sqlstore.ErrChanged
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

// withRows is the text of a statement with the table of its rows. There are
// finitely many, and each is always about the same columns.
func (d *db) withRows(s *sqlstore.RowsStatement) string {
	if known, ok := d.texts.Load(s.Text); ok {
		text, _ := known.(string)
		return text
	}
	text := strings.Replace(s.Text, "{n}", table(s.Columns), 1)
	d.texts.Store(s.Text, text)
	return text
}

// table is "n", of one array for each column. The arrays are taken apart in the
// list of what is selected: among the tables, PostgreSQL would write their rows
// down first.
func table(columns []string) string {
	selected := make([]string, len(columns))
	for i, column := range columns {
		name, kind, _ := strings.Cut(column, " ")
		selected[i] = fmt.Sprintf("unnest(CAST($%d AS %s[])) AS %s", i+1, kind, name)
	}
	return "(SELECT " + strings.Join(selected, ", ") + ") AS n"
}

// arrays are the columns of rows.
func arrays(columns []string, rows [][]any) ([]any, error) {
	args := make([]any, len(columns))
	for i, column := range columns {
		var err error
		if strings.HasSuffix(column, " bigint") {
			args[i], err = array[int64](rows, i)
		} else if args[i], err = array[string](rows, i); err != nil {
			args[i], err = array[*string](rows, i)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, column)
		}
	}
	return args, nil
}

func array[T any](rows [][]any, column int) ([]T, error) {
	values := make([]T, len(rows))
	for i, row := range rows {
		v, ok := row[column].(T)
		if !ok {
			return nil, errKind
		}
		values[i] = v
	}
	return values, nil
}
