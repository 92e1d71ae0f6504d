package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// mostReadings is the most times that a call asks for its first hold. Its limits
// are read again after each *StaleError, usually once.
const mostReadings = 4

// Limits are the limits on a call that a policy has read, and a way to read them
// again. Calls share them, so they must never change.
type Limits struct {
	Budgets []Budget
	// Versions are those of all limits that the policy reads, including owners that
	// have none now. Without a version the ledger cannot detect that the limits are
	// old.
	Versions []Version
	// Again reads the limits from the store again. An error refuses the call, as
	// when the key no longer exists; an [*Error] says what the caller is told.
	// Again must be safe for concurrent use. Nil is for a policy that reads no
	// store.
	Again func(ctx context.Context) (*Limits, error)
}

// Limit adds limits that a policy has read to the call. When they turn out to be
// old at the call's first hold, the router reads them again and replaces them in
// Budgets. Raises of the hold keep the limits under which it was made. Nil adds
// nothing.
func (c *Call) Limit(l *Limits) {
	if l == nil {
		return
	}
	if len(c.Budgets) == 0 {
		c.Budgets = slices.Clip(l.Budgets) // shared, and clipped so that an append copies it
	} else if len(l.Budgets) > 0 {
		c.Budgets = append(slices.Clip(c.Budgets), l.Budgets...)
	}
	if len(l.Versions) > 0 && l.Again != nil && !slices.Contains(c.limited, l) {
		if c.limited == nil {
			c.limited = c.limitRoom[:0]
		}
		c.limited = append(c.limited, l)
	}
}

// versions adds the versions of the call's limits to the hold, except those of
// owners that the principal does not have: the hold has no line for them.
func (s *reservation) versions() {
	n := 0
	for _, l := range s.call.limited {
		n += len(l.Versions)
	}
	s.hold.Versions = nil
	if n == 0 {
		return
	}
	s.hold.Versions = make([]Version, 0, n)
	for _, l := range s.call.limited {
		for _, v := range l.Versions {
			if slices.Contains(s.hold.Lines, v.Line) {
				s.hold.Versions = append(s.hold.Versions, v)
			}
		}
	}
}

// ask reserves the hold. Where the ledger reports that limits were changed, nothing
// was held: ask reads them again and retries.
func (s *reservation) ask(ctx context.Context) error {
	had := s.held
	for range mostReadings {
		s.held = true // even when the ledger fails, because it may have made the hold
		err := s.router.cfg.Ledger.Reserve(ctx, s.hold)
		stale, ok := errors.AsType[*StaleError](err)
		if !ok {
			return err
		}
		s.held = had
		if err := s.readAgain(ctx, stale); err != nil {
			return err
		}
	}
	return errStale
}

// readAgain reads the old limits again from their policies and rebuilds the hold's
// caps.
func (s *reservation) readAgain(ctx context.Context, stale *StaleError) error {
	c := s.call
	for _, l := range slices.Clone(c.limited) {
		if !slices.ContainsFunc(stale.Versions, func(i int) bool {
			return i >= 0 && i < len(s.hold.Versions) && slices.Contains(l.Versions, s.hold.Versions[i])
		}) {
			continue
		}
		fresh, err := l.Again(ctx)
		if err != nil {
			return err
		}
		c.replace(l, fresh)
	}
	s.limit()
	return nil
}

// replace replaces old limits by fresh ones.
func (c *Call) replace(old, fresh *Limits) {
	c.Budgets = slices.DeleteFunc(slices.Clone(c.Budgets), func(b Budget) bool { return slices.Contains(old.Budgets, b) })
	c.limited = slices.DeleteFunc(c.limited, func(l *Limits) bool { return l == old })
	c.Limit(fresh)
}

var errStale = fmt.Errorf("router: the limits of the call were old each time that they were read (%w)", ErrUnavailable)
