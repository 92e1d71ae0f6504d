package router

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// maxRetryAfter is the longest that a caller is told to wait.
const maxRetryAfter = time.Hour

// PreviousError is how an attempt before the last one failed. It is what
// error.metadata.previous_errors lists.
type PreviousError struct {
	Provider string `json:"provider"` // slug
	Code     Class  `json:"code"`
	Status   int    `json:"status,omitempty"` // 0 without an HTTP reply
}

var errPreset = errors.New("router: no interceptor resolved the preset")

// execute is the engine: the Decider inside all interceptors.
func (r *Router) execute(ctx context.Context, c *Call) (*Result, error) {
	if c == nil || c.Request == nil { // Decide had both
		return nil, &Error{Class: Server, Err: errRequestLost}
	}
	if err := c.Request.Validate(r.cfg.Limits); err != nil {
		return nil, invalid(err)
	}
	if c.Request.Preset != "" {
		return nil, &Error{Class: NotFound, Err: errPreset}
	}
	w := r.world.Load()
	names := requested(c.Request)
	c.Report.Requested = strings.Join(names, ", ")
	models, err := w.catalog.Resolve(c.Request.Model, c.Request.Models...)
	if err != nil {
		return nil, err
	}
	now := r.cfg.Now()
	c.Report.Plan = NewPlan(PlanInput{
		Catalog:     w.catalog,
		Models:      models,
		Shape:       ShapeOf(c.Request),
		Preferences: c.Request.Provider,
		Policy:      c.Policy,
		Stats:       w.stats(now),
		NoUser:      len(r.cfg.UserKey) == 0,
		Pinned:      r.pinned(ctx, c, models, now),
		Credentials: c.Credentials,
		Now:         now,
		Seed:        c.Seed,
	})
	if err := c.Report.Plan.Err(names); err != nil {
		return nil, err
	}
	return r.walk(ctx, w, c, models)
}

var errRequestLost = errors.New("router: an interceptor passed on no request")

// requested lists the models that a request names, as it names them.
func requested(q *systemone.Request) []string {
	names := make([]string, 0, 1+len(q.Models))
	if q.Model != "" {
		names = append(names, q.Model)
	}
	return append(names, q.Models...)
}

// walk asks one candidate of the plan after another. A candidate whose
// endpoint or client is busy is passed over: that is no attempt.
func (r *Router) walk(ctx context.Context, w *world, c *Call, models []ModelRef) (*Result, error) {
	budget := w.budgets[models[0].Model.ID]
	out := outgoing{call: c, catalog: w.catalog, userKey: r.cfg.UserKey}
	for _, candidate := range c.Report.Plan.Candidates {
		if len(c.Report.Attempts) >= r.cfg.MaxAttempts || ctx.Err() != nil {
			break
		}
		s := w.byEndpoint[candidate.Endpoint.ID]
		if !s.acquire() {
			continue
		}
		before, now := len(c.Report.Attempts), r.cfg.Now()
		if !budget.allow(before, now) {
			s.release()
			break
		}
		res, ended := r.attempt(ctx, s, candidate, &out)
		if len(c.Report.Attempts) == before {
			budget.forget(before, now)
			continue
		}
		if res != nil {
			r.pin(ctx, c, models, candidate, r.cfg.Now())
			return res, nil
		}
		if ended {
			break
		}
	}
	return nil, r.failure(ctx, c.Report.Attempts)
}

// failure says why the walk ended without an answer.
func (r *Router) failure(ctx context.Context, attempts []AttemptRecord) *Error {
	switch err := ctx.Err(); {
	case errors.Is(err, context.Canceled):
		return &Error{Class: Timeout, Err: err}
	case len(attempts) > 0:
		return ofAttempts(attempts)
	case err != nil:
		return &Error{Class: Timeout, Err: err}
	default:
		return &Error{Class: NoCapacity, Err: errBusy}
	}
}

var errBusy = errors.New("router: every candidate is at its limit")

// ofAttempts sums failed attempts up: the caller's fault decides, then the
// class that all of them share, else the provider is to blame.
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
