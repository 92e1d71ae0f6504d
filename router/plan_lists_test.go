package router_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
)

// However many rules there are, the first allow-list without an endpoint removes
// it, or else the first ignore-list that names it.
func TestManyListsOneVerdict(t *testing.T) {
	longest := 0
	rapid.Check(t, func(t *rapid.T) {
		l := drawLaw(t)
		l.prefs, l.policy, l.owned = nil, nil, nil
		for i := range rapid.IntRange(0, 150).Draw(t, "rules") {
			names := []string{"ant", "ANT/eu", "Ant Cloud", "bee", "cat/us", "Cat Labs", "dog", "nobody"}
			rule := router.Rule{Source: []router.Source{router.SourceKey, router.SourceMember}[i%2]}
			if rapid.IntRange(0, 3).Draw(t, "allows?") > 0 { // long lists, so that something is left
				rule.AllowedProviders = rapid.Permutation(names).Draw(t, "allowed")[:rapid.IntRange(6, 8).Draw(t, "n")]
			}
			if rapid.IntRange(0, 30).Draw(t, "ignores?") == 0 {
				rule.IgnoredProviders = []string{rapid.SampledFrom(names).Draw(t, "ignored")}
			}
			l.policy = append(l.policy, rule)
		}
		longest = max(longest, len(l.policy))
		plan := router.NewPlan(l.input(t, l.inOrder()))
		for _, c := range plan.Candidates {
			reason, _ := listed(l.policy, c.Endpoint)
			require.Empty(t, reason, c.Endpoint.Tag())
		}
		for _, e := range plan.Excluded {
			if reason, source := listed(l.policy, e.Endpoint); reason != 0 {
				require.Equal(t, reason, e.Reason)
				require.Equal(t, source, e.Source)
			} else {
				require.NotContains(t, []router.Filter{router.FilterAllowedProviders, router.FilterIgnoredProviders}, e.Reason)
			}
		}
	})
	require.Greater(t, longest, 64, "more lists than fit a word were never drawn")
}

// listed is the definition as a simple loop.
func listed(policy []router.Rule, e *router.Endpoint) (reason router.Filter, source router.Source) {
	is := func(name string) bool { return means(name, e) }
	for _, r := range policy {
		if r.AllowedProviders != nil && !slices.ContainsFunc(r.AllowedProviders, is) {
			return router.FilterAllowedProviders, r.Source
		}
	}
	for _, r := range policy {
		if slices.ContainsFunc(r.IgnoredProviders, is) {
			return router.FilterIgnoredProviders, r.Source
		}
	}
	return 0, 0
}
