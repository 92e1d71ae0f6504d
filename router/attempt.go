package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// maxCostText is the longest cost, in bytes, that is kept from an upstream's usage.
// No amount needs as many.
const maxCostText = 64

var errRefused = errors.New("router: the upstream refused questions")

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
// unless nothing was sent. It returns the result, or why the walk ends here.
//
// An attempt that the caller cut short does not count against its endpoint. That is
// one on which the caller hung up, and one that ran out of less time than the
// program's own deadline would have given it.
func (w *walk) attempt(ctx context.Context, s *served, by *Candidate, allotted allotment) (res *Result, stop Stop, sent bool) {
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
	reply, err := s.provider.Client.Decide(limited, w.out.attempt(s, by.Credential, deadline))
	if errors.Is(err, ErrNotSent) {
		return nil, "", false
	}
	now := r.cfg.Now()
	// A client may watch the deadline itself and see it pass before ctx does.
	over := err != nil && (within.Err() != nil || limited.Err() != nil || !r.now().Before(deadline))
	rec.Duration = max(now.Sub(rec.Started), 0)

	o := observation{at: now, duration: rec.Duration}
	var answers systemone.Answers
	if err != nil {
		o.checked = rec.fail(over, err)
	} else {
		answers, o.checked = rec.judge(w.call.Request, reply)
	}
	ranOut := over && rec.Class != "" && rec.Status == 0 && !rec.local()
	cut := ranOut && (given < allotted.due || hungUp(within))
	o.ok = rec.Class == ""
	o.failed = !o.ok && !cut && rec.countsAgainstUptime()
	o.tokens = rec.Usage.InputTokens + rec.Usage.OutputTokens
	o.rest, o.class = rec.rest(), rec.Class
	if s.tracker.record(o) {
		r.statistics.changes.Add(1)
		w.turned = s
	}
	if o.ok {
		rec.charge()
		r.estimates.note(&rec)
		res = result(w.call, s, by.Model(), rec, answers)
	}
	switch {
	case rec.Class == InvalidRequest:
		stop = StopCaller
	case res == nil && ctx.Err() != nil, over && !deadline.Before(w.deadline.end): // both may end at one instant, the attempt's context first
		stop = StopDeadline
		rec.Abandoned = cut && !finish
	}
	w.call.Report.Attempts = append(w.call.Report.Attempts, rec)
	return res, stop, true
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

// judge checks a reply. It returns the repaired answers, and whether the reply
// counts as checked, which a refusal does not. One endpoint answers all questions
// of a request: where a reply refuses a question, the whole request goes to the
// next candidate.
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
	if len(reply.Refused) > 0 && refusesOnly(q, reply.Refused) {
		rec.Err = fmt.Errorf("%w: %d of %d", errRefused, len(reply.Refused), len(q.Questions))
		return nil, false
	}
	answers, rec.Err = systemone.Repair(q, reply.Answers, rec.Endpoint.Tolerance)
	if rec.Err != nil {
		return nil, true
	}
	rec.estimate(q, missing)
	rec.Status, rec.Class = statusAnswered, ""
	rec.Answers = reply.Answers
	return answers, true
}

// refusesOnly reports whether every refused question was asked.
func refusesOnly(q *systemone.Request, refused []Refusal) bool {
	for _, r := range refused {
		if !slices.ContainsFunc(q.Questions, func(a systemone.Question) bool { return a.Name == r.Question }) {
			return false
		}
	}
	return true
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

// charge computes the cost of an answer. With the caller's own credential Cost is
// 0, because the upstream charges the caller.
func (rec *AttemptRecord) charge() {
	cost := priced(rec.Endpoint.Pricing.Cost(rec.Usage.InputTokens, rec.Usage.OutputTokens), rec.Credential)
	rec.Cost, rec.OwnCost = cost.Credit, cost.BYOK()
}

func result(c *Call, s *served, m *Model, rec AttemptRecord, answers systemone.Answers) *Result {
	usage := rec.Usage
	usage.Cost = json.Number(rec.Cost.String())
	return &Result{
		Response: systemone.Response{
			ID:       c.ID,
			Model:    m.Permaslug,
			Provider: s.provider.Name,
			Answers:  answers,
			Usage:    usage,
		},
		Endpoint: s.endpoint,
		Cost:     rec.Cost,
	}
}
