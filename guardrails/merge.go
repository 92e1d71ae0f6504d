package guardrails

import (
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
)

// Policy is what the guardrails on a request come to. The zero value restricts
// nothing.
type Policy struct {
	Rules   []router.Rule
	Budgets []router.Budget
	Filters []content.Filter
}

// Merge returns what the default guardrail of a request's workspace, that of
// its member and that of its key come to; each may be nil. It is a pure
// function and keeps parts of its arguments.
//
//   - Every guardrail that restricts models, providers or data policies is a
//     rule of its own, so allow-lists intersect, ignore-lists unite and
//     switches add up.
//   - Every budget is one of its own, on the spending of what its guardrail
//     stands on: the workspace, the member or the key.
//   - Of filters that look for the same in the same texts the strongest action
//     stays, of equal ones the first.
//
// The order is always workspace, member, key.
func Merge(workspace, member, key *Guardrail) Policy {
	var p Policy
	for _, part := range []struct {
		*Guardrail
		source router.Source
		owner  router.Owner
	}{
		{workspace, router.SourceWorkspace, router.OwnerWorkspace},
		{member, router.SourceMember, router.OwnerMember},
		{key, router.SourceKey, router.OwnerKey},
	} {
		if part.Guardrail == nil {
			continue
		}
		if rule, restricts := part.rule(part.source); restricts {
			p.Rules = append(p.Rules, rule)
		}
		if part.Limit != nil {
			p.Budgets = append(p.Budgets, part.budget(part.owner))
		}
		for _, f := range slices.Concat(part.Builtins, part.Filters) {
			f.Guardrail, f.Scope = part.ID, part.source.String()
			p.Filters = unite(p.Filters, f)
		}
	}
	return p
}

// rule is what g allows, and whether it restricts anything.
func (g *Guardrail) rule(source router.Source) (router.Rule, bool) {
	rule := router.Rule{
		Source:           source,
		AllowedModels:    g.AllowedModels,
		IgnoredModels:    g.IgnoredModels,
		AllowedProviders: g.AllowedProviders,
		IgnoredProviders: g.IgnoredProviders,
		ZDRGroups:        g.ZDR.groups(),
		NoPaidTraining:   isFalse(g.PaidTraining),
		// The catalog knows one data policy: to collect is to train and to publish.
		NoFreeTraining: isFalse(g.FreeTraining) || isFalse(g.FreePublication),
	}
	restricts := rule.AllowedModels != nil || rule.IgnoredModels != nil ||
		rule.AllowedProviders != nil || rule.IgnoredProviders != nil ||
		rule.ZDRGroups != nil || rule.NoPaidTraining || rule.NoFreeTraining
	return rule, restricts
}

// groups lists the vendor groups that must not retain data.
func (z ZDR) groups() []string {
	var groups []string
	for _, g := range []struct {
		on   *bool
		name string
	}{
		{z.Anthropic, "anthropic"},
		{z.OpenAI, "openai"},
		{z.Google, "google"},
		{z.XAI, "xai"},
		{z.Other, "other"},
	} {
		if g.on != nil && *g.on {
			groups = append(groups, g.name)
		}
	}
	return groups
}

func isFalse(b *bool) bool { return b != nil && !*b }

// budget is g's limit on the spending of owner.
func (g *Guardrail) budget(owner router.Owner) router.Budget {
	return router.Budget{
		Check:    router.Check{Order: 40, Word: "guardrail_budget"},
		Owner:    owner,
		Interval: g.Reset,
		Max:      *g.Limit,
		BYOK:     g.BYOK,
		Refusal: &router.Error{
			Class:   router.PermissionDenied,
			Message: fmt.Sprintf("Guardrail %s budget of %s exceeded", g.Reset, g.Limit.Dollars()),
		},
	}
}

// unite adds a filter, unless one that looks for the same is there: then the
// stronger action wins.
func unite(filters []content.Filter, f content.Filter) []content.Filter {
	for i, have := range filters {
		if have.Slug == f.Slug && have.Pattern == f.Pattern && have.UserOnly == f.UserOnly {
			if f.Action > have.Action {
				filters[i] = f
			}
			return filters
		}
	}
	return append(filters, f)
}
