package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newTestService returns the service of a configuration, without a listener.
func newTestService(t *testing.T, c config) *service {
	t.Helper()
	catalog, err := builder{getenv: func(string) string { return "" }, warn: func(string) {}}.catalog(c)
	require.NoError(t, err)
	kept, err := openStorage(t.Context(), options{}, func(string) string { return "" })
	require.NoError(t, err)
	s, err := newService(t.Context(), catalog, kept, options{}, time.Now, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return s
}

func TestSwitchedOffIsPlannedLast(t *testing.T) {
	off := `"api_key_env": "UNSET", "kind"`
	c, err := decodeConfig([]byte(strings.Replace(plainConfig, `"kind"`, off, 1)))
	require.NoError(t, err)
	s := newTestService(t, c)
	for model, want := range map[string]int{"acme/judge": http.StatusServiceUnavailable, "acme/nobody": http.StatusBadRequest} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/systemone",
			strings.NewReader(`{"model":"`+model+`","state":"x","questions":{"q":{"type":"noul","instructions":"?"}}}`))
		r.Header.Set("Authorization", "Bearer "+string(s.access.inference))
		w := httptest.NewRecorder()
		s.Handler.ServeHTTP(w, r)
		assert.Equal(t, want, w.Code, w.Body.String())
	}
}

func TestTheCommandAsksWhatCanBeAsked(t *testing.T) {
	printed := func(text string) string {
		c, err := decodeConfig([]byte(text))
		require.NoError(t, err)
		var out strings.Builder
		newTestService(t, c).announce(&out)
		return out.String()
	}
	assert.Contains(t, printed(plainConfig), `"model": "acme/judge"`)

	off := strings.Replace(plainConfig, `"kind"`, `"api_key_env": "UNSET", "kind"`, 1)
	assert.NotContains(t, printed(off), "curl")
	assert.Contains(t, printed(off), "\nNothing can be asked yet: every endpoint is switched off, as the warnings say.\n")

	// A model without endpoints, one with its endpoint switched off, then a usable one.
	mixed := strings.Replace(off, `"providers": [`, `"providers": [{"slug": "on", "kind": "systemone", "base_url": "http://127.0.0.1:1/v1"}, `, 1)
	mixed = strings.Replace(mixed, `"models": [`, `"models": [{"id": "a/none", "permaslug": "a/none-1"}, `, 1)
	mixed = strings.Replace(mixed, `"aliases": ["judge-latest"]}`, `"aliases": ["judge-latest"]}, {"id": "a/on", "permaslug": "a/on-1"}`, 1)
	mixed = strings.Replace(mixed, `"0.042"}}`, `"0.042"}}, {"provider": "on", "model": "a/on"}`, 1)
	assert.Contains(t, printed(mixed), `"model": "a/on"`)
}

// The printed base URL works when pasted: it is not 0.0.0.0, and a shell does not
// read an IPv6 address in it as a pattern.
func TestTheToldAddressCanBeAsked(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:80":  "http://127.0.0.1:80/api/v1",
		"0.0.0.0:80":    "http://127.0.0.1:80/api/v1",
		"[::]:80":       "http://127.0.0.1:80/api/v1",
		"[::1]:80":      "http://[::1]:80/api/v1",
		"192.0.2.1:443": "http://192.0.2.1:443/api/v1",
	} {
		assert.Equal(t, want, baseURL(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(listen))), listen)
	}
	s := newTestService(t, builtin())
	s.access.baseURL = "http://[::1]:80/api/v1"
	var out strings.Builder
	s.announce(&out)
	assert.Contains(t, out.String(), `curl -sS "http://[::1]:80/api/v1/systemone" -H '`)
}

func TestUsersGoUpstreamHashed(t *testing.T) {
	var sent []string
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var got struct {
			User string `json:"user"`
		}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&got))
		sent = append(sent, got.User)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"model":"j","answers":{"q":{"type":"noul","noul":0.75}},"usage":{"input_tokens":3,"output_tokens":1}}`)
	}))
	defer up.Close()
	text := strings.Replace(plainConfig, "http://127.0.0.1:1/v1", up.URL+"/api/v1", 1)
	c, err := decodeConfig([]byte(strings.Replace(text, `"kind"`, `"profile": "signalbox", "kind"`, 1)))
	require.NoError(t, err)
	for range 2 { // two starts
		s := newTestService(t, c)
		for range 2 {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/systemone",
				strings.NewReader(`{"model":"acme/judge","state":"x","user":"ada@example.com","questions":{"q":{"type":"noul","instructions":"?"}}}`))
			r.Header.Set("Authorization", "Bearer "+string(s.access.inference))
			w := httptest.NewRecorder()
			s.Handler.ServeHTTP(w, r)
			require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		}
	}
	require.Len(t, sent, 4)
	assert.Regexp(t, "^[0-9a-f]{64}$", sent[0])
	assert.Equal(t, sent[0], sent[1], "the same user is the same")
	assert.Equal(t, sent[2], sent[3])
	assert.NotEqual(t, sent[0], sent[2], "hashes change with every start")
}

func TestSlowCallersAreBounded(t *testing.T) {
	const routerTimeout = 30 * time.Second // the default of router.Config.Timeout
	server := newServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	assert.Equal(t, 5*time.Second, server.ReadHeaderTimeout)
	assert.Equal(t, 30*time.Second, server.ReadTimeout)
	assert.Greater(t, server.WriteTimeout, server.ReadTimeout+routerTimeout, "a slow body may still be answered")
	assert.Less(t, server.WriteTimeout, 2*time.Minute)
	assert.Greater(t, server.IdleTimeout, time.Minute)
	assert.Less(t, server.IdleTimeout, 5*time.Minute)
	assert.Equal(t, 32<<10, server.MaxHeaderBytes)
	assert.NotNil(t, server.ErrorLog)
	assert.Greater(t, graceTimeout, routerTimeout, "what is in flight may finish")
}

// TestTheServiceRemembers: the service has what the configuration switches on.
func TestTheServiceRemembers(t *testing.T) {
	c := builtin()
	catalog, err := builder{getenv: func(string) string { return "" }, warn: func(string) {}}.catalog(c)
	require.NoError(t, err)
	for name, routing := range map[string]routingConfig{"off": {}, "on": {Remember: &rememberConfig{}}} {
		kept, err := openStorage(t.Context(), options{}, func(string) string { return "" })
		require.NoError(t, err)
		s, err := newService(t.Context(), catalog, kept, options{routing: routing}, time.Now, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		remembered := 0
		for range 2 {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/systemone",
				strings.NewReader(`{"model":"`+s.model+`","state":"x","questions":{"q":{"type":"noul","instructions":"Is it late?"}}}`))
			r.Header.Set("Authorization", "Bearer "+string(s.access.inference))
			r.Header.Set("X-Router-Metadata", "enabled")
			w := httptest.NewRecorder()
			s.Handler.ServeHTTP(w, r)
			require.Equal(t, http.StatusOK, w.Code, w.Body.String())
			remembered += strings.Count(w.Body.String(), `"age_ms"`)
		}
		assert.Equal(t, map[string]int{"off": 0, "on": 1}[name], remembered, name)
	}
}
