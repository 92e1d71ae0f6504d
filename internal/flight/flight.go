// Package flight lets concurrent callers that want the same value share one reading
// of it.
package flight

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// errExit is the error of a reading until it has returned, and so of one that
// calls [runtime.Goexit].
var errExit = errors.New("flight: the reading ended its goroutine")

// Group runs one reading per key at a time. The zero value is ready for use; a
// Group is safe for concurrent use.
type Group[T any] struct {
	mu    sync.Mutex
	under map[string]*reading[T]
}

type reading[T any] struct {
	done  chan struct{} // closed when value and err are set
	value T
	err   error
}

// Do returns what read returns, or what a reading of the same key returns that
// is under way. A reading has a goroutine and a deadline of its own, so it goes
// on for the others when the caller that began it gives up; a caller whose
// context ends gets that context's error. A reading that panics is an error
// with the value and the stack, for every caller that waits for it.
func (g *Group[T]) Do(ctx context.Context, key string, limit time.Duration, read func(context.Context) (T, error)) (T, error) {
	r := g.join(ctx, key, limit, read)
	select {
	case <-r.done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// Forget makes the next Do of a key begin a new reading, also while one is
// under way.
func (g *Group[T]) Forget(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.under, key)
}

// join returns the reading of a key that is under way, or begins one.
func (g *Group[T]) join(ctx context.Context, key string, limit time.Duration, read func(context.Context) (T, error)) *reading[T] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r := g.under[key]; r != nil {
		return r
	}
	r := &reading[T]{done: make(chan struct{}), err: errExit}
	if g.under == nil {
		g.under = map[string]*reading[T]{}
	}
	g.under[key] = r
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	go func() {
		defer g.end(key, r)
		defer cancel()
		r.err = Guard(func() (err error) {
			r.value, err = read(ctx)
			return err
		})
	}()
	return r
}

// end publishes a reading.
func (g *Group[T]) end(key string, r *reading[T]) {
	g.mu.Lock()
	if g.under[key] == r { // not forgotten
		delete(g.under, key)
	}
	g.mu.Unlock()
	close(r.done)
}

// Guard calls f and returns a panic of f as an error with the value and the stack.
// It is for goroutines that run code of the embedding program, where an unrecovered
// panic would end the process.
func Guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n\n%s", v, debug.Stack())
		}
	}()
	return f()
}
