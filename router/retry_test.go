package router

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The retry budget is a fifth of the requests of ten seconds, and 100 besides.
func TestRetryBudget(t *testing.T) {
	t.Parallel()
	spend := func(b *budget, at time.Time) (n int) {
		for b.retry(at) {
			n++
		}
		return n
	}
	b := newBudget()
	assert.Equal(t, 100, spend(b, noon()), "without requests")
	for range 1000 {
		b.request(noon())
	}
	assert.Equal(t, 200, spend(b, noon()), "a fifth of 1,000 more")
	assert.Zero(t, spend(b, noon().Add(9*time.Second)), "the window is ten seconds")
	assert.Equal(t, 100, spend(b, noon().Add(10*time.Second)), "and then over")

	b = newBudget()
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := 0
	for range 8 {
		wg.Go(func() {
			n := spend(b, noon())
			mu.Lock()
			defer mu.Unlock()
			total += n
		})
	}
	wg.Wait()
	assert.LessOrEqual(t, total, 100, "rivals never exceed it together")
}
