package lease_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/lease"
)

// A limit that another process changes acts on the next slice. What is admitted beyond it is
// at most what this process had in slices, which balances show as held.
func TestALimitThatChangesElsewhereActsOnTheNextSlice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	k := keys.Key{Hash: "k", Account: "acme", Version: 1}
	require.NoError(t, b.set.Keys.Create(t.Context(), k, router.Change{Account: "acme"}))
	l := lease.Eager(node(t, b.set, lease.Config{Nodes: 1, Calls: 8}))
	line := router.OwnerKey.Line(router.Principal{KeyHash: "k"}, "ever")
	ask := func(version int64, limit router.USD) error {
		h := b.hold(limit)
		h.Lines = []router.Line{line}
		h.Caps[0].Line = line
		h.Versions = []router.Version{{Line: line, N: version}}
		return l.Reserve(t.Context(), h)
	}
	held := func() router.USD {
		list, err := l.Balances(t.Context(), []router.Line{line})
		require.NoError(t, err)
		return list[0].Held.Total
	}
	for range 10 {
		require.NoError(t, ask(1, 1000))
	}
	require.NoError(t, b.set.Keys.Replace(t.Context(), k, router.Change{Account: "acme"}))
	sliced := held() - 10*10
	assert.LessOrEqual(t, sliced, router.USD(8*10), "a slice is at most Calls holds")
	past := router.USD(0)
	var stale *router.StaleError
	for {
		err := ask(1, 1000)
		if err != nil {
			require.ErrorAs(t, err, &stale)
			break
		}
		past += 10
	}
	assert.Equal(t, sliced, past, "what was in slices is the bound")
	require.ErrorAs(t, ask(1, 1000), &stale)
	require.NoError(t, ask(2, 1000), "read again, there is room")
	var refused *router.LimitError
	require.ErrorAs(t, ask(2, 100), &refused, "and the fresh limit refuses")
}
