package memory

import (
	"errors"
	"math"
	"sync"

	"github.com/signalbox/signalbox/router"
)

var (
	errHold   = errors.New("memory: a hold needs at least one line, no line twice, and 0 <= credit <= total")
	errBeyond = errors.New("memory: the sum held on a line would exceed the largest USD")
)

// book is the balances of all lines. Each method is one transaction. Work that needs no
// lock is done before, because every call waits for this one.
type book struct {
	names names

	mu    sync.Mutex
	round uint64 // counts calls of mark
}

type line struct { // guarded by the book's lock
	router.Balance

	round    uint64   // the last round that marked the line
	versions [2]int64 // of the owner's limits, by kindOf; only on lines of the window ever
	_        [8]byte  // pads the line to a cache line
}

// ever is the window of the lines that have versions.
const ever = "ever"

// kindOf returns the index of the version of what covers an owner, or of its record.
func kindOf(cover bool) int {
	if cover {
		return 1
	}
	return 0
}

// outdate raises a version, so that holds that state an older one are refused.
func (b *book) outdate(v router.Version) {
	on := b.names.make(nil, []router.Line{v.Line})[0]
	b.mu.Lock()
	defer b.mu.Unlock()
	at := &on.versions[kindOf(v.Cover)]
	*at = max(*at, v.N)
}

// version returns the version of a line's owner.
func (b *book) version(of router.Line, cover bool) int64 {
	on := b.names.find(nil, []router.Line{of})[0]
	if on == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return on.versions[kindOf(cover)]
}

// stale returns a [router.StaleError] if asked states older versions, or nil.
func (h *hold) stale(asked *router.Hold) error {
	var old []int
	for i := range asked.Versions {
		v := &asked.Versions[i]
		if on := h.line(asked.Lines, v.Line); on != nil && on.versions[kindOf(v.Cover)] > v.N {
			old = append(old, i)
		}
	}
	if old == nil {
		return nil
	}
	return &router.StaleError{Versions: old}
}

// reserve sets a hold's lines, in the order of asked, and holds the amount on them.
func (b *book) reserve(h *hold, asked *router.Hold) error {
	h.find(&b.names, asked)
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.mark(h.lines) {
		return errHold
	}
	if len(asked.Versions) > 0 {
		if err := h.stale(asked); err != nil {
			return err
		}
	}
	return h.add(asked, asked.Amount)
}

// raise holds an additional amount. If the lines differ, it returns [router.ErrConflict].
func (b *book) raise(old, again *hold, asked *router.Hold, added router.Amount) error {
	again.find(&b.names, asked)
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.mark(again.lines) || !b.same(again.lines, old.lines) {
		return router.ErrConflict
	}
	return again.add(asked, added)
}

// mark begins a round, marks lines, and reports whether they are all different.
func (b *book) mark(lines []*line) bool {
	b.round++
	for _, on := range lines {
		if on.round == b.round {
			return false
		}
		on.round = b.round
	}
	return true
}

// same reports whether two lists have the same lines. Neither may have duplicates, and the
// first must be the one that was marked last.
func (b *book) same(marked, other []*line) bool {
	for _, on := range other {
		if on.round != b.round {
			return false
		}
	}
	return len(marked) == len(other)
}

// find looks up the hold's lines and those of its caps.
func (h *hold) find(n *names, asked *router.Hold) {
	h.lines = n.make(h.lines[:0], asked.Lines)
	h.caps = h.caps[:0]
	for i := range asked.Caps {
		h.caps = append(h.caps, h.line(asked.Lines, asked.Caps[i].Line))
	}
}

// line returns the line of a cap, or nil. A linear search beats a hash: there are few lines,
// and most names differ in length or share their text.
func (h *hold) line(names []router.Line, name router.Line) *line {
	for i := range names {
		if names[i] == name {
			return h.lines[i]
		}
	}
	return nil
}

// add adds an amount to what is held on the hold's lines, or returns the refusal of the
// first cap without room.
func (h *hold) add(asked *router.Hold, amount router.Amount) error {
	for i, on := range h.caps {
		c := &asked.Caps[i]
		adds := amount.Of(c.BYOK)
		if adds <= 0 {
			continue
		}
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

// settle replaces what the hold has on its lines by cost.
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

// close releases an open hold, or charges it.
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

// takeBack undoes the charge of a hold that expired.
func (b *book) takeBack(h *hold) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, on := range h.lines {
		on.Spent = minus(on.Spent, h.amount)
	}
}

func (b *book) balances(names []router.Line) []router.Balance {
	lines := b.names.find(make([]*line, 0, len(names)), names)
	list := make([]router.Balance, len(names))
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, on := range lines {
		if on != nil {
			list[i] = on.Balance
		}
	}
	return list
}
