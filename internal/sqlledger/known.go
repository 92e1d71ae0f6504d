package sqlledger

import (
	"errors"
	"sync"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

const (
	knownHolds = 100_000 // open holds that are remembered: some forty million bytes
	knownTight = 10_000  // lines without room that are remembered
)

// knownHold is an open hold as this process left it.
type knownHold struct {
	lines  []int64 // sorted; they never change
	amount router.Amount
}

// known is what a process remembers, so that it need not read it. It is a guess:
// another process may have changed it since. The zero value knows nothing.
type known struct {
	mu    sync.Mutex
	holds map[uuid.UUID]knownHold // those that this process has open
	tight map[router.Line]bool    // lines that had no room the last time
}

// learn remembers what became of the rows of a batch, which is committed.
func (k *known) learn(b *books, batch []*operation) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, h := range b.holds {
		if h.state == open {
			k.keep(id, knownHold{lines: h.lines, amount: h.amount})
		} else {
			delete(k.holds, id)
		}
	}
	for _, o := range batch {
		if o.asked != nil {
			k.learnRefusal(o)
		}
	}
}

// learnRefusal remembers which lines refuse.
func (k *known) learnRefusal(o *operation) {
	if o.err == nil {
		for _, c := range o.asked.Caps {
			delete(k.tight, c.Line)
		}
		return
	}
	if refusal, ok := errors.AsType[*router.LimitError](o.err); ok {
		if k.tight == nil || len(k.tight) >= knownTight {
			k.tight = make(map[router.Line]bool)
		}
		k.tight[o.asked.Caps[refusal.Cap].Line] = true
	}
}

// learnFast remembers what a fast batch did, which is committed.
func (k *known) learnFast(s *fastPath) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, h := range s.opened {
		k.keep(id, h)
	}
	for _, id := range s.gone {
		delete(k.holds, id)
	}
	for id, of := range s.taken {
		if h, ok := k.holds[id]; ok {
			h.amount = minus(h.amount, of.amount)
			k.holds[id] = h
		}
	}
}

func (k *known) keep(id uuid.UUID, h knownHold) {
	if k.holds == nil || len(k.holds) >= knownHolds {
		k.holds = make(map[uuid.UUID]knownHold)
	}
	k.holds[id] = h
}

// forget forgets all holds.
func (k *known) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.holds = nil
}

// of returns a hold that this process has open, as far as it knows.
func (k *known) of(id uuid.UUID) (knownHold, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h, ok := k.holds[id]
	return h, ok
}

// refuses says whether a line had no room the last time.
func (k *known) refuses(line router.Line) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tight[line]
}
