package sqlstore

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// errBroken is what callers are told whose leader did not come back from run.
var errBroken = errors.New("sqlstore: the transaction was given up half-way")

// most is how many operations share a transaction at most.
const most = 256

// group lets operations that arrive together share a transaction. There is no
// goroutine behind it: the first caller leads, which means that it runs what has
// gathered, its own operation among it, and then hands over to the first of
// those who came meanwhile. The zero value needs run.
type group struct {
	// run carries a batch out and sets each operation's err. It is never run
	// twice at once.
	run func(batch []*operation)

	mu      sync.Mutex
	waiting []*operation
	led     bool // somebody leads, or has been asked to
}

// do carries one operation out. When ctx ends before it is in a batch, it never
// happens; afterwards its outcome is waited for.
func (g *group) do(ctx context.Context, o *operation) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	o.lead, o.done = make(chan struct{}, 1), make(chan struct{})
	g.mu.Lock()
	g.waiting = append(g.waiting, o)
	if !g.led {
		g.led = true
		o.lead <- struct{}{}
	}
	g.mu.Unlock()
	select {
	case <-o.lead:
		g.leads()
	case <-o.done:
	case <-ctx.Done():
		if g.withdraw(o) {
			return ctx.Err()
		}
		<-o.done
	}
	return o.err
}

// leads runs one batch, hands over and tells everybody.
func (g *group) leads() {
	g.mu.Lock()
	batch := g.waiting[:min(most, len(g.waiting))]
	g.waiting = g.waiting[len(batch):]
	g.mu.Unlock()
	ran := false
	defer func() { g.tell(batch, ran) }() // also when run panics: nobody is left waiting
	g.run(batch)
	ran = true
}

// tell gives everybody of a batch their result, and hands over, but not before
// those who have come right back could join the next batch.
func (g *group) tell(batch []*operation, ran bool) {
	for _, o := range batch {
		if !ran {
			o.err = errBroken
		}
		close(o.done)
	}
	if len(batch) > 1 {
		runtime.Gosched()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.handOver()
}

// handOver asks the first who waits to lead; with g.mu locked.
func (g *group) handOver() {
	if len(g.waiting) == 0 {
		g.waiting, g.led = nil, false
		return
	}
	g.waiting[0].lead <- struct{}{}
}

// withdraw takes an operation back that is in no batch yet.
func (g *group) withdraw(o *operation) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, other := range g.waiting {
		if other != o {
			continue
		}
		g.waiting = append(g.waiting[:i:i], g.waiting[i+1:]...)
		select {
		case <-o.lead: // it was to lead
			g.handOver()
		default:
		}
		return true
	}
	return false
}
