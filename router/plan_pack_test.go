package router

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Packed keys stand as whole keys do, whether there is room for all their bits
// or not.
func TestPackedKeysSortLikeKeys(t *testing.T) {
	inexact := 0
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.Uint64Range(0, 2), rapid.Uint64(), rapid.SampledFrom([]uint64{1 << 63, 1 << 40, 3 << 40}))
		p := &planner{}
		for range rapid.IntRange(0, 40).Draw(t, "keys") {
			p.keys = append(p.keys, key{
				lead: word.Draw(t, "lead"), figure: word.Draw(t, "figure"),
				price: amount{hi: word.Draw(t, "hi"), lo: word.Draw(t, "lo")},
			})
		}
		p.indexMask = 1<<20 - 1
		want := make([]uint64, len(p.keys)) // plain indexes
		for i := range want {
			want[i] = uint64(i)
		}
		slices.SortFunc(want, p.compare)

		p.place()
		for i, place := range p.places {
			require.Equal(t, want[i], place&p.indexMask)
		}
		if !packingOf(p.keys).exact {
			inexact++
		}
	})
	require.Positive(t, inexact, "keys that need more than 64 bits were never drawn")
}
