package sqlstore

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPortionsAreAllInFewLengths(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Int(), 0, 3*maxPortion).Draw(t, "list")
		var got []int
		for part := range portions(list) {
			require.LessOrEqual(t, len(part), maxPortion)
			require.Equal(t, 1, bits.OnesCount(uint(len(part))))
			got = append(got, part...)
		}
		require.True(t, slices.Equal(list, got))
	})
}

func TestPortionsStop(t *testing.T) {
	t.Parallel()
	for part := range portions(make([]int, 2*maxPortion+1)) {
		assert.Len(t, part, maxPortion)
		break
	}
}

func TestTuples(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "($1, $2), ($3, $4)", tuples(1, 2, 2))
	assert.Equal(t, "($4, $5, $6)", tuples(4, 1, 3))
	assert.Equal(t, "($1), ($2)", tuples(1, 2, 1))
}
