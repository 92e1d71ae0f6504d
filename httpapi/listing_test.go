package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
)

// get requests a path through a mux with a prefix.
func get(t *testing.T, g *rig, path string) []byte {
	t.Helper()
	r := g.request(t, http.MethodGet, "/api/v1"+path, "", "")
	w := g.serve(t, http.StripPrefix("/api/v1", g.handler), r)
	require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
	return w.Body.Bytes()
}

func TestModelHasEveryMember(t *testing.T) {
	got := get(t, newRig(t), "/models")
	want := map[string]any{
		"id": "acme/judge", "canonical_slug": "acme/judge-20260901", "name": "Acme Judge",
		"created": 1788220800.0, "description": "Judges <everything> & more", "context_length": 32000.0,
		"architecture": map[string]any{
			"modality": "text->decisions", "input_modalities": []any{"text"}, "output_modalities": []any{"decisions"},
			"instruct_type": nil, "tokenizer": "Other",
		},
		"pricing":              map[string]any{"prompt": "0.000000042", "completion": "0.000000000000001", "request": "0.000001"},
		"top_provider":         map[string]any{"context_length": 16000.0, "max_completion_tokens": nil, "is_moderated": false},
		"supported_parameters": []any{"user"}, "default_parameters": nil, "per_request_limits": nil, "supported_voices": nil,
		"links": map[string]any{"details": "/api/v1/models/acme/judge/endpoints"},
	}
	assert.Equal(t, want, at(t, got, "data.0"))
	assert.Equal(t, "acme/idle", at(t, got, "data.1.id"))
	assert.Nil(t, at(t, got, "data.1.context_length"))
	assert.EqualValues(t, 0, at(t, got, "data.1.created"))
	assert.Equal(t, []any{}, at(t, got, "data.1.supported_parameters"))
	assert.EqualValues(t, 2, at(t, got, "total_count"), "a model that nobody serves is not listed")
}

func TestModelsLinkOnlyToWhatIsMounted(t *testing.T) {
	g := newRig(t)
	w := g.serve(t, http.StripPrefix("/v1", g.native), g.request(t, http.MethodGet, "/v1/models", "", "inference"))
	assert.Equal(t, "acme/judge", at(t, w.Body.Bytes(), "data.0.id"))
	assert.Empty(t, at(t, w.Body.Bytes(), "data.0.links.details"), "there are no endpoints below /v1")
}

// manyModels gives the rig n models at ant.
func manyModels(t *testing.T, n int) option {
	t.Helper()
	return func(_ *httpapi.Config, c *router.Config) {
		models, endpoints := make([]router.Model, n), make([]router.Endpoint, n)
		for i := range n {
			id := fmt.Sprintf("many/m%04d", i)
			models[i] = router.Model{ID: id, Permaslug: id + "-20260901"}
			endpoints[i] = router.Endpoint{Provider: "ant", Model: id, UpstreamModel: "x"}
		}
		var err error
		c.Catalog, err = router.NewCatalog(models, []router.ProviderInfo{{Slug: "ant", Client: &scripted{}}}, endpoints)
		require.NoError(t, err)
	}
}

func TestPagesOfModels(t *testing.T) {
	g := newRig(t, manyModels(t, 1203))
	seen := map[string]bool{}
	path, pages := "/models?q=kept", 0
	for path != "" {
		got := get(t, g, path)
		assert.EqualValues(t, 1203, at(t, got, "total_count"))
		data, ok := at(t, got, "data").([]any)
		require.True(t, ok)
		for _, row := range data {
			m, isObject := row.(map[string]any)
			require.True(t, isObject)
			id, isText := m["id"].(string)
			require.True(t, isText)
			require.False(t, seen[id], "%s twice", id)
			seen[id] = true
		}
		pages++
		next, _ := at(t, got, "links.next").(string)
		if path = ""; next != "" {
			require.Contains(t, next, "/api/v1/models?", "with the prefix")
			assert.Contains(t, next, "q=kept")
			path = next[len("/api/v1"):]
		}
	}
	assert.Len(t, seen, 1203)
	assert.Equal(t, 3, pages, "500 by default")

	got := get(t, g, "/models?limit=3&offset=1200")
	assert.Nil(t, at(t, got, "links.next"), "the last page may be full")
	got = get(t, g, "/models?limit=2&offset=1202")
	assert.Len(t, at(t, got, "data"), 1)
	assert.Nil(t, at(t, got, "links.next"))
	got = get(t, g, "/models?offset=2000000000")
	assert.Equal(t, []any{}, at(t, got, "data"))
	got = get(t, g, "/models?limit=1000")
	assert.Len(t, at(t, got, "data"), 1000)
}

func TestPriceOfAModelIsThatOfItsCheapestEndpointInUse(t *testing.T) {
	g := newRig(t, func(_ *httpapi.Config, c *router.Config) {
		price := func(prompt router.USD) router.Pricing {
			return router.Pricing{Prompt: (prompt * router.Dollar).Price()}
		}
		var err error
		c.Catalog, err = router.NewCatalog([]router.Model{{ID: "a/b", Permaslug: "a/b-1"}}, []router.ProviderInfo{{Slug: "ant", Client: &scripted{}}},
			[]router.Endpoint{
				{Provider: "ant", Variant: "off", Model: "a/b", UpstreamModel: "x", Pricing: price(1), Off: true},
				{Provider: "ant", Variant: "dear", Model: "a/b", UpstreamModel: "x", Pricing: price(3)},
				{Provider: "ant", Variant: "cheap", Model: "a/b", UpstreamModel: "x", Pricing: price(2)},
			})
		require.NoError(t, err)
	})
	assert.Equal(t, "0.000002", at(t, get(t, g, "/models"), "data.0.pricing.prompt"))
}

func TestPageMistakes(t *testing.T) {
	g := newRig(t)
	for _, query := range []string{
		"limit=0", "limit=1001", "limit=-1", "limit=x", "limit=", "limit=1.5", "limit=5&limit=5",
		"offset=-1", "offset=99999999999999999999", "offset=2147483648", "offset=1&offset=2",
	} {
		w := g.serve(t, g.handler, g.request(t, http.MethodGet, "/models?"+query, "", ""))
		assert.Equal(t, http.StatusBadRequest, w.Code, query)
		assert.Contains(t, []any{"limit", "offset"}, at(t, w.Body.Bytes(), "error.metadata.issues.0.path"), query)
	}
}

func TestNextPageKnowsNoPathThatCannotBePartOfAnAddress(t *testing.T) {
	g := newRig(t, manyModels(t, 3))
	for _, uri := range []string{"//evil.example/models", "", "*", "http://evil.example/models", "/api/../models"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/models?limit=1", http.NoBody)
		if r.RequestURI = uri; uri == "*" {
			continue // net/http answers it without calling the handler
		}
		w := g.serve(t, g.handler, r)
		assert.Equal(t, "?limit=1&offset=1", at(t, w.Body.Bytes(), "links.next"), uri)
	}
}

func TestEndpointHasEveryMember(t *testing.T) {
	got := get(t, newRig(t), "/models/acme/judge/endpoints")
	assert.Equal(t, "acme/judge", at(t, got, "data.id"))
	assert.Equal(t, "Acme Judge", at(t, got, "data.name"))
	want := map[string]any{
		"endpoint_id": "f6c69d3b-fba1-5b29-bdca-756e63c8c5f4",
		"name":        "Ant Cloud | acme/judge", "tag": "ant/eu", "model_id": "acme/judge", "model_name": "Acme Judge",
		"provider_name": "Ant Cloud", "status": 0.0, "context_length": 16000.0, "max_prompt_tokens": 16000.0,
		"max_completion_tokens": nil, "supports_implicit_caching": false,
		"supports_tool_choice": map[string]any{"auto": false, "function": false, "none": false, "required": false},
		"pricing":              map[string]any{"prompt": "0.000000042", "completion": "0.000000000000001", "request": "0.000001"},
		"quantization":         "fp8", "supported_parameters": []any{"user"},
		"uptime_last_5m": nil, "uptime_last_30m": nil, "uptime_last_1d": nil,
		"latency_last_30m": nil, "throughput_last_30m": nil,
	}
	assert.Equal(t, want, at(t, got, "data.endpoints.0"))
	assert.EqualValues(t, 32000, at(t, got, "data.endpoints.1.context_length"), "the model's")
	assert.Nil(t, at(t, got, "data.endpoints.1.max_prompt_tokens"))
	assert.Equal(t, "unknown", at(t, got, "data.endpoints.1.quantization"))

	got = get(t, newRig(t), "/models/acme/idle/endpoints")
	assert.EqualValues(t, -10, at(t, got, "data.endpoints.0.status"), "switched off")
	got = get(t, newRig(t), "/models/acme/unserved/endpoints")
	assert.Equal(t, []any{}, at(t, got, "data.endpoints"))
}

func TestEndpointStatistics(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	g := newRig(t, func(_ *httpapi.Config, c *router.Config) { c.Now = func() time.Time { return now } })
	body := with(`"provider":{"only":["bee"]}`)
	ask := func() {
		now = now.Add(time.Millisecond)
		g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", body, "inference"))
	}
	for range 200 {
		ask()
	}
	got := get(t, g, "/models/acme/judge/endpoints")
	assert.EqualValues(t, 0, at(t, got, "data.endpoints.1.status"))
	assert.EqualValues(t, 100, at(t, got, "data.endpoints.1.uptime_last_30m"))
	for _, p := range []string{"p50", "p75", "p90", "p99"} {
		assert.NotNil(t, at(t, got, "data.endpoints.1.latency_last_30m."+p))
		assert.NotNil(t, at(t, got, "data.endpoints.1.throughput_last_30m."+p))
	}
	for range 100 {
		g.bee.script = append(g.bee.script, upstream(500, "", 0))
	}
	for range 100 {
		ask()
	}
	got = get(t, g, "/models/acme/judge/endpoints")
	assert.EqualValues(t, -1, at(t, got, "data.endpoints.1.status"), "outage")
	now = now.Add(time.Minute)
	got = get(t, g, "/models/acme/judge/endpoints")
	assert.EqualValues(t, -2, at(t, got, "data.endpoints.1.status"), "uptime under 95 %")
}

func TestAddressesOfEndpointsAreDecoded(t *testing.T) {
	got := get(t, newRig(t), "/models/acme/judge%3Afloor/endpoints")
	assert.Equal(t, "acme/judge", at(t, got, "data.id"))
	got = get(t, newRig(t), "/models/ACME/j%75dge/endpoints")
	assert.Equal(t, "acme/judge", at(t, got, "data.id"))
}
