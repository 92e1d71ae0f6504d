package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

const (
	presetHome  = "0190f5a0-0000-7000-8000-000000000001"
	presetOther = "0190f5a0-0000-7000-8000-000000000002"

	chatBody = `{"messages":[{"role":"system","content":"Be <brief>."},{"role":"user","content":"hi"}],` +
		`"model":"acme/judge","temperature":0.70,"stream":true}`
)

// newPresets returns a service with two workspaces. The default one has the presets p,
// with three versions, and q. Each reading of the clock adds a minute.
func newPresets(tb testing.TB, wrap func(presets.Store) presets.Store) *presets.Service {
	tb.Helper()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	cfg := presets.Config{
		Store: memory.New().Presets,
		Workspace: func(_ context.Context, _, id string) (string, error) {
			switch id {
			case "":
				return presetHome, nil
			case presetHome, presetOther:
				return id, nil
			}
			return "", presets.ErrNotFound
		},
		Now: func() time.Time {
			now = now.Add(time.Minute)
			return now
		},
	}
	s, err := presets.New(cfg)
	require.NoError(tb, err)
	for _, slug := range []string{"p", "q", "p", "p"} {
		_, err = s.Create(tb.Context(), router.Actor{Principal: router.Principal{Member: "user_2"}}, "", slug, presets.ChatCompletions, []byte(chatBody))
		require.NoError(tb, err)
	}
	if wrap == nil {
		return s
	}
	cfg.Store = wrap(cfg.Store)
	s, err = presets.New(cfg)
	require.NoError(tb, err)
	return s
}

func withPresets(s *presets.Service) option {
	return func(c *httpapi.Config, _ *router.Config) { c.Presets = s }
}

// failingPresets is a store in which every call fails.
type failingPresets struct {
	presets.Store

	err error
}

func (s failingPresets) AddVersion(context.Context, presets.Preset, presets.Version, presets.Bounds, router.Change) (presets.Preset, error) {
	return presets.Preset{}, s.err
}

func (s failingPresets) Get(context.Context, string, string, string) (presets.Preset, error) {
	return presets.Preset{}, s.err
}

func (s failingPresets) List(context.Context, string, string, int, int) ([]presets.Preset, int, error) {
	return nil, 0, s.err
}

func (s failingPresets) Version(context.Context, string, string, string, int) (presets.Version, error) {
	return presets.Version{}, s.err
}

func (s failingPresets) Versions(context.Context, string, string, string, int, int) ([]presets.Version, int, error) {
	return nil, 0, s.err
}

// failing gives a rig presets whose store always fails.
func failing(err error) option {
	return func(c *httpapi.Config, _ *router.Config) {
		s, wrong := presets.New(presets.Config{Store: failingPresets{err: err}})
		if wrong == nil {
			c.Presets = s
		}
	}
}

func presetScenarios() []scenario {
	var list []scenario
	create := map[string]string{
		"/presets/{}/chat/completions": chatBody,
		"/presets/{}/messages":         `{"messages":[{"role":"user","content":"hi"}],"system":[{"type":"text","text":"Be <brief>."}],"model":"acme/judge","temperature":0.70}`,
		"/presets/{}/responses":        `{"input":"hi","instructions":"Be <brief>.","model":"acme/judge","temperature":0.70}`,
	}
	for pattern, body := range create {
		list = append(list, everyRefusal(http.MethodPost, pattern, body)...)
		path, next := of(pattern, "new"), of(pattern, "p")
		list = append(list, []scenario{
			{name: "new", path: path, body: body, key: "management", status: 200, want: map[string]any{
				"data.slug": "new", "data.name": "new", "data.status": "active", "data.creator_user_id": "user_2", "data.workspace_id": presetHome,
				"data.designated_version.version": 1.0, "data.designated_version.system_prompt": "Be <brief>.", "data.designated_version.creator_id": "user_2",
				"data.designated_version.config": map[string]any{"model": "acme/judge", "temperature": 0.7},
			}, absent: []string{"data.description", "data.status_updated_at"}},
			{name: "next", path: next, body: body, key: "management", status: 200, want: map[string]any{
				"data.designated_version.version": 4.0, "data.updated_at": "2026-11-21T12:05:00Z", "data.created_at": "2026-11-21T12:01:00Z",
			}},
			{name: "another workspace", path: next + "?workspace_id=" + presetOther, body: body, key: "management", status: 200, want: map[string]any{
				"data.designated_version.version": 1.0, "data.workspace_id": presetOther,
			}},
			{name: "a bound", path: path, body: strings.Replace(body, "0.70", "2.1", 1), key: "management", status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "temperature"}},
			{name: "race", path: path, body: body, key: "management", options: []option{failing(presets.ErrConflict)}, status: 409, message: "Resource conflict. Please try again later.", kind: "conflict"},
			{name: "too large", path: path, body: body, key: "management", options: []option{sized(10)}, status: 413, message: "Request payload too large", kind: "payload_too_large"},
			{name: "no room", path: path, body: body, key: "management", options: []option{func(c *httpapi.Config, _ *router.Config) { c.MaxInFlightBytes = 10 }}, status: 503, message: "Service temporarily unavailable", kind: "no_capacity"},
		}...)
	}
	list = append(list, []scenario{
		{name: "presets", path: "/presets", status: 200, want: map[string]any{
			"total_count": 2.0, "data.0.slug": "p", "data.1.slug": "q", "data.0.updated_at": "2026-11-21T12:04:00Z", "data.0.creator_user_id": "user_2",
		}, absent: []string{"data.0.designated_version", "data.2"}},
		{name: "a page of presets", path: "/presets?offset=1&limit=1", status: 200, want: map[string]any{"total_count": 2.0, "data.0.slug": "q"}, absent: []string{"data.1"}},
		{name: "no presets", path: "/presets?workspace_id=" + presetOther, status: 200, want: map[string]any{"total_count": 0.0, "data": []any{}}},
		{name: "too long a page", path: "/presets?limit=101", status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "limit"}},
		{name: "preset", path: "/presets/p", status: 200, want: map[string]any{"data.slug": "p", "data.designated_version.version": 3.0}},
		{name: "unknown preset", path: "/presets/none", status: 404, message: "Resource not found", kind: "not_found"},
		{name: "versions", path: "/presets/p/versions", status: 200, want: map[string]any{
			"total_count": 3.0, "data.0.version": 1.0, "data.2.version": 3.0, "data.0.system_prompt": "Be <brief>.",
		}},
		{name: "a page of versions", path: "/presets/p/versions?offset=2&limit=100", status: 200, want: map[string]any{"total_count": 3.0, "data.0.version": 3.0}, absent: []string{"data.1"}},
		{name: "versions of nothing", path: "/presets/none/versions", status: 404, message: "Resource not found", kind: "not_found"},
		{name: "version", path: "/presets/p/versions/2", status: 200, want: map[string]any{"data.version": 2.0, "data.created_at": "2026-11-21T12:03:00Z", "data.updated_at": "2026-11-21T12:03:00Z"}},
		{name: "unknown version", path: "/presets/p/versions/4", status: 404, message: "Resource not found", kind: "not_found"},
		{name: "version 0", path: "/presets/p/versions/0", status: 404, message: "Resource not found", kind: "not_found"},
		{name: "version +1", path: "/presets/p/versions/+1", status: 404, message: "Resource not found", kind: "not_found"},
		{name: "version 01", path: "/presets/p/versions/01", status: 404, message: "Resource not found", kind: "not_found"},
		{name: "no version", path: "/presets/p/versions/last", status: 404, message: "Resource not found", kind: "not_found"},
	}...)
	for i := range list {
		if list[i].body == "" {
			list[i].method, list[i].key = http.MethodGet, "management"
		}
	}
	for _, path := range []string{"/presets", "/presets/{}", "/presets/{}/versions", "/presets/{}/versions/1"} {
		list = append(list, everyRefusal(http.MethodGet, path, "")...)
	}
	return list
}

// of replaces {} in a path by a slug.
func of(pattern, slug string) string { return strings.Replace(pattern, "{}", slug, 1) }

// everyRefusal has the refusals of all routes of presets.
func everyRefusal(method, pattern, body string) []scenario {
	path := of(pattern, "p")
	list := []scenario{
		{name: "no header", key: "-", status: 401, message: "Missing Authentication header", kind: "authentication"},
		{name: "unknown key", key: "unknown", status: 401, message: "Invalid API key", kind: "authentication"},
		{name: "inference key", key: "inference", status: 403, message: "Only management keys can perform this operation", kind: "permission_denied"},
		{name: "unknown workspace", path: "?workspace_id=" + uuid.Max.String(), status: 404, message: "Resource not found", kind: "not_found"},
		{name: "no workspace", path: "?workspace_id=home", status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "workspace_id"}},
		{name: "empty workspace", path: "?workspace_id=", status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "workspace_id"}},
		{name: "two workspaces", path: "?workspace_id=" + presetHome + "&workspace_id=" + presetHome, status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "workspace_id"}},
		{name: "wrong method", method: http.MethodPatch, status: 405, message: "Method not allowed", kind: "method_not_allowed", headers: map[string]string{"Allow": method}},
		{name: "storage down", options: []option{failing(errors.New(canary))}, status: 500, message: "Internal Server Error", kind: "server"},
	}
	for i := range list {
		s := &list[i]
		s.name = fmt.Sprintf("%s %s %s", method, path, s.name)
		s.method, s.key, s.body = orText(s.method, method), orText(s.key, "management"), body
		s.path = path + s.path
		if method == http.MethodGet && s.headers != nil {
			s.headers = map[string]string{"Allow": "GET, HEAD"}
		}
	}
	if path == pattern {
		return list
	}
	return append(list, scenario{
		name: "no slug", method: method, path: of(pattern, "a%40b"), key: "management", body: body,
		status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "slug"},
	})
}

// TestAPresetIsKeptDigitForDigit compares numbers in the reply with those sent.
func TestAPresetIsKeptDigitForDigit(t *testing.T) {
	s := scenario{path: "/presets/new/chat/completions", key: "management", body: strings.Replace(chatBody, "0.70", `0.70, "seed": 12345678901234567890, "logit_bias": {"1" : 1E+1}`, 1)}
	_, _, got := s.play(t)
	require.Equal(t, 200, got.status, "%s", got.body)
	assert.Contains(t, string(got.body), `"config":{"model":"acme/judge","temperature":0.70,"logit_bias":{"1":1E+1},"seed":12345678901234567890}`)
}

// TestAProgramWithoutWorkspacesHasPresets, whose workspace_id is null.
func TestAProgramWithoutWorkspacesHasPresets(t *testing.T) {
	service, err := presets.New(presets.Config{Store: memory.New().Presets})
	require.NoError(t, err)
	s := scenario{path: "/presets/new/chat/completions", key: "management", body: chatBody, options: []option{withPresets(service)}}
	_, _, got := s.play(t)
	require.Equal(t, 200, got.status, "%s", got.body)
	assert.Contains(t, string(got.body), `"workspace_id":null`)
}

// TestAPresetIsUsedAsSoonAsItIsMade creates a preset over HTTP and sends a decision
// with it.
func TestAPresetIsUsedAsSoonAsItIsMade(t *testing.T) {
	service := newPresets(t, nil)
	g := newRig(t, withPresets(service), intercept(service.Intercept))
	ask := func() int {
		body := strings.Replace(sound, `"acme/judge"`, `"@preset/new"`, 1)
		return g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", body, "inference")).Code
	}
	assert.Equal(t, http.StatusNotFound, ask())
	w := g.serve(t, g.handler, g.request(t, http.MethodPost, "/presets/new/chat/completions", chatBody, "management"))
	require.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, http.StatusOK, ask())
}

// TestAPresetKeepsConditions creates a preset with a conditional model over HTTP, and
// sends decisions with it.
func TestAPresetKeepsConditions(t *testing.T) {
	service := newPresets(t, nil)
	g := newRig(t, withPresets(service), intercept(service.Intercept))
	post := func(path, body, key string) *httptest.ResponseRecorder {
		return g.serve(t, g.handler, g.request(t, http.MethodPost, path, body, key))
	}
	const models = `"models":["acme/judge",{"model":"acme/judge","when":{"question":"desk","confidenceBelow":0.6},"scope":"all"}]`
	made := post("/presets/cascade/chat/completions", strings.Replace(chatBody, `"model":"acme/judge"`, models, 1), "management")
	require.Equal(t, http.StatusOK, made.Code, "%s", made.Body)
	assert.Contains(t, made.Body.String(), `"config":{`+models)

	ask := strings.Replace(sound, `"acme/judge"`, `"@preset/cascade"`, 1)
	assert.Equal(t, http.StatusOK, post("/systemone", ask, "inference").Code)
	refused := post("/systemone", strings.Replace(ask, `"desk"`, `"office"`, 1), "inference")
	assert.Equal(t, http.StatusBadRequest, refused.Code)
	assert.Equal(t, "models.1.when.question", at(t, refused.Body.Bytes(), "error.metadata.issues.0.path"))

	bad := post("/presets/bad/chat/completions", strings.Replace(chatBody, `"model":"acme/judge"`, `"models":[{"model":"acme/judge","when":{}}]`, 1), "management")
	assert.Equal(t, http.StatusBadRequest, bad.Code)
	assert.Equal(t, "models.0.when", at(t, bad.Body.Bytes(), "error.metadata.issues.0.path"))
}
