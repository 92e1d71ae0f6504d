package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

func testRecorder(t *testing.T, open Open) {
	t.Helper()
	if set := open(t); !records(set) {
		t.Skip("the Ledger is no Recorder, or there is no Activity")
	}
	for name, test := range map[string]func(*registry){
		"a settlement records its events":                               (*registry).settles,
		"with an error no event is recorded":                            (*registry).errors,
		"without an error all events are recorded":                      (*registry).recordsLater,
		"the same settlement again is a no-op":                          (*registry).again,
		"an event that was recorded before adds nothing, by any method": (*registry).byID,
		"expiry records what it posts":                                  (*registry).expires,
		"expiry records each hold of a batch":                           (*registry).expiresMany,
		"expiry that voids records nothing":                             (*registry).voids,
		"a hold whose event has no id records nothing":                  (*registry).nameless,
		"a late settlement corrects what was posted":                    (*registry).corrects,
		"a late settlement without events corrects as well":             (*registry).correctsAlone,
		"a late void takes back what was posted":                        (*registry).voidsLate,
		"the event is that of the latest reserve":                       (*registry).latest,
		"a refused reserve leaves the event as it was":                  (*registry).refusedLatest,
		"a hold that is given back records nothing":                     (*registry).givenBack,
		"it records to its own store only":                              (*registry).identity,
		"methods honour their context":                                  (*registry).contextOver,
		"concurrent calls record each event once":                       (*registry).rivalRecords,
		"concurrent readers see both or neither":                        (*registry).rivalReaders,
		"an event that cannot be stored fails alone":                    (*registry).rivalNonsense,
	} {
		t.Run(name, func(t *testing.T) {
			set := open(t)
			recorder, ok := set.Ledger.(router.Recorder)
			require.True(t, ok)
			test(&registry{books: books{t: t, Ledger: set.Ledger}, Recorder: recorder, shown: set.Activity})
		})
	}
	t.Run("in random histories events add up to what is spent", func(t *testing.T) { recorderHistories(t, open) })
}

// records reports whether a set's ledger records to the set's activity.
func records(set store.Set) bool {
	_, ok := set.Ledger.(router.Recorder)
	return ok && set.Activity != nil
}

// registry is an empty recorder, and the store that shows what it records.
type registry struct {
	books
	router.Recorder

	shown activity.Store
}

// used returns an event of acme with a cost.
func used(id string, credit, total router.USD) router.Event {
	e := activityEvent(id, "2026-11-20", router.Principal{Workspace: "w", KeyHash: "k", Member: "ann"})
	e.Cost, e.Reason = amount(credit, total), router.LegFirst
	return e
}

// onHold returns the event of a hold that expires. It has another endpoint and
// another reason.
func onHold(id string) router.Event {
	e := used(id, 0, 0)
	e.Endpoint, e.Prompt, e.Completion, e.Reasoning, e.Cached = uuid.UUID{2}, 0, 0, 0, 0
	e.Reason = router.LegEscalated
	return e
}

// holding reserves an amount with the event that its expiry records.
func (r *registry) holding(credit, total router.USD, e router.Event) uuid.UUID {
	r.t.Helper()
	h := r.hold(credit, total)
	h.Event = e
	return r.reserve(h)
}

func (r *registry) settleWith(id uuid.UUID, cost router.Amount, events ...router.Event) {
	r.t.Helper()
	require.NoError(r.t, r.SettleWith(r.t.Context(), id, cost, events))
}

// expireAll expires all open holds and requires their number.
func (r *registry) expireAll(policy router.Expiry, want int) {
	r.t.Helper()
	n, err := r.Expire(r.t.Context(), noon().Add(time.Hour), 100, policy)
	require.NoError(r.t, err)
	assert.Equal(r.t, want, n)
}

// shows requires that exactly these events are recorded, by account, by key and by member.
func (r *registry) shows(events ...router.Event) {
	r.t.Helper()
	for _, of := range []activity.Range{{}, {KeyHash: "k"}, {Member: "ann"}} {
		of.Account, of.From, of.To = "acme", "2026-11-01", "2026-11-30"
		assert.Equal(r.t, sumsOf(events), sumsIn(r.t, r.shown, of), of)
	}
}

func (r *registry) settles() {
	r.settleWith(r.reserve(r.hold(9, 9)), amount(3, 7), used("a/0", 1, 5), used("a/1", 2, 2))
	r.stands(amount(3, 7), amount(0, 0))
	r.shows(used("a/0", 1, 5), used("a/1", 2, 2))
}

func (r *registry) errors() {
	id := r.reserve(r.hold(9, 9))
	r.settle(id, amount(3, 3))
	require.ErrorIs(r.t, r.SettleWith(r.t.Context(), id, amount(4, 4), []router.Event{used("a/0", 4, 4)}), router.ErrConflict)
	require.ErrorIs(r.t, r.SettleWith(r.t.Context(), uuid.UUID{9}, amount(4, 4), []router.Event{used("b/0", 4, 4)}), router.ErrNoHold)
	r.shows()
	r.stands(amount(3, 3), amount(0, 0))
}

func (r *registry) recordsLater() {
	id := r.reserve(r.hold(9, 9))
	r.settle(id, amount(3, 3))
	r.shows()
	r.settleWith(id, amount(3, 3), used("a/0", 3, 3))
	r.shows(used("a/0", 3, 3))
	r.stands(amount(3, 3), amount(0, 0))
}

func (r *registry) again() {
	id := r.reserve(r.hold(9, 9))
	for range 2 {
		r.settleWith(id, amount(3, 3), used("a/0", 1, 1), used("a/1", 2, 2))
	}
	r.shows(used("a/0", 1, 1), used("a/1", 2, 2))
	r.stands(amount(3, 3), amount(0, 0))
}

func (r *registry) byID() {
	e := used("a/0", 3, 3)
	require.NoError(r.t, r.shown.Record(r.t.Context(), []router.Event{e}))
	r.settleWith(r.reserve(r.hold(9, 9)), amount(3, 3), e, e)
	require.NoError(r.t, r.shown.Record(r.t.Context(), []router.Event{e}))
	r.shows(e)
	r.settleWith(r.reserve(r.hold(9, 9)), amount(3, 3), e, used("b/0", 3, 3))
	r.shows(e, used("b/0", 3, 3))
}

func (r *registry) expires() {
	e := onHold("a/held")
	e.Cost = amount(100, 100) // ignored
	r.holding(3, 4, e)
	r.shows()
	r.expireAll(router.ExpirePost, 1)
	r.stands(amount(3, 4), amount(0, 0))
	r.shows(e.Posted(amount(3, 4)))
	r.expireAll(router.ExpirePost, 0)
	r.shows(e.Posted(amount(3, 4)))
}

func (r *registry) expiresMany() {
	r.holding(1, 1, onHold("a/held"))
	r.reserve(r.hold(2, 2))
	r.holding(3, 4, onHold("c/held"))
	r.expireAll(router.ExpirePost, 3)
	r.stands(amount(6, 7), amount(0, 0))
	r.shows(onHold("a/held").Posted(amount(1, 1)), onHold("c/held").Posted(amount(3, 4)))
}

func (r *registry) voids() {
	id := r.holding(3, 4, onHold("a/held"))
	r.expireAll(router.ExpireVoid, 1)
	r.shows()
	r.settleWith(id, amount(1, 1), used("a/0", 1, 1))
	r.shows(used("a/0", 1, 1))
	r.stands(amount(1, 1), amount(0, 0))
}

func (r *registry) nameless() {
	id := r.holding(3, 4, onHold(""))
	r.expireAll(router.ExpirePost, 1)
	r.shows()
	r.settleWith(id, amount(1, 1), used("a/0", 1, 1))
	r.shows(used("a/0", 1, 1))
}

func (r *registry) corrects() {
	id := r.holding(3, 4, onHold("a/held"))
	r.expireAll(router.ExpirePost, 1)
	posted := onHold("a/held").Posted(amount(3, 4))
	for range 2 {
		r.settleWith(id, amount(1, 2), used("a/0", 1, 2))
		r.stands(amount(1, 2), amount(0, 0))
		r.shows(posted, posted.Corrected(), used("a/0", 1, 2))
	}
	require.NoError(r.t, r.shown.Record(r.t.Context(), []router.Event{posted, posted.Corrected()}))
	r.shows(used("a/0", 1, 2))
}

func (r *registry) correctsAlone() {
	id := r.holding(3, 4, onHold("a/held"))
	r.expireAll(router.ExpirePost, 1)
	r.settle(id, amount(1, 2))
	r.stands(amount(1, 2), amount(0, 0))
	r.shows()
}

func (r *registry) voidsLate() {
	id := r.holding(3, 4, onHold("a/held"))
	r.expireAll(router.ExpirePost, 1)
	posted := onHold("a/held").Posted(amount(3, 4))
	for range 2 {
		require.NoError(r.t, r.Void(r.t.Context(), id))
		r.stands(amount(0, 0), amount(0, 0))
		r.shows()
	}
	require.NoError(r.t, r.shown.Record(r.t.Context(), []router.Event{posted, posted.Corrected()}))
	r.shows()
	r.settleWith(id, amount(1, 2), used("a/0", 1, 2))
	r.stands(amount(1, 2), amount(0, 0))
	r.shows(used("a/0", 1, 2))
}

func (r *registry) latest() {
	h := r.hold(3, 4)
	h.Event = onHold("a/held")
	r.reserve(h)
	h.Amount, h.Event.Endpoint, h.Event.Provider = amount(5, 5), uuid.UUID{3}, "Bee"
	r.reserve(h)
	h.Event.Provider = "Cat Labs"
	r.reserve(h)
	r.expireAll(router.ExpirePost, 1)
	r.shows(h.Event.Posted(amount(5, 5)))
}

func (r *registry) refusedLatest() {
	h := r.hold(3, 3, capOn("a", 5))
	h.Event = onHold("a/held")
	r.reserve(h)
	other := h
	other.Amount, other.Event = amount(6, 6), onHold("b/held")
	r.refused(other, 0, 2)
	other.Amount, other.Lines = amount(3, 3), other.Lines[:1]
	require.ErrorIs(r.t, r.Reserve(r.t.Context(), other), router.ErrConflict)
	r.expireAll(router.ExpirePost, 1)
	r.shows(h.Event.Posted(amount(3, 3)))
	require.NoError(r.t, r.shown.Record(r.t.Context(), []router.Event{h.Event}))
	r.shows(h.Event.Posted(amount(3, 3)))
}

func (r *registry) givenBack() {
	id := r.holding(3, 4, onHold("a/held"))
	require.NoError(r.t, r.Void(r.t.Context(), id))
	r.expireAll(router.ExpirePost, 0)
	r.shows()
	r.settleWith(id, amount(1, 1), used("a/0", 1, 1))
	r.shows(used("a/0", 1, 1))
}

func (r *registry) identity() {
	assert.True(r.t, r.RecordsTo(r.shown))
	assert.False(r.t, r.RecordsTo(struct{ activity.Store }{r.shown}), "a store that wraps it")
	assert.False(r.t, r.RecordsTo(nil))
	assert.False(r.t, r.RecordsTo(r.Ledger))
}

func (r *registry) contextOver() {
	ctx, cancel := context.WithCancel(r.t.Context())
	id := r.reserve(r.hold(3, 3))
	cancel()
	require.ErrorIs(r.t, r.SettleWith(ctx, id, amount(1, 1), []router.Event{used("a/0", 1, 1)}), context.Canceled)
	r.shows()
	r.stands(amount(0, 0), amount(3, 3))
}
