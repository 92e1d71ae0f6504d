package httpapi_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

const (
	ownWorkspace = "0190a000-0000-7000-8000-000000000001"
	ownText      = "pk-live-" + canary + "-0123456789-tail"
	ownBody      = `{"provider":"ant","key":"` + ownText + `"}`
)

// ownID is the nth id that a rig's credentials get.
func ownID(n uint64) string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[8:], n)
	return id.String()
}

// newCredentials has one credential of the rig's account, ownID(1), and one of
// another account, ownID(3).
func newCredentials(tb testing.TB, wrap func(keys.CredentialStore) keys.CredentialStore) *keys.Credentials {
	tb.Helper()
	var ids uint64
	cfg := keys.CredentialsConfig{
		Store:       memory.New().Credentials,
		SealingKeys: []keys.SealingKey{{ID: "k", Key: router.Secret(strings.Repeat("k", 32))}},
		Provider:    func(slug string) bool { return slug == "ant" || slug == "bee" },
		Workspace: func(_ context.Context, _, id string) (string, error) {
			if id != "" && id != ownWorkspace {
				return "", organization.ErrNotFound
			}
			return ownWorkspace, nil
		},
		OwnsKey: func(_ context.Context, _, hash string) (bool, error) { return hash == "own", nil },
		Now:     func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
		NewID:   func() uuid.UUID { ids++; return uuid.MustParse(ownID(ids)) },
	}
	s, err := keys.NewCredentials(cfg)
	require.NoError(tb, err)
	for _, account := range []string{"", "b"} {
		_, err = s.Create(tb.Context(), router.Actor{Principal: router.Principal{Account: account}}, keys.Credential{Provider: "bee", Name: "first"}, ownText)
		require.NoError(tb, err)
	}
	if wrap != nil {
		cfg.Store = wrap(cfg.Store)
		s, err = keys.NewCredentials(cfg)
		require.NoError(tb, err)
	}
	return s
}

func withCredentials(s *keys.Credentials) option {
	return func(c *httpapi.Config, _ *router.Config) { c.Credentials = s }
}

// failingCredentials is a store in which every call fails.
type failingCredentials struct{ keys.CredentialStore }

var errOwn = errors.New("the store is down: " + canary)

func (failingCredentials) Create(context.Context, keys.StoredCredential, router.Change) (int64, error) {
	return 0, errOwn
}

func (failingCredentials) Get(context.Context, string, string) (keys.StoredCredential, error) {
	return keys.StoredCredential{}, errOwn
}

func (failingCredentials) List(context.Context, keys.CredentialQuery) ([]keys.Credential, int, error) {
	return nil, 0, errOwn
}

// failingOwn gives a rig credentials whose store always fails.
func failingOwn(tb testing.TB) option {
	tb.Helper()
	return withCredentials(newCredentials(tb, func(keys.CredentialStore) keys.CredentialStore { return failingCredentials{} }))
}

// credentialScenarios covers every status of every route of credentials.
func credentialScenarios(tb testing.TB) []scenario {
	tb.Helper()
	down := failingOwn(tb)
	one, foreign, missing := "/byok/"+ownID(1), "/byok/"+ownID(3), "/byok/"+uuid.Max.String()
	const notFound = "Resource not found"
	var list []scenario
	add := func(method string, more ...scenario) {
		for _, s := range more {
			s.method, s.key = orText(s.method, method), orText(s.key, "management")
			s.name = method + " " + s.path + " " + s.name
			list = append(list, s)
		}
	}
	for _, r := range []struct{ method, path, body, wrong string }{
		{http.MethodGet, "/byok", "", http.MethodPut},
		{http.MethodPost, "/byok", ownBody, http.MethodPut},
		{http.MethodGet, one, "", http.MethodPut},
		{http.MethodPatch, one, `{"disabled":true}`, http.MethodPut},
		{http.MethodDelete, one, "", http.MethodPut},
	} {
		add(
			r.method,
			scenario{name: "no header", path: r.path, body: r.body, key: "-", status: 401, message: "Missing Authentication header", kind: "authentication"},
			scenario{name: "inference key", path: r.path, body: r.body, key: "inference", status: 403, message: "Only management keys can perform this operation", kind: "permission_denied"},
			scenario{name: "storage down", path: r.path, body: r.body, options: []option{down}, status: 500, message: "Internal Server Error", kind: "server"},
			scenario{name: "two credentials", path: r.path, body: r.body, header: map[string]string{"X-Api-Key": "x"}, status: 400, message: invalid, kind: "invalid_request"},
			scenario{name: "wrong method", method: r.wrong, path: r.path, body: r.body, status: 405, message: "Method not allowed", kind: "method_not_allowed"},
		)
		if r.path == one {
			for _, path := range []string{foreign, missing, "/byok/x"} {
				add(r.method, scenario{path: path, body: r.body, status: 404, message: notFound, kind: "not_found"})
			}
		}
		if r.body != "" {
			add(
				r.method,
				scenario{name: "too large", path: r.path, body: r.body, options: []option{sized(5)}, status: 413, message: "Request payload too large", kind: "payload_too_large"},
				scenario{name: "no room", path: r.path, body: r.body, options: []option{func(c *httpapi.Config, _ *router.Config) { c.MaxInFlightBytes = 10 }}, status: 503, message: "Service temporarily unavailable", kind: "no_capacity"},
				scenario{name: "no object", path: r.path, body: "[]", status: 400, message: invalid, kind: "invalid_request"},
				scenario{
					name: "what is not supported is not ignored", path: r.path, body: `{"provider":"ant","key":"x","is_required":true,"is_byok_only":true,"declared_zdr":true,"disabled":1,"allowed_models":[]}`,
					status: 400, message: invalid, kind: "invalid_request", want: map[string]any{
						"error.metadata.issues.0.path": "disabled", "error.metadata.issues.1.path": "allowed_models", "error.metadata.issues.2.path": "is_byok_only",
						"error.metadata.issues.3.path": "is_required", "error.metadata.issues.4.path": "declared_zdr",
					},
				},
			)
		}
	}
	add(http.MethodGet,
		scenario{path: "/byok", status: 200, want: map[string]any{"total_count": 1.0, "data.0.id": ownID(1), "data.0.provider": "bee", "data.0.name": "first"}, absent: []string{"data.0.key", "data.1"}},
		scenario{path: "/byok?provider=ant&workspace_id=" + ownWorkspace, status: 200, want: map[string]any{"total_count": 0.0, "data": []any{}}},
		scenario{path: "/byok?provider=bee%20TWO", status: 200, want: map[string]any{"total_count": 1.0, "data.0.provider": "bee"}},
		scenario{path: "/byok?limit=1&offset=1", status: 200, want: map[string]any{"total_count": 1.0, "data": []any{}}},
		scenario{path: "/byok?limit=101", status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "limit"}},
		scenario{path: "/byok?workspace_id=x", status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "workspace_id"}},
		scenario{path: "/byok?provider=a&provider=b", status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "provider"}},
		scenario{path: "/byok?workspace_id=" + uuid.Max.String(), status: 404, message: notFound, kind: "not_found"},
		scenario{path: one, status: 200, want: map[string]any{"data": map[string]any{
			"id": ownID(1), "provider": "bee", "label": "pk-l...tail", "name": "first", "disabled": false, "sort_order": 1.0, "is_fallback": false,
			"is_byok_only": false, "is_required": false, "declared_zdr": false, "allowed_models": nil, "allowed_api_key_hashes": nil,
			"allowed_user_ids": nil, "workspace_id": ownWorkspace, "created_at": "2026-11-21T12:00:00Z",
		}}},
	)
	add(http.MethodPost,
		scenario{path: "/byok", body: ownBody, status: 201, want: map[string]any{"data.sort_order": 2.0, "data.name": nil, "data.provider": "ant"}, absent: []string{"data.key", "key"}},
		scenario{path: "/byok", body: `{"provider":"Ant Cloud","key":"short"}`, status: 201, want: map[string]any{"data.provider": "ant"}},
		scenario{path: "/byok", body: `{"provider":"ANT","key":"short","name":"n","disabled":true,"is_fallback":true,"allowed_models":["m"],"allowed_api_key_hashes":["own"],"allowed_user_ids":["u"],"workspace_id":"` + ownWorkspace + `","declared_zdr":null,"is_required":false,"more":1}`, status: 201, want: map[string]any{
			"data.provider": "ant", "data.label": "...", "data.name": "n", "data.disabled": true, "data.is_fallback": true, "data.allowed_models": []any{"m"},
			"data.allowed_api_key_hashes": []any{"own"}, "data.allowed_user_ids": []any{"u"},
		}},
		scenario{path: "/byok", body: `{}`, status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "provider", "error.metadata.issues.1.path": "key"}},
		scenario{path: "/byok", body: `{"provider":"cat","key":"two words","allowed_api_key_hashes":["foreign"]}`, status: 400, message: invalid, kind: "invalid_request", want: map[string]any{
			"error.metadata.issues.0.path": "key", "error.metadata.issues.1.path": "provider", "error.metadata.issues.2.path": "allowed_api_key_hashes.0",
		}},
		scenario{path: "/byok", body: strings.Replace(ownBody, "{", `{"workspace_id":"`+uuid.Max.String()+`",`, 1), status: 404, message: notFound, kind: "not_found"},
	)
	add(http.MethodPatch,
		scenario{path: one, body: `{"disabled":true}`, status: 200, want: map[string]any{"data.disabled": true, "data.name": "first", "data.label": "pk-l...tail"}},
		scenario{path: one, body: `{"name":null,"key":"another-text-of-some-length","allowed_models":["a"]}`, status: 200, want: map[string]any{"data.name": nil, "data.label": "anot...ngth", "data.allowed_models": []any{"a"}}},
		scenario{path: one, body: `{}`, status: 400, message: "No update fields provided", kind: "invalid_request"},
		scenario{path: one, body: `{"provider":"ant","workspace_id":"x","sort_order":9}`, status: 400, message: "No update fields provided", kind: "invalid_request"},
		scenario{path: one, body: `{"key":null}`, status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "key"}},
	)
	add(http.MethodDelete, scenario{path: one, status: 200, want: map[string]any{"deleted": true}})
	for i := range list {
		if list[i].method == http.MethodGet || list[i].method == http.MethodDelete {
			list[i].body = " "
		}
	}
	return list
}

func TestForeignCredentialsAnswerLikeMissingOnes(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodPatch, http.MethodDelete} {
		var bodies []string
		for _, id := range []string{ownID(3), uuid.Max.String(), "x"} {
			s := scenario{method: method, path: "/byok/" + id, key: "management", body: `{"disabled":true}`}
			_, _, got := s.play(t)
			bodies = append(bodies, string(got.body))
		}
		assert.Len(t, slices.Compact(bodies), 1, method)
	}
}

// TestWrittenCredentialsAreUsedAndNeverShown creates, uses, replaces and deletes a
// credential. The rig checks that no reply contains the secret.
func TestWrittenCredentialsAreUsedAndNeverShown(t *testing.T) {
	own := newCredentials(t, nil)
	var offered []router.Credential
	home := func(next router.Decider) router.Decider {
		return func(ctx context.Context, c *router.Call) (*router.Result, error) {
			c.Principal.Workspace = ownWorkspace
			return next(ctx, c)
		}
	}
	spy := func(next router.Decider) router.Decider {
		return func(ctx context.Context, c *router.Call) (*router.Result, error) {
			offered = slices.Clone(c.Credentials)
			return next(ctx, c)
		}
	}
	g := newRig(t, withCredentials(own), intercept(home), intercept(own.Intercept), intercept(spy))
	manage := func(method, path, body string) []byte {
		w := g.serve(t, g.handler, g.request(t, method, path, body, "management"))
		require.Less(t, w.Code, 300, "%s", w.Body)
		return w.Body.Bytes()
	}
	ask := func() []string {
		w := g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", sound, "inference"))
		require.Equal(t, 200, w.Code, "%s", w.Body)
		texts := []string{}
		for _, o := range offered {
			texts = append(texts, string(o.Secret))
		}
		return texts
	}
	assert.Equal(t, []string{ownText}, ask())
	id, isText := at(t, manage(http.MethodPost, "/byok", strings.Replace(ownBody, "0123456789", "x"+canary, 1)), "data.id").(string)
	require.True(t, isText)
	assert.Len(t, ask(), 2)
	manage(http.MethodPatch, "/byok/"+id, `{"key":"`+canary+`-again"}`)
	assert.Equal(t, []string{ownText, canary + "-again"}, ask(), "at once")
	manage(http.MethodDelete, "/byok/"+ownID(1), "")
	assert.Equal(t, []string{canary + "-again"}, ask())
	manage(http.MethodGet, "/byok", "")
	assert.NotContains(t, g.log.String(), canary)
}

func TestOpenAPIDescribesCredentials(t *testing.T) {
	d := openAPI(t)
	schema := d.object(d.root, "components", "schemas", "Credential")
	s := scenario{method: http.MethodGet, path: "/byok/" + ownID(1), key: "management"}
	_, _, got := s.play(t)
	documented := d.object(schema, "properties")
	answered, isObject := at(t, got.body, "data").(map[string]any)
	require.True(t, isObject)
	assert.Len(t, documented, len(answered))
	assert.NotContains(t, documented, "key")
}
