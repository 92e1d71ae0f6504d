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
		wide := func(label string) *rapid.Generator[uint64] { // words that leave any room to weaker ones
			width := rapid.IntRange(0, 64).Draw(t, label+" bits")
			return rapid.Map(word, func(n uint64) uint64 { return n >> (64 - width) })
		}
		leads, figures, his, los := wide("lead"), wide("figure"), wide("hi"), wide("lo")
		p := &planner{}
		for range rapid.IntRange(0, 100).Draw(t, "keys") {
			p.keys = append(p.keys, key{
				lead: leads.Draw(t, "lead"), figure: figures.Draw(t, "figure"),
				price: amount{hi: his.Draw(t, "hi"), lo: los.Draw(t, "lo")},
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
