package router

import (
	"context"
	"errors"
	"time"
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

// answer plans a call and asks its candidates.
func (r *Router) answer(ctx context.Context, c *Call) (*Result, error) {
	models, err := c.Resolve()
	if err != nil {
		return nil, err
	}
	world := c.world
	now := r.cfg.Now()
	shape, stats := ShapeOf(c.Request), world.stats(now)
	if len(c.outages) > 0 && r.statistics.outages.due.CompareAndSwap(true, false) {
		r.tellOutages(ctx, c, world.served...)
	}
	c.Report.Plan = NewPlan(PlanInput{
		Catalog:     world.catalog,
		Models:      models,
		Shape:       shape,
		Preferences: c.Request.Provider,
		Policy:      c.Policy,
		Stats:       stats,
		NoUser:      len(r.cfg.UserKey) == 0,
		Pinned:      r.pinned(ctx, c, models, now),
		Credentials: c.Credentials,
		Now:         now,
		Seed:        c.Seed,
	})
	if err := c.Report.Plan.Err(requested(c.Request)); err != nil {
		return nil, err
	}
	if c.DryRun {
		return r.dryRun(ctx, c, now)
	}
	w := walk{
		router:     r,
		call:       c,
		candidates: c.Report.Plan.Candidates,
		stats:      stats,
		prompt:     shape.PromptTokens,
		out:        outgoing{call: c, catalog: world.catalog, userKey: r.cfg.UserKey},
		money:      r.reservation(c, now),
		deadline:   r.deadline(ctx, c),
	}
	res, by, err := w.walk(ctx)
	if err == nil {
		r.pin(ctx, c, models, by)
	}
	return res, err
}

var errRequestLost = errors.New("router: an interceptor called next without a call or without a request")

var errBusy = errors.New("router: every candidate is at its limit")

// ofAttempts sums up failed attempts. An InvalidRequest of the last attempt
// decides. Otherwise the result is the class that all attempts share, or
// ProviderUnavailable.
func ofAttempts(attempts []AttemptRecord) *Error {
	last := attempts[len(attempts)-1]
	e := &Error{Class: last.Class, Err: last.Err, Metadata: map[string]any{
		"provider_name":   last.Provider,
		"previous_errors": previous(attempts[:len(attempts)-1]),
	}}
	if e.Class == InvalidRequest {
		return e
	}
	for _, a := range attempts {
		if a.Class != last.Class {
			e.Class = ProviderUnavailable
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

func previous(attempts []AttemptRecord) []PreviousError {
	errs := make([]PreviousError, 0, len(attempts))
	for _, a := range attempts {
		errs = append(errs, PreviousError{Provider: a.Endpoint.Provider, Code: a.Class, Status: a.Status})
	}
	return errs
}
