package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

var errKind = errors.New("postgres: a value does not have the type of its column")

// arrays returns each column of rows as an array. Plain Go slices work in every query
// mode of a pool, but pgx allocates for each of their elements. Where the server has
// described the parameters, typed elements avoid that.
func (d *db) arrays(columns []string, rows [][]any) ([]any, error) {
	args := make([]any, len(columns))
	for i, column := range columns {
		var err error
		switch numeric := strings.HasSuffix(column, " bigint"); {
		case numeric && d.typed:
			args[i], err = array(rows, i, numberOf)
		case numeric:
			args[i], err = slice[int64](rows, i)
		case d.typed:
			args[i], err = array(rows, i, textOf)
		default:
			if args[i], err = slice[string](rows, i); err != nil {
				args[i], err = slice[*string](rows, i)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, column)
		}
	}
	return args, nil
}

// slice returns a column as a Go slice.
func slice[T any](rows [][]any, column int) ([]T, error) {
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

// array returns a column as typed elements.
func array[T any](rows [][]any, column int, of func(any) (T, bool)) (elements[T], error) {
	values := make(elements[T], len(rows))
	for i, row := range rows {
		v, ok := of(row[column])
		if !ok {
			return nil, errKind
		}
		values[i] = v
	}
	return values, nil
}

func numberOf(v any) (pgtype.Int8, bool) {
	n, ok := v.(int64)
	return pgtype.Int8{Int64: n, Valid: true}, ok
}

func textOf(v any) (t pgtype.Text, ok bool) {
	switch v := v.(type) {
	case string:
		return pgtype.Text{String: v, Valid: true}, true
	case *string:
		if v != nil {
			t = pgtype.Text{String: *v, Valid: true}
		}
		return t, true
	}
	return t, false
}

// elements is an array of one dimension for pgx.
type elements[T any] []T

func (e elements[T]) Dimensions() []pgtype.ArrayDimension {
	return []pgtype.ArrayDimension{{Length: int32(len(e)), LowerBound: 1}} //nolint:gosec // memory ends before
}
func (e elements[T]) Index(i int) any { return &e[i] }
func (e elements[T]) IndexType() any  { return (*T)(nil) }
