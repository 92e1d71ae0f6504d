package lease

import "context"

// Eager draws slices from the first call on.
func Eager(l *Ledger) *Ledger {
	l.plain = 0
	return l
}

// GiveAllBack gives back what is free in all slices, and draws again.
func (l *Ledger) GiveAllBack(ctx context.Context) error { return l.giveAllBack(ctx) }

// Drawn is how many slices there are, and how many calls have something of them.
func (l *Ledger) Drawn() (slices, calls int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.slices {
		calls += s.calls
	}
	return len(l.slices), calls
}
