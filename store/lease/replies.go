package lease

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

var _ router.Replies = (*Ledger)(nil)

// Claim implements [router.Replies] if the ledger below does, as do the three methods below.
// Otherwise they return [errors.ErrUnsupported].
func (l *Ledger) Claim(ctx context.Context, c router.Claim) (router.Claimed, error) {
	if r, ok := l.base.(router.Replies); ok {
		return r.Claim(ctx, c)
	}
	return router.Claimed{}, errors.ErrUnsupported
}

// SettleKept implements [router.Replies]. A call in a slice is first moved into a hold of its
// own, in a transaction of its own.
func (l *Ledger) SettleKept(ctx context.Context, k router.Kept, cost router.Amount, events []router.Event) error {
	r, ok := l.base.(router.Replies)
	if !ok {
		return errors.ErrUnsupported
	}
	l.mu.Lock()
	c, was := l.calls[k.Hold], l.closed.known[k.Hold]
	var s *slice
	if c != nil {
		s = c.slice
	}
	over := s != nil && cost.Total > c.amount
	l.mu.Unlock()
	var err error
	switch {
	case s != nil:
		err = l.detach(ctx, c, k.Hold)
	case was.slice != (uuid.UUID{}): // given back to the slice: the base does not know it
		err = l.base.Split(ctx, was.slice, router.Hold{ID: k.Hold, Deadline: was.deadline})
	}
	if err != nil {
		return err
	}
	if err = r.SettleKept(ctx, k, cost, events); err != nil {
		return err
	}
	l.mu.Lock()
	l.close(k.Hold, closedCall{}, 0)
	l.mu.Unlock()
	if over {
		l.overrun(ctx, s)
	}
	return nil
}

// Keep implements [router.Replies].
func (l *Ledger) Keep(ctx context.Context, k router.Kept) error {
	if r, ok := l.base.(router.Replies); ok {
		return r.Keep(ctx, k)
	}
	return errors.ErrUnsupported
}

// Release implements [router.Replies].
func (l *Ledger) Release(ctx context.Context, of router.ReplyKey, hold uuid.UUID) error {
	if r, ok := l.base.(router.Replies); ok {
		return r.Release(ctx, of, hold)
	}
	return errors.ErrUnsupported
}
