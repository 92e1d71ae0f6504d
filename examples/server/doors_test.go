package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// refundDecision asks the same in the Decisions dialect of OpenAI.
const refundDecision = `{"model":"signalbox/similarity-en-1","input":"I want my money back","questions":[` +
	`{"type":"predicate","instructions":"Does the writer want money back?"}]}`

const refundQuestion = `{"model":"signalbox/similarity-en-1","state":"I want my money back","questions":{"refund":` +
	`{"type":"noul","instructions":"Money back?","criteria":{"true":"wants a refund","false":"asks for no money"}}}}`

// fetched is a reply.
type fetched struct {
	status, proto int
	header        http.Header
	body          string
}

// fetch sends a request to a running server.
func (s *running) fetch(t *testing.T, client *http.Client, method, path, body string, header map[string]string) fetched {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(s.keys["base_url"], "/api/v1")+path, strings.NewReader(body))
	require.NoError(t, err)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	resp, err := client.Do(r)
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return fetched{resp.StatusCode, resp.ProtoMajor, resp.Header, string(text)}
}

// TestTheServersOwnDoors: the real program serves both dialects, the alpha path, pages of allowed
// origins, health, and HTTP/2 without TLS.
func TestTheServersOwnDoors(t *testing.T) {
	s := startServer(t, "-origins", "https://app.example, http://localhost:3000")
	key := map[string]string{"Authorization": "Bearer " + s.keys["inference_key"], "Origin": "http://localhost:3000"}
	plain := &http.Client{}

	got := s.fetch(t, plain, http.MethodPost, "/api/alpha/decisions", refundQuestion, key)
	assert.Equal(t, http.StatusOK, got.status, got.body)
	assert.Equal(t, "http://localhost:3000", got.header.Get("Access-Control-Allow-Origin"))
	for _, path := range []string{"/api/v1/decisions", "/v1/decisions"} {
		got = s.fetch(t, plain, http.MethodPost, path, refundDecision, key)
		assert.Equal(t, http.StatusOK, got.status, got.body)
		assert.Contains(t, got.body, `{"type":"predicate","name":null,"probability":`)
	}
	got = s.fetch(t, plain, http.MethodOptions, "/v1/systemone", "", map[string]string{"Origin": "https://app.example", "Access-Control-Request-Method": "POST"})
	assert.Equal(t, http.StatusNoContent, got.status)
	got = s.fetch(t, plain, http.MethodOptions, "/v1/systemone", "", map[string]string{"Origin": "https://other.example", "Access-Control-Request-Method": "POST"})
	assert.Equal(t, http.StatusMethodNotAllowed, got.status)

	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/healthz/": 200, "/healthz/x": 404, "/api/v1/healthz": 404} {
		got = s.fetch(t, plain, http.MethodGet, path, "", nil)
		assert.Equal(t, want, got.status, "%s: %s", path, got.body)
	}
	got = s.fetch(t, plain, http.MethodPost, "/readyz", "", nil)
	assert.Equal(t, http.StatusMethodNotAllowed, got.status)

	var two http.Protocols
	two.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &two}
	defer transport.CloseIdleConnections()
	got = s.fetch(t, &http.Client{Transport: transport}, http.MethodPost, "/api/v1/systemone/", refundQuestion, key)
	assert.Equal(t, 2, got.proto)
	assert.Equal(t, http.StatusOK, got.status, got.body)
	assert.Equal(t, exitOK, s.stop(t, syscall.SIGTERM))
}

// TestReadiness: /readyz follows the storage and the shutdown of the server, while
// /healthz stays 200.
func TestReadiness(t *testing.T) {
	var storage error
	asked, now := 0, time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	var stopping atomic.Bool
	h := &health{stopping: &stopping, now: func() time.Time { return now }, log: slog.New(slog.DiscardHandler)}
	h.storage = func(ctx context.Context) error {
		asked++
		_, bounded := ctx.Deadline()
		assert.True(t, bounded)
		assert.NoError(t, ctx.Err())
		return storage
	}
	get := func(path string) (int, string) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // the prober may hang up
		w := httptest.NewRecorder()
		h.before(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody))
		assert.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		return w.Code, w.Body.String()
	}
	for range 3 {
		code, _ := get("/readyz")
		assert.Equal(t, http.StatusOK, code)
	}
	assert.Equal(t, 1, asked, "once a second")
	storage = errors.New("hunter2")
	now = now.Add(readyFor)
	code, text := get("/readyz")
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.JSONEq(t, `{"status":"storage cannot be reached"}`, text)
	storage, now = nil, now.Add(readyFor)
	code, _ = get("/readyz")
	assert.Equal(t, http.StatusOK, code, "it has come back")
	storage, now = errors.New("down"), now.Add(-time.Hour)
	code, _ = get("/readyz")
	assert.Equal(t, http.StatusServiceUnavailable, code, "a clock that was set back keeps no answer")

	stopping.Store(true)
	code, text = get("/readyz")
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.JSONEq(t, `{"status":"stopping"}`, text)
	code, _ = get("/healthz")
	assert.Equal(t, http.StatusOK, code)
}

// TestReadinessReadsTheStorage of the real service, also if it is empty.
func TestReadinessReadsTheStorage(t *testing.T) {
	s := newTestService(t, builtin())
	require.NoError(t, s.Ready(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	kept, err := openStorage(t.Context(), options{data: t.TempDir()}, func(string) string { return "" })
	require.NoError(t, err)
	catalog, err := builder{getenv: func(string) string { return "" }, warn: func(string) {}}.catalog(builtin())
	require.NoError(t, err)
	s, err = newService(t.Context(), catalog, kept, options{}, time.Now, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.NoError(t, s.Ready(ctx))
	require.NoError(t, kept.close())
	require.Error(t, s.Ready(ctx), "a database that was closed")
	cancel()
}

func TestCheckListsWhatIsHardlyMeant(t *testing.T) {
	check := func(text string, args ...string) (int, string, string) {
		var stdout, stderr strings.Builder
		if text != "" {
			args = append(args, "-config", write(t, text))
		}
		code := run(t.Context(), append(args, "-check"), func(string) string { return "" }, &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	code, out, problems := check("")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, "built-in catalog: sound: 1 providers, 1 models, 1 endpoints, 0 warnings\n", out)
	assert.Empty(t, problems)

	code, out, _ = check(plainConfig)
	assert.Equal(t, exitOK, code)
	assert.Contains(t, out, "sound: 1 providers, 1 models, 1 endpoints, 0 warnings\n")
	for name, c := range map[string]struct{ old, new, want string }{
		"provider without endpoint": {`"providers": [`, `"providers": [{"slug": "spare", "kind": "similarity"}, `, "warning: providers[0]: spare has no endpoint\n"},
		"model without endpoint":    {`"models": [`, `"models": [{"id": "a/b", "permaslug": "a/b-1"}, `, "warning: models[0]: a/b has no endpoint, so requests for it are refused\n"},
		"no price":                  {`, "pricing": {"prompt": "0.042"}`, ``, "warning: endpoints[0].pricing: is not stated, so acme/judge at up costs nothing\n"},
		"switched off":              {`"kind"`, `"api_key_env": "UNSET", "kind"`, "warning: provider up is disabled: the environment variable UNSET is not set\nwarning: endpoints: every one is switched off, so nothing can be asked\n"},
		"in clear":                  {`"base_url": "http://127.0.0.1:1/v1"`, `"api_key_env": "UNSET", "base_url": "http://10.0.0.1/v1"`, "warning: providers[0].base_url: the credential of up travels without encryption\n"},
	} {
		code, out, problems := check(strings.Replace(plainConfig, c.old, c.new, 1))
		assert.Equal(t, exitOK, code, name)
		assert.Contains(t, out, c.want, name)
		assert.NotContains(t, out, " 0 warnings", name)
		assert.Empty(t, problems, name)
	}
	code, out, problems = check(strings.Replace(plainConfig, `"slug"`, `"Slug"`, 1))
	assert.Equal(t, exitUsage, code)
	assert.Empty(t, out)
	assert.Contains(t, problems, "providers[0].Slug: unknown member")
}

func TestTheExampleIsSound(t *testing.T) {
	var stdout, stderr strings.Builder
	code := run(t.Context(), []string{"-check", "-config", "config.example.json"}, func(string) string { return "key" }, &stdout, &stderr)
	assert.Equal(t, exitOK, code, stderr.String())
	assert.True(t, strings.HasSuffix(stdout.String(), " 0 warnings\n"), stdout.String())
}

func TestEndpointsStateTheirParameters(t *testing.T) {
	listed := func(with string) any {
		c, err := decodeConfig([]byte(strings.Replace(plainConfig, `"upstream_model"`, with+`"upstream_model"`, 1)))
		require.NoError(t, err)
		catalog, err := builder{getenv: func(string) string { return "" }, warn: func(string) {}}.catalog(c)
		if err != nil {
			return err.Error()
		}
		return catalog.Endpoints()[0].Parameters
	}
	assert.Empty(t, listed(""), "the profile's own")
	assert.Equal(t, []string{"user"}, listed(`"supported_parameters": ["user"], `))
	assert.Empty(t, listed(`"supported_parameters": [], `))
	assert.Contains(t, listed(`"supported_parameters": ["temperature"], `), `unknown parameter "temperature"`)
}

// TestGeminiEndpointsAreDeclared: what the dialect lacks is in the catalog, and the
// configuration cannot claim otherwise.
func TestGeminiEndpointsAreDeclared(t *testing.T) {
	build := func(with string) (*router.Catalog, error) {
		text := strings.Replace(plainConfig, `"kind": "systemone"`, `"kind": "gemini"`, 1)
		c, err := decodeConfig([]byte(strings.Replace(text, `"upstream_model"`, with+`"upstream_model"`, 1)))
		require.NoError(t, err)
		return builder{getenv: func(string) string { return "" }, warn: func(string) {}}.catalog(c)
	}
	for _, with := range []string{"", `"supported_parameters": [], `} {
		catalog, err := build(with)
		require.NoError(t, err)
		e := catalog.Endpoints()[0]
		assert.Empty(t, e.Parameters)
		assert.True(t, e.Limits.OptionNullsOnly)
		assert.Equal(t, 1000, e.Limits.Questions)
		assert.Equal(t, 262_144, e.ContextLength)
	}
	_, err := build(`"supported_parameters": ["user"], `)
	require.EqualError(t, err, `endpoints[0].supported_parameters: a "gemini" provider takes none`)
}
