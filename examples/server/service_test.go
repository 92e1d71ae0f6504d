package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// newTestService is the service of a configuration, without a listener.
func newTestService(t *testing.T, c config) *service {
	t.Helper()
	catalog, err := builder{getenv: func(string) string { return "" }, warn: func(string) {}}.catalog(c)
	require.NoError(t, err)
	s, err := newService(t.Context(), catalog, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return s
}

// wrap puts the policies around a decider as router.New does.
func wrap(list []router.Interceptor, d router.Decider) router.Decider {
	for i := range list {
		d = list[len(list)-1-i](d)
	}
	return d
}

func TestPoliciesRefuseWhoHasNoKeyAndLogIt(t *testing.T) {
	ks, err := keys.New(keys.Config{Store: memory.New().Keys})
	require.NoError(t, err)
	_, secret, err := ks.Create(t.Context(), router.Actor{}, keys.Key{Name: "inference"})
	require.NoError(t, err)
	_, managing, err := ks.Create(t.Context(), router.Actor{}, keys.Key{Name: "management", Creator: "admin", Management: true})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		secret router.Secret
		class  router.Class // "" is let through
	}{
		"no principal":   {"", router.Authentication},
		"unknown key":    {"sk-rt-v1-unknown", router.Authentication},
		"management key": {managing, router.PermissionDenied},
		"inference key":  {secret, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			asked := 0
			decide := wrap(policies(ks, slog.New(slog.NewJSONHandler(&log, nil))), func(context.Context, *router.Call) (*router.Result, error) {
				asked++
				return &router.Result{Response: systemone.Response{}}, nil
			})
			_, err := decide(t.Context(), &router.Call{ID: "gen-dec-1", Request: &systemone.Request{}, Secret: c.secret})
			var line map[string]any
			require.NoError(t, json.Unmarshal(log.Bytes(), &line), "one line for every call: %q", log.String())
			assert.Equal(t, "gen-dec-1", line["id"])
			if c.class == "" {
				require.NoError(t, err)
				assert.Equal(t, 1, asked)
				return
			}
			var refused *router.Error
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, c.class, refused.Class)
			assert.Equal(t, string(c.class), line["class"])
			assert.Zero(t, asked)
		})
	}
}

// TestChecksComeInTheDocumentedOrder breaks two neighbouring rules with each
// request: the earlier one answers.
func TestChecksComeInTheDocumentedOrder(t *testing.T) {
	c, err := decodeConfig([]byte(plainConfig)) // nobody listens at its provider's address
	require.NoError(t, err)
	s := newTestService(t, c)
	const question = `{"q":{"type":"noul","instructions":"?"}}`
	body := func(model, questions, provider string) string {
		return fmt.Sprintf(`{"model":%q,"state":"x","questions":%s,"provider":{%s}}`, model, questions, provider)
	}
	const nobody = `"only":["nobody"]`
	tooLarge := strings.Repeat("x", 5<<20)
	for name, c := range map[string]struct {
		key    router.Secret
		body   string
		status int
		want   string
	}{
		"key before size":       {"", tooLarge, 401, "Missing Authentication header"},
		"key before body":       {"x", "{", 401, "Invalid API key"},
		"kind of key before it": {s.access.management, tooLarge, 403, "Management keys cannot be used for inference"},
		"size before syntax":    {s.access.inference, tooLarge, 413, "Request payload too large"},
		"body before models":    {s.access.inference, body("acme/nobody", "{}", ""), 400, `"path":"questions"`},
		"models before plan":    {s.access.inference, body("acme/nobody", question, nobody), 400, "acme/nobody is not a valid model ID"},
		"plan before attempts":  {s.access.inference, body("acme/judge", question, nobody), 404, `"not_found"`},
		"attempts":              {s.access.inference, body("acme/judge", question, ""), 502, `"provider_unavailable"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/systemone", strings.NewReader(c.body))
			if c.key != "" {
				r.Header.Set("Authorization", "Bearer "+string(c.key))
			}
			w := httptest.NewRecorder()
			s.handler.ServeHTTP(w, r)
			assert.Equal(t, c.status, w.Code)
			assert.Contains(t, w.Body.String(), c.want)
		})
	}
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
		s.handler.ServeHTTP(w, r)
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

	// A model without endpoints, one that is switched off, then one that answers.
	mixed := strings.Replace(off, `"providers": [`, `"providers": [{"slug": "on", "kind": "systemone", "base_url": "http://127.0.0.1:1/v1"}, `, 1)
	mixed = strings.Replace(mixed, `"models": [`, `"models": [{"id": "a/none", "permaslug": "a/none-1"}, `, 1)
	mixed = strings.Replace(mixed, `"aliases": ["judge-latest"]}`, `"aliases": ["judge-latest"]}, {"id": "a/on", "permaslug": "a/on-1"}`, 1)
	mixed = strings.Replace(mixed, `"0.042"}}`, `"0.042"}}, {"provider": "on", "model": "a/on"}`, 1)
	assert.Contains(t, printed(mixed), `"model": "a/on"`)
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
			s.handler.ServeHTTP(w, r)
			require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		}
	}
	require.Len(t, sent, 4)
	assert.NotEmpty(t, sent[0])
	assert.NotContains(t, sent[0], "ada")
	assert.Equal(t, sent[0], sent[1], "the same user is the same")
	assert.Equal(t, sent[2], sent[3])
	assert.NotEqual(t, sent[0], sent[2], "hashes change with every start")
}

func TestSlowCallersAreBounded(t *testing.T) {
	const routerTimeout = 30 * time.Second // router.Config.Timeout, when it is not set
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
