package sqlstore

import (
	"iter"
	"strconv"
	"strings"
)

// maxPortion is the largest number of rows in one statement.
const maxPortion = 64

// portions yields list in order, in parts whose lengths are powers of two. Few
// lengths mean few different statements to prepare.
func portions[T any](list []T) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for size := maxPortion; size > 0; size /= 2 {
			for len(list) >= size {
				if !yield(list[:size]) {
					return
				}
				list = list[size:]
			}
		}
	}
}

// tuples returns placeholders for rows of width values, beginning with $first:
// "($1, $2), ($3, $4)".
func tuples(first, rows, width int) string {
	var b strings.Builder
	for n := range rows * width {
		switch {
		case n == 0:
			b.WriteString("($")
		case n%width == 0:
			b.WriteString("), ($")
		default:
			b.WriteString(", $")
		}
		b.WriteString(strconv.Itoa(first + n))
	}
	b.WriteString(")")
	return b.String()
}
