package stack

import (
	"context"
	"log/slog"
	"time"
)

const (
	pruneEvery  = time.Hour
	pruneBatch  = 500 // rows that one transaction drops
	longestRest = 10 * time.Second
)

// LeastRetention is the shortest retention: activity reports 30 days, and late
// settlements may still change a month's windows.
const LeastRetention = 40 * 24 * time.Hour

// Prune drops, every hour until ctx ends, what is older than keep: events with
// their sums, records of changes, and lines of windows that are over. Between two
// portions it rests three times as long as the last one took, so that a quarter of one
// connection's time is spent on it. A shorter keep is raised to [LeastRetention].
// Without a Pruner it returns at once.
func (s *Stack) Prune(ctx context.Context, keep time.Duration) {
	if s.stores.Pruner == nil {
		return
	}
	ticks := time.NewTicker(pruneEvery)
	defer ticks.Stop()
	for {
		s.prune(ctx, s.now().Add(-max(keep, LeastRetention)))
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// prune goes one lap.
func (s *Stack) prune(ctx context.Context, before time.Time) {
	dropped := 0
	for place, first := "", true; first || place != ""; first = false {
		began := s.now()
		did, err := s.stores.Pruner.Prune(ctx, before, place, pruneBatch)
		if dropped += did.Dropped; err != nil {
			if ctx.Err() == nil {
				s.log.ErrorContext(ctx, "what is old could not be dropped", slog.Any("error", err))
			}
			return
		}
		place = did.Next
		rest := time.NewTimer(min(3*s.now().Sub(began), longestRest))
		select {
		case <-ctx.Done():
			rest.Stop()
			return
		case <-rest.C:
		}
	}
	if dropped > 0 {
		s.log.InfoContext(ctx, "what is old was dropped", slog.Int("rows", dropped), slog.Time("before", before))
	}
}
