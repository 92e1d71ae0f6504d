package httpapi_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// TestEveryRequestOfAKeyCounts: requests that are refused after the rate check count,
// and so does one with the wrong kind of key.
func TestEveryRequestOfAKeyCounts(t *testing.T) {
	service, err := keys.New(keys.Config{
		Store: memory.New().Keys, Rates: keys.RateLimits{Key: keys.Rate{Requests: 3, Per: time.Hour, Concurrent: 1}},
		Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
	})
	require.NoError(t, err)
	use := func(c *httpapi.Config, _ *router.Config) { c.Keys, c.ManagedKeys = service, service }
	g := newRig(t, use)
	_, g.keys["limited"], err = service.Create(t.Context(), router.Actor{}, keys.Key{Name: "x"})
	require.NoError(t, err)
	g.ant.panics = true
	for path, status := range map[string]int{"/systemone": 500, "/keys": 403} { // the place of a request is given back even after a panic
		w := g.serve(t, g.handler, g.request(t, http.MethodPost, path, sound, "limited"))
		assert.Equal(t, status, w.Code)
		assert.Empty(t, w.Header().Get("X-Ratelimit-Limit"), "what is not refused says nothing of rates")
	}
	assert.Equal(t, 400, g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", "no JSON", "limited")).Code)
	r := g.request(t, http.MethodPost, "/systemone", "", "limited")
	r.Body, r.ContentLength = io.NopCloser(unread{t}), -1
	w := g.serve(t, g.handler, r)
	require.Equal(t, 429, w.Code, "before the body")
	assert.Equal(t, "3", w.Header().Get("X-RateLimit-Limit"))
	assert.Equal(t, "0", w.Header().Get("X-RateLimit-Remaining"))
	assert.Equal(t, "1795263600000", w.Header().Get("X-RateLimit-Reset"), "20 minutes later")
	assert.Equal(t, "1200", w.Header().Get("Retry-After"))
	assert.Equal(t, 429, g.serve(t, g.handler, g.request(t, http.MethodGet, "/models", "", "limited")).Code, "a public route with a key")
	assert.Equal(t, 429, g.serve(t, g.native, g.request(t, http.MethodGet, "/models", "", "limited")).Code, "both mounts")
	assert.Equal(t, 200, g.serve(t, g.handler, g.request(t, http.MethodGet, "/models", "", "")).Code, "nobody is counted without a key")
	w = g.serve(t, g.handler, g.request(t, http.MethodGet, "/keys", "", "limited"))
	assert.Equal(t, 403, w.Code, "the kind of key comes first")
}
