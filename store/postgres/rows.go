package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

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
		answer(batch.Queue(strings.Replace(s.Text, "{n}", table(s.Columns), 1), arrays(s.Columns, s.Rows)...), s)
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
func arrays(columns []string, rows [][]any) []any {
	args := make([]any, len(columns))
	for i := range columns {
		args[i] = &array{rows, i}
	}
	return args
}

// array is a column of rows as PostgreSQL takes it: nothing is copied for it.
type array struct {
	rows   [][]any
	column int
}

var (
	_ pgtype.ArrayGetter = (*array)(nil)
	_ driver.Valuer      = (*array)(nil)
)

// Dimensions implements [pgtype.ArrayGetter].
func (a *array) Dimensions() []pgtype.ArrayDimension {
	return []pgtype.ArrayDimension{{Length: int32(len(a.rows)), LowerBound: 1}} //nolint:gosec // so many rows fit in no memory
}

// Index implements [pgtype.ArrayGetter].
func (a *array) Index(i int) any { return a.rows[i][a.column] }

// IndexType implements [pgtype.ArrayGetter].
func (a *array) IndexType() any { return a.rows[0][a.column] }

// Value implements [driver.Valuer], which pgx asks where it does not know what
// the database takes (its modes "exec" and "simple_protocol"): a slice.
func (a *array) Value() (driver.Value, error) {
	switch a.IndexType().(type) {
	case int64:
		return slice[int64](a)
	case string:
		return slice[string](a)
	default:
		return slice[*string](a)
	}
}

func slice[T any](a *array) ([]T, error) {
	values := make([]T, len(a.rows))
	for i := range values {
		v, ok := a.Index(i).(T)
		if !ok {
			return nil, errKind
		}
		values[i] = v
	}
	return values, nil
}
