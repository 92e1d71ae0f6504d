package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// enabled returns the header that asks for the metadata, with the default brand.
func enabled() map[string]string { return map[string]string{"X-Router-Metadata": "enabled"} }

func TestMetadataSaysWhy(t *testing.T) {
	s := scenario{
		header: enabled(), ant: []error{upstream(0, router.Timeout, 0)},
		body: with(`"provider":{"order":["ant"]}`),
	}
	_, _, got := s.play(t)
	require.Equal(t, 200, got.status)
	var m map[string]any
	raw, err := json.Marshal(at(t, got.body, "router_metadata"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &m))
	assert.Contains(t, m, "region")
	assert.Nil(t, m["region"])
	for path, want := range map[string]any{
		"requested": "acme/judge", "strategy": "order", "attempt": 2.0, "is_byok": false, "seed": "7",
		"summary":         "available=2, excluded=0, attempts=2, selected=Bee Two",
		"endpoints.total": 2.0,

		"endpoints.available.0.provider": "Ant Cloud", "endpoints.available.0.model": "acme/judge-20260901",
		"endpoints.available.0.endpoint": "ant/eu", "endpoints.available.0.selected": false,
		"endpoints.available.0.reason": "order", "endpoints.available.0.tier": "meets",
		"endpoints.available.1.selected": true, "endpoints.available.1.reason": "price",

		"attempts.0.provider": "Ant Cloud", "attempts.0.status": 524.0, "attempts.0.error_type": "timeout",
		"attempts.1.provider": "Bee Two", "attempts.1.status": 200.0, "attempts.1.model": "acme/judge-20260901",
		"attempts.1.upstream_confidence": map[string]any{"desk": 0.9, "heat": 0.9},

		"pipeline": []any{},
	} {
		assert.Equal(t, want, at(t, raw, path), path)
	}
	assert.Contains(t, at(t, raw, "endpoints.available.0"), "draw_weight")
}

func TestMetadataOfTheDrawAndOfExclusions(t *testing.T) {
	s := scenario{header: enabled()}
	_, _, got := s.play(t)
	weight := 0.0
	for _, i := range []string{"0", "1"} {
		w, ok := at(t, got.body, "router_metadata.endpoints.available."+i+".draw_weight").(float64)
		require.True(t, ok)
		weight += w
	}
	assert.InDelta(t, 1, weight, 1e-9, "the draw is shown with its weights")

	s.body = with(`"provider":{"max_price":{"prompt":"1"}}`)
	_, _, got = s.play(t)
	for path, want := range map[string]any{
		"provider": "Bee Two", "model": "acme/judge-20260901", "endpoint": "bee",
		"reason": "max_price", "detail": "max_price.prompt", "source": "request",
	} {
		assert.Equal(t, want, at(t, got.body, "router_metadata.endpoints.excluded.0."+path), path)
	}
}

func TestMetadataStandsOnErrorsToo(t *testing.T) {
	s := scenario{header: enabled(), body: with(`"provider":{"only":["nobody"]}`)}
	_, _, got := s.play(t)
	assert.Equal(t, 404, got.status)
	assert.EqualValues(t, 2, at(t, got.body, "router_metadata.endpoints.total"))
	assert.Equal(t, "allowed_providers", at(t, got.body, "router_metadata.endpoints.excluded.0.reason"))
	assert.Equal(t, []any{}, at(t, got.body, "router_metadata.attempts"))
	assert.Equal(t, "user_1", at(t, got.body, "user_id"))

	s = scenario{header: enabled(), body: strings.Replace(sound, "acme/judge", "x", 1)}
	_, _, got = s.play(t)
	assert.Equal(t, "direct", at(t, got.body, "router_metadata.strategy"), "there was no plan")
	assert.Equal(t, []any{}, at(t, got.body, "router_metadata.endpoints.available"))

	s = scenario{header: enabled(), key: "-"}
	_, _, got = s.play(t)
	assert.Nil(t, at(t, got.body, "router_metadata"), "nothing was routed")

	s = scenario{header: map[string]string{"X-Router-Metadata": "no"}}
	_, _, got = s.play(t)
	assert.Nil(t, at(t, got.body, "router_metadata"))
}

// The metadata say why no further candidate was tried, and which candidates were
// skipped.
func TestMetadataSaysWhyAWalkEnded(t *testing.T) {
	g := newRig(t, func(_ *httpapi.Config, cfg *router.Config) { cfg.RetryPercent, cfg.RetryReserve = -1, -1 })
	ask := func() (int, []byte) {
		r := g.request(t, http.MethodPost, "/systemone", with(`"provider":{"order":["ant","bee"]}`), "inference")
		r.Header.Set("X-Router-Metadata", "enabled")
		w := g.serve(t, g.handler, r)
		return w.Code, w.Body.Bytes()
	}
	down := slices.Repeat([]error{upstream(500, "", 0)}, 4)
	g.ant.script, g.bee.script = down, down
	for range 3 {
		status, body := ask()
		assert.Equal(t, 502, status)
		assert.EqualValues(t, 2, at(t, body, "router_metadata.attempt"))
		assert.Equal(t, "candidates", at(t, body, "router_metadata.stopped"))
	}
	_, body := ask()
	assert.EqualValues(t, 1, at(t, body, "router_metadata.attempt"), "bee has failed three times")
	assert.NotContains(t, at(t, body, "router_metadata.endpoints.available.0"), "skipped")
	assert.Equal(t, "retry_budget", at(t, body, "router_metadata.endpoints.available.1.skipped"))
	status, body := ask()
	assert.Equal(t, 200, status)
	assert.NotContains(t, at(t, body, "router_metadata"), "stopped")
}

func TestBrandChangesEverywhereAtOnce(t *testing.T) {
	brand := func(c *httpapi.Config, _ *router.Config) { c.Brand = "openrouter" }
	s := scenario{header: map[string]string{"X-OpenRouter-Metadata": "enabled"}, options: []option{brand}}
	for _, body := range []string{sound, with(`"provider":{"only":["x"]}`)} {
		s.body = body
		_, _, got := s.play(t)
		assert.NotNil(t, at(t, got.body, "openrouter_metadata.endpoints"))
		assert.NotContains(t, string(got.body), "router_metadata\":{\"region\":null,\"requested\":\"\"")
		assert.Nil(t, at(t, got.body, "router_metadata"))
	}
	s.header = enabled()
	_, _, got := s.play(t)
	assert.Nil(t, at(t, got.body, "openrouter_metadata"), "the neutral header is not the brand's")
}

func TestMetadataShowsThePipeline(t *testing.T) {
	id := uuid.MustParse("0190a0b0-0000-7000-8000-000000000001")
	stages := intercept(func(next router.Decider) router.Decider {
		return func(ctx context.Context, c *router.Call) (*router.Result, error) {
			c.Report.Pipeline = append(c.Report.Pipeline,
				router.Step{Type: "guardrail", Name: "filter", Summary: "did <it>", Data: map[string]any{"n": 1}, GuardrailID: &id, GuardrailScope: "key"},
				router.Step{Type: "plugin", Name: "bare", Data: map[string]any{"not JSON": make(chan int)}})
			return next(ctx, c)
		}
	})
	s := scenario{header: enabled(), options: []option{stages}}
	_, _, got := s.play(t)
	assert.Equal(t, []any{
		map[string]any{
			"type": "guardrail", "name": "filter", "summary": "did <it>", "data": map[string]any{"n": 1.0},
			"guardrail_id": id.String(), "guardrail_scope": "key",
		},
		map[string]any{"type": "plugin", "name": "bare"},
	}, at(t, got.body, "router_metadata.pipeline"))
}

func TestMetadataOutlivesASwappedCatalog(t *testing.T) {
	var g *rig
	swap := intercept(func(next router.Decider) router.Decider {
		return func(ctx context.Context, c *router.Call) (*router.Result, error) {
			res, err := next(ctx, c)
			empty, newErr := router.NewCatalog(nil, nil, nil)
			if newErr == nil {
				g.router.SetCatalog(empty)
			}
			return res, err
		}
	})
	g = newRig(t, swap)
	r := g.request(t, http.MethodPost, "/systemone", sound, "inference")
	r.Header.Set("X-Router-Metadata", "Enabled")
	w := g.serve(t, g.handler, r)
	require.Equal(t, 200, w.Code)
	assert.Equal(t, "ant", at(t, w.Body.Bytes(), "router_metadata.attempts.0.provider"), "the slug stands in")
}

func TestErrorMetadataOfAPolicy(t *testing.T) {
	own := intercept(func(router.Decider) router.Decider {
		return func(context.Context, *router.Call) (*router.Result, error) {
			return nil, &router.Error{Class: router.PermissionDenied, Message: "blocked", Metadata: map[string]any{
				"patterns": []string{"a"}, "error_type": "twice", "broken": make(chan int), "<b>": true,
			}}
		}
	})
	s := scenario{options: []option{own}}
	_, _, got := s.play(t)
	assert.Equal(t, map[string]any{"error_type": "permission_denied", "patterns": []any{"a"}, "<b>": true}, at(t, got.body, "error.metadata"))
	assert.Equal(t, 1, bytes.Count(got.body, []byte("error_type")), "no member twice")
}

func TestMetadataOfTiers(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	g := newRig(t, func(_ *httpapi.Config, c *router.Config) { c.Now = func() time.Time { return now } })
	g.bee.took = func() { now = now.Add(time.Second) }
	for range 20 {
		g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", with(`"provider":{"only":["bee"]}`), "inference"))
	}
	now = now.Add(2 * time.Second) // the figures that plans use are cached for a moment
	r := g.request(t, http.MethodPost, "/systemone", with(`"provider":{"preferred_max_latency":0.5}`), "inference")
	r.Header.Set("X-Router-Metadata", "enabled")
	w := g.serve(t, g.handler, r)
	assert.Equal(t, "unknown", at(t, w.Body.Bytes(), "router_metadata.endpoints.available.0.tier"))
	assert.Equal(t, "misses", at(t, w.Body.Bytes(), "router_metadata.endpoints.available.1.tier"))
}

func TestMetadataSurvivesFiguresThatAreNone(t *testing.T) {
	g := newRig(t)
	g.ant.confidence = math.NaN()
	r := g.request(t, http.MethodPost, "/systemone", with(`"provider":{"only":["ant"]}`), "inference")
	r.Header.Set("X-Router-Metadata", "enabled")
	w := g.serve(t, g.handler, r)
	require.Equal(t, 200, w.Code)
	assert.NotNil(t, at(t, w.Body.Bytes(), "router_metadata.attempts.0.status"))
	assert.Nil(t, at(t, w.Body.Bytes(), "router_metadata.attempts.0.upstream_confidence"))
}

// R59b: the metadata mark a reply that used the caller's own credential.
func TestMetadataOfOwnCredentials(t *testing.T) {
	own := intercept(func(next router.Decider) router.Decider {
		return func(ctx context.Context, c *router.Call) (*router.Result, error) {
			c.Credentials = []router.Credential{{Provider: "ant", Secret: "sk-canary"}, {Provider: "bee", Fallback: true, Secret: "sk-canary"}}
			return next(ctx, c)
		}
	})
	s := scenario{header: enabled(), options: []option{own}, body: with(`"provider":{"order":["bee"]}`)}
	_, _, got := s.play(t)
	for path, want := range map[string]any{
		"is_byok": true, "strategy": "order", "endpoints.total": 2.0, "attempts.0.is_byok": true,

		"endpoints.available.0.endpoint": "ant/eu", "endpoints.available.0.is_byok": true,
		"endpoints.available.0.reason": "own", "endpoints.available.0.selected": true,
		"endpoints.available.1.endpoint": "bee", "endpoints.available.1.is_byok": false,
		"endpoints.available.1.reason":   "order",
		"endpoints.available.2.endpoint": "ant/eu", "endpoints.available.2.selected": false,
		"endpoints.available.3.endpoint": "bee", "endpoints.available.3.reason": "own_fallback",
	} {
		assert.Equal(t, want, at(t, got.body, "router_metadata."+path), path)
	}
	assert.NotContains(t, string(got.body), "canary")

	s.ant = []error{upstream(0, router.Timeout, 0)}
	_, _, got = s.play(t)
	for path, want := range map[string]any{
		"is_byok": false, "attempts.0.is_byok": true, "attempts.1.is_byok": false,
		"endpoints.available.0.selected": false, "endpoints.available.1.selected": true,
	} {
		assert.Equal(t, want, at(t, got.body, "router_metadata."+path), path)
	}
}

// The metadata mark estimated usage, of the attempt and of the reply.
func TestMetadataOfEstimatedUsage(t *testing.T) {
	g := newRig(t)
	g.ant.uncounted = router.Uncounted{Input: true, Output: true}
	for provider, estimated := range map[string]any{"ant": true, "bee": nil} {
		r := g.request(t, http.MethodPost, "/systemone", with(`"provider":{"only":["`+provider+`"]}`), "inference")
		r.Header.Set("X-Router-Metadata", "enabled")
		w := g.serve(t, g.handler, r)
		require.Equal(t, 200, w.Code)
		assert.Equal(t, estimated, at(t, w.Body.Bytes(), "router_metadata.usage_estimated"), provider)
		assert.Equal(t, estimated, at(t, w.Body.Bytes(), "router_metadata.attempts.0.usage_estimated"), provider)
		assert.Positive(t, at(t, w.Body.Bytes(), "usage.input_tokens"))
	}
}

// The refusal has the documented sentence and says what the limit leaves.
func TestRefusalSaysWhatCanBeAfforded(t *testing.T) {
	refusal := &router.Error{Class: router.PaymentRequired, Message: "Key limit exceeded"}
	g := newRig(t, func(_ *httpapi.Config, c *router.Config) { c.Ledger = memory.New().Ledger },
		intercept(func(next router.Decider) router.Decider {
			return func(ctx context.Context, c *router.Call) (*router.Result, error) {
				c.Budgets = append(c.Budgets, router.Budget{Check: router.Check{Order: 20, Word: "key_limit"}, Owner: router.OwnerKey, Max: 9000, Refusal: refusal})
				return next(ctx, c)
			}
		}))
	w := g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", with(`"provider":{"only":["ant"]}`), "inference"))
	require.Equal(t, 402, w.Code)
	assert.Equal(t, "Key limit exceeded", at(t, w.Body.Bytes(), "error.message"))
	assert.Regexp(t, `^may cost up to 0\.[0-9]+ USD for [0-9]+ prompt tokens at ant/eu, and the limit leaves 0\.000009 USD: enough for [0-9]+ prompt tokens$`,
		at(t, w.Body.Bytes(), "error.metadata.issues.0.message"))
}
