package router

import (
	"sync/atomic"
	"time"
)

// The retry budget: in any ten seconds a model's requests may make as many
// further attempts as a fifth of their number, and 100 besides. So a dead
// upstream adds a fifth to the load of a busy router, not three times as much,
// and a quiet router retries freely. (Finagle's budget, with its figures.)
const (
	budgetWindow  = 10 * time.Second
	budgetSlot    = time.Second
	budgetShare   = 5 // requests per retry
	budgetReserve = 100
)

// budget bounds the retries of one model. It is safe for concurrent use.
type budget struct{ spent ring[spending] }

type spending struct{ requests, retries atomic.Int64 }

func newBudget() *budget {
	return &budget{spent: newRing[spending](int(budgetWindow/budgetSlot), budgetSlot)}
}

// allow counts a request at its first attempt and asks for every further one.
func (b *budget) allow(attempts int, now time.Time) bool {
	if attempts > 0 {
		return b.retry(now)
	}
	b.request(now)
	return true
}

// forget takes back what was allowed and not sent.
func (b *budget) forget(attempts int, now time.Time) {
	if attempts > 0 {
		b.spent.at(now).retries.Add(-1)
	} else {
		b.spent.at(now).requests.Add(-1)
	}
}

// request counts a request when its first attempt is sent.
func (b *budget) request(now time.Time) { b.spent.at(now).requests.Add(1) }

// retry asks for one more attempt. It takes the attempt first and gives it
// back when that was too many, so rivals never exceed the budget together.
func (b *budget) retry(now time.Time) bool {
	taken := b.spent.at(now)
	taken.retries.Add(1)
	var requests, retries int64
	for s := range b.spent.window(now) {
		requests += s.requests.Load()
		retries += s.retries.Load()
	}
	if retries <= requests/budgetShare+budgetReserve {
		return true
	}
	taken.retries.Add(-1)
	return false
}
