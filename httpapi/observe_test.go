package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// observed collects the outcomes of a handler.
type observed struct {
	mu   sync.Mutex
	list []httpapi.Outcome
}

func (s *observed) observe(_ context.Context, o httpapi.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, o)
}

// take returns the only outcome since the last call.
func (s *observed) take(t *testing.T) httpapi.Outcome {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Len(t, s.list, 1, "each request has one outcome")
	o := s.list[0]
	s.list = nil
	return o
}

// TestEveryRequestIsObserved: every request has one outcome, with the route and the
// status of its reply, also one that is refused before a decision begins.
func TestEveryRequestIsObserved(t *testing.T) {
	var seen observed
	g := newRig(t, func(c *httpapi.Config, _ *router.Config) {
		c.Observe, c.Origins = seen.observe, []string{"https://app.example"}
		c.NewRequestID = func() string { return "req_1" }
	})
	for _, c := range []struct {
		name, method, path, body, key, route string
		status                               int
	}{
		{"answered", "POST", "/systemone", sound, "inference", "POST /systemone", 200},
		{"final slash", "POST", "/systemone/", sound, "inference", "POST /systemone", 200},
		{"the other door", "POST", "/decisions", soundDecision, "inference", "POST /decisions", 200},
		{"no key", "POST", "/systemone", sound, "", "POST /systemone", 401},
		{"unknown key", "POST", "/systemone", sound, "unknown", "POST /systemone", 401},
		{"disabled key", "POST", "/systemone", sound, "disabled", "POST /systemone", 401},
		{"wrong kind of key", "GET", "/models/user", "", "malformed", "GET /models/user", 401},
		{"management key", "POST", "/systemone", sound, "management", "POST /systemone", 403},
		{"bad body", "POST", "/systemone", "{", "inference", "POST /systemone", 400},
		{"pattern, not path", "GET", "/models/acme/judge/endpoints", "", "", "GET /models/{author}/{slug}/endpoints", 200},
		{"no such model", "GET", "/models/acme/x/endpoints", "", "", "GET /models/{author}/{slug}/endpoints", 404},
		{"HEAD of a GET", "HEAD", "/models", "", "", "GET /models", 200},
		{"no such path", "GET", "/no/such/path", "", "", "", 404},
		{"redirect of the mux", "GET", "/x/../models", "", "", "", 404},
		{"wrong method", "PUT", "/systemone", "", "", "", 405},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			g.handler.ServeHTTP(w, g.request(t, c.method, c.path, c.body, c.key))
			require.Equal(t, c.status, w.Code)
			o := seen.take(t)
			assert.GreaterOrEqual(t, o.Duration, time.Duration(0))
			assert.Equal(t, httpapi.Outcome{
				Surface: "api", Route: c.route, Status: c.status, RequestID: "req_1",
				Duration: o.Duration, Principal: o.Principal, GenerationID: w.Header().Get("X-Generation-Id"),
			}, o)
			if c.key == "inference" {
				assert.NotZero(t, o.Principal)
			}
		})
	}

	t.Run("other surfaces", func(t *testing.T) {
		g.native.ServeHTTP(httptest.NewRecorder(), g.request(t, http.MethodGet, "/models", "", "inference"))
		assert.Equal(t, "native", seen.take(t).Surface)
		g.handler.Alpha().ServeHTTP(httptest.NewRecorder(), g.request(t, http.MethodPost, "/decisions", sound, "inference"))
		assert.Equal(t, "alpha", seen.take(t).Surface)
	})
	t.Run("preflight", func(t *testing.T) {
		r := g.request(t, http.MethodOptions, "/systemone", "", "")
		r.Header.Set("Origin", "https://app.example")
		r.Header.Set("Access-Control-Request-Method", "POST")
		g.handler.ServeHTTP(httptest.NewRecorder(), r)
		o := seen.take(t)
		assert.Equal(t, http.StatusNoContent, o.Status)
		assert.Empty(t, o.Route)
	})
	t.Run("panic", func(t *testing.T) {
		g.ant.panics = true
		g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", sound, "inference"))
		o := seen.take(t)
		assert.Equal(t, http.StatusInternalServerError, o.Status)
		assert.Equal(t, "POST /systemone", o.Route)
	})
}

// TestRateRefusalsAreObserved: a request that a rate refuses has an outcome with its
// caller, although no decision began.
func TestRateRefusalsAreObserved(t *testing.T) {
	service, err := keys.New(keys.Config{
		Store: memory.New().Keys, Rates: keys.RateLimits{Key: keys.Rate{Requests: 1, Per: time.Hour}},
	})
	require.NoError(t, err)
	var seen observed
	g := newRig(t, func(c *httpapi.Config, _ *router.Config) { c.Keys, c.Observe = service, seen.observe })
	_, g.keys["limited"], err = service.Create(t.Context(), router.Actor{}, keys.Key{Name: "x"})
	require.NoError(t, err)
	for _, status := range []int{200, 429} {
		g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", sound, "limited"))
		o := seen.take(t)
		assert.Equal(t, status, o.Status)
		assert.NotEmpty(t, o.Principal.KeyHash)
		assert.Equal(t, status == 200, o.GenerationID != "")
	}
}

// TestAPanicOfTheObserverIsLogged: the reply is sent already, and the connection stays.
func TestAPanicOfTheObserverIsLogged(t *testing.T) {
	calls := 0
	g := newRig(t, func(c *httpapi.Config, _ *router.Config) {
		c.Observe = func(context.Context, httpapi.Outcome) { calls++; panic("the observer panics") }
	})
	w := g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", sound, "inference"))
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, 1, calls)
	assert.Contains(t, g.log.String(), "the observer panics")
}

// TestObserversOutliveTheCaller: the observer's context is not cancelled with the
// request, and its duration is that of the injected clock.
func TestObserversOutliveTheCaller(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	g := newRig(t, func(c *httpapi.Config, _ *router.Config) {
		c.Now = func() time.Time { now = now.Add(time.Second); return now }
		c.Observe = func(ctx context.Context, o httpapi.Outcome) {
			require.NoError(t, ctx.Err())
			assert.Equal(t, "value", ctx.Value(observerKey{}))
			assert.Equal(t, time.Second, o.Duration)
		}
	})
	r := g.request(t, http.MethodGet, "/models", "", "")
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), observerKey{}, "value"))
	cancel()
	g.handler.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
}

// observerKey is the key of a value in a context.
type observerKey struct{}
