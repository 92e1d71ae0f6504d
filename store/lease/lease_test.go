package lease_test

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/lease"
	"github.com/signalbox/signalbox/store/memory"
)

func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func lines() []router.Line { return []router.Line{{Owner: "key:k", Window: "2026-11"}} }

func usd(t router.USD) router.Amount { return router.Amount{Credit: t, Total: t} }

// bench is a base, with helpers for tests of nodes on it.
type bench struct {
	t    *testing.T
	set  store.Set
	base *counting
	n    uint64
}

func newBench(t *testing.T) *bench {
	t.Helper()
	set := onSQLite(t)
	base, ok := set.Ledger.(lease.Base)
	require.True(t, ok)
	b := &bench{t: t, set: set, base: &counting{Base: base}}
	b.set.Ledger = b.base
	return b
}

// counting counts the holds that the base is asked for.
type counting struct {
	lease.Base

	reserves int
}

func (c *counting) Reserve(ctx context.Context, h router.Hold) error {
	c.reserves++
	return c.Base.Reserve(ctx, h)
}

// hold returns a hold of 10 under a limit.
func (b *bench) hold(limit router.USD) router.Hold {
	b.n++
	h := router.Hold{
		Lines: lines(), Caps: []router.Cap{{Line: lines()[0], Max: limit}}, Amount: usd(10), Deadline: noon(),
		Event: router.Event{Principal: router.Principal{Account: "acme"}, Admitted: noon(), Requests: 1},
	}
	binary.BigEndian.PutUint64(h.ID[8:], b.n)
	h.Event.ID = h.ID.String() + "/held"
	return h
}

func (b *bench) reserve(l router.Ledger, limit router.USD) uuid.UUID {
	b.t.Helper()
	h := b.hold(limit)
	require.NoError(b.t, l.Reserve(b.t.Context(), h))
	return h.ID
}

func (b *bench) refused(l router.Ledger, limit router.USD) {
	b.t.Helper()
	var refused *router.LimitError
	require.ErrorAs(b.t, l.Reserve(b.t.Context(), b.hold(limit)), &refused)
}

// fill reserves until the ledger refuses, and returns the holds.
func (b *bench) fill(l router.Ledger, limit router.USD) (ids []uuid.UUID) {
	b.t.Helper()
	for {
		h := b.hold(limit)
		if err := l.Reserve(b.t.Context(), h); err != nil {
			var refused *router.LimitError
			require.ErrorAs(b.t, err, &refused)
			return ids
		}
		ids = append(ids, h.ID)
	}
}

func (b *bench) settle(l router.Ledger, cost router.USD, ids ...uuid.UUID) {
	b.t.Helper()
	for _, id := range ids {
		require.NoError(b.t, l.Settle(b.t.Context(), id, usd(cost)))
	}
}

func (b *bench) void(l router.Ledger, ids ...uuid.UUID) {
	b.t.Helper()
	for _, id := range ids {
		require.NoError(b.t, l.Void(b.t.Context(), id))
	}
}

func (b *bench) expire(l router.Ledger, now time.Time) {
	b.t.Helper()
	_, err := l.Expire(b.t.Context(), now, 100, router.ExpirePost)
	require.NoError(b.t, err)
}

func (b *bench) stands(spent, held router.USD) {
	b.t.Helper()
	on, err := b.base.Balances(b.t.Context(), lines())
	require.NoError(b.t, err)
	assert.Equal(b.t, []router.Balance{{Spent: usd(spent), Held: usd(held)}}, on)
}

func TestNew(t *testing.T) {
	t.Parallel()
	_, err := lease.New(lease.Config{Ledger: memory.New().Ledger})
	require.ErrorIs(t, err, lease.ErrBase)
	_, err = lease.New(lease.Config{})
	require.ErrorIs(t, err, lease.ErrBase)
	for _, cfg := range []lease.Config{{Nodes: -1}, {Calls: -1}, {Life: -1}} {
		cfg.Ledger = onSQLite(t).Ledger
		_, err = lease.New(cfg)
		require.Error(t, err)
	}
}

func TestCallsAreAdmittedFromFewSlices(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := node(t, b.set, lease.Config{Calls: 64})
	for range 1000 {
		b.reserve(l, 1_000_000)
	}
	// One call alone, then slices for 2, 4, 8, 16, 32 and then 64 calls: 937 calls in all.
	assert.Equal(t, 1+5+15, b.base.reserves)
	slices, calls := l.Drawn()
	assert.Equal(t, 20, slices)
	assert.Equal(t, 999, calls)
}

func TestWhatIsGivenBackIsSpentAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := lease.Eager(node(t, b.set, lease.Config{Nodes: 1}))
	for range 100 {
		b.void(l, b.reserve(l, 40))
	}
	assert.Equal(t, 1, b.base.reserves)
	for range 19 {
		b.settle(l, 1, b.reserve(l, 40))
	}
	assert.LessOrEqual(t, b.base.reserves, 12)
	require.NoError(t, l.Close(t.Context()))
	b.stands(19, 0)
}

func TestWhatCallsLeaveIsSpentInWhicheverSliceItIs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := lease.Eager(node(t, b.set, lease.Config{Nodes: 1}))
	var ids []uuid.UUID
	for range 6 { // two of the first slice, four of the second
		ids = append(ids, b.reserve(l, 1000))
	}
	assert.Equal(t, 2, b.base.reserves)
	b.void(l, ids[0])
	b.settle(l, 5, ids[1])
	ids[0] = b.reserve(l, 1000)
	assert.Equal(t, 2, b.base.reserves, "the first slice has it")
	b.settle(l, 5, ids[0])
	ids[0] = b.reserve(l, 1000)
	assert.Equal(t, 2, b.base.reserves, "of two rests")

	// A slice that is used up ends with its last call.
	b.settle(l, 10, ids[0])
	slices, calls := l.Drawn()
	assert.Equal(t, 1, slices)
	assert.Equal(t, 4, calls)
	b.settle(l, 10, ids[2:]...)
	slices, _ = l.Drawn()
	assert.Zero(t, slices)
	b.stands(60, 0)
}

func TestLastDollarsGoOneByOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := node(t, b.set, lease.Config{})
	ids := b.fill(l, 2_009)
	assert.Len(t, ids, 200, "all that fits, as without slices")
	b.settle(l, 10, ids...)
	b.refused(l, 2_009)
	require.NoError(t, l.Close(t.Context()))
	b.stands(2_000, 0)
}

func TestRefusedNodeGetsWhatOthersGiveBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one, other := node(t, b.set, lease.Config{Nodes: 2}), lease.Eager(node(t, b.set, lease.Config{Nodes: 2}))
	b.void(other, b.reserve(other, 1000))
	ids := b.fill(one, 1000)
	assert.Len(t, ids, 98, "the other's slice of two counts")
	for range 2 { // used since the one before, then idle
		b.expire(other, noon())
	}
	ids = append(ids, b.fill(one, 1000)...)
	assert.Len(t, ids, 100)
	b.settle(one, 10, ids...)
	b.stands(1000, 0)
}

func TestLimitThatChanges(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := lease.Eager(node(t, b.set, lease.Config{Nodes: 1}))
	for range 20 {
		b.reserve(l, 1000)
	}
	b.refused(l, 205)
	b.stands(0, 200)
	b.reserve(l, 210)
	b.refused(l, 210)
	b.reserve(l, 1000)
	b.refused(l, 0)
	b.refused(l, -1)
	b.stands(0, 220)
}

func TestOverrunBlocksTheNextCall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := lease.Eager(node(t, b.set, lease.Config{Nodes: 1}))
	id := b.reserve(l, 1000)
	for range 20 {
		b.reserve(l, 1000)
	}
	b.settle(l, 900, id)
	b.stands(900, 200)
	b.refused(l, 1000)
}

func TestDeadNodesSliceCountsUntilItExpires(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dead, l := lease.Eager(node(t, b.set, lease.Config{Nodes: 1, Life: time.Minute})), node(t, b.set, lease.Config{})
	ids := []uuid.UUID{b.reserve(dead, 40)}
	b.settle(dead, 3, b.reserve(dead, 40)) // in a slice of 20; 17 stay
	b.stands(3, 17)
	b.expire(l, noon().Add(time.Minute))
	b.stands(3, 17)
	b.reserve(l, 40)
	b.reserve(l, 40)
	b.refused(l, 40)
	b.expire(l, noon().Add(time.Minute+1))
	b.stands(3+17+20, 0)

	// The node was not dead: what expiry charged is corrected.
	b.settle(dead, 2, ids...)
	b.stands(3+17+20, 0)
	require.NoError(t, dead.Close(t.Context()))
	b.stands(3+2+20, 0)
}

func TestCallsOutliveTheirSlice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := lease.Eager(node(t, b.set, lease.Config{Nodes: 1, Life: time.Minute}))
	b.reserve(l, 1000)
	h := b.hold(1000)
	h.Deadline = noon().Add(time.Hour) // after the slice's
	require.NoError(t, l.Reserve(t.Context(), h))
	b.expire(l, noon().Add(30*time.Minute))
	on, err := b.base.Balances(t.Context(), lines())
	require.NoError(t, err)
	assert.Equal(t, usd(10), on[0].Spent, "the first has expired")
	assert.GreaterOrEqual(t, on[0].Held.Total, router.USD(10), "the second is set aside")
	b.settle(l, 4, h.ID)
	require.NoError(t, l.Close(t.Context()))
	b.stands(14, 0)
}

func TestCloseDrawsNoMore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := lease.Eager(node(t, b.set, lease.Config{Nodes: 1}))
	id := b.reserve(l, 1000)
	require.NoError(t, l.Close(t.Context()))
	b.stands(0, 10)
	other := b.reserve(l, 1000)
	b.stands(0, 20)
	b.settle(l, 5, id, other)
	b.stands(10, 0)
	slices, _ := l.Drawn()
	assert.Zero(t, slices)
}

func TestSettlementThatHappenedAfterAll(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	failing := &shaky{Base: b.base}
	l := lease.Eager(node(t, store.Set{Ledger: failing}, lease.Config{Nodes: 1}))
	id := b.reserve(l, 40) // in a slice of 20
	failing.fault = 2
	require.ErrorIs(t, l.Settle(t.Context(), id, usd(10)), errInjected)
	b.void(l, id) // the caller does not know about the settlement
	b.stands(10, 10)
	b.reserve(l, 40)
	b.stands(10, 10)
	b.reserve(l, 40)
	b.stands(10, 20)
}

func TestSettlementAfterAHoldWasGivenBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := lease.Eager(node(t, b.set, lease.Config{Nodes: 1}))
	id := b.reserve(l, 1000)
	b.void(l, id)
	for range 2 {
		b.settle(l, 7, id)
		b.stands(7, 20)
	}
	require.ErrorIs(t, l.Settle(t.Context(), id, usd(8)), router.ErrConflict)
	require.NoError(t, l.Close(t.Context()))
	b.stands(7, 0)
}

func TestCallThatIsLeftOpenExpires(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := lease.Eager(node(t, b.set, lease.Config{Nodes: 1}))
	id := b.reserve(l, 1000)
	b.expire(l, noon().Add(time.Second)) // long before the slice's deadline
	b.stands(10, 10)
	b.settle(l, 4, id)
	b.stands(4, 10)
}

func TestSliceThatWasDrawnAfterAll(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	failing := &shaky{Base: b.base, fault: 2}
	l := lease.Eager(node(t, store.Set{Ledger: failing}, lease.Config{Nodes: 1}))
	b.reserve(l, 1000)
	b.stands(0, 30)
	b.expire(l, noon())
	b.stands(0, 10)
}
