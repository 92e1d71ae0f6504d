package guardrails

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
)

// Intercept applies the guardrails of a call's workspace, member and key: it adds their
// rules and budgets to the call and scans the request. List it after the interceptors
// that choose the models, such as presets, because an unknown model is reported before
// anything about the content.
//
// Redacted text stays redacted in c.Request, for every interceptor. Answers carry the
// original names of questions and options.
//
// Changes of budgets in another process apply to the next call that reserves money, if
// store and ledger keep versions. Rules and filters, and budgets without versions, may be
// up to Config.Staleness old. A call whose guardrails cannot be read fails. A call
// without an account comes from the embedding program itself and has no guardrails.
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

// refusal returns the error of a call whose request could not be scanned. It returns
// errors of a context unchanged, because the router classifies them.
func refusal(err error) error {
	_, known := errors.AsType[*router.Error](err)
	if known || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return err
	}
	return router.Failure(err)
}

// extend returns the concatenation of two lists and modifies neither. It copies only if
// both have elements.
func extend[T any](have, more []T) []T {
	switch {
	case len(more) == 0:
		return have
	case len(have) == 0:
		return slices.Clip(more)
	}
	return append(slices.Clip(have), more...)
}

// scan scans the request of a call, replaces it by its redacted copy and adds the
// findings to the report. It returns an error if a filter blocks the request. The names
// restore the answers; they are nil if no name was redacted.
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

// restore puts the original names into the answers of a call's report and result. It
// copies what it changes, because an observer may hold the original.
func restore(names *content.Names, c *router.Call, res *router.Result) *router.Result {
	c.Report.Rename(names.Question, names.Restore)
	if res == nil {
		return nil
	}
	out := *res
	out.Response.Answers = names.Restore(res.Response.Answers)
	return &out
}

// Policy returns the rules of all guardrails of a principal. It is for listing the models
// that the principal can use.
func (s *Service) Policy(ctx context.Context, p router.Principal) ([]router.Rule, error) {
	pol, _, err := s.policy(ctx, p)
	if err != nil || pol == nil {
		return nil, err
	}
	return slices.Clone(pol.Rules), nil
}

// policy returns the policy and the budgets of p, from the cache while they are fresh.
// The policy is nil if nothing restricts p.
func (s *Service) policy(ctx context.Context, p router.Principal) (*policy, *router.Limits, error) {
	if p.Account == "" {
		return nil, nil, nil
	}
	c, err := s.cache.Get(ctx, p)
	if err == nil && c.evicted() {
		c, err = s.cache.Renew(ctx, p, covered.evicted)
	}
	if err != nil || c.by == nil {
		return nil, c.limits, err
	}
	pol := c.by.policy.Load()
	if pol == nil { // evicted again
		pol, c, err = s.load(ctx, p)
	}
	return pol, c.limits, err
}

// load reads the guardrails of p and compiles their policy, unless the policy of the same
// guardrails is stored. The policy is nil if nothing restricts p.
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

// limits returns the budgets of p's guardrails, with a function that reads them again.
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

// leaveOutGone removes the guardrails whose workspace was deleted. It does not check p's
// own workspace, because p's key is deleted with it.
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

// compile builds the policy of some guardrails. It is nil if they restrict nothing.
func (s *Service) compile(a Applied) (*policy, error) {
	merged := Merge(a.Workspace, a.Member, a.Key)
	if merged.Rules == nil && merged.Budgets == nil && merged.Filters == nil {
		return nil, nil //nolint:nilnil // nil is the policy that restricts nothing
	}
	pol := &policy{Policy: merged}
	if merged.Filters != nil {
		var err error
		pol.scanner, err = s.cfg.Engine.Scanner(merged.Filters)
		switch {
		case errors.Is(err, content.ErrPattern):
			// The patterns were stored before the current limits. Refusing every request
			// is safer than letting one through unscanned.
			pol.tooLarge = true
		case err != nil:
			return nil, fmt.Errorf("guardrails: %w", err)
		}
	}
	return pol, nil
}
