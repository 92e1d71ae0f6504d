package memory

import (
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// maxForgotten is how many closed holds one Reserve forgets on the way: they
// become fewer faster than they become more, and no call waits for it.
const maxForgotten = 2

// table is a part of the holds. Its methods want it locked, but for expire.
type table struct {
	mu      sync.Mutex
	holds   map[uuid.UUID]*hold // that are not settled
	open    byDeadline
	settled map[uuid.UUID]router.Amount // without pointers: there are many
	closed  closedHolds                 // in the order of closing
	now     time.Time                   // the latest instant that Expire was told
	spare   []*hold                     // to be used again
}

type state uint8

const (
	open state = iota
	voided
	posted // by expiry, at the amount held
)

// hold keeps pointers to its lines, so that closing it looks none of them up.
type hold struct {
	id       uuid.UUID
	state    state
	place    int // in the heap, while open
	lines    []*line
	amount   router.Amount
	deadline time.Time
	event    *router.Event // recorded when expiry posts it, or nil
}

// fresh returns a hold without lines.
func (t *table) fresh() *hold {
	last := len(t.spare) - 1
	if last < 0 {
		return &hold{}
	}
	h := t.spare[last]
	t.spare = t.spare[:last]
	*h = hold{lines: h.lines[:0]}
	return h
}

// remember keeps what is recorded of the hold.
func (h *hold) remember(e *router.Event) {
	h.event = nil
	if e.ID != "" {
		h.event = new(*e)
	}
}

// raise makes an open hold as large as asked.
func (t *table) raise(b *book, old *hold, asked *router.Hold) error {
	if old.state != open {
		return router.ErrConflict
	}
	again := t.fresh()
	defer func() { t.spare = append(t.spare, again) }()
	larger := old.amount.Max(asked.Amount)
	if err := b.raise(old, again, asked, minus(larger, old.amount)); err != nil {
		return err
	}
	old.amount = larger
	old.remember(&asked.Event)
	if asked.Deadline.After(old.deadline) {
		t.open.remove(old)
		old.deadline = asked.Deadline
		t.open.push(old)
	}
	return nil
}

func (t *table) settleAgain(id uuid.UUID, cost router.Amount) error {
	switch before, known := t.settled[id]; {
	case !known:
		return router.ErrNoHold
	case before != cost:
		return router.ErrConflict
	}
	return nil
}

// close ends an open hold that may still be settled.
func (t *table) close(b *book, h *hold, to state) {
	b.close(h, to)
	h.state = to
	t.open.remove(h)
	t.closed.push(h)
}

// expire closes at most limit holds, records those that it posts, and forgets as
// many.
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
		t.close(b, h, to)
		if to == posted && h.event != nil {
			a.add(h.event.Posted(h.amount))
		}
	}
	return max(limit, 0)
}

// forget drops closed holds that nobody may ask for any more, at most limit.
func (t *table) forget(limit int) {
	for range limit {
		id, found := t.closed.pop(t.now)
		if !found {
			return
		}
		delete(t.holds, id)
		delete(t.settled, id)
	}
}
