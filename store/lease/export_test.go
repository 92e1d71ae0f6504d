package lease

import "context"

// Eager makes l draw slices from the first call on.
func Eager(l *Ledger) *Ledger {
	l.plain = 0
	return l
}

// GiveAllBack gives the free part of all slices back; l draws again afterwards.
func (l *Ledger) GiveAllBack(ctx context.Context) error { return l.giveAllBack(ctx) }

// Drawn returns the number of slices and the number of calls that have a part of one.
func (l *Ledger) Drawn() (slices, calls int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.slices {
		calls += s.calls
	}
	return len(l.slices), calls
}
