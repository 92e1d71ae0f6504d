package router

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/systemone"
)

// walk is the state of a leg that asks one candidate after another.
type walk struct {
	*course

	leg        *Leg
	request    *systemone.Request // the call's, with the leg's questions
	candidates []Candidate
	prompt     int64 // tokens, estimated
	out        outgoing
	money      share
	digests    sheetDigests
	behind     bool    // if the leg fails, another group is asked
	again      bool    // others were asked the same questions before
	counted    int     // attempts that the limit counts
	limited    bool    // the limit on attempts left a candidate out
	later      bool    // a second opinion, which begins only with the time that it needs
	hurried    bool    // a candidate was left out for want of that time
	overBudget *Budget // the first budget without room for a candidate
	stop       Stop    // why the walk ended without an answer
	ledger     bool    // the ledger failed
}

// Stop says why a call ended without an answer.
type Stop string

// Every reason. Where several apply, the first is reported.
const (
	// StopCaller means that the caller hung up or is at fault, or that an upstream
	// refused for safety.
	StopCaller Stop = "caller"
	// StopDeadline means that the call's time is over, whether the caller or the
	// program set it.
	StopDeadline Stop = "deadline"
	// StopAttempts means that [Config.MaxAttempts] left some candidate unasked.
	StopAttempts Stop = "attempts"
	// StopCandidates means that every candidate was asked or is in
	// [Leg.Skipped].
	StopCandidates Stop = "candidates"
)

// walk asks one candidate of the plan after another until one answers. A candidate
// is passed over, without an attempt, when its endpoint or client is busy or a
// budget has no room for it. The answers are those that the upstream did not
// refuse, at least one.
func (w *walk) walk(ctx context.Context) (systemone.Answers, error) {
	defer w.money.giveBack()
	for i := range w.candidates {
		switch {
		case ctx.Err() != nil:
			return nil, w.end(ctx, StopDeadline)
		case !w.candidates[i].Endpoint.LastResort && w.counted >= w.router.cfg.MaxAttempts:
			w.limited = true
			continue
		case w.later && w.late(&w.candidates[i]):
			w.hurried = true
			w.skip(&w.candidates[i], Skip{Reason: SkipTime})
			continue
		}
		answers, stop, err := w.try(ctx, i)
		switch {
		case err != nil:
			w.ledger = true
			return nil, Failure(err)
		case answers != nil:
			return answers, nil
		case stop != "":
			return nil, w.end(ctx, stop)
		}
	}
	switch {
	case w.limited:
		return nil, w.end(ctx, StopAttempts)
	case w.hurried && len(w.leg.Attempts) == 0:
		return nil, w.end(ctx, StopDeadline)
	}
	return nil, w.end(ctx, StopCandidates)
}

// try is one candidate's turn in a walk.
type try struct {
	walk   *walk
	by     *Candidate
	s      *served
	place  place
	key    digest // of the calls that ask the same
	shared bool   // the call may be shared with them
	bug    error  // the provider panicked, and this call reports it
	trace  TraceContext
}

// try makes an attempt at a candidate, if possible. It returns the answers, or why
// the walk ends here. A call that joins another one's attempt needs no place.
func (w *walk) try(ctx context.Context, i int) (answers systemone.Answers, stop Stop, err error) {
	by := &w.candidates[i]
	t := try{walk: w, by: by, s: w.call.world.byEndpoint[by.Endpoint.ID]}
	if t.key, t.shared = w.sheet(t.s, by); !t.shared || !w.router.flights.has(t.key) {
		var why SkipReason
		var ok bool
		if t.place, why, ok = w.take(t.s); !ok {
			w.skip(by, Skip{Reason: why})
			return nil, "", nil
		}
	}
	sent := false
	defer func() { t.place.free(sent) }()
	switch refused, err := w.money.reserve(ctx, by, t.s.provider.Name); {
	case err != nil && w.over(ctx):
		return nil, StopDeadline, nil
	case err != nil:
		return nil, "", err
	case refused != nil:
		if w.overBudget == nil {
			w.overBudget = refused
		}
		w.skip(by, Skip{Check: refused.Check})
		return nil, "", nil
	}
	allotted := w.allot(i) // after reserve, which may take long
	switch {
	case ctx.Err() != nil:
		stop = StopDeadline
	case allotted.given > 0:
		if answers, stop, sent = t.attempt(ctx, allotted); !sent {
			w.skip(by, Skip{Reason: SkipBusy})
		} else if !by.Endpoint.LastResort {
			w.counted++
		}
		err = t.bug
	case allotted.final:
		stop = StopDeadline
	default:
		w.skip(by, Skip{Reason: SkipTime})
	}
	return answers, stop, err
}

// over reports whether a ledger's error is due to the end of the call. At a
// deadline it is so only after an attempt: without one, the ledger itself used all
// the time.
func (w *walk) over(ctx context.Context) bool {
	return hungUp(ctx) || ctx.Err() != nil && len(w.leg.Attempts) > 0
}

// skip notes that a candidate was passed over.
func (w *walk) skip(by *Candidate, s Skip) {
	s.Endpoint, s.Credential = by.Endpoint, by.Credential
	w.leg.Skipped = append(w.leg.Skipped, s)
}

// end notes why the walk ended without an answer, and returns the leg's error.
// Where nothing was sent, the first budget that refused decides; only where every
// candidate was busy the error is a lack of capacity.
func (w *walk) end(ctx context.Context, stop Stop) *Error {
	if hungUp(ctx) {
		stop = StopCaller
	} else if ctx.Err() != nil && stop != StopCaller {
		stop = StopDeadline
	}
	w.stop = stop
	switch err := ctx.Err(); {
	case errors.Is(err, context.Canceled):
		return &Error{Class: Timeout, Err: err}
	case len(w.leg.Attempts) > 0:
		return ofAttempts(&Report{Legs: []*Leg{w.leg}})
	case stop == StopDeadline:
		return &Error{Class: Timeout, Err: context.DeadlineExceeded}
	case w.overBudget != nil:
		return w.overBudget.refusal()
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
