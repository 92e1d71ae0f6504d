package lease

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// Expire implements [router.Ledger]. First it gives back this process's slices that no call
// has used since the last Expire, those that newer slices have replaced, and those past their
// deadline.
func (l *Ledger) Expire(ctx context.Context, now time.Time, limit int, policy router.Expiry) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	err := l.detachDue(ctx, now)
	idle := l.stale(now)
	for _, s := range idle {
		err = errors.Join(err, l.giveBack(ctx, s))
	}
	n, failed := l.base.Expire(ctx, now, limit, policy)
	if failed == nil && n < limit {
		l.forgetDue(now)
	}
	return n, errors.Join(err, failed)
}

// Close stops drawing slices and gives back the free part of the existing ones. Open calls
// keep their part and may be closed as before; a slice ends with its last call. Close may be
// called again after an error. A process should wait for its calls before it calls Close.
func (l *Ledger) Close(ctx context.Context) error {
	l.mu.Lock()
	l.shut = true
	l.mu.Unlock()
	return l.giveAllBack(ctx)
}

func (l *Ledger) giveAllBack(ctx context.Context) error {
	l.mu.Lock()
	all := slices.Collect(maps.Keys(l.slices))
	l.mu.Unlock()
	var err error
	for _, s := range all {
		err = errors.Join(err, l.giveBack(ctx, s))
	}
	return err
}

// detachDue moves calls past their deadline out of their slices into holds of the base, where
// expiry closes them and a late settlement finds them.
func (l *Ledger) detachDue(ctx context.Context, now time.Time) error {
	l.mu.Lock()
	due := map[uuid.UUID]*call{}
	for id, c := range l.calls {
		if c.slice != nil && c.deadline.Before(now) {
			due[id] = c
		}
	}
	l.mu.Unlock()
	var err error
	for id, c := range due {
		err = errors.Join(err, l.detach(ctx, c, id))
	}
	return err
}

// forgetDue drops calls that expiry has closed in the base.
func (l *Ledger) forgetDue(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, c := range l.calls {
		if c.slice == nil && c.deadline.Before(now) {
			l.close(id, closedCall{}, 0)
		}
	}
}

// stale returns the slices to give back, and clears the marks of funds and slices that were
// used since the last call.
func (l *Ledger) stale(now time.Time) []*slice {
	l.mu.Lock()
	defer l.mu.Unlock()
	var idle []*slice
	for s := range l.slices {
		if !s.used || s.retired || s.deadline.Before(now) {
			idle = append(idle, s)
		}
		s.used = false
	}
	for key, f := range l.funds {
		if !f.used && len(f.slices) == 0 && f.drawing == nil {
			delete(l.funds, key)
		}
		f.used = false
	}
	return idle
}

// giveBackOn gives back the free part of the slices on a line, and reports whether there was
// any.
func (l *Ledger) giveBackOn(ctx context.Context, line router.Line) bool {
	l.mu.Lock()
	var some []*slice
	for s := range l.on[line] {
		if s.free() > 0 {
			some = append(some, s)
		}
	}
	l.mu.Unlock()
	for _, s := range some {
		if l.giveBack(ctx, s) != nil {
			return false // Expire tries again; until then the refusal stands
		}
	}
	return len(some) > 0
}

// giveAllOf gives back the free part of slices. After an error Expire tries again.
func (l *Ledger) giveAllOf(ctx context.Context, some []*slice) {
	for _, s := range some {
		_ = l.giveBack(ctx, s)
	}
}

// giveBack retires a slice and gives back its free part.
func (l *Ledger) giveBack(ctx context.Context, s *slice) error {
	l.mu.Lock()
	s.retire()
	if s.over() {
		l.mu.Unlock()
		return l.end(ctx, s)
	}
	if s.back == nil && s.free() > 0 && s.calls > 0 {
		s.back = &part{id: l.newID(), amount: s.free()}
		s.size -= s.back.amount
	}
	back := s.back
	l.mu.Unlock()
	if back == nil {
		return nil
	}
	// The part is settled at zero. If that is repeated, the part is split off only once.
	part := router.Hold{ID: back.id, Amount: s.fund.amount(back.amount), Deadline: s.deadline}
	err := l.base.SettlePart(ctx, s.id, part, router.Amount{}, nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && s.back == back {
		s.back = nil
	}
	return err
}

// end closes the hold of a slice without calls. What expiry has charged for it is taken back.
func (l *Ledger) end(ctx context.Context, s *slice) error {
	err := l.base.Settle(ctx, s.id, router.Amount{})
	if errors.Is(err, router.ErrNoHold) {
		err = nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s.ending = false
	if err == nil {
		l.drop(s)
	}
	return err
}

// drop removes a slice whose hold is closed. The caller holds l.mu.
func (l *Ledger) drop(s *slice) {
	delete(l.slices, s)
	for _, line := range s.lines {
		delete(l.on[line], s)
		if len(l.on[line]) == 0 {
			delete(l.on, line)
		}
	}
}
