package router

import (
	"sync/atomic"
	"time"
)

// The retry budget protects endpoints that fail often. In any ten seconds such an
// endpoint gets [Config.RetryPercent] of the number of calls whose first attempt
// was for its model, plus [Config.RetryReserve], as further attempts. First
// attempts never count, nor do further ones at an endpoint that works well. With
// the defaults, further attempts add about a fifth to the load of a failing
// endpoint.
const (
	budgetWindow = 10 * time.Second
	budgetSlot   = time.Second

	defaultRetryPercent = 20
	defaultRetryReserve = 100
)

// counter counts over the last ten seconds. It is safe for concurrent use.
type counter struct{ ring[atomic.Int64] }

func newCounter() counter {
	return counter{newRing[atomic.Int64](int(budgetWindow/budgetSlot), budgetSlot)}
}

func (c *counter) sum(now time.Time) (n int64) {
	for slot := range c.window(now) {
		n += slot.Load()
	}
	return n
}

// permit is what an attempt took from the budget. The zero value took nothing.
type permit struct{ taken *atomic.Int64 }

// giveBack returns a permit of an attempt that was not sent.
func (p permit) giveBack() {
	if p.taken != nil {
		p.taken.Add(-1)
	}
}

// permit reports whether an attempt may be made at an endpoint: the first at a sheet
// of questions always, a further one unless the endpoint fails often and its budget is used up.
// It counts the attempt before it compares, and undoes that if the sum is too
// large, so that concurrent calls together never exceed the budget.
func (w *walk) permit(s *served, now time.Time) (permit, bool) {
	if len(w.leg.Attempts) == 0 && !w.again {
		p := permit{s.firsts.at(now)}
		p.taken.Add(1)
		return p, true
	}
	if !s.tracker.suffers(now) {
		return permit{}, true
	}
	p := permit{s.tracker.retries.at(now)}
	p.taken.Add(1)
	cfg := &w.router.cfg
	allowed := s.firsts.sum(now)*int64(max(cfg.RetryPercent, 0))/100 + int64(max(cfg.RetryReserve, 0))
	if s.tracker.retries.sum(now) > allowed {
		p.giveBack()
		return permit{}, false
	}
	return p, true
}
