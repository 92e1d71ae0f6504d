package router

import (
	"context"
	"errors"
)

// walk is the state of a call that asks one candidate after another.
type walk struct {
	router     *Router
	call       *Call
	candidates []Candidate
	stats      []Stats // that the plan was made with
	prompt     int64   // tokens, estimated
	out        outgoing
	money      reservation
	deadline   deadline
	counted    int     // attempts that the limit counts
	limited    bool    // the limit on attempts left a candidate out
	refused    *Budget // the first budget without room for a candidate
	turned     *served // an outage began or ended here, and observers do not know yet
}

// Stop says why a call ended without an answer.
type Stop string

// Every reason. Where several apply, the first is reported.
const (
	// StopCaller means that the caller hung up or is at fault.
	StopCaller Stop = "caller"
	// StopDeadline means that the call's time is over, whether the caller or the
	// program set it.
	StopDeadline Stop = "deadline"
	// StopAttempts means that [Config.MaxAttempts] left some candidate unasked.
	StopAttempts Stop = "attempts"
	// StopCandidates means that every candidate was asked or is in
	// [Report.Skipped].
	StopCandidates Stop = "candidates"
)

// walk asks one candidate of the plan after another. A candidate is passed over,
// without an attempt, when its endpoint or client is busy or a budget has no room
// for it.
func (w *walk) walk(ctx context.Context) (_ *Result, by *Candidate, err error) {
	defer func() { err = withCause(err, w.money.void(ctx)) }()
	for i := range w.candidates {
		by := &w.candidates[i]
		switch {
		case ctx.Err() != nil:
			return nil, nil, w.end(ctx, StopDeadline)
		case !by.Endpoint.LastResort && w.counted >= w.router.cfg.MaxAttempts:
			w.limited = true
			continue
		}
		res, stop, err := w.ask(ctx, i)
		switch {
		case err != nil:
			return nil, nil, Failure(err)
		case res != nil:
			return res, by, nil
		case stop != "":
			return nil, nil, w.end(ctx, stop)
		}
	}
	if w.limited {
		return nil, nil, w.end(ctx, StopAttempts)
	}
	return nil, nil, w.end(ctx, StopCandidates)
}

// ask makes an attempt at a candidate, if possible, and charges its answer or, if
// the caller ended the call, its estimated cost. It returns the result, or why the
// walk ends here.
func (w *walk) ask(ctx context.Context, i int) (res *Result, stop Stop, err error) {
	attempts := len(w.call.Report.Attempts)
	if res, stop, err = w.try(ctx, i); err != nil || len(w.call.Report.Attempts) == attempts {
		return nil, stop, err
	}
	if !w.candidates[i].Endpoint.LastResort {
		w.counted++
	}
	switch rec := &w.call.Report.Attempts[attempts]; {
	case res != nil:
		err = w.money.settle(ctx, w.call, res)
	case rec.Abandoned:
		err = w.abandon(ctx, rec)
	}
	if s := w.turned; s != nil { // after the charge, because an observer may panic
		w.turned = nil
		w.router.tellOutages(ctx, w.call, s)
	}
	return res, stop, err
}

// try makes an attempt at a candidate, if possible. It releases the endpoint's
// place before the ledger settles the call, which may take long.
func (w *walk) try(ctx context.Context, i int) (res *Result, stop Stop, err error) {
	by := &w.candidates[i]
	s := w.call.world.byEndpoint[by.Endpoint.ID]
	if !s.acquire() {
		w.skip(by, Skip{Reason: SkipBusy})
		return nil, "", nil
	}
	defer s.release()
	permit, ok := w.permit(s, w.router.cfg.Now())
	if !ok {
		w.skip(by, Skip{Reason: SkipRetries})
		return nil, "", nil
	}
	sent := false
	defer func() {
		if !sent {
			permit.giveBack()
		}
	}()
	switch refused, err := w.money.reserve(ctx, by, s.provider.Name); {
	case err != nil && w.over(ctx):
		return nil, StopDeadline, nil
	case err != nil:
		return nil, "", err
	case refused != nil:
		if w.refused == nil {
			w.refused = refused
		}
		w.skip(by, Skip{Check: refused.Check})
		return nil, "", nil
	}
	allotted := w.allot(i) // after reserve, which may take long
	switch {
	case ctx.Err() != nil:
		stop = StopDeadline
	case allotted.given > 0:
		if res, stop, sent = w.attempt(ctx, s, by, allotted); !sent {
			w.skip(by, Skip{Reason: SkipBusy})
		}
	case allotted.final:
		stop = StopDeadline
	default:
		w.skip(by, Skip{Reason: SkipTime})
	}
	return res, stop, nil
}

// over reports whether a ledger's error is due to the end of the call. At a
// deadline it is so only after an attempt: without one, the ledger itself used all
// the time.
func (w *walk) over(ctx context.Context) bool {
	return hungUp(ctx) || ctx.Err() != nil && len(w.call.Report.Attempts) > 0
}

// skip notes that a candidate was passed over.
func (w *walk) skip(by *Candidate, s Skip) {
	s.Endpoint, s.Credential = by.Endpoint, by.Credential
	w.call.Report.Skipped = append(w.call.Report.Skipped, s)
}

// end notes why the walk ended without an answer, and returns the caller's error.
// Where nothing was sent, the first budget that refused decides; only where every
// candidate was busy the error is a lack of capacity.
func (w *walk) end(ctx context.Context, stop Stop) *Error {
	if hungUp(ctx) {
		stop = StopCaller
	} else if ctx.Err() != nil && stop != StopCaller {
		stop = StopDeadline
	}
	w.call.Report.Stopped = stop
	attempts := w.call.Report.Attempts
	switch err := ctx.Err(); {
	case errors.Is(err, context.Canceled):
		return &Error{Class: Timeout, Err: err}
	case len(attempts) > 0:
		return ofAttempts(attempts)
	case stop == StopDeadline:
		return &Error{Class: Timeout, Err: context.DeadlineExceeded}
	case w.refused != nil:
		return w.refused.refusal()
	default:
		return &Error{Class: NoCapacity, Err: errBusy}
	}
}

// withCause adds a cause to the Err of an [*Error].
func withCause(err, cause error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || cause == nil {
		return err
	}
	more := *e
	more.Err = errors.Join(e.Err, cause)
	return &more
}
