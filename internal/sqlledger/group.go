package sqlledger

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
)

// errBroken is what callers are told whose leader did not come back from run.
var errBroken = errors.New("sqlledger: the transaction was given up half-way")

const (
	// most is how many operations share a transaction at most.
	maxBatch = 256
	// enough is how many are worth a transaction beside another one: with fewer,
	// what it costs by itself is more than what is won.
	minBatch = 32
)

// group lets operations that arrive together share a transaction. There is no
// goroutine behind it: the first caller leads, which means that it runs what has
// gathered, its own operation among it, and then hands over to the first of
// those who came meanwhile. The zero value needs run.
type group struct {
	// run carries a batch out and sets each operation's err.
	run func(batch []*operation)
	// width is how many batches may run at once, and at least one. There is more
	// than one when enough operations wait.
	width int

	mu      sync.Mutex
	waiting []*operation // all in no batch
	leaders int
}

// submit carries one operation out. When ctx ends before it is in a batch, it never
// happens; afterwards its outcome is waited for.
func (g *group) submit(ctx context.Context, o *operation) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	o.lead, o.done = make(chan []*operation, 1), make(chan struct{})
	g.mu.Lock()
	g.waiting = append(g.waiting, o)
	if g.leaders == 0 || g.leaders < g.width && len(g.waiting) >= minBatch {
		g.leaders++
		g.handOver()
	}
	g.mu.Unlock()
	ended := ctx.Done()
	for {
		select {
		case batch := <-o.lead:
			g.leads(batch)
			return o.err
		case <-o.done:
			return o.err
		case <-ended:
			if g.withdraw(o) {
				return ctx.Err()
			}
			ended = nil
		}
	}
}

// leads runs a batch, tells everybody and hands over.
func (g *group) leads(batch []*operation) {
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

// handOver gives those who wait, as a batch, to the first of them to lead, or
// leaves too few of them to another leader; with g.mu locked.
func (g *group) handOver() {
	switch {
	case len(g.waiting) == 0:
		g.waiting = nil
		fallthrough
	case g.leaders > 1 && len(g.waiting) < minBatch:
		g.leaders--
		return
	}
	batch := g.waiting[:min(maxBatch, len(g.waiting))]
	g.waiting = g.waiting[len(batch):]
	batch[0].lead <- batch
}

// withdraw takes an operation back that is in no batch yet.
func (g *group) withdraw(o *operation) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.Index(g.waiting, o)
	if at < 0 {
		return false
	}
	g.waiting = slices.Concat(g.waiting[:at], g.waiting[at+1:])
	return true
}
