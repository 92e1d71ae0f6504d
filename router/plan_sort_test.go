package router

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawNumbers draws numbers spread over their range or crowded in a corner of
// it, and how many bits the largest has.
func drawNumbers(t *rapid.T) (numbers []uint64, width int) {
	number := rapid.OneOf(rapid.Uint64Range(0, 50), rapid.Uint64(), rapid.Just[uint64](7))
	numbers = rapid.SliceOfN(number, 0, 300).Draw(t, "numbers")
	if len(numbers) > 0 {
		width = bits.Len64(slices.Max(numbers))
	}
	return numbers, width
}

func TestSorter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s sorter
		for range 2 { // its memory is used again
			numbers, width := drawNumbers(t)
			want, sorted := slices.Sorted(slices.Values(numbers)), make([]uint64, len(numbers))
			s.sort(sorted, numbers, width)
			require.True(t, slices.Equal(want, sorted), "%v", sorted)
		}
	})
}

// Buckets leave every number fewer than few places away from its own. What
// they get wrong the last sort would put right, only slowly.
func TestScatterLeavesNextToNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s sorter
		for range 2 {
			numbers, width := drawNumbers(t)
			want, sorted := slices.Sorted(slices.Values(numbers)), make([]uint64, len(numbers))
			s.scatter(sorted, numbers, width)
			for i, n := range sorted {
				from, found := slices.BinarySearch(want, n)
				require.True(t, found, "%d was not there", n)
				to := from
				for to+1 < len(want) && want[to+1] == n {
					to++
				}
				require.Less(t, max(from-i, i-to), few, "%d at %d", n, i)
			}
		}
	})
}
