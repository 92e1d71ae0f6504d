package router

import (
	"context"
	"errors"
	"time"
)

// walk is a call on its way from one candidate to the next.
type walk struct {
	router  *Router
	call    *Call
	out     outgoing
	money   purse
	retries *budget
	refused *Budget // the first that had no room for a candidate
}

// walk asks one candidate of the plan after another. A candidate whose
// endpoint or client is busy is passed over, and so is one that a budget has no
// room for: that is no attempt.
func (r *Router) walk(ctx context.Context, c *Call, models []ModelRef, now time.Time) (_ *Result, err error) {
	w := walk{
		router:  r,
		call:    c,
		out:     outgoing{call: c, catalog: c.world.catalog, userKey: r.cfg.UserKey},
		money:   r.purse(c, now),
		retries: c.world.budgets[models[0].Model.ID],
	}
	defer func() { err = withCause(err, w.money.void(ctx)) }()
	for i := range c.Report.Plan.Candidates {
		if len(c.Report.Attempts) >= r.cfg.MaxAttempts || ctx.Err() != nil {
			break
		}
		by := &c.Report.Plan.Candidates[i]
		res, ended, err := w.ask(ctx, by)
		if err != nil {
			return nil, err
		}
		if res != nil {
			r.pin(ctx, c, models, *by, r.cfg.Now())
			return res, nil
		}
		if ended {
			break
		}
	}
	return nil, w.failure(ctx)
}

// ask makes an attempt at a candidate, if it can be made, and charges its answer.
// It returns the result, or whether the walk ends here.
func (w *walk) ask(ctx context.Context, by *Candidate) (res *Result, ended bool, err error) {
	res, ended, err = w.try(ctx, by)
	if res == nil || err != nil {
		return nil, ended, err
	}
	if err := w.money.settle(ctx, w.call, res); err != nil {
		return nil, true, Failure(err)
	}
	return res, true, nil
}

// try makes an attempt at a candidate, if it can be made. Its place at the endpoint
// is free afterwards: the ledger, which may take long, is none of its business.
func (w *walk) try(ctx context.Context, by *Candidate) (res *Result, ended bool, err error) {
	s := w.call.world.byEndpoint[by.Endpoint.ID]
	if !s.acquire() {
		return nil, false, nil
	}
	defer s.release()
	switch refused, err := w.money.reserve(ctx, by, s.provider.Name); {
	case err != nil && w.over(ctx):
		return nil, true, nil
	case err != nil:
		return nil, true, Failure(err)
	case refused != nil:
		w.skip(by, refused)
		return nil, false, nil
	}
	attempts, now := len(w.call.Report.Attempts), w.router.cfg.Now()
	if !w.retries.allow(attempts, now) {
		return nil, true, nil
	}
	res, ended = w.router.attempt(ctx, s, by, &w.out)
	if len(w.call.Report.Attempts) == attempts {
		w.retries.forget(attempts, now)
		return nil, false, nil
	}
	return res, ended, nil
}

// over says whether a ledger's error comes of the call's end: of one that nobody
// was asked for before its deadline, the ledger has taken all the time.
func (w *walk) over(ctx context.Context) bool {
	return errors.Is(ctx.Err(), context.Canceled) || ctx.Err() != nil && len(w.call.Report.Attempts) > 0
}

// skip passes a candidate over that a budget has no room for.
func (w *walk) skip(by *Candidate, refused *Budget) {
	if w.refused == nil {
		w.refused = refused
	}
	w.call.Report.Skipped = append(w.call.Report.Skipped,
		Skip{Endpoint: by.Endpoint, Credential: by.Credential, Check: refused.Check})
}

// failure says why the walk ended without an answer. Where nothing was sent, the
// first candidate that there was no money for decides; only where all were busy
// it is for want of capacity.
func (w *walk) failure(ctx context.Context) *Error {
	attempts := w.call.Report.Attempts
	switch err := ctx.Err(); {
	case errors.Is(err, context.Canceled):
		return &Error{Class: Timeout, Err: err}
	case len(attempts) > 0:
		return ofAttempts(attempts)
	case err != nil:
		return &Error{Class: Timeout, Err: err}
	case w.refused != nil:
		return w.refused.refusal()
	default:
		return &Error{Class: NoCapacity, Err: errBusy}
	}
}

// withCause adds to what the operator reads of an error of the walk.
func withCause(err, cause error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || cause == nil {
		return err
	}
	more := *e
	more.Err = errors.Join(e.Err, cause)
	return &more
}
