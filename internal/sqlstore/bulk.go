package sqlstore

import (
	"iter"
	"strconv"
	"strings"
)

// maxPortion is how many rows one statement takes at most.
const maxPortion = 64

// portions yields all of list in order, in parts whose lengths are powers of
// two, so that there are few texts of statements.
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

// tuples are the placeholders for rows of width values, the first of which is
// $first: "($1, $2), ($3, $4)".
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
