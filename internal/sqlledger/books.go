package sqlledger

import (
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// state is the state of a hold. The numbers are stored.
type state int64

const (
	open    state = 0
	voided  state = 1
	posted  state = 2 // charged by expiry, at the amount held
	settled state = 3
)

// hold is a row of {holds}. In the state settled, amount is the cost.
type hold struct {
	id       uuid.UUID
	state    state
	lines    []int64 // sorted
	amount   router.Amount
	deadline time.Time
	event    router.Event

	fresh, changed bool
}

// account is a row of {lines}.
type account struct {
	router.Balance

	versions versions // read, never written
	changed  bool
	gone     bool // the row was pruned; see standIn
}

// books are the rows that a batch touches, with the laws of [router.Ledger]. They
// are plain data: no method waits or fails.
type books struct {
	lines  map[int64]*account
	holds  map[uuid.UUID]*hold
	events []router.Event                // to record
	claims map[router.ReplyKey]uuid.UUID // the hold that owns each claim
	kept   [][]any                       // replies to store
}

// reserve adds the amount of asked to the lines with these ids, which are in the
// order of asked.Lines.
func (b *books) reserve(asked *router.Hold, ids []int64) error {
	sorted := slices.Sorted(slices.Values(ids))
	h := b.holds[asked.ID]
	if h == nil {
		if err := b.stale(asked, ids); err != nil {
			return err
		}
		h = &hold{id: asked.ID, lines: sorted, deadline: asked.Deadline, fresh: true}
	} else if h.state != open || !slices.Equal(h.lines, sorted) {
		return router.ErrConflict
	}
	larger := h.amount.Max(asked.Amount)
	added := minus(larger, h.amount)
	if err := b.fits(asked, ids, added); err != nil {
		return err
	}
	b.add(h, router.Amount{}, added)
	h.amount, h.event, h.changed = larger, asked.Event, true
	if asked.Deadline.After(h.deadline) {
		h.deadline = asked.Deadline
	}
	b.holds[h.id] = h
	return nil
}

// fits returns the refusal of the first cap without room for added, or nil.
func (b *books) fits(asked *router.Hold, ids []int64, added router.Amount) error {
	for i, c := range asked.Caps {
		adds := added.Of(c.BYOK)
		if adds <= 0 {
			continue
		}
		at := slices.Index(asked.Lines, c.Line)
		if at < 0 {
			return errHold
		}
		on := b.lines[ids[at]]
		if left := less(less(c.Max, on.Spent.Of(c.BYOK)), on.Held.Of(c.BYOK)); adds > left {
			return &router.LimitError{Cap: i, Left: left}
		}
	}
	for _, id := range ids {
		if b.lines[id].Held.Total > math.MaxInt64-added.Total {
			return errBeyond
		}
	}
	return nil
}

// settle replaces what the hold has on its lines by cost.
func (b *books) settle(id uuid.UUID, cost router.Amount, events []router.Event) error {
	h := b.holds[id]
	switch {
	case h == nil:
		return router.ErrNoHold
	case h.state == settled && h.amount != cost:
		return router.ErrConflict
	case h.state == open:
		b.add(h, cost, minus(router.Amount{}, h.amount))
	case h.state == voided:
		b.add(h, cost, router.Amount{})
	case h.state == posted:
		b.takeBack(h)
		b.add(h, cost, router.Amount{})
	}
	b.events = append(b.events, events...)
	h.changed = h.changed || h.state != settled
	h.state, h.amount = settled, cost
	return nil
}

// void releases an open hold, or takes back what expiry charged.
func (b *books) void(id uuid.UUID) {
	h := b.holds[id]
	switch {
	case h == nil:
		return
	case h.state == open:
		b.add(h, router.Amount{}, minus(router.Amount{}, h.amount))
	case h.state == posted:
		b.takeBack(h)
	default:
		return
	}
	h.state, h.changed = voided, true
}

// takeBack undoes what expiry charged and recorded for a hold.
func (b *books) takeBack(h *hold) {
	b.add(h, minus(router.Amount{}, h.amount), router.Amount{})
	if h.event.ID != "" {
		b.events = append(b.events, h.event.Posted(h.amount).Corrected())
	}
}

// expire closes an open hold past its deadline and reports whether it did.
func (b *books) expire(id uuid.UUID, now time.Time, policy router.Expiry) bool {
	h := b.holds[id]
	if h == nil || h.state != open || !h.deadline.Before(now) {
		return false
	}
	if policy == router.ExpireVoid {
		b.void(id)
		return true
	}
	b.add(h, h.amount, minus(router.Amount{}, h.amount))
	h.state, h.changed = posted, true
	if h.event.ID != "" {
		b.events = append(b.events, h.event.Posted(h.amount))
	}
	return true
}

// expired reports whether a hold is in the state in which expiry leaves it.
func (b *books) expired(id uuid.UUID, policy router.Expiry) bool {
	h := b.holds[id]
	return h != nil && (policy == router.ExpireVoid && h.state == voided || policy != router.ExpireVoid && h.state == posted)
}

// add adds amounts to all lines of a hold.
func (b *books) add(h *hold, spent, held router.Amount) {
	for _, id := range h.lines {
		on := b.lines[id]
		on.Spent, on.Held, on.changed = plus(on.Spent, spent), plus(on.Held, held), true
	}
}

func plus(a, b router.Amount) router.Amount {
	return router.Amount{Credit: more(a.Credit, b.Credit), Total: more(a.Total, b.Total)}
}

func minus(a, b router.Amount) router.Amount {
	return router.Amount{Credit: a.Credit - b.Credit, Total: a.Total - b.Total}
}

// more returns a + b, at most the largest USD.
func more(a, b router.USD) router.USD {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// less returns a - b for b >= 0, at least the smallest USD.
func less(a, b router.USD) router.USD {
	if a < math.MinInt64+b {
		return math.MinInt64
	}
	return a - b
}
