package memory

import (
	"context"
	"slices"
	"time"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

var _ store.Pruner = (*pruner)(nil)

// pruner drops everything old in one portion, whatever the limit: no transaction blocks
// other callers, and each kind of data has its own lock.
type pruner struct {
	ledger   *ledger
	activity *activityStore
	audit    *auditStore
}

func (p *pruner) Prune(ctx context.Context, before time.Time, _ string, _ int) (store.Pruned, error) {
	if err := ctx.Err(); err != nil {
		return store.Pruned{}, err
	}
	before = before.UTC().Truncate(24 * time.Hour)
	dropped := p.activity.prune(before) + p.ledger.book.prune(before) + p.audit.prune(before)
	return store.Pruned{Dropped: dropped}, nil
}

// prune drops the days before an instant, and returns the number of their events.
func (s *activityStore) prune(before time.Time) (dropped int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for number, day := range s.days {
		if number < dayNumber(before) {
			dropped += len(day.seen)
			delete(s.days, number)
		}
	}
	return dropped
}

// prune drops lines of windows that ended before an instant and hold nothing. A hold that is
// closed late still refers to its line, which can no longer be found by name.
func (b *book) prune(before time.Time) (dropped int) {
	var over [router.Daily + 1]string // by kind, the first window that is not over
	for i := range over {
		over[i] = router.Interval(i).Window(before)
	}
	b.names.mu.Lock()
	defer b.names.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	for owner, lines := range b.names.owners {
		for window, on := range lines {
			// Names of one kind have the same length and sort by time.
			same := func(first string) bool { return len(first) == len(window) && window < first }
			if window != over[router.Lifetime] && slices.ContainsFunc(over[:], same) && on.Held == (router.Amount{}) {
				delete(lines, window)
				dropped++
			}
		}
		if len(lines) == 0 {
			delete(b.names.owners, owner)
		}
	}
	return dropped
}

// prune drops records of changes before an instant.
func (s *auditStore) prune(before time.Time) (dropped int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for account, all := range s.byAccount {
		kept := slices.DeleteFunc(all, func(c router.Change) bool { return c.At.Before(before) })
		dropped += len(all) - len(kept)
		s.byAccount[account] = kept
	}
	return dropped
}
