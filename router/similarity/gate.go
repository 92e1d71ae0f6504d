package similarity

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/internal/panics"
)

// errFull says that as many requests wait as may wait.
var errFull = errors.New("similarity: the queue is full")

// gate bounds the work that is done at once, over all requests, and the number
// of requests that wait for it. It owns no goroutine.
type gate struct {
	workers  chan struct{} // one for each text that is worked on
	requests chan struct{} // one for each request that is inside
}

func newGate(workers, queue int) *gate {
	return &gate{workers: make(chan struct{}, workers), requests: make(chan struct{}, workers+queue)}
}

// enter lets a request in or returns errFull, at once.
func (g *gate) enter() error {
	select {
	case g.requests <- struct{}{}:
		return nil
	default:
		return errFull
	}
}

// leave lets out a request that entered.
func (g *gate) leave() { <-g.requests }

// do runs f when a worker is free, or returns the context's error. A panic of f,
// which may run in a goroutine of its own, is an error.
func (g *gate) do(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case g.workers <- struct{}{}:
		defer func() { <-g.workers }()
		return panics.Catch(f)
	case <-ctx.Done():
		return ctx.Err()
	}
}
