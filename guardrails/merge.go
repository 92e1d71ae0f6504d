package guardrails

import (
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
)

// Policy is the combined effect of the guardrails of a request. The zero value restricts
// nothing.
type Policy struct {
	Rules   []router.Rule
	Budgets []router.Budget
	Filters []content.Filter
}

// Merge combines the default guardrail of a request's workspace with those of its member
// and its key. Each may be nil. Merge is a pure function; the result shares slices with
// its arguments.
//
//   - Each guardrail that restricts models, providers or data policies adds a rule. All
//     rules apply, so allow-lists intersect, ignore-lists unite, and a data policy that
//     one guardrail excludes stays excluded.
//   - Each budget stays separate and bounds the spending of the workspace, member or key
//     that its guardrail covers.
//   - Filters are equal if they search the same texts for the same thing. Of equal
//     filters the one with the strongest action is kept, or the first if the actions are
//     equal.
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

// rule returns what g allows, and whether that restricts anything.
func (g *Guardrail) rule(source router.Source) (router.Rule, bool) {
	rule := router.Rule{
		Source:           source,
		AllowedModels:    g.AllowedModels,
		IgnoredModels:    g.IgnoredModels,
		AllowedProviders: g.AllowedProviders,
		IgnoredProviders: g.IgnoredProviders,
		ZDRGroups:        g.ZDR.groups(),
		NoPaidTraining:   isFalse(g.PaidTraining),
		// The catalog has one flag for both: an endpoint that collects data may train on
		// it and publish it.
		NoFreeTraining: isFalse(g.FreeTraining) || isFalse(g.FreePublication),
	}
	restricts := rule.AllowedModels != nil || rule.IgnoredModels != nil ||
		rule.AllowedProviders != nil || rule.IgnoredProviders != nil ||
		rule.ZDRGroups != nil || rule.NoPaidTraining || rule.NoFreeTraining
	return rule, restricts
}

// groups lists the groups of vendors that must not retain data.
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

// budget returns g's limit as a budget on the spending of owner.
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

// unite adds a filter. If an equal one is in the list, the stronger of the two takes its
// place.
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
