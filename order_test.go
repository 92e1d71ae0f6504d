package signalbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
)

// refusing is an upstream that is down.
type refusing struct{ asked int }

var errDown = errors.New("down")

func (p *refusing) Decide(context.Context, router.Attempt) (router.Reply, error) {
	p.asked++
	return router.Reply{}, &router.UpstreamError{Status: http.StatusInternalServerError, Err: errDown}
}

// gateway is a seeded service in front of an upstream that is down.
type gateway struct {
	*signalbox.Service
	seeded   demo.Seeded
	upstream *refusing
	stores   store.Set
	log      *bytes.Buffer
}

func newGateway(t *testing.T, rates keys.RateLimits) *gateway {
	t.Helper()
	g := &gateway{upstream: &refusing{}, stores: memory.New(), log: &bytes.Buffer{}}
	g.stores.Keys, g.stores.Activity = pickyKeys{g.stores.Keys}, pickyActivity{g.stores.Activity}
	g.stores.Organization = pickyOrganization{g.stores.Organization}
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-1"}},
		[]router.ProviderInfo{
			{Slug: "ant", Name: "Ant Cloud", Client: g.upstream},
			{Slug: "local", Client: g.upstream, NoOwnCredentials: true},
		},
		[]router.Endpoint{{Provider: "ant", Model: "acme/judge", UpstreamModel: "j", Pricing: router.Pricing{Request: router.Dollars("0.01")}}},
	)
	require.NoError(t, err)
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	g.Service, err = signalbox.New(signalbox.Config{
		Catalog: catalog, Stores: g.stores, SealingKeys: demo.SealingKeys(), Keys: keys.Config{Rates: rates},
		Logger: slog.New(slog.NewJSONHandler(g.log, nil)), Now: func() time.Time { return noon },
	})
	require.NoError(t, err)
	g.seeded, err = demo.Seed(t.Context(), g.Service)
	require.NoError(t, err)
	return g
}

func (g *gateway) do(t *testing.T, method, path, body string, key router.Secret) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "/api/v1"+path, strings.NewReader(body))
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+string(key))
	}
	return g.serve(r)
}

func (g *gateway) serve(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	g.Handler.ServeHTTP(w, r)
	return w
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// manage sends a management request that must succeed.
func (g *gateway) manage(t *testing.T, method, path, body string) {
	t.Helper()
	w := g.do(t, method, path, body, g.seeded.Management)
	require.Less(t, w.Code, 300, "%s %s: %s", method, path, w.Body)
}

// ask is a request for a decision that a check may still break.
type ask struct {
	key                                router.Secret
	model, preset, provider, questions string
	state                              string
}

// check is one check of a request, with how to break the request for it.
type check struct {
	name   string
	spoil  func(t *testing.T, g *gateway, a *ask)
	status int
	want   string // in the reply
}

func checks() []check {
	guard := func(t *testing.T, g *gateway, body string) {
		t.Helper()
		g.manage(t, http.MethodPatch, "/guardrails/"+g.seeded.Home.DefaultGuardrail, body)
	}
	return []check{
		{"key", func(_ *testing.T, _ *gateway, a *ask) { a.key = "sk-rt-v1-nobodys" }, 401, "Invalid API key"},
		{"rate", func(t *testing.T, g *gateway, a *ask) {
			t.Helper()
			require.Less(t, g.do(t, http.MethodGet, "/key", "", a.key).Code, 500) // the one request of the hour
		}, 429, "Rate limit exceeded"},
		{"body", func(_ *testing.T, _ *gateway, a *ask) { a.questions = "{}" }, 400, `"path":"questions"`},
		{"preset", func(_ *testing.T, _ *gateway, a *ask) { a.preset = "nobodys" }, 404, "Resource not found"},
		{"model", func(_ *testing.T, _ *gateway, a *ask) { a.model = "acme/nobodys" }, 400, "acme/nobodys is not a valid model ID"},
		{"content", func(t *testing.T, g *gateway, a *ask) {
			t.Helper()
			guard(t, g, `{"content_filter_builtins":[{"slug":"email","action":"block"}]}`)
			a.state = "ann@example.org"
		}, 403, "Request blocked by content filter: Email address"},
		{"plan", func(_ *testing.T, _ *gateway, a *ask) { a.provider = `{"only":["nobody"]}` }, 404, "No endpoints found for acme/judge"},
		{"credits", func(t *testing.T, g *gateway, _ *ask) {
			t.Helper()
			by := demo.Program()
			_, err := g.Organization.TopUp(t.Context(), by, "payment-1", 1)
			require.NoError(t, err)
		}, 402, "Insufficient credits"},
		{"key limit", func(t *testing.T, g *gateway, _ *ask) {
			t.Helper()
			p, err := g.Keys.Authenticate(t.Context(), g.seeded.Inference)
			require.NoError(t, err)
			g.manage(t, http.MethodPatch, "/keys/"+p.KeyHash, `{"limit":0.001}`)
		}, 402, "Key limit exceeded"},
		{"workspace budget", func(t *testing.T, g *gateway, _ *ask) {
			t.Helper()
			g.manage(t, http.MethodPut, "/workspaces/default/budgets/monthly", `{"limit_usd":0.001}`)
		}, 403, "Workspace monthly budget of $0.001 exceeded. Contact your org admin."},
		{"guardrail budget", func(t *testing.T, g *gateway, _ *ask) {
			t.Helper()
			guard(t, g, `{"limit_usd":0.001,"reset_interval":"daily"}`)
		}, 403, "Guardrail daily budget of $0.001 exceeded"},
		{"attempts", func(*testing.T, *gateway, *ask) {}, 502, "Provider returned error"},
	}
}

// TestChecksComeInTheDocumentedOrder breaks each check together with the next one.
// The reply is that of the earlier check, and nothing goes upstream.
func TestChecksComeInTheDocumentedOrder(t *testing.T) {
	list := checks()
	for i, first := range list {
		broken := list[i:min(i+2, len(list))]
		t.Run(first.name, func(t *testing.T) {
			rates := keys.RateLimits{}
			if i == 0 || first.name == "rate" {
				rates.Key = keys.Rate{Requests: 1, Per: time.Hour}
			}
			g := newGateway(t, rates)
			a := ask{key: g.seeded.Inference, model: "acme/judge", provider: "null", state: "x", questions: `{"q":{"type":"noul","instructions":"?"}}`}
			for _, c := range broken {
				c.spoil(t, g, &a)
			}
			preset := ""
			if a.preset != "" {
				preset = fmt.Sprintf(`,"preset":%q`, a.preset)
			}
			w := g.do(t, http.MethodPost, "/systemone", fmt.Sprintf(`{"model":%q,"state":%q,"provider":%s,"questions":%s%s}`,
				a.model, a.state, a.provider, a.questions, preset), a.key)
			assert.Equal(t, first.status, w.Code, w.Body)
			assert.Contains(t, w.Body.String(), first.want)
			assert.Equal(t, first.name == "attempts", g.upstream.asked > 0, "only the last one goes upstream")
		})
	}
}

// TestEveryCallIsLogged: the log also has calls that the keys refuse.
func TestEveryCallIsLogged(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	_, err := g.Router.Decide(t.Context(), &router.Call{ID: "gen-dec-1"})
	require.Error(t, err)
	_, err = g.Router.Decide(t.Context(), &router.Call{ID: "gen-dec-2", Secret: g.seeded.Management, Request: request()})
	require.Error(t, err)
	_, err = g.Router.Decide(t.Context(), &router.Call{ID: "gen-dec-3", Secret: "sk-rt-v1-nobodys", Request: request()})
	require.Error(t, err)
	var classes []string
	for line := range strings.Lines(g.log.String()) {
		var got struct {
			ID    string `json:"id"`
			Class string `json:"class"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &got))
		classes = append(classes, got.ID+" "+got.Class)
	}
	assert.Equal(t, []string{"gen-dec-2 permission_denied", "gen-dec-3 authentication"}, classes)
	assert.NotContains(t, g.log.String(), string(g.seeded.Management))
}
