package router

import (
	"context"
	"errors"
)

// walk is a call on its way from one candidate to the next.
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
	limited    bool    // a candidate was left out because of it
	refused    *Budget // the first that had no room for a candidate
	turned     *served // an outage began or ended here, which no observer was told yet
}

// Stop says why a walk from candidate to candidate ended without an answer.
type Stop string

// Every reason, the strongest first.
const (
	// StopCaller is a caller that hung up, or that is at fault.
	StopCaller Stop = "caller"
	// StopDeadline is the end of the call's time, whoever set it.
	StopDeadline Stop = "deadline"
	// StopAttempts is [Config.MaxAttempts]: a candidate was left that it kept from
	// being asked.
	StopAttempts Stop = "attempts"
	// StopCandidates is the end of the plan: each candidate was asked, or is in
	// [Report.Skipped].
	StopCandidates Stop = "candidates"
)

// walk asks one candidate of the plan after another. A candidate whose endpoint
// or client is busy is passed over, and so is one that a budget has no room for:
// that is no attempt.
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

// ask makes an attempt at a candidate, if it can be made, and charges its answer,
// or what it is taken to have cost where its caller ended the call. It returns the
// result, or why the walk ends here.
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

// try makes an attempt at a candidate, if it can be made. Its place at the endpoint
// is free afterwards: the ledger, which may take long, is none of its business.
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
	allotted := w.allot(i) // the ledger may have taken its time
	switch {
	case ctx.Err() != nil: // nobody waits for an answer any more
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

// over says whether a ledger's error comes of the call's end: of one that nobody
// was asked for before its deadline, the ledger has taken all the time.
func (w *walk) over(ctx context.Context) bool {
	return hungUp(ctx) || ctx.Err() != nil && len(w.call.Report.Attempts) > 0
}

// skip notes that a candidate was passed over.
func (w *walk) skip(by *Candidate, s Skip) {
	s.Endpoint, s.Credential = by.Endpoint, by.Credential
	w.call.Report.Skipped = append(w.call.Report.Skipped, s)
}

// end notes why the walk ended without an answer, and says what the caller is
// told. Where nothing was sent, the first candidate that there was no money for
// decides; only where all were busy it is for want of capacity.
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
