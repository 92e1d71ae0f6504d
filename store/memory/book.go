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

// book is what stands on the lines. Each method is one transaction. All that can
// be done without the lock is done before it is taken: every call waits for it.
type book struct {
	names names

	mu    sync.Mutex
	round uint64 // of marking lines
}

type line struct { // under the book's lock
	router.Balance

	round    uint64   // in which the line was marked
	versions [2]int64 // of its owner's limits, by kindOf; on lines for all time
	_        [8]byte  // fills a cache line, so that no two lines share one
}

// ever is the window of the lines that have versions.
const ever = "ever"

// kindOf says where a line has the version of an owner's record, or of what covers
// the owner.
func kindOf(cover bool) int {
	if cover {
		return 1
	}
	return 0
}

// outdate makes what was read of an owner's limits before v old.
func (b *book) outdate(v router.Version) {
	on := b.names.make(nil, []router.Line{v.Line})[0]
	b.mu.Lock()
	defer b.mu.Unlock()
	at := &on.versions[kindOf(v.Cover)]
	*at = max(*at, v.N)
}

// version returns that of the line's owner.
func (b *book) version(of router.Line, cover bool) int64 {
	on := b.names.find(nil, []router.Line{of})[0]
	if on == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return on.versions[kindOf(cover)]
}

// stale returns the refusal of limits that are old, or nil.
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

// reserve gives a hold its lines, in the order in which they are asked for, and
// holds the amount on them.
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

// raise adds what a hold is to have more; other lines are a conflict.
func (b *book) raise(old, again *hold, asked *router.Hold, added router.Amount) error {
	again.find(&b.names, asked)
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.mark(again.lines) || !b.same(again.lines, old.lines) {
		return router.ErrConflict
	}
	return again.add(asked, added)
}

// mark begins a round, marks lines and reports whether no two are alike.
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

// same reports whether two lists without doubles hold the same lines, of which
// the first was marked last.
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

// line returns the line of a cap, or nil. They are few, and most differ in
// length or share their text, so that a search beats a hash.
func (h *hold) line(names []router.Line, name router.Line) *line {
	for i := range names {
		if names[i] == name {
			return h.lines[i]
		}
	}
	return nil
}

// add adds to what is held on the hold's lines, unless a cap has no room for it:
// then it returns the refusal of the first.
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

// takeBack undoes what posting a hold has counted.
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
