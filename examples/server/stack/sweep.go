package stack

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/signalbox/signalbox/router"
)

const (
	sweepEvery = time.Minute
	sweepBatch = 1000 // holds in one transaction
)

// Sweep closes, every minute until ctx ends, holds whose owners are gone: they
// count as spent, because the upstream may have been reached. A program that
// does not sweep keeps such holds, and what was settled long ago, for ever.
func (s *Stack) Sweep(ctx context.Context) {
	ticks := time.NewTicker(sweepEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			s.sweep(ctx)
		}
	}
}

func (s *Stack) sweep(ctx context.Context) {
	// This goroutine has no server above it that recovers, as requests have.
	defer func() {
		if v := recover(); v != nil {
			s.log.ErrorContext(ctx, "panic while closing holds", slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
		}
	}()
	for {
		n, err := s.stores.Ledger.Expire(ctx, s.now(), sweepBatch, router.ExpirePost)
		if err != nil && ctx.Err() == nil {
			s.log.ErrorContext(ctx, "holds could not be closed", slog.Any("error", err))
		}
		if n > 0 {
			s.log.WarnContext(ctx, "holds without an owner were counted as spent", slog.Int("holds", n))
		}
		if err != nil || n < sweepBatch {
			return
		}
	}
}
