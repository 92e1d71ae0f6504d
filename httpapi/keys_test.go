package httpapi_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// withKeys gives a rig the management of the keys that it has.
func withKeys() option {
	return func(c *httpapi.Config, _ *router.Config) {
		c.ManagedKeys, _ = c.Keys.(*keys.Service)
	}
}

// {kind} in the path of a scenario is the hash of the rig's key of that kind.
func (g *rig) expand(path string) string {
	for kind, secret := range g.keys {
		path = strings.ReplaceAll(path, "{"+kind+"}", hashOf(string(secret)))
	}
	return path
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// failingKeys is a storage that forgets how to do anything but authenticate.
type failingKeys struct {
	keys.Store

	err  error
	gets int // that still work
}

func (s *failingKeys) Get(ctx context.Context, hash string) (keys.Key, error) {
	if s.gets--; s.gets < 0 {
		return keys.Key{}, s.err
	}
	return s.Store.Get(ctx, hash)
}

func (s *failingKeys) List(context.Context, string, keys.Query) ([]keys.Key, error) {
	return nil, s.err
}
func (s *failingKeys) Create(context.Context, keys.Key, router.Change) error  { return s.err }
func (s *failingKeys) Replace(context.Context, keys.Key, router.Change) error { return s.err }

// keysFail gives a rig keys whose storage fails after so many questions.
func keysFail(gets int, err error) option {
	return func(c *httpapi.Config, _ *router.Config) {
		s, wrong := keys.New(keys.Config{Store: &failingKeys{Store: memory.New().Keys, err: err, gets: gets}})
		if wrong == nil {
			c.ManagedKeys = s
		}
	}
}

func keyScenarios() []scenario {
	const one = "/keys/{inference}"
	list := []scenario{
		{name: "keys", method: http.MethodGet, path: "/keys", status: 200, absent: []string{"total_count", "data.4"}},
		{name: "disabled keys too", method: http.MethodGet, path: "/keys?include_disabled=true", status: 200, absent: []string{"data.5"}},
		{name: "keys from the second on", method: http.MethodGet, path: "/keys?offset=2&include_disabled=false&x=1&x=2", status: 200, absent: []string{"data.2"}},
		{name: "keys of no workspace", method: http.MethodGet, path: "/keys?workspace_id=0190f5a0-0000-7000-8000-000000000001", status: 404, message: "Resource not found", kind: "not_found"},
		{name: "a new key", path: "/keys", body: `{"name":"new","limit":1.5,"limit_reset":"daily","include_byok_in_limit":true,"expires_at":"2027-01-01T00:00:00Z","external":{"user":"them","api_key":"canary"},"creator_user_id":null,"odd":1}`, status: 201, want: map[string]any{
			"data.name": "new", "data.limit": 1.5, "data.limit_remaining": 1.5, "data.limit_reset": "daily", "data.include_byok_in_limit": true, "data.expires_at": "2027-01-01T00:00:00Z",
			"data.external_user": "them", "data.creator_user_id": "user_2", "data.disabled": false, "data.usage": 0.0, "data.byok_usage_monthly": 0.0, "data.workspace_id": "",
		}},
		{name: "a new key without a limit", path: "/keys", body: `{"name":"n","limit":null,"limit_reset":null,"expires_at":null}`, status: 201, absent: []string{"data.limit", "data.limit_remaining", "data.limit_reset", "data.expires_at", "data.external_user"}},
		{name: "no room for a new key", path: "/keys", body: `{"name":"n"}`, options: []option{func(c *httpapi.Config, _ *router.Config) { c.MaxInFlightBytes = 1 }}, status: 503, message: "Service temporarily unavailable", kind: "no_capacity"},
		{name: "a key", method: http.MethodGet, path: one, status: 200, want: map[string]any{"data.name": "inference", "data.creator_user_id": "user_1", "data.created_at": "2026-11-21T12:00:00Z", "data.updated_at": "2026-11-21T12:00:00Z"}},
		{name: "a key that has expired", method: http.MethodGet, path: "/keys/{expired}", status: 200},
		{name: "a changed key", method: http.MethodPatch, path: one, body: `{"name":"next","disabled":true,"limit":2,"limit_reset":"monthly","include_byok_in_limit":true,"workspace_id":5}`, status: 200, want: map[string]any{
			"data.name": "next", "data.disabled": true, "data.limit": 2.0, "data.limit_reset": "monthly", "data.include_byok_in_limit": true, "data.updated_at": "2026-11-21T12:01:00Z", "data.workspace_id": "",
		}},
		{name: "null changes", method: http.MethodPatch, path: one, body: `{"limit":null}`, status: 200, absent: []string{"data.limit"}},
		{name: "no room for a change", method: http.MethodPatch, path: one, body: `{"name":"n"}`, options: []option{func(c *httpapi.Config, _ *router.Config) { c.MaxInFlightBytes = 1 }}, status: 503, message: "Service temporarily unavailable", kind: "no_capacity"},
		{name: "a change that always loses", method: http.MethodPatch, path: one, body: `{"name":"n"}`, options: []option{conflictKeys}, status: 409, message: "Resource conflict. Please try again later.", kind: "conflict"},
		{name: "a deletion that always loses", method: http.MethodDelete, path: one, options: []option{conflictKeys}, status: 409, message: "Resource conflict. Please try again later.", kind: "conflict"},
		{name: "a deleted key", method: http.MethodDelete, path: one, status: 200, want: map[string]any{"deleted": true}},
		{name: "another's key is changed", method: http.MethodPatch, path: "/keys/{provisioned}", body: `{"name":"n"}`, status: 403, message: "The key was provisioned by a connect client and cannot be changed", kind: "permission_denied"},
		{name: "another's key is deleted", method: http.MethodDelete, path: "/keys/{provisioned}", status: 403, message: "The key was provisioned by a connect client and cannot be changed", kind: "permission_denied"},
	}
	for name, path := range map[string]string{"too large a key": "/keys", "too large a change": one} {
		s := scenario{name: name, path: path, body: `{"name":"n"}`, options: []option{sized(5)}, status: 413, message: "Request payload too large", kind: "payload_too_large"}
		if path == one {
			s.method = http.MethodPatch
		}
		list = append(list, s)
	}
	list = append(list, badKeys()...)
	for i := range list {
		list[i].key = "management"
	}
	list = append(list, []scenario{
		{name: "a key asks about itself", method: http.MethodGet, path: "/key", key: "inference", status: 200, want: map[string]any{
			"data.is_management_key": false, "data.is_provisioning_key": false, "data.is_free_tier": false, "data.creator_user_id": "user_1", "data.usage": 0.0,
			"data.allowed_data_regions": []any{}, "data.free_model_daily_requests.limit": 0.0, "data.rate_limit.requests": -1.0,
		}, absent: []string{"data.hash", "data.name", "data.disabled", "data.created_at", "data.updated_at", "data.organization_id", "data.workspace_id"}},
		{name: "a management key asks about itself", method: http.MethodGet, path: "/key", key: "management", status: 200, want: map[string]any{"data.is_management_key": true, "data.is_provisioning_key": true}},
		{name: "nobody asks about itself in the open", method: http.MethodGet, path: "/key", key: "-", options: []option{func(c *httpapi.Config, _ *router.Config) { c.Keys, c.Open = nil, true }}, status: 401, message: "Missing Authentication header", kind: "authentication"},
	}...)
	for _, rt := range [][2]string{{http.MethodGet, "/keys"}, {http.MethodPost, "/keys"}, {http.MethodGet, one}, {http.MethodPatch, one}, {http.MethodDelete, one}, {http.MethodGet, "/key"}} {
		list = append(list, keyRefusals(rt[0], rt[1])...)
	}
	return list
}

func conflictKeys(c *httpapi.Config, _ *router.Config) {
	if s, ok := c.Keys.(*keys.Service); ok {
		c.ManagedKeys, _ = keys.New(keys.Config{Store: losingKeys{s}})
	}
}

// losingKeys has one key that somebody else always changes first.
type losingKeys struct{ of *keys.Service }

func (s losingKeys) Get(_ context.Context, hash string) (keys.Key, error) {
	return keys.Key{Hash: hash}, nil
}

func (losingKeys) Create(context.Context, keys.Key, router.Change) error { return keys.ErrConflict }

func (losingKeys) Replace(context.Context, keys.Key, router.Change) error { return keys.ErrConflict }

func (losingKeys) Delete(context.Context, keys.Key, router.Change) error { return keys.ErrConflict }

func (losingKeys) List(context.Context, string, keys.Query) ([]keys.Key, error) {
	return nil, keys.ErrConflict
}
func (losingKeys) CountIn(context.Context, string, string) (int, error)         { return 0, nil }
func (losingKeys) CountOf(context.Context, string, string, string) (int, error) { return 0, nil }

// badKeys has every mistake in a body or a query, with the path that is told.
func badKeys() []scenario {
	var list []scenario
	bad := func(method, path, body string, issue any) {
		s := scenario{name: method + " " + path + " " + body, method: method, path: path, body: body, status: 400, message: invalid, kind: "invalid_request"}
		if issue != nil {
			s.want = map[string]any{"error.metadata.issues.0.path": issue}
		}
		list = append(list, s)
	}
	for query, issue := range map[string]string{
		"offset=-1": "offset", "offset=x": "offset", "offset=1&offset=1": "offset", "include_disabled=1": "include_disabled", "include_disabled=TRUE": "include_disabled",
		"include_disabled=true&include_disabled=true": "include_disabled", "workspace_id=x": "workspace_id", "workspace_id=": "workspace_id",
	} {
		bad(http.MethodGet, "/keys?"+query, "", issue)
	}
	shared := map[string]string{
		`"name":""`: "name", `"name":null`: "name", `"name":5`: "name", `"name":["a"]`: "name",
		`"limit":-1`: "limit", `"limit":"5"`: "limit", `"limit":1e10`: "limit", `"limit":9000000000.000000001`: "limit", `"limit":0.0000000001`: "limit", `"limit":true`: "limit", `"limit":{}`: "limit",
		`"limit_reset":"yearly"`: "limit_reset", `"limit_reset":"lifetime"`: "limit_reset", `"limit_reset":1`: "limit_reset", `"limit_reset":""`: "limit_reset",
		`"include_byok_in_limit":null`: "include_byok_in_limit", `"include_byok_in_limit":"true"`: "include_byok_in_limit", `"include_byok_in_limit":1`: "include_byok_in_limit",
	}
	create := map[string]string{
		`"expires_at":"2026-11-21T12:01:00Z"`: "expires_at", `"expires_at":"2027-01-01T00:00:00+01:00"`: "expires_at", `"expires_at":"2027-01-01"`: "expires_at", `"expires_at":5`: "expires_at",
		`"workspace_id":"x"`: "workspace_id", `"workspace_id":null`: "workspace_id", `"creator_user_id":"user_1"`: "creator_user_id", `"creator_user_id":5`: "creator_user_id", `"creator_user_id":""`: "creator_user_id",
		`"external":null`: "external", `"external":"them"`: "external", `"external":{}`: "external.user", `"external":{"user":5}`: "external.user", `"external":{"user":""}`: "external.user", `"external":{"user":"a","api_key":1}`: "external.api_key",
	}
	for member, issue := range shared {
		name := `"name":"n",`
		if issue == "name" {
			name = ""
		}
		bad(http.MethodPost, "/keys", "{"+name+member+"}", issue)
		bad(http.MethodPatch, "/keys/{inference}", `{"odd":1,`+member+`}`, issue)
	}
	for member, issue := range create {
		bad(http.MethodPost, "/keys", `{"name":"n",`+member+"}", issue)
	}
	bad(http.MethodPatch, "/keys/{inference}", `{"disabled":null}`, "disabled")
	bad(http.MethodPatch, "/keys/{inference}", `{"disabled":"no","name":"kept out"}`, "disabled")
	bad(http.MethodPost, "/keys", `{}`, "name")
	for _, body := range []string{"[]", "null", `"x"`, "{", `{"name":"a","name":"b"}`, `{"name":"a"} x`, "\"\xff\""} {
		bad(http.MethodPost, "/keys", body, nil)
		bad(http.MethodPatch, "/keys/{inference}", body, nil)
	}
	for _, body := range []string{`{}`, `{"odd":1,"workspace_id":"x","expires_at":null}`} {
		list = append(list, scenario{name: "no update " + body, method: http.MethodPatch, path: "/keys/{inference}", body: body, status: 400, message: "No update fields provided", kind: "invalid_request"})
	}
	list = append(list, scenario{name: "a new key in no workspace", path: "/keys", body: `{"name":"n","workspace_id":"0190f5a0-0000-7000-8000-000000000001"}`, status: 404, message: "Resource not found", kind: "not_found"})
	return list
}

// keyRefusals has what a route refuses whatever is asked of it.
func keyRefusals(method, path string) []scenario {
	list := []scenario{
		{name: "no header", key: "-", status: 401, message: "Missing Authentication header", kind: "authentication"},
		{name: "unknown key", key: "unknown", status: 401, message: "Invalid API key", kind: "authentication"},
		{name: "expired key", key: "expired", status: 401, message: "API key expired", kind: "authentication"},
		{name: "disabled key", key: "disabled", status: 401, message: "API key disabled", kind: "authentication"},
		{name: "two credentials", key: "management", header: map[string]string{"X-Api-Key": "x"}, status: 400, message: invalid, kind: "invalid_request"},
		{name: "wrong method", method: http.MethodPut, key: "management", status: 405, message: "Method not allowed", kind: "method_not_allowed"},
		{name: "store down", key: "management", options: []option{keysFail(0, errCanary)}, status: 500, message: "Internal Server Error", kind: "server"},
		{name: "too often", key: "management", options: []option{busyKeys}, status: 429, message: "Rate limit exceeded", kind: "rate_limit_exceeded", headers: map[string]string{
			"X-RateLimit-Limit": "5", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1795262400001", "Retry-After": "2",
		}},
	}
	if path != "/key" {
		list = append(list, scenario{name: "inference key", key: "inference", status: 403, message: "Only management keys can perform this operation", kind: "permission_denied"})
	}
	if strings.Contains(path, "{") {
		for _, hash := range []string{"{unknown}", "{management}", "x", strings.Repeat("F", 64)} {
			list = append(list, scenario{name: "no key " + hash, path: "/keys/" + hash, key: "management", status: 404, message: "Resource not found", kind: "not_found"})
		}
	}
	for i := range list {
		s := &list[i]
		s.name = method + " " + path + " " + s.name
		s.method, s.path, s.body = orText(s.method, method), orText(s.path, path), `{"name":"n"}`
	}
	return list
}

// busy lets everybody in and says that it is too often.
type busy struct{ httpapi.Authenticator }

func (busy) Admit(router.Principal) (func(), error) {
	return nil, &keys.RateLimitError{Limit: 5, Reset: time.Unix(1795262400, 1), RetryAfter: 1200 * time.Millisecond}
}

func busyKeys(c *httpapi.Config, _ *router.Config) { c.Keys = busy{c.Keys} }

func TestTheSecretIsShownOnce(t *testing.T) {
	g := newRig(t)
	w := g.serve(t, g.handler, g.request(t, http.MethodPost, "/keys", `{"name":"n","external":{"user":"u","api_key":"partner-canary"}}`, "management"))
	require.Equal(t, http.StatusCreated, w.Code)
	secret, ok := at(t, w.Body.Bytes(), "key").(string)
	require.True(t, ok)
	assert.Equal(t, hashOf(secret), at(t, w.Body.Bytes(), "data.hash"))
	g.keys["new"] = router.Secret(secret) // serve looks for it from here on
	g.keys["partner"] = "partner-canary"
	for _, path := range []string{"/keys", g.expand("/keys/{new}")} {
		assert.Equal(t, 200, g.serve(t, g.handler, g.request(t, http.MethodGet, path, "", "management")).Code)
	}
	assert.Equal(t, 200, g.serve(t, g.handler, g.request(t, http.MethodGet, "/key", "", "new")).Code)
	assert.Equal(t, 200, g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", sound, "new")).Code)
	assert.Equal(t, 200, g.serve(t, g.handler, g.request(t, http.MethodDelete, g.expand("/keys/{new}"), "", "management")).Code)
	w = g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", sound, "new"))
	assert.Equal(t, 401, w.Code)
	assert.Equal(t, "Invalid API key", at(t, w.Body.Bytes(), "error.message"))
}

func TestAFailedUpdateAppliesNothing(t *testing.T) {
	g := newRig(t)
	path := g.expand("/keys/{inference}")
	before := g.serve(t, g.handler, g.request(t, http.MethodGet, path, "", "management")).Body.String()
	w := g.serve(t, g.handler, g.request(t, http.MethodPatch, path, `{"name":"x","limit":3,"disabled":"no"}`, "management"))
	require.Equal(t, 400, w.Code)
	assert.Equal(t, before, g.serve(t, g.handler, g.request(t, http.MethodGet, path, "", "management")).Body.String())
}

func TestForeignAndMissingKeysLookTheSame(t *testing.T) {
	g := newRig(t)
	for _, method := range []string{http.MethodGet, http.MethodPatch, http.MethodDelete} {
		var bodies []string
		for _, kind := range []string{"{foreign}", "{unknown}", "{management}"} {
			w := g.serve(t, g.handler, g.request(t, method, g.expand("/keys/"+kind), `{"name":"n"}`, "management"))
			require.Equal(t, 404, w.Code)
			bodies = append(bodies, w.Body.String())
		}
		assert.Equal(t, bodies[0], bodies[1])
		assert.Equal(t, bodies[0], bodies[2])
	}
}

// TestEveryRequestOfAKeyCounts has requests that are refused later than the
// rate is asked, and one whose kind of key is wrong.
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
	for path, status := range map[string]int{"/systemone": 500, "/keys": 403} { // concurrency is given back after a panic too
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

func TestAmountsAreExact(t *testing.T) {
	g := newRig(t)
	w := g.serve(t, g.handler, g.request(t, http.MethodPatch, g.expand("/keys/{inference}"), `{"limit":8999999999.999999999}`, "management"))
	require.Equal(t, 200, w.Code)
	var body struct {
		Data struct {
			Limit json.Number `json:"limit"`
		} `json:"data"`
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
	assert.Equal(t, "8999999999.999999999", body.Data.Limit.String())
}
