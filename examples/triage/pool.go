package main

import (
	"context"
	"iter"
	"sync"

	"github.com/signalbox/signalbox/router"
)

// outcome is what became of an item.
type outcome struct {
	source, id string
	title      string
	notes      notes
	result     *router.Result // nil when err is not
	err        error
	cut        bool // it failed because the program was interrupted: it is neither answered nor broken
}

// inOrder works on up to n items at once and yields the outcomes in the order of the items. At most 2n+1
// items are in memory. When it returns all its work has ended.
func inOrder(ctx context.Context, n int, items iter.Seq[item], work func(context.Context, item) outcome) iter.Seq[outcome] {
	type job struct {
		item item
		done chan outcome // gets exactly one
	}
	return func(yield func(outcome) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var all sync.WaitGroup
		defer all.Wait()
		defer cancel()
		jobs, order := make(chan job), make(chan job, n)
		all.Go(func() {
			defer close(order)
			defer close(jobs)
			for i := range items {
				j := job{item: i, done: make(chan outcome, 1)}
				select {
				case order <- j:
				case <-ctx.Done():
					return
				}
				select {
				case jobs <- j:
				case <-ctx.Done():
					j.done <- outcome{cut: true, err: ctx.Err()}
					return
				}
			}
		})
		for range n {
			all.Go(func() {
				for j := range jobs {
					j.done <- work(ctx, j.item)
				}
			})
		}
		for j := range order {
			if !yield(<-j.done) {
				return
			}
		}
	}
}
