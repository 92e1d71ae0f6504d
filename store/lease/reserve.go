package lease

import (
	"context"
	"errors"
	"slices"

	"github.com/signalbox/signalbox/router"
)

// Reserve implements [router.Ledger].
func (l *Ledger) Reserve(ctx context.Context, h router.Hold) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var buffer [1024]byte
	want, sliced := requested(&h, buffer[:0])
	for {
		l.mu.Lock() // every path below unlocks it
		if c := l.calls[h.ID]; c != nil {
			return l.raise(ctx, c, h, want)
		}
		if _, known := l.closed.known[h.ID]; known {
			l.mu.Unlock()
			return router.ErrConflict
		}
		if !sliced || l.shut {
			return l.plainly(ctx, h)
		}
		f, old := l.fund(&want)
		if len(old) > 0 {
			l.mu.Unlock()
			l.giveAllOf(ctx, old)
			continue
		}
		if s := f.admits(want.amount, h.Deadline); s != nil {
			l.admit(s, &h)
			l.mu.Unlock()
			return nil
		}
		switch {
		case f.drawing != nil:
			if err := l.wait(ctx, f.drawing); err != nil {
				return err
			}
		case f.plain > 0:
			f.plain--
			return l.plainly(ctx, h)
		default:
			if l.draw(ctx, f, &want, h) {
				return nil
			}
		}
	}
}

// admit gives a new call a part of a slice. The caller holds l.mu.
func (l *Ledger) admit(s *slice, h *router.Hold) {
	amount := h.Amount.Total
	s.out, s.calls, s.used = s.out+amount, s.calls+1, true
	l.calls[h.ID] = &call{slice: s, amount: amount, deadline: h.Deadline, event: h.Event}
}

// wait unlocks l.mu and waits until the slice that is being drawn is there, or is not.
func (l *Ledger) wait(ctx context.Context, drawn <-chan struct{}) error {
	l.mu.Unlock()
	select {
	case <-drawn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// raise raises an open hold to the amount asked for, in its slice if there is room, else in the
// base. The caller holds l.mu; raise unlocks it.
func (l *Ledger) raise(ctx context.Context, c *call, h router.Hold, want request) error {
	s := c.slice
	if s != nil && c.busy == 0 && s.is(&want) {
		more := max(want.amount-c.amount, 0)
		if s.admits(more, h.Deadline) {
			s.out, s.used = s.out+more, true
			c.amount, c.event = c.amount+more, h.Event
			c.until(h.Deadline)
			l.mu.Unlock()
			return nil
		}
	}
	l.mu.Unlock()
	if err := l.detach(ctx, c, h.ID); err != nil {
		return err
	}
	err := l.ask(ctx, h)
	if !isRefused(err) {
		l.mu.Lock()
		c.until(h.Deadline)
		l.mu.Unlock()
	}
	return err
}

// plainly reserves in the base. The caller holds l.mu; plainly unlocks it.
func (l *Ledger) plainly(ctx context.Context, h router.Hold) error {
	c := &call{deadline: h.Deadline}
	l.calls[h.ID] = c // a concurrent call with the same ID goes to the base, too
	l.mu.Unlock()
	err := l.ask(ctx, h)
	if isRefused(err) {
		l.mu.Lock()
		if l.calls[h.ID] == c {
			delete(l.calls, h.ID)
		}
		l.mu.Unlock()
	}
	return err
}

// isRefused reports whether err means that the hold surely does not exist.
func isRefused(err error) bool {
	_, limit := errors.AsType[*router.LimitError](err)
	return limit || isStale(err) || errors.Is(err, router.ErrConflict)
}

func isStale(err error) bool {
	_, stale := errors.AsType[*router.StaleError](err)
	return stale
}

// ask reserves in the base. If the base refuses, ask gives back the free part of this process's
// slices on the line and tries again.
func (l *Ledger) ask(ctx context.Context, h router.Hold) error {
	for {
		err := l.base.Reserve(ctx, h)
		refused, ok := errors.AsType[*router.LimitError](err)
		if !ok || refused.Cap < 0 || refused.Cap >= len(h.Caps) || !l.giveBackOn(ctx, h.Caps[refused.Cap].Line) {
			return err
		}
	}
}

// draw draws a slice from the base, if the share of what is left is enough for two calls like h,
// and admits h from it. It reports whether it did. The caller holds l.mu; draw unlocks it.
func (l *Ledger) draw(ctx context.Context, f *fund, want *request, h router.Hold) bool {
	s := &slice{
		id: l.newID(), fund: f, caps: string(want.caps()), lines: slices.Clone(h.Lines), deadline: h.Deadline.Add(l.life),
		size: times(min(f.next, l.most), h.Amount.Total),
	}
	f.drawing = make(chan struct{})
	l.mu.Unlock()
	err := l.take(ctx, s, h)
	l.mu.Lock()
	old, admitted := l.drawn(s, &h, err)
	l.mu.Unlock()
	l.giveAllOf(ctx, old)
	return admitted
}

// drawn adds a slice that was drawn, and returns the slices to give back. The caller holds l.mu.
func (l *Ledger) drawn(s *slice, h *router.Hold, err error) (old []*slice, admitted bool) {
	f := s.fund
	close(f.drawing)
	f.drawing = nil
	if err != nil {
		f.plain, f.next = pause, 2
		if isStale(err) {
			f.plain = 1 // the next call states newer versions
		}
		if !errors.Is(err, errSmall) && !isRefused(err) {
			s.retired, s.size = true, 0 // the outcome is unknown; Expire closes the hold
			l.keep(s)
		}
		return nil, false
	}
	l.keep(s)
	if _, rival := l.calls[h.ID]; l.shut || rival || s.caps != f.caps {
		return []*slice{s}, false
	}
	old = f.outgrown(h)
	f.current, f.slices, f.next = s, append(f.slices, s), min(2*f.next, l.most)
	l.admit(s, h)
	return old, true
}

// outgrown retires slices that had no room for a call and are unlikely to have room for others.
// It returns those with a free part to give back.
func (f *fund) outgrown(h *router.Hold) (old []*slice) {
	for _, s := range slices.Clone(f.slices) {
		if s.calls > 0 && !h.Deadline.After(s.deadline) {
			continue // its calls may leave a part for others
		}
		s.retire()
		if s.calls == 0 || s.free() >= times(2, h.Amount.Total) {
			old = append(old, s) // otherwise the last call closes it
		}
	}
	return old
}

var errSmall = errors.New("lease: too little is left")

// take reserves a slice in the base: its full size, or a share of what is left.
func (l *Ledger) take(ctx context.Context, s *slice, h router.Hold) error {
	on, err := l.base.Balances(ctx, h.Lines)
	if err != nil {
		return errors.Join(errSmall, err)
	}
	for _, c := range h.Caps {
		if s.fund.own && !c.BYOK {
			continue // such calls add nothing to what the cap limits
		}
		at, left := on[slices.Index(h.Lines, c.Line)], max(c.Max, 0)
		left -= min(left, at.Spent.Of(c.BYOK))
		left -= min(left, at.Held.Of(c.BYOK))
		s.size = min(s.size, left/(2*l.nodes))
	}
	if s.size < times(2, h.Amount.Total) {
		return errSmall
	}
	event := h.Event
	if event.ID != "" {
		event.ID = "lease-" + s.id.String() + "/held"
		event.Requests = 0 // the number of calls is unknown
	}
	return l.base.Reserve(ctx, router.Hold{
		ID: s.id, Lines: s.lines, Caps: h.Caps, Versions: h.Versions, Amount: s.fund.amount(s.size), Deadline: s.deadline, Event: event,
	})
}

// keep registers a slice until its hold is closed. The caller holds l.mu.
func (l *Ledger) keep(s *slice) {
	l.slices[s] = struct{}{}
	for _, line := range s.lines {
		if l.on[line] == nil {
			l.on[line] = map[*slice]struct{}{}
		}
		l.on[line][s] = struct{}{}
	}
}
