package router

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// maxCostText is the longest cost, in bytes, that is kept from an upstream's usage.
// No amount needs as many.
const maxCostText = 64

var (
	errRefused  = errors.New("router: the upstream refused questions")
	errInvented = errors.New("router: the upstream refused questions that it was not asked")
)

// acquire takes one of the endpoint's concurrent places and reports whether one was
// free.
func (s *served) acquire() bool {
	limit := s.endpoint.Limits.Concurrency
	if n := s.tracker.inflight.Add(1); limit > 0 && n > int64(limit) {
		s.release()
		return false
	}
	return true
}

func (s *served) release() { s.tracker.inflight.Add(-1) }

// attempt asks one endpoint, where it already has a place, and records the outcome
// unless nothing was sent. It returns the answers, or why the walk ends here.
//
// An attempt that the caller cut short does not count against its endpoint. That is
// one on which the caller hung up, and one that ran out of less time than the
// program's own deadline would have given it.
func (t *try) attempt(ctx context.Context, allotted allotment) (answers systemone.Answers, stop Stop, sent bool) {
	w, s, by := t.walk, t.s, t.by
	r, finish := w.router, w.router.cfg.Abandoned == AbandonFinish
	within, given := ctx, allotted.given
	if finish {
		within = context.WithoutCancel(ctx)
		if allotted.final {
			given = allotted.due
		}
	}
	limited, cancel := context.WithTimeout(within, given)
	defer cancel()
	deadline, _ := limited.Deadline()

	rec := AttemptRecord{
		Endpoint: s.endpoint, Model: by.Model(), Provider: s.provider.Name,
		Credential: by.Credential, Started: r.cfg.Now(),
	}
	if trace := w.call.AttemptTrace; trace != nil {
		t.trace = trace(s.endpoint, s.provider.Client)
		rec.Trace = t.trace
	}
	cutShort := func() bool { return given < allotted.due || hungUp(within) }
	lasts := func() bool { return !deadline.Before(w.deadline.end) } // the attempt ends with the call
	var l landing
	if t.shared {
		l, sent = t.together(limited, func() leave { return w.leave(within, by.Endpoint, (ctx.Err() != nil || lasts()) && cutShort()) })
	} else {
		l, sent = t.alone(within, limited)
	}
	if !sent {
		return nil, "", false
	}
	now, over := r.cfg.Now(), l.err != nil && l.left
	rec.Duration = max(now.Sub(rec.Started), 0)

	o := observation{at: now, duration: l.duration}
	if l.err != nil {
		o.checked = rec.fail(over || l.late, l.err)
	} else {
		answers, o.checked = rec.judge(w.request, l.reply)
	}
	ranOut := over && rec.Class != "" && rec.Status == 0 && !rec.local()
	cut := ranOut && cutShort()
	o.ok = rec.Class == ""
	o.failed = !o.ok && !cut && rec.countsAgainstUptime()
	o.tokens = rec.Usage.InputTokens + rec.Usage.OutputTokens
	o.rest, o.class = rec.rest(), rec.Class
	if l.speaks && s.tracker.record(o) {
		r.statistics.changes.Add(1)
		w.turn(s)
	}
	switch {
	case rec.Class == InvalidRequest, rec.refusedForSafety() && !w.shops(rec.Model):
		stop = StopCaller
	case answers == nil && ctx.Err() != nil, over && lasts(): // both may end at one instant, the attempt's context first
		stop = StopDeadline
		rec.Abandoned = cut && !finish
	}
	w.price(&rec, l.portion)
	w.leg.Attempts = append(w.leg.Attempts, rec)
	return answers, stop, true
}

// The HTTP statuses that the router itself uses.
const (
	statusAnswered     = 200
	statusUnauthorized = 401
	statusPayment      = 402
	statusForbidden    = 403
	statusUnknown      = 404
	statusBadReply     = 502 // what an answer that failed the check counts as
)

// fail classifies an error of the provider. An attempt whose time ran out is a
// timeout, whatever the provider's error says, unless the upstream replied. It
// returns whether the provider has checked a reply.
func (rec *AttemptRecord) fail(over bool, err error) (checked bool) {
	rec.Class, rec.Err = ProviderUnavailable, err
	if up, ok := errors.AsType[*UpstreamError](err); ok {
		rec.Class, rec.Status, rec.RetryAfter = attemptClass(up.Class), up.Status, max(up.RetryAfter, 0)
		if up.BadReply {
			rec.Class, rec.Status, rec.RetryAfter = ProviderUnavailable, statusBadReply, 0
			checked = up.Checked
		}
	}
	if rec.Status == 0 && (over || errors.Is(err, context.DeadlineExceeded)) {
		rec.Class = Timeout
	}
	return checked
}

// attemptClass maps a class that no attempt can have to ProviderUnavailable.
func attemptClass(c Class) Class {
	switch c {
	case InvalidRequest, PayloadTooLarge, RateLimitExceeded, NoCapacity, Timeout, ProviderOverloaded:
		return c
	default:
		return ProviderUnavailable
	}
}

// judge checks a reply. It returns the repaired answers to the questions that the
// upstream did not refuse, and whether the reply counts as checked, which one that
// refuses everything does not: the whole sheet then goes to the next candidate.
func (rec *AttemptRecord) judge(q *systemone.Request, reply Reply) (answers systemone.Answers, checked bool) {
	rec.UpstreamID = reply.ID
	rec.Status = statusBadReply
	rec.Class = ProviderUnavailable
	missing := rec.Endpoint.missing(reply.Uncounted)
	if err := rec.Endpoint.checkUsage(reply.Usage, missing); err != nil {
		rec.Err = err
		return nil, true
	}
	rec.Usage = reply.Usage
	if len(rec.Usage.Cost) > maxCostText {
		rec.Usage.Cost = ""
	}
	answered := q
	if len(reply.Refused) > 0 {
		if answered = without(q, reply.Refused); len(answered.Questions)+len(reply.Refused) != len(q.Questions) {
			rec.Err = errInvented
			return nil, true
		}
		rec.Refused = reply.Refused
	}
	if len(answered.Questions) == 0 {
		rec.estimate(q, missing)
		rec.Err = fmt.Errorf("%w: %d of %d", errRefused, len(reply.Refused), len(q.Questions))
		return nil, false
	}
	if answered.Refusals { // of callers; an upstream has Reply.Refused
		part := *answered
		part.Refusals, answered = false, &part
	}
	answers, rec.Err = systemone.Repair(answered, reply.Answers, rec.Endpoint.Tolerance)
	if rec.Err != nil {
		return nil, true
	}
	rec.estimate(q, missing)
	rec.Status, rec.Class = statusAnswered, ""
	rec.Answers = reply.Answers
	return answers, true
}

// countsAgainstUptime reports whether the endpoint caused the failure.
func (rec *AttemptRecord) countsAgainstUptime() bool {
	switch rec.Class {
	case InvalidRequest, PayloadTooLarge, RateLimitExceeded:
		return false
	default:
		return rec.Status != statusForbidden && !errors.Is(rec.Err, errRefused) && !rec.local() && !rec.ofAccount()
	}
}

// local reports whether this side caused the failure.
func (rec *AttemptRecord) local() bool {
	up, ok := errors.AsType[*UpstreamError](rec.Err)
	return ok && up.Local
}

// ofAccount reports whether the failure is due to the caller's own account at the
// provider. Such a failure, a refused credential or an account at its limit, says
// nothing about the endpoint.
func (rec *AttemptRecord) ofAccount() bool {
	if rec.Credential == nil {
		return false
	}
	switch rec.Status {
	case statusUnauthorized, statusPayment, statusForbidden, statusUnknown:
		return true
	}
	return rec.Class == RateLimitExceeded
}

// rest returns for how long the endpoint asks not to be called; 0 where it does
// not.
func (rec *AttemptRecord) rest() time.Duration {
	switch {
	case !hintsRest(rec.Class), rec.local(), rec.ofAccount():
		return 0
	case rec.RetryAfter > 0:
		return rec.RetryAfter
	default:
		return defaultRest
	}
}

// hintsRest reports whether a failure of this class asks for a pause.
func hintsRest(c Class) bool {
	return c == RateLimitExceeded || c == NoCapacity || c == ProviderOverloaded
}

// price notes what the upstream's counts cost at list price, and what the caller is
// charged if the attempt is billed: nothing for one that failed, and an estimate,
// at most what is held, for one that its caller abandoned. Of a shared call it notes
// the caller's portion.
func (w *walk) price(rec *AttemptRecord, p portion) {
	if p.of > 1 {
		rec.Sharers = p.of
	}
	if rec.Status == statusAnswered || errors.Is(rec.Err, errRefused) {
		cost := rec.Endpoint.Pricing.Cost(rec.Usage.InputTokens, rec.Usage.OutputTokens)
		if p.shared() {
			cost = rec.take(p, usedOf(cost, rec.Usage), w.most(rec.Endpoint))
		}
		rec.UpstreamCost = cost
		rec.charge = priced(cost, rec.Credential)
		if rec.Class == "" || w.call.Request.Refusals { // a refusal of everything is charged only as an answer
			w.money.spend(rec.charge)
		}
		return
	}
	if rec.Abandoned && w.router.cfg.Abandoned == AbandonEstimate {
		estimate := w.estimated(rec.Endpoint)
		own := p.part(estimate, estimate.cost)
		rec.charge = w.money.atMost(priced(own.cost, rec.Credential))
		w.money.spend(rec.charge)
		if rec.charge.Total > 0 {
			rec.Usage.InputTokens = own.input
		}
	}
}

// most returns the most that the leg's questions may cost at an endpoint.
func (w *walk) most(e *Endpoint) USD { return e.Pricing.Bound(w.money.size.at(e)) }

// estimated returns what an attempt counts as whose caller ends the call.
func (w *walk) estimated(e *Endpoint) used {
	return used{cost: min(e.Pricing.Cost(w.prompt, 0), w.most(e)), input: w.prompt}
}

// leave says what a caller pays that leaves a shared call. One that has hung up waits
// for the end, because nobody waits for its reply; one whose time is over must reply
// and pays its portion of the estimate. Where an attempt that nobody else shares
// would cost nothing, leaving does not either: charged says whether it would.
func (w *walk) leave(within context.Context, e *Endpoint, charged bool) leave {
	switch {
	case !charged || w.router.cfg.Abandoned != AbandonEstimate:
		return leave{}
	case hungUp(within):
		return leave{awaits: true}
	}
	return leave{estimate: w.estimated(e)}
}

// take replaces the attempt's usage by a portion of it and returns the portion's
// cost. What the upstream says that it charged stays with the first caller.
func (rec *AttemptRecord) take(p portion, whole used, most USD) USD {
	own := p.part(whole, most)
	u := &rec.Usage
	u.InputTokens, u.OutputTokens, u.ReasoningTokens, u.CachedTokens = own.input, own.output, own.reasoning, own.cached
	if p.place > 0 {
		u.Cost = ""
	}
	return own.cost
}
