package similarity

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/internal/panics"
)

// errFull is the error of a request for which the queue has no room.
var errFull = errors.New("similarity: the queue is full")

// gate bounds how many texts are processed and how many requests wait, over all requests.
// It owns no goroutine.
type gate struct {
	workers  chan struct{} // one for each text that is processed
	requests chan struct{} // one for each request that runs or waits
}

func newGate(workers, queue int) *gate {
	return &gate{workers: make(chan struct{}, workers), requests: make(chan struct{}, workers+queue)}
}

// enter admits a request, or returns errFull without waiting.
func (g *gate) enter() error {
	select {
	case g.requests <- struct{}{}:
		return nil
	default:
		return errFull
	}
}

// leave ends a request that enter admitted.
func (g *gate) leave() { <-g.requests }

// do runs f as soon as a worker is free, or returns the error of ctx. A panic of f
// becomes an error, because f may run in its own goroutine, where a panic would end the
// process.
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
