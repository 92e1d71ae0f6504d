package httpapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// staged adds acme/triage, which asks acme/judge and then zeta/strong, at bee. Bee
// retains no data.
func staged(tb testing.TB) option {
	tb.Helper()
	return func(_ *httpapi.Config, c *router.Config) {
		below := 0.6
		var models []router.Model
		for _, m := range c.Catalog.Models() {
			models = append(models, *m)
		}
		models = append(models,
			router.Model{ID: "acme/triage", Permaslug: "acme/triage-20261122", Stages: []systemone.Entry{
				{Model: "judge-latest"}, {Model: "zeta/strong", When: &systemone.Condition{ConfidenceBelow: &below}},
			}},
			router.Model{ID: "zeta/strong", Permaslug: "zeta/strong-20261122"})
		var providers []router.ProviderInfo
		for _, p := range c.Catalog.Providers() {
			providers = append(providers, *p)
		}
		var endpoints []router.Endpoint
		for _, e := range c.Catalog.Endpoints() {
			endpoints = append(endpoints, *e)
		}
		endpoints = append(endpoints, router.Endpoint{Provider: "bee", Model: "zeta/strong", ZDR: true, Parameters: []string{"user"}, Pricing: router.Pricing{Prompt: router.Dollars("5")}})
		var err error
		c.Catalog, err = router.NewCatalog(models, providers, endpoints)
		require.NoError(tb, err)
	}
}

// TestAModelMadeOfStagesIsListed like any model: by what its first entry takes, and the
// prices of all.
func TestAModelMadeOfStagesIsListed(t *testing.T) {
	g := newRig(t, staged(t))
	got := get(t, g, "/models")
	for path, want := range map[string]any{
		"data.2.id": "acme/triage", "data.2.context_length": 32000.0, "data.2.top_provider.context_length": 16000.0,
		"data.2.supported_parameters": []any{"user"}, "data.2.stages": []any{"acme/judge", "zeta/strong"},
		"data.2.pricing.prompt": "0.000000042", "data.2.max_pricing.prompt": "0.000005",
		"data.2.links.details": "/api/v1/models/acme/triage/endpoints", "total_count": 4.0,
	} {
		assert.Equal(t, want, at(t, got, path), path)
	}
	assert.NotContains(t, at(t, got, "data.0"), "stages", "other models have no such member")
	assert.NotContains(t, at(t, got, "data.0"), "max_pricing")
	assert.Equal(t, "acme/triage", at(t, get(t, g, "/model/acme/triage"), "data.id"))

	ends := get(t, g, "/models/acme/triage/endpoints")
	assert.Equal(t, "acme/triage", at(t, ends, "data.id"))
	assert.Equal(t, "acme/judge", at(t, ends, "data.endpoints.0.model_id"))
	assert.Equal(t, "zeta/strong", at(t, ends, "data.endpoints.2.model_id"))
	assert.Len(t, at(t, ends, "data.endpoints"), 3)
}

// TestRulesOfModelsMadeOfStagesInListings: what a caller may ask through such a model is
// listed there alone, and an endpoint is listed once.
func TestRulesOfModelsMadeOfStagesInListings(t *testing.T) {
	g := newRig(t, staged(t), ruled(true, router.Rule{AllowedModels: []string{"acme/triage"}}))
	list := g.serve(t, g.handler, g.request(t, "GET", "/models/user", "", "inference")).Body.Bytes()
	assert.EqualValues(t, 1, at(t, list, "total_count"))
	assert.Equal(t, "acme/triage", at(t, list, "data.0.id"))
	zdr := g.serve(t, g.handler, g.request(t, "GET", "/endpoints/zdr", "", "inference")).Body.Bytes()
	assert.Len(t, at(t, zdr, "data"), 1)
	assert.Equal(t, "zeta/strong", at(t, zdr, "data.0.model_id"))

	g = newRig(t, staged(t))
	zdr = g.serve(t, g.handler, g.request(t, "GET", "/endpoints/zdr", "", "inference")).Body.Bytes()
	assert.Len(t, at(t, zdr, "data"), 1, "not again for the model made of stages")

	g = newRig(t, staged(t), ruled(true, router.Rule{AllowedModels: []string{"acme/triage"}, AllowedProviders: []string{"bee"}}))
	list = g.serve(t, g.handler, g.request(t, "GET", "/models/user", "", "inference")).Body.Bytes()
	assert.Equal(t, []any{}, at(t, list, "data.0.supported_parameters"), "what the first entry takes")

	g = newRig(t, staged(t), ruled(true, router.Rule{AllowedModels: []string{"zeta/strong"}}))
	list = g.serve(t, g.handler, g.request(t, "GET", "/models/user", "", "inference")).Body.Bytes()
	assert.Equal(t, "acme/triage", at(t, list, "data.0.id"), "its second entry passes alone")
	assert.Equal(t, "0.000005", at(t, list, "data.0.pricing.prompt"))
	assert.Nil(t, at(t, list, "data.0.context_length"))
}
