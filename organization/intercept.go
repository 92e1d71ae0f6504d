package organization

import (
	"context"
	"errors"
	"slices"

	"github.com/signalbox/signalbox/router"
)

// Intercept puts the settings of account and workspace on each call: rules for
// providers and retention, the workspace's default order, its budgets and the
// account's credits. A call without an account is the embedding program's own and
// passes unchanged. A call whose account or workspace does not exist is refused like
// one with an unknown key.
//
// A change made through this Service acts on the next call. A change made by another
// process acts within 10 s; where the ledger keeps versions, a change of budgets or
// credits acts on the next call that holds money.
func (s *Service) Intercept(next router.Decider) router.Decider {
	return func(ctx context.Context, c *router.Call) (*router.Result, error) {
		if c.Principal.Account == "" {
			return next(ctx, c)
		}
		st, err := s.standing(ctx, place{c.Principal.Account, c.Principal.Workspace})
		if err != nil {
			return nil, refusal(err)
		}
		if len(st.rules) > 0 {
			c.Policy = append(slices.Clip(c.Policy), st.rules...)
		}
		c.Limit(st.limits)
		return next(ctx, c)
	}
}

// refusal returns the error that the caller gets for err. The keys of a deleted
// account or workspace are invalid, even if a cache still has them.
func refusal(err error) error {
	if errors.Is(err, ErrNotFound) {
		return &router.Error{Class: router.Authentication, Message: "Invalid API key", Err: err}
	}
	return router.Failure(err)
}

// limitsOf returns the limits that the account and the workspace of a place put on
// calls.
func (s *Service) limitsOf(p place, st *standing, w Workspace) *router.Limits {
	who := router.Principal{Account: p.account, Workspace: p.workspace}
	l := &router.Limits{
		Budgets:  budgetsOf(st.account, w),
		Versions: []router.Version{{Line: router.OwnerAccount.Line(who, "ever"), N: st.account.Version}},
		Again: func(ctx context.Context) (*router.Limits, error) {
			now, err := s.cache.Renew(ctx, p, func(kept *standing) bool { return kept == st })
			if err != nil {
				return nil, refusal(err)
			}
			return now.limits, nil
		},
	}
	if p.workspace != "" {
		l.Versions = append(l.Versions,
			router.Version{Line: router.OwnerWorkspace.Line(who, "ever"), N: w.Version})
	}
	return l
}

// rulesOf returns the rules that an account and a workspace put on calls.
func rulesOf(a Account, w Workspace) []router.Rule {
	var list []router.Rule
	if len(a.Allowed) > 0 || len(a.Ignored) > 0 || a.ZDR {
		list = append(list, router.Rule{
			Source: router.SourceAccount, AllowedProviders: a.Allowed, IgnoredProviders: a.Ignored, ZDR: a.ZDR,
		})
	}
	if w.DefaultSort != "" {
		list = append(list, router.Rule{Source: router.SourceWorkspace, Sort: w.DefaultSort})
	}
	return list
}

// budgetsOf returns the limits on calls of an account in a workspace.
func budgetsOf(a Account, w Workspace) []router.Budget {
	var list []router.Budget
	if a.Prepaid {
		list = append(list, router.Budget{
			Check: router.Check{Order: 10, Word: "credits"}, Owner: router.OwnerAccount, Interval: router.Lifetime, Max: a.Credits,
			Refusal: &router.Error{Class: router.PaymentRequired, Message: "Insufficient credits"},
		})
	}
	for _, b := range w.Budgets {
		list = append(list, router.Budget{
			Check: router.Check{Order: 30, Word: "workspace_budget"}, Owner: router.OwnerWorkspace, Interval: b.Interval, Max: b.Limit, BYOK: w.IncludeBYOK,
			Refusal: &router.Error{
				Class: router.PermissionDenied,
				Message: "Workspace " + b.Interval.String() + " budget of " + b.Limit.Dollars() +
					" exceeded. Contact your org admin.",
			},
		})
	}
	return list
}

// FilteredCatalog reports whether the model listing of an account's keys shows only
// the models that they can use.
func (s *Service) FilteredCatalog(ctx context.Context, account string) (bool, error) {
	st, err := s.standing(ctx, place{account: account})
	if err != nil {
		return false, err
	}
	return st.account.FilteredCatalog && !st.account.Personal, nil
}

// Rules returns the rules that [Service.Intercept] puts on calls of an account
// in a workspace, for listings of the models that a key can use.
func (s *Service) Rules(ctx context.Context, account, workspace string) ([]router.Rule, error) {
	st, err := s.standing(ctx, place{account, workspace})
	if err != nil {
		return nil, err
	}
	return slices.Clone(st.rules), nil
}

// DefaultGuardrail returns the id of the guardrail that all keys of a workspace
// have.
func (s *Service) DefaultGuardrail(ctx context.Context, account, workspace string) (string, error) {
	st, err := s.standing(ctx, place{account, workspace})
	if err != nil {
		return "", err
	}
	return st.guardrail, nil
}
