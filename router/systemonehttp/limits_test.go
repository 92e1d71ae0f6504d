package systemonehttp_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/router/similarity"
	"github.com/signalbox/signalbox/router/systemonehttp"
	"github.com/signalbox/signalbox/systemone"
)

// TestCatalogFacts checks the facts of every profile.
func TestCatalogFacts(t *testing.T) {
	type facts struct {
		limits   router.EndpointLimits
		context  int
		rounding float64
	}
	want := map[string]facts{
		"systemone":       {router.EndpointLimits{}, 0, 0.01},
		"typesafe":        {router.EndpointLimits{Options: 255, Levels: 10}, 32_000, 0.01},
		"openrouter":      {router.EndpointLimits{Questions: 200, Options: 255, OptionNullsOnly: true}, 0, 0.01},
		"fireworks":       {router.EndpointLimits{Options: 208, OptionNullsOnly: true}, 0, 0.01},
		"perplexity":      {router.EndpointLimits{Questions: 128, Options: 255, Levels: 10}, 262_144, 0.01},
		"upstage":         {router.EndpointLimits{}, 512_000, 0.01},
		"cloudflare-clef": {router.EndpointLimits{Questions: 64, Options: 255, Levels: 10, OptionNullsOnly: true}, 2_048, 0.0001},
		"ollama":          {router.EndpointLimits{Questions: 64, Options: 26, Levels: 26, OptionNullsOnly: true}, 16_000, 1e-6},
		"signalbox":       {router.EndpointLimits{Parts: true, OptionNullsOnly: true}, 0, 0.01},
	}
	got := make(map[string]facts)
	for _, p := range systemonehttp.Profiles() {
		got[p.Name] = facts{p.Limits, p.ContextLength, p.Tolerance.Rounding}
		assert.False(t, p.Tolerance.NoDistribution, p.Name)
	}
	assert.Equal(t, want, got)
}

// TestNullsFindWhoTakesThem: a request that one upstream would refuse goes to
// another.
func TestNullsFindWhoTakesThem(t *testing.T) {
	local, err := similarity.New(similarity.Config{})
	require.NoError(t, err)
	embedded := local.Endpoint("embedded")
	embedded.Pricing.Prompt = router.Dollars("1") // so that it comes second
	signalbox := routertest.NewScript(t)
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: similarity.Model, Permaslug: similarity.Permaslug}},
		[]router.ProviderInfo{{Slug: "other", Client: signalbox}, {Slug: "embedded", Client: local}},
		[]router.Endpoint{
			{Provider: "other", Model: similarity.Model, Limits: profile(t, "signalbox").Limits},
			embedded,
		},
	)
	require.NoError(t, err)
	rt, err := router.New(router.Config{Catalog: catalog})
	require.NoError(t, err)
	asked := func(q systemone.Question) string {
		q.Name, q.Instructions = "heat", systemone.Text("How upset is the writer?")
		c := &router.Call{Request: &systemone.Request{
			Dialect: systemone.Native, Model: similarity.Model, State: systemone.Text("Paid twice!"),
			Questions: []systemone.Question{q}, Provider: &systemone.Preferences{Sort: systemone.Sort{By: systemone.SortPrice}},
		}}
		res, err := rt.Decide(t.Context(), c)
		require.NoError(t, err)
		return res.Endpoint.Provider
	}
	calm := systemone.Text("calm")
	assert.Equal(t, "other", asked(systemone.Question{Kind: systemone.Score, Levels: []json.RawMessage{calm, systemone.Text("furious")}}))
	assert.Equal(t, "embedded", asked(systemone.Question{Kind: systemone.Score, Levels: []json.RawMessage{calm, nil}}))
	assert.Equal(t, "other", asked(systemone.Question{Kind: systemone.Choice, Options: []systemone.Option{{Name: "calm"}, {Name: "furious"}}}))
}
