package content

import (
	"context"
	"sync"
)

// gate bounds how many expensive scans work at the same time, so that one
// processor stays free for requests that cost little: the runtime looks at the
// network at once only where a processor is idle. No account has more than half
// of the places while its scans wait in a queue of their own, so those of other
// accounts overtake them.
type gate struct {
	places chan struct{}
	share  int // of places, for an account
	mu     sync.Mutex
	queues map[string]*queue
}

// queue is the share of one account.
type queue struct {
	places chan struct{}
	users  int // scans that hold or wait for a place
}

// newGate makes a gate with a number of places, at least 1.
func newGate(places int) *gate {
	places = max(places, 1)
	return &gate{places: make(chan struct{}, places), share: (places + 1) / 2, queues: map[string]*queue{}}
}

// enter waits for a place, first come first served within an account and
// between those that are first in theirs. The error is the context's.
func (g *gate) enter(ctx context.Context, account string) error {
	q := g.queue(account)
	select {
	case q.places <- struct{}{}:
	case <-ctx.Done():
		g.release(account, q)
		return ctx.Err()
	}
	select {
	case g.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		<-q.places
		g.release(account, q)
		return ctx.Err()
	}
}

// leave gives back a place.
func (g *gate) leave(account string) {
	<-g.places
	g.mu.Lock()
	q := g.queues[account]
	g.mu.Unlock()
	<-q.places
	g.release(account, q)
}

func (g *gate) queue(account string) *queue {
	g.mu.Lock()
	defer g.mu.Unlock()
	q, ok := g.queues[account]
	if !ok {
		q = &queue{places: make(chan struct{}, g.share)}
		g.queues[account] = q
	}
	q.users++
	return q
}

func (g *gate) release(account string, q *queue) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if q.users--; q.users == 0 {
		delete(g.queues, account)
	}
}
