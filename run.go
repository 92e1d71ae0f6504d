package signalbox

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/signalbox/signalbox/router"
)

const (
	expireEvery = time.Minute
	expireBatch = 1000 // holds in one transaction

	pruneEvery  = time.Hour
	pruneBatch  = 500 // rows deleted in one transaction
	longestRest = 10 * time.Second
)

// Run does the background work of a service until ctx ends, and returns when that
// work has stopped. Call it once, in a goroutine of its own. Any number of processes
// may run it on the same stores. Errors and panics are logged, and the work is tried
// again at the next interval.
//
// Every minute Run closes the holds of calls whose process died before it settled
// them. They count as spent, because the upstream may have been reached. Without Run
// such holds reduce their budgets for ever.
//
// Run delivers the events of [Config.Hooks].
//
// At the start and every hour Run deletes rows older than [Config.Retention], in
// small batches. It rests after each batch for three times as long as the batch
// took, and for 10 s at most.
func (s *Service) Run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { every(ctx, expireEvery, s.expire) })
	work.Go(func() { s.Hooks.Run(ctx) })
	if s.retention > 0 {
		work.Go(func() {
			s.prune(ctx)
			every(ctx, pruneEvery, s.prune)
		})
	}
}

// every calls f at each interval until ctx ends.
func every(ctx context.Context, interval time.Duration, f func(context.Context)) {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			f(ctx)
		}
	}
}

// survive logs a panic. These goroutines need it, because net/http recovers only
// those that serve requests.
func (s *Service) survive(ctx context.Context, during string) {
	if v := recover(); v != nil {
		s.logger.ErrorContext(ctx, "panic while "+during, slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
	}
}

// expire closes the holds whose deadline has passed.
func (s *Service) expire(ctx context.Context) {
	defer s.survive(ctx, "closing holds")
	for {
		n, err := s.stores.Ledger.Expire(ctx, s.now(), expireBatch, router.ExpirePost)
		if err != nil && ctx.Err() == nil {
			s.logger.ErrorContext(ctx, "holds could not be closed", slog.Any("error", err))
		}
		if n > 0 {
			s.logger.WarnContext(ctx, "holds without an owner were counted as spent", slog.Int("holds", n))
		}
		if err != nil || n < expireBatch {
			return
		}
	}
}

// prune deletes everything older than the retention, once.
func (s *Service) prune(ctx context.Context) {
	defer s.survive(ctx, "dropping what is old")
	before := s.now().Add(-s.retention)
	dropped := 0
	for place, first := "", true; first || place != ""; first = false {
		began := s.now()
		pruned, err := s.stores.Pruner.Prune(ctx, before, place, pruneBatch)
		if dropped += pruned.Dropped; err != nil {
			if ctx.Err() == nil {
				s.logger.ErrorContext(ctx, "what is old could not be dropped", slog.Any("error", err))
			}
			return
		}
		place = pruned.Next
		rest := time.NewTimer(min(3*s.now().Sub(began), longestRest))
		select {
		case <-ctx.Done():
			rest.Stop()
			return
		case <-rest.C:
		}
	}
	if dropped > 0 {
		s.logger.InfoContext(ctx, "what is old was dropped", slog.Int("rows", dropped), slog.Time("before", before))
	}
}
