package sqlledger

import (
	"errors"
	"sync"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

const (
	knownHolds = 100_000 // open holds to remember: about 40 MB
	knownFull  = 10_000  // full lines to remember
)

// knownHold is an open hold as this process last wrote it.
type knownHold struct {
	lines  []int64 // sorted; they never change
	amount router.Amount
}

// known is what this process remembers of its holds, so that the fast path need not
// read them. Another process may have changed a hold since, so it is only a guess.
// The zero value remembers nothing.
type known struct {
	mu    sync.Mutex
	holds map[uuid.UUID]knownHold // open holds of this process
	full  map[router.Line]bool    // lines that refused the last hold
}

// learn remembers the holds of a committed batch.
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

// learnRefusal remembers which line refused an operation, or that none did.
func (k *known) learnRefusal(o *operation) {
	if o.err == nil {
		for _, c := range o.asked.Caps {
			delete(k.full, c.Line)
		}
		return
	}
	if refusal, ok := errors.AsType[*router.LimitError](o.err); ok {
		if k.full == nil || len(k.full) >= knownFull {
			k.full = make(map[router.Line]bool)
		}
		k.full[o.asked.Caps[refusal.Cap].Line] = true
	}
}

// learnFast remembers the holds of a committed fast batch.
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

// of returns a hold that this process believes to be open.
func (k *known) of(id uuid.UUID) (knownHold, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h, ok := k.holds[id]
	return h, ok
}

// refuses reports whether a line refused the last hold.
func (k *known) refuses(line router.Line) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.full[line]
}
