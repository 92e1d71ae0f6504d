package router

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// place is what an attempt takes before it is made: one of the endpoint's concurrent
// places, and a permit. The zero value has taken nothing.
type place struct {
	served *served
	permit permit
}

// take takes a place at an endpoint, or returns why there is none.
func (w *walk) take(s *served) (p place, why SkipReason, ok bool) {
	if !s.acquire() {
		return place{}, SkipBusy, false
	}
	permit, ok := w.permit(s, w.router.cfg.Now())
	if !ok {
		s.release()
		return place{}, SkipRetries, false
	}
	return place{served: s, permit: permit}, 0, true
}

// free gives the place back, and the permit too if nothing was sent.
func (p *place) free(sent bool) {
	if p.served == nil {
		return
	}
	p.served.release()
	if !sent {
		p.permit.giveBack()
	}
	*p = place{}
}

// sheet returns the key of the calls that ask a candidate the same, and whether such
// calls are shared.
func (w *walk) sheet(s *served, by *Candidate) (key digest, shared bool) {
	if !w.router.cfg.Share || w.call.retainsNothing() {
		return key, false
	}
	a := w.out.attempt(s, by.Credential, w.deadline.end)
	context := w.digests.context(w.call.Principal.Account, s.endpoint, by.Model(), &a)
	return w.digests.sheet(context, a.Request.Questions), true
}

// outgoing returns what the provider gets. A shared call has the trace of the caller
// that begins it.
func (t *try) outgoing(deadline time.Time) Attempt {
	a := t.walk.out.attempt(t.s, t.by.Credential, deadline)
	a.Trace = t.trace
	return a
}

// alone calls the provider for this call only. It returns how the attempt ended, and
// whether anything was sent.
func (t *try) alone(within, limited context.Context) (landing, bool) {
	deadline, _ := limited.Deadline()
	clock := &t.walk.router.cfg
	began := clock.Now()
	reply, err := t.s.provider.Client.Decide(limited, t.outgoing(deadline))
	l := landing{ending: ending{reply: reply, err: err}, speaks: true, portion: portion{of: 1}}
	l.duration = max(clock.Now().Sub(began), 0)
	// A client may watch the deadline itself and see it pass before ctx does.
	l.left = err != nil && (within.Err() != nil || limited.Err() != nil || !t.walk.router.now().Before(deadline))
	return l, !errors.Is(err, ErrNotSent)
}

// together calls the provider for all calls that ask the same now. The first of them
// begins it in the place that it has taken or takes now, which the provider's call
// then has until it ends. A call without a place is not sent.
func (t *try) together(limited context.Context, leaves func() leave) (landing, bool) {
	w, s := t.walk, t.s
	begin := func() func(context.Context) ending {
		if t.place.served == nil {
			var ok bool
			if t.place, _, ok = w.take(s); !ok {
				return nil
			}
		}
		taken, a := t.place, t.outgoing(w.deadline.end)
		t.place = place{}
		return func(ctx context.Context) (end ending) {
			defer func() { taken.free(!errors.Is(end.err, ErrNotSent)) }()
			a.Deadline, _ = ctx.Deadline()
			began := w.router.cfg.Now()
			end.reply, end.err = s.provider.Client.Decide(ctx, a)
			end.duration = max(w.router.cfg.Now().Sub(began), 0)
			return end
		}
	}
	seat := w.router.flights.board(limited, t.key, cmp.Or(s.endpoint.AttemptTimeout, w.router.cfg.AttemptTimeout), begin)
	if seat == nil {
		return landing{}, false
	}
	t.place.free(false) // another call began it
	l := seat.wait(limited, leaves)
	if l.bug != nil && l.speaks {
		t.bug = &Error{Class: Server, Err: l.bug}
	}
	return l, !errors.Is(l.err, ErrNotSent)
}
