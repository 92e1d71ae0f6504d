package router

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// maxRetryAfter is the longest RetryAfter that a caller gets.
const maxRetryAfter = time.Hour

// PreviousError is one failed attempt before the last, as listed in
// error.metadata.previous_errors.
type PreviousError struct {
	Provider string `json:"provider"` // slug
	Code     Class  `json:"code"`
	Status   int    `json:"status,omitempty"` // 0 without an HTTP reply
}

// execute is the engine: the Decider inside all interceptors.
func (r *Router) execute(ctx context.Context, c *Call) (*Result, error) {
	if c == nil || c.Request == nil { // Decide got both, so an interceptor lost one
		return nil, &Error{Class: Server, Err: errRequestLost}
	}
	if c.Idempotency != nil && !c.DryRun {
		return r.once(ctx, c)
	}
	return r.answer(ctx, c)
}

// answer plans a call and asks its groups of models.
func (r *Router) answer(ctx context.Context, c *Call) (*Result, error) {
	groups, err := c.resolvedGroups()
	if err != nil {
		return nil, err
	}
	now := r.cfg.Now()
	k := &course{
		router: r, call: c, groups: groups, now: now,
		merged: merged{questions: c.Request.Questions},
		alone:  c.Request.Provider != nil && c.Request.Provider.AllowFallbacks != nil && !*c.Request.Provider.AllowFallbacks,
		whole:  c.Request.Routing != nil && c.Request.Routing.Split == systemone.SplitNever,
		shape:  ShapeOf(c.Request), stats: c.world.stats(now),
		deadline: r.deadline(ctx, c), memory: r.recollection(c),
		limits: c.world.limited(groups),
	}
	k.money.prepare(r, c, now)
	if len(c.outages) > 0 && r.statistics.outages.due.CompareAndSwap(true, false) {
		r.tellOutages(ctx, c, c.world.served...)
	}
	if c.DryRun {
		return k.dryRun(ctx)
	}
	return k.run(ctx)
}

var errRequestLost = errors.New("router: an interceptor called next without a call or without a request")

var errBusy = errors.New("router: every candidate is at its limit")

// ofAttempts sums up the attempts of a call, or of a leg, that was not answered
// whole. An InvalidRequest of the last attempt decides. Otherwise the result is the
// class that all attempts share, or ProviderUnavailable, which an attempt counts as
// that answered some questions and refused others.
func ofAttempts(r *Report) *Error {
	last := r.last()
	e := &Error{Class: last.failure(), Err: last.Err, Metadata: map[string]any{
		"provider_name":   last.Provider,
		"previous_errors": previous(r, last),
	}}
	if e.Class == InvalidRequest {
		return e
	}
	for a := range r.Attempts() {
		if a.failure() != e.Class {
			e.Class, e.RetryAfter = ProviderUnavailable, 0
			return e
		}
		if a.RetryAfter > 0 && (e.RetryAfter == 0 || a.RetryAfter < e.RetryAfter) {
			e.RetryAfter = min(a.RetryAfter, maxRetryAfter)
		}
	}
	if !hintsRest(e.Class) {
		e.RetryAfter = 0
	}
	return e
}

// failure returns the class that the attempt counts as in a call that failed.
func (rec *AttemptRecord) failure() Class {
	if rec.Class == "" {
		return ProviderUnavailable
	}
	return rec.Class
}

// previous lists the attempts before the last, except for those that answered all
// they were asked.
func previous(r *Report, last *AttemptRecord) []PreviousError {
	errs := make([]PreviousError, 0, r.attempts())
	for a := range r.Attempts() {
		if a == last || a.Class == "" && len(a.Refused) == 0 {
			continue
		}
		status := a.Status
		if a.Class == "" {
			status = statusBadReply
		}
		errs = append(errs, PreviousError{Provider: a.Endpoint.Provider, Code: a.failure(), Status: status})
	}
	return errs
}
