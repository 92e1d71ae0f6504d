package guardrails

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
)

// Intercept applies the guardrails of a call's workspace, member and key: it
// adds their rules and budgets, and has the request scanned. It stands behind
// what names the models, such as presets, because a model that does not exist
// is told before anything about the content. What it redacts stays redacted in
// c.Request, for the interceptors behind it and those before. The answer has the
// names of questions and options as they came.
//
// A budget that another process changes acts on the next call that something is
// set aside for, where store and ledger keep versions; rules and filters act within
// Config.Staleness. A call whose guardrails cannot be read fails. One without an account, of the
// embedding program itself, has none.
func (s *Service) Intercept(next router.Decider) router.Decider {
	return func(ctx context.Context, c *router.Call) (*router.Result, error) {
		pol, limits, err := s.policy(ctx, c.Principal)
		if err != nil {
			return nil, router.Failure(err)
		}
		c.Limit(limits)
		switch {
		case pol == nil:
			return next(ctx, c)
		case pol.tooLarge:
			return nil, content.OverLimit()
		}
		c.Policy = extend(c.Policy, pol.Rules)
		if pol.scanner == nil {
			return next(ctx, c)
		}
		names, err := scan(ctx, c, pol.scanner)
		if err != nil {
			return nil, err
		}
		res, err := next(ctx, c)
		if names != nil {
			res = restore(names, c, res)
		}
		return res, err
	}
}

// refusal is the error of a call whose guardrails could not be read. The error of a
// context is returned as it is, because the router handles it.
func refusal(err error) error {
	_, known := errors.AsType[*router.Error](err)
	if known || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return err
	}
	return router.Failure(err)
}

// extend appends without writing into either list, and without copying where one
// is empty.
func extend[T any](have, more []T) []T {
	switch {
	case len(more) == 0:
		return have
	case len(have) == 0:
		return slices.Clip(more)
	}
	return append(slices.Clip(have), more...)
}

// scan refuses the request or puts a redacted one in its place, and reports what was
// found. It returns the names that the answers must get back, if any.
func scan(ctx context.Context, c *router.Call, with *content.Scanner) (*content.Names, error) {
	if _, err := c.Resolve(); err != nil {
		return nil, err
	}
	verdict, err := with.Scan(ctx, c.Principal.Account, c.Request)
	if err != nil {
		return nil, refusal(err)
	}
	c.Report.Pipeline = append(c.Report.Pipeline, verdict.Stages...)
	if verdict.Blocked != nil {
		return nil, verdict.Blocked
	}
	c.Request = verdict.Request
	return verdict.Names, nil
}

// restore gives the answers of a call their names back. What the call's report and
// res hold is replaced, not changed: an observer may have kept it.
func restore(names *content.Names, c *router.Call, res *router.Result) *router.Result {
	if slices.ContainsFunc(c.Report.Attempts, func(a router.AttemptRecord) bool { return len(a.Answers) > 0 }) {
		c.Report.Attempts = slices.Clone(c.Report.Attempts)
		for i := range c.Report.Attempts {
			a := &c.Report.Attempts[i]
			a.Answers = names.Restore(a.Answers)
		}
	}
	if res == nil {
		return nil
	}
	out := *res
	out.Response.Answers = names.Restore(res.Response.Answers)
	return &out
}

// Policy returns the rules that the guardrails of a principal come to, for
// listing the models that it can use.
func (s *Service) Policy(ctx context.Context, p router.Principal) ([]router.Rule, error) {
	pol, _, err := s.policy(ctx, p)
	if err != nil || pol == nil {
		return nil, err
	}
	return slices.Clone(pol.Rules), nil
}

// policy returns what applies to p, from the cache while that is fresh, or nil if
// nothing restricts p. The limits have the versions that were read in either case.
func (s *Service) policy(ctx context.Context, p router.Principal) (*policy, *router.Limits, error) {
	if p.Account == "" {
		return nil, nil, nil
	}
	c, err := s.cache.Get(ctx, p)
	if err == nil && c.removed() {
		c, err = s.cache.Renew(ctx, p, covered.removed)
	}
	if err != nil || c.by == nil {
		return nil, c.limits, err
	}
	pol := c.by.policy.Load()
	if pol == nil { // removed again
		pol, c, err = s.load(ctx, p)
	}
	return pol, c.limits, err
}

// load reads the guardrails of p and makes a policy of them, unless there is
// one of the same guardrails. The policy is nil where nothing restricts p.
func (s *Service) load(ctx context.Context, p router.Principal) (*policy, covered, error) {
	applied, err := s.cfg.Store.Applied(ctx, p)
	if err != nil {
		return nil, covered{}, fmt.Errorf("guardrails: %w", err)
	}
	if err := s.leaveOutGone(ctx, p, &applied); err != nil {
		return nil, covered{}, fmt.Errorf("guardrails: %w", err)
	}
	of := combine(applied)
	by, pol := s.policies.get(of)
	if pol == nil {
		if pol, err = s.compile(applied); err != nil {
			return nil, covered{}, err
		}
		by = s.policies.put(of, pol)
	}
	return pol, covered{by, s.limits(p, pol, applied.Versions)}, nil
}

// limits are the budgets of p's guardrails.
func (s *Service) limits(p router.Principal, pol *policy, versions []router.Version) *router.Limits {
	l := &router.Limits{Versions: versions}
	if pol != nil {
		l.Budgets = pol.Budgets
	}
	l.Again = func(ctx context.Context) (*router.Limits, error) {
		now, err := s.cache.Renew(ctx, p, func(kept covered) bool { return kept.limits == l })
		if err != nil {
			return nil, router.Failure(err)
		}
		return now.limits, nil
	}
	return l
}

// leaveOutGone takes out the guardrails of workspaces that were deleted. That
// of p itself is there, or p's key would not be.
func (s *Service) leaveOutGone(ctx context.Context, p router.Principal, a *Applied) error {
	for _, g := range []**Guardrail{&a.Member, &a.Key} {
		if *g == nil || (*g).Workspace == p.Workspace {
			continue
		}
		switch _, err := s.cfg.Workspace(ctx, p.Account, (*g).Workspace); {
		case errors.Is(err, ErrNotFound):
			*g = nil
		case err != nil:
			return err
		}
	}
	return nil
}

// compile makes a policy of guardrails.
func (s *Service) compile(a Applied) (*policy, error) {
	merged := Merge(a.Workspace, a.Member, a.Key)
	if merged.Rules == nil && merged.Budgets == nil && merged.Filters == nil {
		return nil, nil //nolint:nilnil // nil is the policy that restricts nothing
	}
	pol := &policy{Policy: merged}
	if merged.Filters != nil {
		var err error
		pol.scanner, err = s.content.Scanner(merged.Filters)
		switch {
		case errors.Is(err, content.ErrPattern):
			// It was stored before today's bounds. Requests are refused rather than
			// let through unscanned.
			pol.tooLarge = true
		case err != nil:
			return nil, fmt.Errorf("guardrails: %w", err)
		}
	}
	return pol, nil
}
