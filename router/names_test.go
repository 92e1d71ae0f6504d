package router_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// TestUnknownNamesOfPreferencesAndRules: each list is checked, with its path, and a
// name that the catalog has in any form is not reported.
func TestUnknownNamesOfPreferencesAndRules(t *testing.T) {
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-20260901", Aliases: []string{"judge-latest"}}},
		[]router.ProviderInfo{{Slug: "ant", Name: "Ant Cloud", Client: nobody{}}},
		[]router.Endpoint{{Provider: "ant", Variant: "eu", Model: "acme/judge"}},
	)
	require.NoError(t, err)
	models := []string{"JUDGE", "acme/judge-20260901", "~acme/judge-latest", "acme/jugde"}
	providers := []string{"ant", "Ant/EU", "ant cloud", "ant/us"}
	of := func(path, name string) systemone.Issue {
		return systemone.Issue{Path: path + ".3", Message: name + " is not in the catalog"}
	}
	assert.Equal(t,
		[]systemone.Issue{of("provider.order", "ant/us"), of("provider.only", "ant/us"), of("provider.ignore", "ant/us")},
		catalog.Unknown(&systemone.Preferences{Order: providers, Only: providers, Ignore: providers}))
	assert.Equal(t,
		[]systemone.Issue{
			of("rules.1.allowed_models", "acme/jugde"), of("rules.1.ignored_models", "acme/jugde"),
			of("rules.1.allowed_providers", "ant/us"), of("rules.1.ignored_providers", "ant/us"),
		},
		catalog.Unknown(nil, router.Rule{AllowedModels: models[:3], AllowedProviders: providers[:3]}, router.Rule{
			AllowedModels: models, IgnoredModels: models, AllowedProviders: providers, IgnoredProviders: providers,
		}))
	assert.Empty(t, catalog.Unknown(nil))
	assert.Empty(t, catalog.Unknown(&systemone.Preferences{}, router.Rule{AllowedProviders: []string{}}))
}

// A rule for all calls is checked before it is used.
func ExampleCatalog_Unknown() {
	catalog, err := router.Single(yes(0.9), router.Endpoint{Provider: "ant", Model: "acme/judge"})
	if err != nil {
		fmt.Println(err)
		return
	}
	rule := router.Rule{AllowedProviders: []string{"ant", "bee"}, NoPaidTraining: true}
	for _, unknown := range catalog.Unknown(nil, rule) {
		fmt.Println("warning:", unknown.Path, unknown.Message)
	}
	_ = router.Restrict(rule) // into Config.Interceptors
	// Output: warning: rules.0.allowed_providers.1 bee is not in the catalog
}
