package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
)

// ruled applies rules to every caller and sets whether the catalog is filtered.
func ruled(filtered bool, rules ...router.Rule) option {
	return func(c *httpapi.Config, _ *router.Config) {
		c.Policy = func(context.Context, router.Principal) ([]router.Rule, error) { return rules, nil }
		c.FilteredCatalog = func(context.Context, string) (bool, error) { return filtered, nil }
	}
}

func brokenPolicy(c *httpapi.Config, _ *router.Config) {
	c.Policy = func(context.Context, router.Principal) ([]router.Rule, error) { return nil, errors.New(canary) }
}

func brokenSwitch(c *httpapi.Config, _ *router.Config) {
	c.FilteredCatalog = func(context.Context, string) (bool, error) { return false, errors.New(canary) }
}

// zdrCatalog returns a catalog in which bee retains no data.
func zdrCatalog(tb testing.TB, g *rig) *router.Catalog {
	tb.Helper()
	old := g.router.Catalog()
	var models []router.Model
	for _, m := range old.Models() {
		models = append(models, *m)
	}
	var providers []router.ProviderInfo
	for _, p := range old.Providers() {
		providers = append(providers, *p)
	}
	var endpoints []router.Endpoint
	for _, e := range old.Endpoints() {
		c := *e
		c.ZDR = c.Provider == "bee"
		endpoints = append(endpoints, c)
	}
	c, err := router.NewCatalog(models, providers, endpoints)
	require.NoError(tb, err)
	return c
}

func withZDR(tb testing.TB) func(*rig) {
	tb.Helper()
	return func(g *rig) { g.router.SetCatalog(zdrCatalog(tb, g)) }
}

// usableScenarios covers every status of the listings that depend on the caller.
func usableScenarios(tb testing.TB) []scenario {
	tb.Helper()
	noIdle := router.Rule{IgnoredModels: []string{"acme/idle"}}
	onlyBee := router.Rule{AllowedProviders: []string{"bee"}}
	list := []scenario{
		{name: "all without rules", path: "/models/user", status: 200, want: map[string]any{
			"total_count": 2.0, "data.0.id": "acme/judge", "data.0.top_provider.context_length": 16000.0, "links.next": nil,
			"data.0.links.details": "/models/acme/judge/endpoints",
		}},
		{name: "a management key", path: "/models/user", key: "management", status: 200, want: map[string]any{"total_count": 2.0}},
		{name: "an ignored model", path: "/models/user", options: []option{ruled(false, noIdle)}, status: 200, want: map[string]any{"total_count": 1.0, "data.0.id": "acme/judge"}},
		{name: "at the price of what is left", path: "/models/user", options: []option{ruled(false, onlyBee)}, status: 200, want: map[string]any{
			"total_count": 2.0, "data.0.pricing.prompt": "0.000002", "data.0.top_provider.context_length": 32000.0, "data.0.supported_parameters": []any{},
		}},
		{name: "a page", path: "/models/user?limit=1", status: 200, want: map[string]any{"total_count": 2.0, "links.next": "/models/user?limit=1&offset=1"}},
		{name: "nothing is left", path: "/models/user", options: []option{ruled(false, router.Rule{AllowedModels: []string{}})}, status: 200, want: map[string]any{"total_count": 0.0, "data": []any{}}},
		{name: "a wrong page", path: "/models/user?offset=x", status: 400, message: invalid, kind: "invalid_request"},

		{name: "no retention", path: "/endpoints/zdr", also: withZDR(tb), status: 200, want: map[string]any{
			"data.0.tag": "bee", "data.0.model_id": "acme/judge", "data.0.status": 0.0, "data.1.model_id": "acme/idle", "data.1.status": -10.0,
		}, absent: []string{"data.2", "total_count"}},
		{name: "no retention of what is left", path: "/endpoints/zdr", also: withZDR(tb), options: []option{ruled(false, noIdle)}, status: 200, absent: []string{"data.1"}},
		{name: "all retain", path: "/endpoints/zdr", status: 200, want: map[string]any{"data": []any{}}},
		{name: "two credentials", path: "/endpoints/zdr", header: map[string]string{"X-Api-Key": "x"}, status: 400, message: invalid, kind: "invalid_request"},

		{name: "switch off", path: "/models", options: []option{ruled(false, noIdle)}, status: 200, want: map[string]any{"total_count": 2.0}},
		{name: "switch on", path: "/models", options: []option{ruled(true, noIdle)}, status: 200, want: map[string]any{"total_count": 1.0, "data.0.id": "acme/judge"}},
		{name: "switch on, no key", path: "/models", key: "-", options: []option{ruled(true, noIdle)}, status: 200, want: map[string]any{"total_count": 2.0}},
		{name: "broken switch", path: "/models", options: []option{brokenSwitch}, status: 500, message: "Internal Server Error", kind: "server"},
		{name: "broken switch, no key", path: "/models", key: "-", options: []option{brokenSwitch}, status: 200},
		{name: "native, switch on", mount: "/v1", path: "/models", options: []option{ruled(true, noIdle)}, status: 200, want: map[string]any{"total_count": 1.0}, absent: []string{"models.1"}},
	}
	for _, path := range []string{"/models/user", "/endpoints/zdr"} {
		list = append(
			list,
			scenario{name: "no key", path: path, key: "-", status: 401, message: "Missing Authentication header", kind: "authentication"},
			scenario{name: "expired key", path: path, key: "expired", status: 401, message: "API key expired", kind: "authentication"},
			scenario{name: "broken policy", path: path, options: []option{brokenPolicy}, status: 500, message: "Internal Server Error", kind: "server"},
			scenario{name: "wrong method", method: http.MethodPost, path: path, status: 405, message: "Method not allowed", kind: "method_not_allowed"},
			scenario{name: "slow keys", path: path, options: []option{slowKeys}, status: 524, message: "Request timed out. Please try again later.", kind: "timeout"},
		)
	}
	for i := range list {
		list[i].method = orText(list[i].method, http.MethodGet)
		list[i].name = list[i].path + " " + list[i].name
	}
	return list
}

// TestFilteredCatalogEqualsThatOfTheUser compares GET /models and GET /models/user byte
// for byte.
func TestFilteredCatalogEqualsThatOfTheUser(t *testing.T) {
	for _, rules := range [][]router.Rule{
		nil, {{AllowedProviders: []string{"ant"}}}, {{IgnoredModels: []string{"judge-latest"}}}, {{Source: router.SourceAccount, ZDR: true}},
	} {
		g := newRig(t, ruled(true, rules...))
		var bodies []string
		for _, path := range []string{"/models", "/models/user"} {
			w := g.serve(t, g.handler, g.request(t, http.MethodGet, path, "", "inference"))
			require.Equal(t, 200, w.Code)
			bodies = append(bodies, w.Body.String())
		}
		assert.Equal(t, bodies[0], bodies[1])
	}
}

// TestPolicyIsAskedForTheCaller: the hooks get the caller's principal.
func TestPolicyIsAskedForTheCaller(t *testing.T) {
	var seen []router.Principal
	g := newRig(t, func(c *httpapi.Config, _ *router.Config) {
		c.Policy = func(_ context.Context, p router.Principal) ([]router.Rule, error) {
			seen = append(seen, p)
			return nil, nil
		}
	})
	for _, path := range []string{"/models/user", "/endpoints/zdr", "/models"} {
		g.serve(t, g.handler, g.request(t, http.MethodGet, path, "", "inference"))
	}
	require.Len(t, seen, 2, "an unfiltered catalog is the same for all")
	assert.Equal(t, "user_1", seen[0].Member)
	assert.Equal(t, seen[0], seen[1])
}
