package lease

import (
	"context"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// Settle implements [router.Ledger].
func (l *Ledger) Settle(ctx context.Context, id uuid.UUID, cost router.Amount) error {
	return l.SettleWith(ctx, id, cost, nil)
}

// SettleWith implements [router.Recorder]. The part of a call's amount that it did not cost
// stays in the slice.
func (l *Ledger) SettleWith(ctx context.Context, id uuid.UUID, cost router.Amount, events []router.Event) error {
	l.mu.Lock()
	c := l.calls[id]
	if c == nil || c.slice == nil {
		was := l.closed.known[id]
		l.mu.Unlock()
		return l.settleBelow(ctx, id, was, cost, events)
	}
	s, spent := c.slice, max(min(cost.Total, c.amount), 0)
	part := c.part(id, spent)
	c.busy++
	l.mu.Unlock()
	err := l.base.SettlePart(ctx, s.id, part, cost, events)
	l.mu.Lock()
	if err == nil {
		c.busy--
		l.close(id, closedCall{}, spent)
	}
	over := s.over()
	l.mu.Unlock()
	if over {
		_ = l.end(ctx, s) // after an error Expire tries again
	}
	if err == nil && cost.Total > part.Amount.Total {
		l.overrun(ctx, s)
	}
	return err
}

// overrun gives back the free part of slices on the lines of a call that cost more than its
// amount. The next call then asks the base, which may refuse it.
func (l *Ledger) overrun(ctx context.Context, s *slice) {
	for _, line := range s.lines {
		l.giveBackOn(ctx, line)
	}
}

// settleBelow settles a hold that is not part of a slice.
func (l *Ledger) settleBelow(ctx context.Context, id uuid.UUID, was closedCall, cost router.Amount, events []router.Event) error {
	if was.slice != (uuid.UUID{}) { // the base does not know it
		return l.base.SettlePart(ctx, was.slice, router.Hold{ID: id, Deadline: was.deadline}, cost, events)
	}
	err := l.base.SettleWith(ctx, id, cost, events)
	if err == nil {
		l.mu.Lock()
		l.close(id, closedCall{}, 0)
		l.mu.Unlock()
	}
	return err
}

// close removes an open call and takes what was spent out of its slice. The caller holds l.mu.
func (l *Ledger) close(id uuid.UUID, was closedCall, spent router.USD) {
	c := l.calls[id]
	if c == nil {
		return // closed by a concurrent call
	}
	delete(l.calls, id)
	l.closed.add(id, was)
	c.leave(spent)
}

// leave removes a call from its slice, with an amount that it spent. The caller holds l.mu.
func (c *call) leave(lost router.USD) {
	if s := c.slice; s != nil {
		c.slice = nil
		s.calls, s.out, s.size = s.calls-1, s.out-c.amount, s.size-lost
	}
}

// Void implements [router.Ledger]. The amount of a call in a slice returns to the slice.
func (l *Ledger) Void(ctx context.Context, id uuid.UUID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	c := l.calls[id]
	if c == nil || c.slice == nil || c.busy > 0 {
		l.mu.Unlock()
		return l.voidBelow(ctx, c, id)
	}
	s := c.slice
	l.close(id, closedCall{slice: s.id, deadline: c.deadline}, 0)
	over := s.over()
	l.mu.Unlock()
	if over {
		_ = l.end(ctx, s) // after an error Expire tries again
	}
	return nil
}

func (l *Ledger) voidBelow(ctx context.Context, c *call, id uuid.UUID) error {
	if c != nil {
		if err := l.detach(ctx, c, id); err != nil {
			return err
		}
	}
	err := l.base.Void(ctx, id)
	if err == nil {
		l.mu.Lock()
		l.close(id, closedCall{}, 0)
		l.mu.Unlock()
	}
	return err
}

// detach moves a call, with its whole amount, into a hold of its own in the base.
func (l *Ledger) detach(ctx context.Context, c *call, id uuid.UUID) error {
	l.mu.Lock()
	s := c.slice
	if s == nil {
		l.mu.Unlock()
		return nil
	}
	c.busy++
	part := c.part(id, c.amount)
	l.mu.Unlock()
	err := l.base.Split(ctx, s.id, part)
	l.mu.Lock()
	if err == nil {
		c.busy--
		c.leave(c.amount)
	}
	over := s.over()
	l.mu.Unlock()
	if over {
		_ = l.end(ctx, s) // after an error Expire tries again
	}
	return err
}
