package guardrails_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
)

func TestNothingAppliesWithoutGuardrails(t *testing.T) {
	assert.Zero(t, guardrails.Merge(nil, nil, nil))
	assert.Zero(t, guardrails.Merge(&guardrails.Guardrail{PaidTraining: new(true), ZDR: guardrails.ZDR{General: new(true), Other: new(false)}}, nil, &guardrails.Guardrail{}),
		"one that restricts nothing is no rule; enforce_zdr acts through the switches alone")
}

func TestEachRestrictionIsARuleOfItsGuardrail(t *testing.T) {
	for name, c := range map[string]struct {
		g    guardrails.Guardrail
		rule router.Rule
	}{
		"allowed models":    {guardrails.Guardrail{AllowedModels: []string{"a"}}, router.Rule{AllowedModels: []string{"a"}}},
		"ignored models":    {guardrails.Guardrail{IgnoredModels: []string{"a"}}, router.Rule{IgnoredModels: []string{"a"}}},
		"allowed providers": {guardrails.Guardrail{AllowedProviders: []string{"a"}}, router.Rule{AllowedProviders: []string{"a"}}},
		"ignored providers": {guardrails.Guardrail{IgnoredProviders: []string{"a"}}, router.Rule{IgnoredProviders: []string{"a"}}},
		"vendor switches": {
			guardrails.Guardrail{ZDR: guardrails.ZDR{Anthropic: new(true), OpenAI: new(true), Google: new(true), XAI: new(true), Other: new(true)}},
			router.Rule{ZDRGroups: []string{"anthropic", "openai", "google", "xai", "other"}},
		},
		"one vendor":       {guardrails.Guardrail{ZDR: guardrails.ZDR{OpenAI: new(false), XAI: new(true)}}, router.Rule{ZDRGroups: []string{"xai"}}},
		"paid training":    {guardrails.Guardrail{PaidTraining: new(false)}, router.Rule{NoPaidTraining: true}},
		"free training":    {guardrails.Guardrail{FreeTraining: new(false), FreePublication: new(true)}, router.Rule{NoFreeTraining: true}},
		"free publication": {guardrails.Guardrail{FreePublication: new(false)}, router.Rule{NoFreeTraining: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var want []router.Rule
			for _, source := range []router.Source{router.SourceWorkspace, router.SourceMember, router.SourceKey} {
				c.rule.Source = source
				want = append(want, c.rule)
			}
			assert.Equal(t, guardrails.Policy{Rules: want}, guardrails.Merge(&c.g, &c.g, &c.g))
			assert.Equal(t, guardrails.Policy{Rules: want[1:2]}, guardrails.Merge(nil, &c.g, nil))
		})
	}
}

func TestEachBudgetStandsAlone(t *testing.T) {
	limit := func(most router.USD, reset router.Interval, byok bool) *guardrails.Guardrail {
		return &guardrails.Guardrail{Limit: &most, Reset: reset, BYOK: byok}
	}
	got := guardrails.Merge(
		limit(100*router.Dollar, router.Monthly, false),
		limit(router.Dollar/8, router.Daily, true),
		limit(0, router.Lifetime, false),
	)
	require.Len(t, got.Budgets, 3)
	for i, want := range []struct {
		budget  router.Budget
		message string
	}{
		{router.Budget{Owner: router.OwnerWorkspace, Interval: router.Monthly, Max: 100 * router.Dollar}, "Guardrail monthly budget of $100.00 exceeded"},
		{router.Budget{Owner: router.OwnerMember, Interval: router.Daily, Max: router.Dollar / 8, BYOK: true}, "Guardrail daily budget of $0.125 exceeded"},
		{router.Budget{Owner: router.OwnerKey, Interval: router.Lifetime}, "Guardrail lifetime budget of $0.00 exceeded"},
	} {
		want.budget.Check = router.Check{Order: 40, Word: "guardrail_budget"}
		want.budget.Refusal = &router.Error{Class: router.PermissionDenied, Message: want.message}
		assert.Equal(t, want.budget, got.Budgets[i])
	}
}

func TestFiltersUnite(t *testing.T) {
	ids := [3]uuid.UUID{{1}, {2}, {3}}
	with := func(i int, builtins, filters []content.Filter) *guardrails.Guardrail {
		return &guardrails.Guardrail{ID: ids[i], Builtins: builtins, Filters: filters}
	}
	type list = []content.Filter
	got := guardrails.Merge(
		with(0, list{{Slug: "email", Action: content.Redact}, {Slug: "phone", Action: content.Block}}, list{{Pattern: "x", Label: "X", Action: content.Flag}}),
		with(1, list{{Slug: "email", Action: content.Block}, {Slug: "phone", Action: content.Redact}}, list{{Pattern: "x", Label: "Y", Action: content.Flag}}),
		with(2, list{{Slug: "phone", Action: content.Flag}, {Slug: "email", Action: content.Block, UserOnly: true}}, list{{Pattern: "y"}}),
	)
	assert.Equal(t, list{
		{Slug: "email", Action: content.Block, Guardrail: ids[1], Scope: "member"},
		{Slug: "phone", Action: content.Block, Guardrail: ids[0], Scope: "workspace"},
		{Pattern: "x", Label: "X", Action: content.Flag, Guardrail: ids[0], Scope: "workspace"},
		{Slug: "email", Action: content.Block, UserOnly: true, Guardrail: ids[2], Scope: "key"},
		{Pattern: "y", Guardrail: ids[2], Scope: "key"},
	}, got.Filters, "block over redact over flag; the first of equals; other texts are another filter")
}

// Merging never weakens: whichever guardrail has a filter, the merged action is at least
// as strong. No two merged filters are equal.
func TestMergedFiltersAreAtLeastAsStrong(t *testing.T) {
	filter := rapid.Custom(func(t *rapid.T) content.Filter {
		return content.Filter{
			Pattern:  rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "pattern"),
			Action:   content.Action(rapid.IntRange(0, 2).Draw(t, "action")),
			UserOnly: rapid.Bool().Draw(t, "user only"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		var parts [3]*guardrails.Guardrail
		strongest := map[content.Filter]content.Action{}
		for i := range parts {
			parts[i] = &guardrails.Guardrail{Filters: rapid.SliceOf(filter).Draw(t, "filters")}
			for _, f := range parts[i].Filters {
				kind := content.Filter{Pattern: f.Pattern, UserOnly: f.UserOnly}
				strongest[kind] = max(strongest[kind], f.Action)
			}
		}
		merged := map[content.Filter]content.Action{}
		got := guardrails.Merge(parts[0], parts[1], parts[2]).Filters
		for _, f := range got {
			merged[content.Filter{Pattern: f.Pattern, UserOnly: f.UserOnly}] = f.Action
		}
		assert.Equal(t, strongest, merged)
		assert.Len(t, got, len(merged))
	})
}
