package sqlstore

import (
	"sync"

	"github.com/google/uuid"
)

// knownHolds is how many open holds are remembered: some forty million bytes.
const knownHolds = 100_000

// holdLines remembers the lines of the holds that this process has open, so that
// to settle one is one wait for the database less. What it does not know is
// looked up. The zero value knows none.
type holdLines struct {
	mu    sync.Mutex
	known map[uuid.UUID][]int64
}

// learn remembers what became of holds, which is committed.
func (l *holdLines) learn(holds map[uuid.UUID]*hold) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil || len(l.known)+len(holds) > knownHolds {
		l.known = make(map[uuid.UUID][]int64)
	}
	for id, h := range holds {
		if h.state == open {
			l.known[id] = h.lines
		} else {
			delete(l.known, id)
		}
	}
}

// of returns the lines of a hold, or nil.
func (l *holdLines) of(id uuid.UUID) []int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known[id]
}

// forget forgets all.
func (l *holdLines) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known = nil
}
