package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/internal/sqlstore"
)

var errKind = errors.New("postgres: a value is not of its column's kind")

// ExecRows implements [sqlstore.DB].
func (d *db) ExecRows(ctx context.Context, t sqlstore.Tx, text string, columns []string, rows [][]any) (int64, error) {
	if len(rows) == 0 {
		return 0, nil
	}
	args, err := arrays(columns, rows)
	if err != nil {
		return 0, err
	}
	return t.Exec(ctx, strings.Replace(text, "{n}", table(columns), 1), args...)
}

// QueryRows implements [sqlstore.DB].
func (d *db) QueryRows(
	ctx context.Context, t sqlstore.Tx, scan func(sqlstore.Rows) error, text string, columns []string, rows [][]any,
) error {
	if len(rows) == 0 {
		return nil
	}
	args, err := arrays(columns, rows)
	if err != nil {
		return err
	}
	found, err := t.Query(ctx, strings.Replace(text, "{n}", table(columns), 1), args...)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		if err := scan(found); err != nil {
			return err
		}
	}
	return found.Err()
}

// table is "n", of one array for each column.
func table(columns []string) string {
	params, names := make([]string, len(columns)), make([]string, len(columns))
	for i, column := range columns {
		name, kind, _ := strings.Cut(column, " ")
		params[i], names[i] = fmt.Sprintf("CAST($%d AS %s[])", i+1, kind), name
	}
	return "unnest(" + strings.Join(params, ", ") + ") AS n (" + strings.Join(names, ", ") + ")"
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
