package router

import (
	"context"
	"sync/atomic"
	"time"
)

// reachedFor is how long a ledger that was reached counts as one that can be.
const reachedFor = time.Second

// reached is when the ledger last answered. The zero value is never.
type reached struct{ last atomic.Int64 } // Unix nanoseconds

// note writes at most twice a second, because processors contend for the cache
// line.
func (r *reached) note(now time.Time) {
	if at := now.UnixNano(); !r.lately(at, reachedFor/2) {
		r.last.Store(at)
	}
}

func (r *reached) lately(at int64, within time.Duration) bool {
	age := at - r.last.Load()
	return age >= 0 && age < int64(within) // a clock may step back
}

// reach finds out whether the ledger can be reached, for a candidate that nothing
// is set aside for, unless it was within the last second.
func (s *reservation) reach(ctx context.Context) error {
	r := s.router
	if r.cfg.FreeWithoutLedger || s.held || r.reached.lately(r.cfg.Now().UnixNano(), reachedFor) {
		return nil
	}
	_, err := r.cfg.Ledger.Balances(ctx, s.hold.Lines[:1])
	if err == nil {
		r.reached.note(r.cfg.Now())
	}
	return err
}
