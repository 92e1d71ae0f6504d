package router_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
)

func usableCatalog(t require.TestingT) *router.Catalog {
	free := router.Pricing{}
	priced := router.Pricing{Prompt: router.Dollars("1")}
	c, err := router.NewCatalog(
		[]router.Model{
			{ID: "acme/judge", Permaslug: "acme/judge-20260901", Aliases: []string{"judge-latest"}},
			{ID: "openai/mini", Permaslug: "openai/mini-20260901"},
			{ID: "acme/unserved", Permaslug: "acme/unserved-20260901"},
		},
		[]router.ProviderInfo{{Slug: "ant", Name: "Ant Cloud", Client: nobody{}}, {Slug: "bee", Client: nobody{}}},
		[]router.Endpoint{
			{Provider: "bee", Model: "openai/mini", Pricing: free, CollectsData: true},
			{Provider: "ant", Variant: "eu", Model: "acme/judge", Pricing: priced, ZDR: true},
			{Provider: "ant", Model: "acme/judge", Pricing: priced, CollectsData: true},
			{Provider: "bee", Model: "acme/judge", Pricing: priced, ZDR: true, Off: true},
			{
				Provider: "ant", Model: "openai/mini", Pricing: priced, ContextLength: 1,
				Limits: router.EndpointLimits{Questions: 1, NoNulls: true},
			},
		})
	require.NoError(t, err)
	return c
}

func TestUsable(t *testing.T) {
	c := usableCatalog(t)
	for name, want := range map[string]struct {
		rules []router.Rule
		left  []string
	}{
		"no rule":             {nil, []string{"acme/judge ant", "acme/judge ant/eu", "acme/judge bee", "openai/mini ant", "openai/mini bee"}},
		"allowed model":       {[]router.Rule{{AllowedModels: []string{"judge-latest"}}}, []string{"acme/judge ant", "acme/judge ant/eu", "acme/judge bee"}},
		"R46 ignored model":   {[]router.Rule{{IgnoredModels: []string{"acme/judge-20260901"}}}, []string{"openai/mini ant", "openai/mini bee"}},
		"provider by name":    {[]router.Rule{{AllowedProviders: []string{"Ant Cloud"}}}, []string{"acme/judge ant", "acme/judge ant/eu", "openai/mini ant"}},
		"variant":             {[]router.Rule{{IgnoredProviders: []string{"ant/eu", "bee"}}}, []string{"acme/judge ant", "openai/mini ant"}},
		"R87b they intersect": {[]router.Rule{{AllowedProviders: []string{"ant"}}, {AllowedProviders: []string{"bee"}}}, nil},
		"R37 group":           {[]router.Rule{{ZDRGroups: []string{"openai"}}}, []string{"acme/judge ant", "acme/judge ant/eu", "acme/judge bee"}},
		"account zdr":         {[]router.Rule{{Source: router.SourceAccount, ZDR: true}}, []string{"acme/judge ant/eu", "acme/judge bee"}},
		"R38b paid training":  {[]router.Rule{{NoPaidTraining: true}}, []string{"acme/judge ant/eu", "acme/judge bee", "openai/mini ant", "openai/mini bee"}},
		"R38c free training":  {[]router.Rule{{NoFreeTraining: true}}, []string{"acme/judge ant", "acme/judge ant/eu", "acme/judge bee", "openai/mini ant"}},
	} {
		var left []string
		for _, e := range slices.Concat(router.Usable(c, want.rules)...) {
			left = append(left, e.Model+" "+e.Tag())
		}
		assert.Equal(t, want.left, left, name)
	}
}

// TestUsableAgreesWithPlans holds that what is listed is what can be asked, and
// that rules only ever narrow.
func TestUsableAgreesWithPlans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := usableCatalog(t)
		names := func(label string, of ...string) []string {
			return rapid.OneOf(rapid.Just([]string(nil)), rapid.SliceOfN(rapid.SampledFrom(of), 1, 2)).Draw(t, label)
		}
		rules := []router.Rule{{
			AllowedModels: names("models", "acme/judge", "mini", "nothing"), IgnoredModels: names("ignored", "judge", "x"),
			AllowedProviders: names("providers", "ant", "bee", "ant/eu"), IgnoredProviders: names("no", "bee", "ant/eu"),
			ZDRGroups: names("groups", "openai", "other"), NoPaidTraining: rapid.Bool().Draw(t, "paid"), NoFreeTraining: rapid.Bool().Draw(t, "free"),
		}}
		left := map[*router.Endpoint]bool{}
		for _, e := range slices.Concat(router.Usable(c, rules)...) {
			left[e] = true
		}
		for _, m := range c.Models() {
			plan := router.NewPlan(router.PlanInput{Catalog: c, Models: []router.ModelRef{{Model: m}}, Policy: rules})
			for _, candidate := range plan.Candidates {
				assert.True(t, left[candidate.Endpoint])
			}
			for _, out := range plan.Excluded {
				assert.Equal(t, out.Reason == router.FilterOffline, left[out.Endpoint], out.Reason)
			}
		}
	})
}

func BenchmarkUsable(b *testing.B) {
	c := usableCatalog(b)
	rules := []router.Rule{{AllowedProviders: []string{"ant"}}, {ZDRGroups: []string{"other"}}}
	b.ReportAllocs()
	for b.Loop() {
		router.Usable(c, rules)
	}
}
