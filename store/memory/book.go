package memory

import (
	"errors"
	"math"
	"sync"

	"github.com/signalbox/signalbox/router"
)

var (
	errHold   = errors.New("memory: a hold needs lines, no two alike, and amounts of which the credit is at most the total")
	errBeyond = errors.New("memory: the hold is more than a line can count")
)

// book is what stands on the lines. Each method is one transaction.
type book struct {
	mu    sync.Mutex
	lines map[router.Line]*line
	round uint64 // of marking lines
}

type line struct {
	router.Balance

	round uint64 // in which the line was marked
}

// reserve gives a hold its lines, in the order in which they are asked for, and
// holds the amount on them.
func (b *book) reserve(h *hold, asked *router.Hold) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.find(h, asked.Lines) {
		return errHold
	}
	return h.add(asked, asked.Amount)
}

// raise adds what a hold is to have more; other lines are a conflict.
func (b *book) raise(old, again *hold, asked *router.Hold, added router.Amount) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.find(again, asked.Lines) || !b.same(again.lines, old.lines) {
		return router.ErrConflict
	}
	return again.add(asked, added)
}

// find gives a hold the lines named and reports whether no two are alike.
func (b *book) find(h *hold, names []router.Line) bool {
	b.round++
	for _, name := range names {
		on := b.lines[name]
		if on == nil {
			on = &line{}
			b.lines[name] = on
		}
		if on.round == b.round {
			return false
		}
		on.round = b.round
		h.lines = append(h.lines, on)
	}
	return true
}

// same reports whether two lists without doubles hold the same lines.
func (b *book) same(one, other []*line) bool {
	b.round++
	for _, on := range one {
		on.round = b.round
	}
	for _, on := range other {
		if on.round != b.round {
			return false
		}
	}
	return len(one) == len(other)
}

// add adds to what is held on the hold's lines, which are those of asked in the
// same order; unless a cap has no room for it: then it returns the refusal of
// the first.
func (h *hold) add(asked *router.Hold, amount router.Amount) error {
	for i := range asked.Caps {
		c := &asked.Caps[i]
		adds := amount.Of(c.BYOK)
		if adds <= 0 {
			continue
		}
		on := h.line(asked.Lines, c.Line)
		if on == nil {
			return errHold
		}
		if left := less(less(c.Max, on.Spent.Of(c.BYOK)), on.Held.Of(c.BYOK)); adds > left {
			return &router.LimitError{Cap: i, Left: left}
		}
	}
	for _, on := range h.lines {
		if on.Held.Total > math.MaxInt64-amount.Total {
			return errBeyond
		}
	}
	for _, on := range h.lines {
		on.Held = plus(on.Held, amount)
	}
	return nil
}

// line returns the line of a cap. They are few, and most differ in length or
// share their text, so that a search beats a hash.
func (h *hold) line(names []router.Line, name router.Line) *line {
	for i := range names {
		if names[i] == name {
			return h.lines[i]
		}
	}
	return nil
}

// settle counts a cost in place of what the hold left on its lines.
func (b *book) settle(h *hold, cost router.Amount) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, on := range h.lines {
		switch h.state {
		case open:
			on.Held = minus(on.Held, h.amount)
		case posted:
			on.Spent = minus(on.Spent, h.amount)
		case voided:
		}
		on.Spent = plus(on.Spent, cost)
	}
}

// close gives an open hold back, or counts it as spent.
func (b *book) close(h *hold, to state) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, on := range h.lines {
		on.Held = minus(on.Held, h.amount)
		if to == posted {
			on.Spent = plus(on.Spent, h.amount)
		}
	}
}

func (b *book) balances(names []router.Line) []router.Balance {
	list := make([]router.Balance, len(names))
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, name := range names {
		if on := b.lines[name]; on != nil {
			list[i] = on.Balance
		}
	}
	return list
}
