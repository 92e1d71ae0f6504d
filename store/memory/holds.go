package memory

import (
	"sync"
	"time"

	"github.com/signalbox/signalbox/router"
)

// maxForgotten is how many closed holds one Reserve forgets. Two for each new one are
// enough for the number to fall, and no call is delayed by more.
const maxForgotten = 2

// table is one shard of the holds. The caller of its methods holds its lock, except of
// expire.
type table struct {
	mu      sync.Mutex
	records records
	holds   []*hold // by slot: holds that are not settled, and spare ones
	spare   []*hold // to reuse
	open    byDeadline
	now     time.Time // the latest instant passed to Expire
}

type state uint8

const (
	open state = iota
	voided
	posted // charged by expiry, at the amount held
)

// hold is a hold that is not settled. It has pointers to its lines, so that closing it
// needs no look-up.
type hold struct {
	slot     uint32 // index in the table's holds
	number   uint32 // of its record
	place    int    // index in the heap, while it is open
	state    state
	lines    []*line
	caps     []*line // lines of the caps, during reserve and raise
	amount   router.Amount
	deadline time.Time
	event    router.Event // to record if expiry charges the hold; none without an ID
}

// fresh returns a spare hold, or a new one.
func (t *table) fresh() *hold {
	last := len(t.spare) - 1
	if last < 0 {
		h := &hold{slot: uint32(len(t.holds))} //nolint:gosec // so many do not fit into memory
		t.holds = append(t.holds, h)
		return h
	}
	h := t.spare[last]
	t.spare = t.spare[:last]
	return h
}

// free makes a hold spare.
func (t *table) free(h *hold) {
	if h.event.ID != "" {
		h.event = router.Event{}
	}
	t.spare = append(t.spare, h)
}

// take inserts a hold, whose lines are set, as open.
func (t *table) take(h *hold, asked *router.Hold) {
	h.state, h.amount, h.deadline = open, asked.Amount, asked.Deadline
	if asked.Event.ID != "" {
		h.event = asked.Event
	}
	h.number = t.records.add(record{id: asked.ID, slot: h.slot, until: notClosed})
	t.open.push(h)
}

// raise raises an open hold to the amount asked for.
func (t *table) raise(b *book, old *hold, asked *router.Hold) error {
	if old.state != open {
		return router.ErrConflict
	}
	again := t.fresh()
	defer t.free(again)
	larger := old.amount.Max(asked.Amount)
	if err := b.raise(old, again, asked, minus(larger, old.amount)); err != nil {
		return err
	}
	old.amount = larger
	old.event = asked.Event
	if asked.Deadline.After(old.deadline) {
		t.open.remove(old)
		old.deadline = asked.Deadline
		t.open.push(old)
	}
	return nil
}

// close closes an open hold that may still be settled.
func (t *table) close(b *book, h *hold, to state) {
	b.close(h, to)
	h.state = to
	t.open.remove(h)
	t.records.at(h.number).close(h.deadline)
}

// settle removes a hold, charges its cost and records its events. It takes back the event
// that expiry recorded.
func (t *table) settle(b *book, a *activityStore, h *hold, cost router.Amount, events []router.Event) {
	corrects := h.state == posted && h.event.ID != ""
	if corrects || len(events) > 0 {
		a.settle(b, h, cost, corrects, events)
	} else {
		b.settle(h, cost)
	}
	r := t.records.at(h.number)
	if h.state == open {
		t.open.remove(h)
		r.close(h.deadline)
	}
	r.slot, r.cost = noSlot, cost
	t.free(h)
}

// expire closes at most limit holds, records the events of those that it charges, and
// forgets as many.
func (t *table) expire(b *book, a *activityStore, now time.Time, limit int, to state) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.After(t.now) {
		t.now = now
	}
	t.forget(limit)
	for n := range limit {
		h := t.open.first()
		if h == nil || !h.deadline.Before(now) {
			return n
		}
		if to == posted && h.event.ID != "" {
			t.post(b, a, h)
		} else {
			t.close(b, h, to)
		}
	}
	return max(limit, 0)
}

// post charges a hold at its amount and records its event. Readers see both or nothing.
func (t *table) post(b *book, a *activityStore, h *hold) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t.close(b, h, posted)
	e := h.event.Posted(h.amount)
	a.record(&e)
}

// forget drops at most limit holds that were closed long ago.
func (t *table) forget(limit int) {
	for range limit {
		r, found := t.records.pop(t.now)
		if !found {
			return
		}
		if r.slot != noSlot {
			t.free(t.holds[r.slot])
		}
	}
}
