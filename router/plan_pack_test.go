package router

import (
	"cmp"
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
		for range rapid.IntRange(0, 100).Draw(t, "keys") {
			p.keys = append(p.keys, key{
				standing: standing{lead: word.Draw(t, "lead")}, figure: word.Draw(t, "figure"),
				price: amount{hi: word.Draw(t, "hi"), lo: word.Draw(t, "lo")},
			})
		}
		want := make([]int, len(p.keys))
		for i := range want {
			want[i] = i
		}
		slices.SortStableFunc(want, func(a, b int) int {
			k, l := &p.keys[a], &p.keys[b]
			return cmp.Or(
				cmp.Compare(k.lead, l.lead), cmp.Compare(k.figure, l.figure),
				cmp.Compare(k.price.hi, l.price.hi), cmp.Compare(k.price.lo, l.price.lo),
			)
		})

		p.place()
		require.Len(t, p.places, len(want))
		for i, place := range p.places {
			require.Equal(t, want[i], int(place&p.indexMask))
		}
		if len(p.keys) > 0 && !p.packingOf(p.places).exact {
			inexact++
		}
	})
	require.Positive(t, inexact, "keys that need more than 64 bits were never drawn")
}
