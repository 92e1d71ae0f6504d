package httpapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
)

// unread is a body that fails the test when it is read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

func TestCredentialsAreCheckedBeforeTheBodyIsRead(t *testing.T) {
	g := newRig(t)
	for kind, status := range map[string]int{"": 401, "unknown": 401, "expired": 401, "management": 403} {
		r := g.request(t, http.MethodPost, "/systemone", "", kind)
		r.Body, r.ContentLength = io.NopCloser(unread{t}), -1
		assert.Equal(t, status, g.serve(t, g.handler, r).Code, kind)
	}
	// Bodies of unknown routes and of requests that their headers condemn are not read
	// either.
	for _, c := range []struct {
		method, path string
		size         int64
		header       string
		status       int
	}{
		{"POST", "/nothing", -1, "", 404},
		{"PUT", "/systemone", -1, "", 405},
		{"POST", "/systemone", 17 << 20, "", 413},
		{"POST", "/systemone", 5 << 20, "100-continue", 413},
		{"GET", "/models", -1, "", 200},
	} {
		r := g.request(t, c.method, c.path, "", "inference")
		r.Body, r.ContentLength = io.NopCloser(unread{t}), c.size
		r.Header.Set("Expect", c.header)
		assert.Equal(t, c.status, g.serve(t, g.handler, r).Code, c.path)
	}
}

func TestOneCredentialHoweverItIsSent(t *testing.T) {
	g := newRig(t)
	good, other := string(g.keys["inference"]), string(g.keys["anonymous"])
	cases := []struct {
		name          string
		authorization []string
		apiKey        []string
		status        int
	}{
		{"bearer", []string{"Bearer " + good}, nil, 200},
		{"lower case", []string{"bearer " + good}, nil, 200},
		{"upper case and spaces", []string{"  BEARER   " + good + " "}, nil, 200},
		{"api key", nil, []string{good}, 200},
		{"the same in both", []string{"Bearer " + good}, []string{good}, 200},
		{"the same twice", []string{"Bearer " + good, "bearer " + good}, []string{good, good}, 200},
		{"empty api key", []string{"Bearer " + good}, []string{""}, 200},
		{"empty bearer", []string{"Bearer"}, []string{good}, 200},
		{"two bearers", []string{"Bearer " + good, "Bearer " + other}, nil, 400},
		{"two api keys", nil, []string{good, other}, 400},
		{"different", []string{"Bearer " + good}, []string{other}, 400},
		{"different, the other way", []string{"Bearer " + other}, []string{good}, 400},
		{"basic and a key", []string{"Basic " + good}, []string{good}, 400},
		{"no scheme", []string{good}, nil, 401},
		{"list in one value", []string{"Bearer " + good + ", Bearer " + other}, nil, 401},
		{"tab", []string{"Bearer\t" + good}, nil, 200},
		{"tabs and spaces", []string{"\tBearer \t " + good + "\t"}, nil, 200},
		{"empty and a key", []string{""}, []string{good}, 200},
		{"empty and bearer", []string{" ", "Bearer " + good}, nil, 200},
		{"key with a line feed", []string{"Bearer " + good + "\r\nX: y"}, nil, 401},
		{"key with NUL", []string{"Bearer " + good + "\x00"}, nil, 401},
		{"megabyte", []string{"Bearer " + strings.Repeat("a", 1<<20)}, nil, 401},
		{"none", nil, nil, 401},
		{"none, an empty header", []string{""}, nil, 401},
		{"none, a blank header", []string{" \t"}, []string{" "}, 401},
	}
	for _, c := range cases {
		for _, path := range []string{"/systemone", "/models"} {
			r := g.request(t, http.MethodPost, path, sound, "")
			want := c.status
			if path == "/models" {
				r.Method = http.MethodGet
				if strings.HasPrefix(c.name, "none") {
					want = 200 // the route is public
				}
			}
			r.Header["Authorization"], r.Header["X-Api-Key"] = c.authorization, c.apiKey
			w := g.serve(t, g.handler, r)
			assert.Equal(t, want, w.Code, "%s %s", path, c.name)
			if want == 401 && strings.HasPrefix(c.name, "none") {
				assert.Equal(t, "Missing Authentication header", at(t, w.Body.Bytes(), "error.message"), c.name)
			}
		}
	}
}

func TestOpenLooksAtNoCredentials(t *testing.T) {
	open := func(c *httpapi.Config, _ *router.Config) { c.Keys, c.Open = nil, true }
	g := newRig(t, open)
	for _, key := range []string{"", "unknown", "management"} {
		assert.Equal(t, 200, g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", sound, key)).Code)
		w := g.serve(t, httpapi.AddClosedRoutes(g.handler), g.request(t, http.MethodGet, "/managed", "", key))
		assert.Equal(t, 403, w.Code, "administration stays closed")
	}
}

func TestClosedRoutes(t *testing.T) {
	g := newRig(t)
	h := httpapi.AddClosedRoutes(g.handler)
	for key, status := range map[string]int{"": 401, "inference": 403, "management": 200, "expired": 401} {
		w := g.serve(t, h, g.request(t, http.MethodGet, "/managed", "", key))
		assert.Equal(t, status, w.Code, key)
		if status == 403 {
			assert.Equal(t, "Only management keys can perform this operation", at(t, w.Body.Bytes(), "error.message"))
		}
		w = g.serve(t, h, g.request(t, http.MethodGet, "/forgotten", "", key))
		assert.Equal(t, 403, w.Code, "a route that does not say which keys it takes refuses everybody")
	}
}

func TestNewRefusesMistakes(t *testing.T) {
	sane := newRig(t)
	for name, cfg := range map[string]httpapi.Config{
		"no router":                  {Open: true},
		"no keys":                    {Router: sane.router},
		"keys and open":              {Router: sane.router, Keys: storeDown{}, Open: true},
		"sign-in and open":           {Router: sane.router, SignIn: func(*http.Request) (router.Principal, error) { return router.Principal{}, nil }, Open: true},
		"negative size":              {Router: sane.router, Open: true, MaxBytes: -1},
		"negative room":              {Router: sane.router, Open: true, MaxInFlightBytes: -1},
		"negative time":              {Router: sane.router, Open: true, NativeTimeout: -1},
		"brand in capital":           {Router: sane.router, Open: true, Brand: "Router"},
		"brand with CR":              {Router: sane.router, Open: true, Brand: "a\r"},
		"brand with an outer hyphen": {Router: sane.router, Open: true, Brand: "a-"},
		"long brand":                 {Router: sane.router, Open: true, Brand: strings.Repeat("a", 33)},
	} {
		_, err := httpapi.New(cfg)
		require.ErrorIs(t, err, httpapi.ErrConfig, name)
	}
}
