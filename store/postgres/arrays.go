package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

var errKind = errors.New("postgres: a value is not of its column's kind")

// arrays are the columns of rows. Slices of Go's own types are taken in every mode
// of a pool; but pgx makes a value of its own of each element, so that where the
// server has said what it expects they are handed over without.
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

// slice is a column.
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

// array is a column, of elements that say themselves what they are.
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

// elements are an array of one dimension, as pgx takes it.
type elements[T any] []T

func (e elements[T]) Dimensions() []pgtype.ArrayDimension {
	return []pgtype.ArrayDimension{{Length: int32(len(e)), LowerBound: 1}} //nolint:gosec // memory ends before
}
func (e elements[T]) Index(i int) any { return &e[i] }
func (e elements[T]) IndexType() any  { return (*T)(nil) }
