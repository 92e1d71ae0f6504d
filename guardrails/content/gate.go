package content

import (
	"context"
	"sync"
)

// gate bounds how many long scans run at the same time. It leaves one processor free for
// short requests, because the Go runtime polls the network without delay only on an idle
// processor. The scans of one account hold at most half of the places, rounded up.
// Further scans of the account wait in its own queue, so scans of other accounts overtake
// them.
type gate struct {
	places chan struct{}
	share  int // maximum number of places for one account
	mu     sync.Mutex
	queues map[string]*queue
}

// queue holds the places that one account may use.
type queue struct {
	places chan struct{}
	users  int // scans that hold a place or wait for one
}

// newGate returns a gate with a number of places, at least 1.
func newGate(places int) *gate {
	places = max(places, 1)
	return &gate{places: make(chan struct{}, places), share: (places + 1) / 2, queues: map[string]*queue{}}
}

// enter waits for a place. Scans of one account are served in order, and so are the
// accounts. The error is that of ctx.
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

// leave returns a place.
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
