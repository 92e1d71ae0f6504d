//go:build !race

package signalbox_test

import (
	"encoding/json"
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
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// decider returns two functions that decide: whole through a service with every
// policy on and a budget on every possible line, bare through the same engine alone.
func decider(tb testing.TB) (whole, bare func() error) {
	tb.Helper()
	client := &ready{router.Reply{
		Answers: systemone.Answers{{Name: "q", Kind: systemone.Noul, Noul: 0.5}},
		Usage:   systemone.Usage{InputTokens: 10, OutputTokens: 1},
	}}
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-1"}},
		[]router.ProviderInfo{{Slug: "ant", Client: client}, {Slug: "bee", Client: client}},
		[]router.Endpoint{
			{Provider: "ant", Model: "acme/judge", UpstreamModel: "j", Pricing: router.Pricing{Request: router.Dollars("0.000000001")}},
			{Provider: "bee", Model: "acme/judge", UpstreamModel: "j", Pricing: router.Pricing{Request: router.Dollars("0.000000002")}},
		},
	)
	require.NoError(tb, err)
	now := func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }
	s, err := signalbox.New(signalbox.Config{Catalog: catalog, Logger: slog.New(slog.DiscardHandler), Now: now})
	require.NoError(tb, err)
	g := &gateway{Service: s}
	g.seeded, err = demo.Seed(tb.Context(), s)
	require.NoError(tb, err)
	limitAll(tb, g)
	whole = func() error {
		_, err := s.Router.Decide(tb.Context(), &router.Call{Secret: g.seeded.Inference, Request: request()})
		return err
	}
	engine, err := router.New(router.Config{Catalog: catalog, Now: now})
	require.NoError(tb, err)
	bare = func() error {
		_, err := engine.Decide(tb.Context(), &router.Call{Request: request()})
		return err
	}
	return whole, bare
}

// limitAll sets every limit that exists, and restricts endpoints by rules that
// exclude none of them.
func limitAll(tb testing.TB, g *gateway) {
	tb.Helper()
	p, err := g.Keys.Authenticate(tb.Context(), g.seeded.Inference)
	require.NoError(tb, err)
	_, err = g.Organization.TopUp(tb.Context(), demo.Program(), "payment", router.Dollar)
	require.NoError(tb, err)
	manage := func(method, path, body string) string {
		tb.Helper()
		r := httptest.NewRequestWithContext(tb.Context(), method, "/api/v1"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+string(g.seeded.Management))
		w := httptest.NewRecorder()
		g.Handler.ServeHTTP(w, r)
		require.Less(tb, w.Code, 300, "%s %s: %s", method, path, w.Body)
		return w.Body.String()
	}
	manage(http.MethodPatch, "/keys/"+p.KeyHash, `{"limit":1,"limit_reset":"monthly"}`)
	for i, interval := range []string{"lifetime", "monthly", "weekly", "daily"} {
		manage(http.MethodPut, "/workspaces/default/budgets/"+interval, fmt.Sprintf(`{"limit_usd":%d}`, 9-i))
	}
	const rules = `"limit_usd":1,"reset_interval":"daily","allowed_models":["acme/judge"],"allowed_providers":["ant","bee"]`
	manage(http.MethodPatch, "/guardrails/"+g.seeded.Home.DefaultGuardrail, "{"+rules+"}")
	for _, to := range []string{`keys {"key_hashes":["` + p.KeyHash + `"]}`, `members {"member_user_ids":["` + demo.Admin + `"]}`} {
		var made struct {
			Data struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		require.NoError(tb, json.Unmarshal([]byte(manage(http.MethodPost, "/guardrails", `{"name":"g",`+rules+"}")), &made))
		kind, body, _ := strings.Cut(to, " ")
		manage(http.MethodPost, "/guardrails/"+made.Data.ID+"/assignments/"+kind, body)
	}
}

// TestPoliciesAllocateLittle: with all policies on and nothing excluded, a decision
// makes at most 25 allocations more than the engine alone. It is not built for the race
// detector, which allocates itself.
func TestPoliciesAllocateLittle(t *testing.T) {
	whole, bare := decider(t)
	require.NoError(t, whole())
	require.NoError(t, bare())
	with := testing.AllocsPerRun(500, func() { _ = whole() })
	without := testing.AllocsPerRun(500, func() { _ = bare() })
	t.Logf("%.0f allocations, %.0f of them the engine's", with, without)
	assert.LessOrEqual(t, with-without, 25.0)
}

// BenchmarkDecide compares a decision with every policy on to one of the engine
// alone.
func BenchmarkDecide(b *testing.B) {
	whole, bare := decider(b)
	for name, decide := range map[string]func() error{"whole": whole, "bare": bare} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := decide(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
