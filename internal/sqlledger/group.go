package sqlledger

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
)

// errBroken is the error of every operation in a batch whose run panicked.
var errBroken = errors.New("sqlledger: the transaction was abandoned because its leader panicked")

const (
	// maxBatch is the largest number of operations in one transaction.
	maxBatch = 256
	// minBatch is the number of waiting operations that justifies a second
	// transaction beside a running one. Below it the transaction costs more than
	// the parallel run saves.
	minBatch = 32
)

// group lets concurrent operations share a transaction. It has no goroutine of its
// own. The first caller becomes the leader: it runs the waiting operations, its own
// among them, and then makes the first of the callers that arrived meanwhile the next
// leader. The zero value needs run.
type group struct {
	// run carries a batch out and sets the err of each operation.
	run func(batch []*operation)
	// width is the number of batches that may run at once, at least 1. More than one
	// runs only when minBatch operations wait.
	width int

	mu      sync.Mutex
	waiting []*operation // not yet in a batch
	leaders int
}

// submit carries one operation out and returns its error. When ctx ends before the
// operation is in a batch, the operation does not happen; afterwards submit waits for
// the outcome.
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

// leads runs a batch, reports the results and hands over.
func (g *group) leads(batch []*operation) {
	ran := false
	defer func() { g.tell(batch, ran) }() // deferred, so that a panic of run leaves no caller waiting
	g.run(batch)
	ran = true
}

// tell wakes the callers of a batch and hands over. Before it hands over it yields,
// so that callers with another operation can join the next batch.
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

// handOver makes the first waiting caller the leader of the next batch. When fewer
// than minBatch wait and another leader is active, it leaves them to that one. The
// caller holds g.mu.
func (g *group) handOver() {
	if len(g.waiting) == 0 {
		g.waiting = nil // frees the array
	}
	if len(g.waiting) == 0 || g.leaders > 1 && len(g.waiting) < minBatch {
		g.leaders--
		return
	}
	batch := g.waiting[:min(maxBatch, len(g.waiting))]
	g.waiting = g.waiting[len(batch):]
	batch[0].lead <- batch
}

// withdraw removes an operation that is in no batch yet, and reports whether it did.
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
