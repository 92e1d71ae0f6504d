package storetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/lease"
)

// testParts tests what a [lease.Base] promises beyond a recorder.
func testParts(t *testing.T, open Open) {
	t.Helper()
	set := open(t)
	if _, ok := set.Ledger.(lease.Base); !ok || set.Activity == nil {
		t.Skip("the Ledger is no lease.Base, or there is no Activity")
	}
	for name, test := range map[string]func(*parts){
		"a part is a hold of its own":                           (*parts).splits,
		"a part is not checked against caps":                    (*parts).asksNoCap,
		"a part is at most what is there":                       (*parts).atMost,
		"what stays has no more credit than total":              (*parts).creditWithinTotal,
		"a part expires at its own deadline with its own event": (*parts).ownDeadline,
		"a part of a posted hold is posted":                     (*parts).ofPosted,
		"a part of a posted hold without an event has none":     (*parts).ofPostedNameless,
		"a part of a voided hold is closed":                     (*parts).ofVoided,
		"a part of a settled hold is closed":                    (*parts).ofSettled,
		"a hold that is there stays as it is":                   (*parts).twice,
		"a part of an unknown hold is no hold":                  (*parts).ofUnknown,
		"a part settles at once, with its events":               (*parts).settlesPart,
		"a part settles twice at one cost only":                 (*parts).settlesTwice,
		"a part above its whole is recorded in full":            (*parts).overWhole,
		"amounts that no hold may have are refused":             (*parts).oddAmounts,
		"parts honour their context":                            (*parts).partContext,
		"concurrent calls settle parts of one hold":             (*parts).rivalParts,
	} {
		t.Run(name, func(t *testing.T) {
			set := open(t)
			base, ok := set.Ledger.(lease.Base)
			require.True(t, ok)
			test(&parts{Base: base, registry: &registry{books: books{t: t, Ledger: base}, Recorder: base, shown: set.Activity}})
		})
	}
	t.Run("settling a part equals splitting it off and settling it", func(t *testing.T) { partHistories(t, open) })
}

// parts is an empty base under test.
type parts struct {
	lease.Base

	*registry
}

// of splits a part off a hold.
func (p *parts) of(whole uuid.UUID, credit, total router.USD) uuid.UUID {
	p.t.Helper()
	part := p.hold(credit, total)
	require.NoError(p.t, p.Split(p.t.Context(), whole, part))
	return part.ID
}

func (p *parts) spend(whole uuid.UUID, part router.Hold, cost router.Amount, events ...router.Event) {
	p.t.Helper()
	require.NoError(p.t, p.SettlePart(p.t.Context(), whole, part, cost, events))
}

func (p *parts) giveBack(id uuid.UUID) {
	p.t.Helper()
	require.NoError(p.t, p.Void(p.t.Context(), id))
}

func (p *parts) splits() {
	whole := p.reserve(p.hold(6, 9))
	part := p.of(whole, 2, 3)
	p.stands(amount(0, 0), amount(6, 9))
	p.settle(part, amount(1, 1))
	p.stands(amount(1, 1), amount(4, 6))
	p.settle(whole, amount(0, 0))
	p.stands(amount(1, 1), amount(0, 0))
}

func (p *parts) asksNoCap() {
	whole := p.reserve(p.hold(6, 6, capOn("a", 6)))
	part := p.hold(5, 5, capOn("a", 1))
	part.Lines = nil
	require.NoError(p.t, p.Split(p.t.Context(), whole, part))
	p.stands(amount(0, 0), amount(6, 6))
	p.refused(p.hold(1, 1, capOn("a", 6)), 0, 0)
}

func (p *parts) atMost() {
	whole := p.reserve(p.hold(3, 4))
	part := p.of(whole, 5, 6)
	p.stands(amount(0, 0), amount(3, 4))
	p.giveBack(part)
	p.stands(amount(0, 0), amount(0, 0))
	p.giveBack(p.of(whole, 1, 1))
	p.stands(amount(0, 0), amount(0, 0))
}

func (p *parts) creditWithinTotal() {
	whole := p.reserve(p.hold(9, 10))
	part := p.of(whole, 0, 4) // the 6 that stay may be credit
	p.giveBack(part)
	p.stands(amount(0, 0), amount(6, 6))
	p.giveBack(whole)
	p.stands(amount(0, 0), amount(0, 0))
}

func (p *parts) ownDeadline() {
	h := p.hold(9, 9)
	h.Deadline, h.Event = noon().Add(2*time.Hour), onHold("whole/held")
	whole := p.reserve(h)
	part := p.hold(4, 4)
	part.Event = onHold("a/held")
	require.NoError(p.t, p.Split(p.t.Context(), whole, part))
	p.expireAll(router.ExpirePost, 1)
	p.stands(amount(4, 4), amount(5, 5))
	p.shows(part.Event.Posted(amount(4, 4)))
	p.settle(part.ID, amount(1, 1))
	p.shows()
}

func (p *parts) posted() (whole uuid.UUID, of router.Event) {
	p.t.Helper()
	e := onHold("whole/held")
	whole = p.holding(9, 9, e)
	p.expireAll(router.ExpirePost, 1)
	return whole, e.Posted(amount(9, 9))
}

func (p *parts) ofPosted() {
	whole, event := p.posted()
	part := p.hold(4, 4)
	part.Event = onHold("a/held")
	require.NoError(p.t, p.Split(p.t.Context(), whole, part))
	p.stands(amount(9, 9), amount(0, 0))
	p.shows(event)
	for range 2 {
		p.spend(whole, part, amount(1, 1), used("a/0", 1, 1))
		p.stands(amount(6, 6), amount(0, 0))
		left := event
		left.Cost = amount(5, 5)
		p.shows(left, used("a/0", 1, 1))
	}
	p.settle(whole, amount(0, 0))
	p.stands(amount(1, 1), amount(0, 0))
	p.shows(used("a/0", 1, 1))
}

func (p *parts) ofPostedNameless() {
	whole := p.reserve(p.hold(9, 9))
	p.expireAll(router.ExpirePost, 1)
	part := p.hold(4, 4)
	part.Event = onHold("a/held")
	p.spend(whole, part, amount(1, 1), used("a/0", 1, 1))
	p.stands(amount(6, 6), amount(0, 0))
	p.shows(used("a/0", 1, 1))
}

func (p *parts) ofVoided() {
	whole := p.reserve(p.hold(9, 9))
	p.giveBack(whole)
	part := p.hold(4, 4)
	require.NoError(p.t, p.Split(p.t.Context(), whole, part))
	p.stands(amount(0, 0), amount(0, 0))
	require.ErrorIs(p.t, p.Reserve(p.t.Context(), part), router.ErrConflict)
	p.settle(part.ID, amount(1, 1))
	p.stands(amount(1, 1), amount(0, 0))
}

func (p *parts) ofSettled() {
	whole := p.reserve(p.hold(9, 9))
	p.settle(whole, amount(2, 2))
	p.spend(whole, p.hold(4, 4), amount(1, 1), used("a/0", 1, 1))
	p.stands(amount(3, 3), amount(0, 0))
	p.settle(whole, amount(2, 2))
	p.shows(used("a/0", 1, 1))
}

func (p *parts) twice() {
	whole := p.reserve(p.hold(9, 9))
	part := p.hold(4, 4)
	for range 2 {
		require.NoError(p.t, p.Split(p.t.Context(), whole, part))
	}
	part.Amount = amount(6, 6)
	require.NoError(p.t, p.Split(p.t.Context(), whole, part))
	p.giveBack(part.ID)
	p.stands(amount(0, 0), amount(5, 5))
	other := p.reserve(p.hold(1, 1))
	require.NoError(p.t, p.Split(p.t.Context(), whole, router.Hold{ID: other, Amount: amount(3, 3)}))
	p.giveBack(other)
	p.stands(amount(0, 0), amount(5, 5))
}

func (p *parts) ofUnknown() {
	part := p.hold(4, 4)
	require.ErrorIs(p.t, p.Split(p.t.Context(), uuid.UUID{9}, part), router.ErrNoHold)
	require.ErrorIs(p.t, p.SettlePart(p.t.Context(), uuid.UUID{9}, part, amount(1, 1), []router.Event{used("a/0", 1, 1)}),
		router.ErrNoHold)
	p.stands(amount(0, 0), amount(0, 0))
	p.shows()
}

func (p *parts) settlesPart() {
	whole := p.reserve(p.hold(9, 9))
	p.spend(whole, p.hold(4, 4), amount(1, 3), used("a/0", 1, 3))
	p.stands(amount(1, 3), amount(5, 5))
	p.shows(used("a/0", 1, 3))
}

func (p *parts) settlesTwice() {
	whole := p.reserve(p.hold(9, 9))
	part := p.hold(4, 4)
	for range 2 {
		p.spend(whole, part, amount(1, 3), used("a/0", 1, 3))
	}
	require.ErrorIs(p.t, p.SettlePart(p.t.Context(), whole, part, amount(2, 3), []router.Event{used("a/1", 2, 3)}), router.ErrConflict)
	p.stands(amount(1, 3), amount(5, 5))
	p.shows(used("a/0", 1, 3))
}

func (p *parts) overWhole() {
	whole := p.reserve(p.hold(2, 2))
	p.spend(whole, p.hold(4, 4), amount(7, 7), used("a/0", 7, 7))
	p.stands(amount(7, 7), amount(0, 0))
	p.spend(whole, p.hold(4, 4), amount(1, 1), used("b/0", 1, 1))
	p.stands(amount(8, 8), amount(0, 0))
}

func (p *parts) oddAmounts() {
	whole := p.reserve(p.hold(9, 9))
	for _, odd := range []router.Amount{amount(-1, 1), amount(-2, -1), amount(2, 1)} {
		require.Error(p.t, p.Split(p.t.Context(), whole, router.Hold{ID: uuid.UUID{1}, Amount: odd}), odd)
	}
	p.stands(amount(0, 0), amount(9, 9))
}

func (p *parts) partContext() {
	whole := p.reserve(p.hold(9, 9))
	ctx, cancel := context.WithCancel(p.t.Context())
	cancel()
	require.ErrorIs(p.t, p.Split(ctx, whole, p.hold(1, 1)), context.Canceled)
	require.ErrorIs(p.t, p.SettlePart(ctx, whole, p.hold(1, 1), amount(1, 1), nil), context.Canceled)
	p.stands(amount(0, 0), amount(9, 9))
}

func (p *parts) rivalParts() {
	whole := p.reserve(p.hold(40, 40))
	var wg sync.WaitGroup
	for range 16 {
		part := p.hold(2, 2)
		for range 2 {
			wg.Go(func() { assert.NoError(p.t, p.SettlePart(p.t.Context(), whole, part, amount(1, 1), nil)) })
		}
	}
	wg.Wait()
	p.stands(amount(16, 16), amount(8, 8))
}
