package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// mostReadings is how often the limits of a call are read anew before its first
// hold: once, unless they change again meanwhile.
const mostReadings = 4

// Limits are what a policy has read of the limits on a call, and how to read
// them again. Calls share them: they never change.
type Limits struct {
	Budgets []Budget
	// Versions are those of all limits that the policy reads, also of owners that
	// have none now. Without any, the ledger cannot know that the limits are old.
	Versions []Version
	// Again returns the limits as the store has them now. Its error, an [*Error]
	// where a caller is to be told more than that something failed, refuses the
	// call: the key is no longer there, for example. It is safe for concurrent use.
	// Nil is for a policy that reads no store.
	Again func(ctx context.Context) (*Limits, error)
}

// Limit puts the limits that a policy has read on the call. When they turn out to
// be old at the call's first hold, they are read again and those take their place
// in Budgets; raises of the hold go on with what it was made by. Nil adds nothing.
func (c *Call) Limit(l *Limits) {
	if l == nil {
		return
	}
	if len(c.Budgets) == 0 {
		c.Budgets = slices.Clip(l.Budgets) // shared; whoever appends copies it
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

// versions adds the versions of the call's limits to the hold. Those of owners
// that the principal does not have mean nothing to a ledger.
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

// ask reserves the hold. Where the ledger says that limits were changed since they
// were read, nothing is held, and they are read again before it is asked again.
func (s *reservation) ask(ctx context.Context) error {
	had := s.held
	for range mostReadings {
		s.held = true // even when the ledger fails: nobody knows how far it came
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

// readAgain has the policies read anew whose limits are old, and limits the hold
// by what they say.
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

// replace puts fresh limits in the place of old ones.
func (c *Call) replace(old, fresh *Limits) {
	c.Budgets = slices.DeleteFunc(slices.Clone(c.Budgets), func(b Budget) bool { return slices.Contains(old.Budgets, b) })
	c.limited = slices.DeleteFunc(c.limited, func(l *Limits) bool { return l == old })
	c.Limit(fresh)
}

var errStale = fmt.Errorf("router: the ledger says again and again that the limits of a call are old (%w)", ErrUnavailable)
