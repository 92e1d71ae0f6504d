package router

import (
	"math"
	"sync/atomic"
)

// amounts is a number of amounts and their sum.
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
