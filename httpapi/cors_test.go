package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
)

const page = "https://app.example"

func withOrigins(origins ...string) option {
	return func(c *httpapi.Config, _ *router.Config) { c.Origins = origins }
}

// asked sends a request from a page of origin, as a browser does.
func (g *rig) asked(t *testing.T, mount, method, path, origin string, header map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	r := g.request(t, method, path, sound, header["Key"])
	r.Header.Set("Origin", origin)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	g.mounted(mount).ServeHTTP(w, r)
	assert.Empty(t, w.Header().Get("Access-Control-Allow-Credentials"), "no cookie is ever read")
	for name, values := range w.Header() {
		assert.NotContains(t, values, "*", name)
	}
	return w
}

// preflight has the headers of a browser's preflight.
var preflight = map[string]string{"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type,x-own"}

// TestNamedOriginsMayAsk on every route of every surface and on unknown paths, whatever
// the status. Pages of other origins cannot read the reply.
func TestNamedOriginsMayAsk(t *testing.T) {
	g := newRig(t, withOrigins("http://localhost:3000", page))
	for mount, patterns := range httpapi.Routes(g.handler) {
		for _, pattern := range append(patterns, "POST /nothing", "POST /systemone/x", "TRACE /models") {
			method, path, _ := strings.Cut(pattern, " ")
			path = strings.NewReplacer("{", "", "}", "").Replace(path)
			what := mount + " " + pattern

			w := g.asked(t, mount, http.MethodOptions, path, page, preflight)
			require.Equal(t, http.StatusNoContent, w.Code, what)
			assert.Equal(t, page, w.Header().Get("Access-Control-Allow-Origin"), what)
			assert.Contains(t, w.Header().Get("Access-Control-Allow-Methods"), "PATCH", what)
			for _, name := range []string{"Authorization", "X-Session-Id", "authorization,content-type,x-own"} {
				assert.Contains(t, w.Header().Get("Access-Control-Allow-Headers"), name, what)
			}
			assert.Equal(t, "Origin, Access-Control-Request-Headers", w.Header().Get("Vary"))
			assert.NotEmpty(t, w.Header().Get("X-Request-Id"))
			assert.Empty(t, w.Body.String())
			assert.Empty(t, w.Header().Get("Content-Type"))

			for _, key := range []string{"", "unknown", "management", "inference"} {
				w = g.asked(t, mount, method, path, page, map[string]string{"Key": key})
				assert.Equal(t, page, w.Header().Get("Access-Control-Allow-Origin"), "%s %d", what, w.Code)
				assert.Contains(t, w.Header().Get("Vary"), "Origin", what)
				for _, name := range []string{"X-Request-Id", "X-Generation-Id", "Retry-After", "X-Router-Warnings", "X-Typesafe-Request-Id"} {
					assert.Contains(t, w.Header().Get("Access-Control-Expose-Headers"), name)
				}
			}
			for _, origin := range []string{"https://app.example.evil.example", "https://APP.example", "http://app.example", "https://app.example:8443", "null", "", "*"} {
				w = g.asked(t, mount, http.MethodOptions, path, origin, preflight)
				assert.Contains(t, []int{404, 405}, w.Code, "%s from %q", what, origin)
				assertForeign(t, w, what+" from "+origin)
				assertForeign(t, g.asked(t, mount, method, path, origin, nil), what+" from "+origin)
			}
		}
	}
}

// assertForeign asserts that a page of another origin cannot read the reply, and that
// Vary keeps caches from serving that reply to an allowed origin.
func assertForeign(t *testing.T, w *httptest.ResponseRecorder, what string) {
	t.Helper()
	assert.Contains(t, w.Header().Get("Vary"), "Origin", what)
	for name := range w.Header() {
		assert.False(t, strings.HasPrefix(name, "Access-Control-"), "%s: %s", what, name)
	}
}

func TestOriginsAreOffByDefault(t *testing.T) {
	g := newRig(t)
	w := g.asked(t, "", http.MethodOptions, "/systemone", page, preflight)
	assert.Equal(t, http.StatusMethodNotAllowed, w.Code)
	w = g.asked(t, "", http.MethodPost, "/systemone", page, map[string]string{"Key": "inference"})
	assert.Equal(t, http.StatusOK, w.Code)
	assert.NotContains(t, w.Header(), "Access-Control-Allow-Origin")
	assert.NotContains(t, w.Header().Get("Vary"), "Origin")
}

// TestOnlyAPreflightIsAPreflight: an OPTIONS request without the preflight headers has
// a method that no path allows.
func TestOnlyAPreflightIsAPreflight(t *testing.T) {
	g := newRig(t, withOrigins(page))
	w := g.asked(t, "", http.MethodOptions, "/systemone", page, nil)
	assert.Equal(t, http.StatusMethodNotAllowed, w.Code)
	assert.Equal(t, page, w.Header().Get("Access-Control-Allow-Origin"))
	w = g.asked(t, "", http.MethodPost, "/systemone", page, preflight)
	assert.Equal(t, http.StatusUnauthorized, w.Code)

	r := g.request(t, http.MethodPost, "/systemone", sound, "inference")
	r.Header["Origin"] = []string{page, page}
	assertForeign(t, g.serve(t, g.handler, r), "two origins")
}

func TestPanicsAreReadableToo(t *testing.T) {
	g := newRig(t, withOrigins(page))
	g.ant.panics = true
	w := g.asked(t, "", http.MethodPost, "/systemone", page, map[string]string{"Key": "inference"})
	assert.Equal(t, http.StatusInternalServerError, w.Code)
	assert.Equal(t, page, w.Header().Get("Access-Control-Allow-Origin"))
}

func TestOriginsThatNoBrowserSends(t *testing.T) {
	rt := newRig(t).router
	for _, origin := range []string{
		"*", "", "null", "app.example", "https://app.example/", "https://app.example/x", "https://APP.example", "HTTPS://app.example",
		"https://app.example:443", "http://app.example:80", "https://user@app.example", "https://app.example?x", "https://app.example#x",
		"https://bücher.example", "https://app.example ", "https://app.example\r\nX-A: b", "https://*.example.com:x", "//app.example", "https://",
		"https://*.app.example",
	} {
		_, err := httpapi.New(httpapi.Config{Router: rt, Open: true, Origins: []string{page, origin}})
		require.ErrorIs(t, err, httpapi.ErrConfig, "%q", origin)
		assert.Contains(t, err.Error(), "Origins", origin)
	}
	given := []string{page, "http://[::1]:3000", "http://127.0.0.1:8081", "chrome-extension://abcdefgh", "http://localhost"}
	_, err := httpapi.New(httpapi.Config{Router: rt, Open: true, Origins: given})
	assert.NoError(t, err)
}
