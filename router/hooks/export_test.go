package hooks

import "context"

// Compare does what Run does at each interval.
func (h *Hooks) Compare(ctx context.Context) error { return h.alert(ctx) }

// HandleNext handles the first event in the queue of the i-th receiver, as Run does, and
// reports whether there was one.
func (h *Hooks) HandleNext(ctx context.Context, i int) bool {
	select {
	case d := <-h.receivers[i].queue:
		h.receivers[i].handle(ctx, d)
		return true
	default:
		return false
	}
}

// Noted returns how many callers wait for a comparison.
func (h *Hooks) Noted() int { return len(h.watch.noted) }

const (
	AlertLease = alertLease
	AlertTries = alertTries
	HandleTime = handleTime
	MostNoted  = mostNoted
)
