package router

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Numbers come out in order, spread over their range or crowded in a corner of
// it.
func TestSorter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s sorter
		for range 2 { // its memory is used again
			numbers := rapid.SliceOfN(rapid.OneOf(rapid.Uint64Range(0, 50), rapid.Uint64(), rapid.Just[uint64](7)), 0, 300).Draw(t, "numbers")
			want, sorted := slices.Sorted(slices.Values(numbers)), make([]uint64, len(numbers))
			width := 0
			if len(want) > 0 {
				width = bits.Len64(want[len(want)-1])
			}
			s.sort(sorted, numbers, width)
			require.True(t, slices.Equal(want, sorted), "%v", sorted)
		}
	})
}
