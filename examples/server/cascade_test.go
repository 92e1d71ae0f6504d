package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/similarity"
	"github.com/signalbox/signalbox/systemone"
)

// strong names a strong model for the embedded one.
func strong() config {
	c := builtin()
	c.Providers[0].Cascade = "acme/judge"
	c.Providers = append(c.Providers, providerConfig{Slug: "up", Kind: kindSystemOne, BaseURL: "http://127.0.0.1:1/v1"})
	c.Models = append(c.Models, modelConfig{ID: "acme/judge", Permaslug: "acme/judge-20260901"})
	c.Endpoints = append(c.Endpoints, endpointConfig{Provider: "up", Model: "acme/judge"})
	return c
}

func catalogOf(t *testing.T, c config) *router.Catalog {
	t.Helper()
	catalog, err := builder{getenv: func(name string) string { return map[string]string{"OPENAI_API_KEY": "k"}[name] }, warn: func(string) {}}.catalog(c)
	require.NoError(t, err)
	return catalog
}

// TestTheCascadeOfTheEmbeddedModel is listed where its provider names a strong model,
// and asks the embedded model first.
func TestTheCascadeOfTheEmbeddedModel(t *testing.T) {
	assert.Nil(t, catalogOf(t, builtin()).Model(cascadeModel))
	catalog := catalogOf(t, strong())
	m := catalog.Model(cascadeModel)
	require.NotNil(t, m)
	assert.Equal(t, []systemone.Entry{{Model: similarity.Model}, {Model: "acme/judge", When: similarity.Unsure()}}, m.Stages)

	rt, err := router.New(router.Config{Catalog: catalog})
	require.NoError(t, err)
	for state, legs := range map[string]int{
		"I was charged twice for May. Please send one payment back.": 1,
		"": 2, // says nothing, so the embedded model is unsure
	} {
		call := &router.Call{Request: &systemone.Request{
			Model: cascadeModel, State: systemone.Text(state),
			Questions: []systemone.Question{{Name: "desk", Kind: systemone.Choice, Instructions: systemone.Text("Which team?"), Options: []systemone.Option{
				{Name: "billing", Guidance: systemone.Text("charges, payments and refunds")},
				{Name: "technical", Guidance: systemone.Text("something is broken")},
				{Name: "sales", Guidance: systemone.Text("questions before buying")},
			}}},
		}}
		res, err := rt.Decide(t.Context(), call)
		require.NoError(t, err)
		assert.Len(t, call.Report.Legs, legs, state)
		assert.Equal(t, similarity.Permaslug, res.Response.Model, "the strong model cannot be reached, so the first answer stays")
		assert.Equal(t, router.USD(0), res.Cost)
	}
}

func TestMistakesInTheCascade(t *testing.T) {
	for want, breakIt := range map[string]func(c *config){
		`providers[0].cascade: no model has the id "acme/jury"`:             func(c *config) { c.Providers[0].Cascade = "acme/jury" },
		"providers[0].cascade: must be another model than the embedded one": func(c *config) { c.Providers[0].Cascade = similarity.Model },
		`providers[0].cascade: "acme/judge" is made of stages itself`:       func(c *config) { c.Models[1].Stages = systemone.Texts(similarity.Model) },
		"providers[0].cascade: the provider has no endpoint to ask first":   func(c *config) { c.Endpoints = c.Endpoints[1:] },
		"providers[2].cascade: is given for another provider already": func(c *config) {
			c.Providers = append(c.Providers, providerConfig{Slug: "two", Kind: kindSimilarity, Cascade: "acme/judge"})
		},
		`endpoints[1].model: "acme/triage" is made of stages, so it has no endpoints`: func(c *config) {
			c.Models = append(c.Models, modelConfig{ID: "acme/triage", Permaslug: "acme/triage-1", Stages: systemone.Texts("acme/judge")})
			c.Endpoints[1].Model = "acme/triage"
		},
	} {
		c := strong()
		breakIt(&c)
		_, err := builder{getenv: func(string) string { return "" }, warn: func(string) {}}.catalog(c)
		require.EqualError(t, err, want)
	}
}

// TestWarningsOfStages: what is valid and probably a mistake.
func TestWarningsOfStages(t *testing.T) {
	c := strong()
	assert.Empty(t, stagesWarnings(catalogOf(t, c)))
	assert.NotContains(t, strings.Join(c.warnings(catalogOf(t, c)), "\n"), "has no endpoint")

	most := 0.5
	c.Providers[1].APIKeyEnv = "UNSET"
	c.Models = append(c.Models, modelConfig{ID: "acme/triage", Permaslug: "acme/triage-1", Stages: systemone.Texts("judge", similarity.Model), MaxEscalated: &most})
	assert.Equal(t, []string{
		"models: acme/triage: stages[0]: judge has no endpoint that is switched on",
		"models: acme/triage: max_escalated has no effect, because no entry has a condition",
		"models: signalbox/cascade-en-1: stages[1]: acme/judge has no endpoint that is switched on",
	}, stagesWarnings(catalogOf(t, c)))
	assert.NotContains(t, strings.Join(c.warnings(catalogOf(t, c)), "\n"), "acme/triage has no endpoint")
}

// TestTheCascadeOfTheReadme: the configuration is sound, and its models answer the
// request.
func TestTheCascadeOfTheReadme(t *testing.T) {
	c, err := readConfig(filepath.Join("testdata", "cascade.json"))
	require.NoError(t, err)
	catalog := catalogOf(t, c)
	body, err := os.ReadFile(filepath.Join("testdata", "cascade-request.json"))
	require.NoError(t, err)
	rt, err := router.New(router.Config{Catalog: catalog})
	require.NoError(t, err)
	for _, model := range []string{"", cascadeModel, "acme/triage"} {
		request, err := systemone.Decoder{}.Decode(body)
		require.NoError(t, err)
		if model != "" {
			request.Model, request.Models = model, nil
		}
		call := &router.Call{Request: request, DryRun: true}
		_, err = rt.Decide(t.Context(), call)
		require.NoError(t, err, model)
		require.Len(t, call.Report.Legs, 2)
		assert.Equal(t, similarity.Model, call.Report.Legs[0].Plan.Candidates[0].Endpoint.Model)
		assert.Equal(t, "openai/gpt-6-luna", call.Report.Legs[1].Plan.Candidates[0].Endpoint.Model, model)
	}

	request, err := systemone.Decoder{}.Decode(body)
	require.NoError(t, err)
	when := request.Models[0].When
	request.Models = nil
	res, err := rt.Decide(t.Context(), &router.Call{Request: request})
	require.NoError(t, err)
	assert.Equal(t, []string{"refund"}, when.Match(request.Questions, res.Response.Answers), "what the strong model is asked")
	assert.Equal(t, []string{"refund"}, similarity.Unsure().Match(request.Questions, res.Response.Answers))
}

// TestTheServerWarnsOfStages at its start, not only with -check: where a later stage
// cannot be asked, replies are first answers, and nothing else says so.
func TestTheServerWarnsOfStages(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr strings.Builder
	run(ctx, []string{"-addr", "127.0.0.1:0", "-config", filepath.Join("testdata", "cascade.json")}, func(string) string { return "" }, &stdout, &stderr)
	assert.Contains(t, stderr.String(), "server: warning: provider openai is disabled: the environment variable OPENAI_API_KEY is not set\n")
	for _, model := range []string{"acme/triage", cascadeModel} {
		assert.Contains(t, stderr.String(), "server: warning: models: "+model+": stages[1]: openai/gpt-6-luna has no endpoint that is switched on\n")
	}
}

// TestStagesOfTheExample are those that its documentation shows.
func TestStagesOfTheExample(t *testing.T) {
	c, err := readConfig("config.example.json")
	require.NoError(t, err)
	catalog := catalogOf(t, c)
	m := catalog.Model("local/triage")
	require.Len(t, m.Stages, 3)
	assert.Equal(t, similarity.Unsure(), m.Stages[1].When, "the same bounds")
	assert.InDelta(t, 0.3, m.MaxEscalated, 0)
	assert.NotNil(t, catalog.Model(cascadeModel))
}
