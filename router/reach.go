package router

import (
	"context"
	"sync/atomic"
	"time"
)

// reachedFor is for how long a ledger counts as reachable after an answer.
const reachedFor = time.Second

// reached is when the ledger last answered. The zero value is never. It is safe for
// concurrent use.
type reached struct{ last atomic.Int64 } // Unix nanoseconds

// note stores an answer at most twice a second, because processors contend for the
// cache line.
func (r *reached) note(now time.Time) {
	if at := now.UnixNano(); !r.lately(at, reachedFor/2) {
		r.last.Store(at)
	}
}

func (r *reached) lately(at int64, within time.Duration) bool {
	age := at - r.last.Load()
	return age >= 0 && age < int64(within) // the clock may step back
}

// reach checks that the ledger can be reached, unless a call reached it in the last
// second. It is for a candidate that costs nothing and so makes no hold.
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
