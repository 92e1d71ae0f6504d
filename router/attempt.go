package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
func (w *walk) attempt(ctx context.Context, s *served, by *Candidate, allotted allotment) (answers systemone.Answers, stop Stop, sent bool) {
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
	out := w.out.attempt(s, by.Credential, deadline)
	if trace := w.call.AttemptTrace; trace != nil {
		rec.Trace = trace(s.endpoint, s.provider.Client)
		out.Trace = rec.Trace
	}
	reply, err := s.provider.Client.Decide(limited, out)
	if errors.Is(err, ErrNotSent) {
		return nil, "", false
	}
	now := r.cfg.Now()
	// A client may watch the deadline itself and see it pass before ctx does.
	over := err != nil && (within.Err() != nil || limited.Err() != nil || !r.now().Before(deadline))
	rec.Duration = max(now.Sub(rec.Started), 0)

	o := observation{at: now, duration: rec.Duration}
	if err != nil {
		o.checked = rec.fail(over, err)
	} else {
		answers, o.checked = rec.judge(w.request, reply)
	}
	ranOut := over && rec.Class != "" && rec.Status == 0 && !rec.local()
	cut := ranOut && (given < allotted.due || hungUp(within))
	o.ok = rec.Class == ""
	o.failed = !o.ok && !cut && rec.countsAgainstUptime()
	o.tokens = rec.Usage.InputTokens + rec.Usage.OutputTokens
	o.rest, o.class = rec.rest(), rec.Class
	if s.tracker.record(o) {
		r.statistics.changes.Add(1)
		w.turn(s)
	}
	switch {
	case rec.Class == InvalidRequest, rec.refusedForSafety() && !w.shops(rec.Model):
		stop = StopCaller
	case answers == nil && ctx.Err() != nil, over && !deadline.Before(w.deadline.end): // both may end at one instant, the attempt's context first
		stop = StopDeadline
		rec.Abandoned = cut && !finish
	}
	w.price(&rec)
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

// without returns the request without the questions that were refused.
func without(q *systemone.Request, refused []Refusal) *systemone.Request {
	names := make(map[string]bool, len(refused))
	for _, r := range refused {
		names[r.Question] = true
	}
	part := *q
	part.Questions = make([]systemone.Question, 0, len(q.Questions))
	for i := range q.Questions {
		if !names[q.Questions[i].Name] {
			part.Questions = append(part.Questions, q.Questions[i])
		}
	}
	return &part
}

// refusedForSafety reports whether the upstream declined the whole sheet for safety.
func (rec *AttemptRecord) refusedForSafety() bool {
	return errors.Is(rec.Err, errRefused) && slices.ContainsFunc(rec.Refused, func(r Refusal) bool { return r.Safety })
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
// at most what is held, for one that its caller abandoned.
func (w *walk) price(rec *AttemptRecord) {
	if rec.Status == statusAnswered || errors.Is(rec.Err, errRefused) {
		rec.UpstreamCost = rec.Endpoint.Pricing.Cost(rec.Usage.InputTokens, rec.Usage.OutputTokens)
		rec.charge = priced(rec.UpstreamCost, rec.Credential)
		w.money.spend(rec.charge)
		return
	}
	if rec.Abandoned && w.router.cfg.Abandoned == AbandonEstimate {
		rec.charge = w.money.atMost(priced(rec.Endpoint.Pricing.Cost(w.prompt, 0), rec.Credential))
		if rec.charge.Total > 0 {
			rec.Usage.InputTokens = w.prompt
		}
	}
}
