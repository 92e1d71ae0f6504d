package router

import (
	"math"
	"sync/atomic"
)

// amounts counts amounts of money and sums them. It is safe for concurrent use.
type amounts struct{ count, amount atomic.Int64 }

func (a *amounts) add(amount USD) {
	a.count.Add(1)
	for {
		had := a.amount.Load()
		if a.amount.CompareAndSwap(had, had+min(int64(amount), math.MaxInt64-had)) {
			return
		}
	}
}
