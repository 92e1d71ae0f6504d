package httpapi_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// withKeys gives a rig the routes that manage its own keys.
func withKeys() option {
	return func(c *httpapi.Config, _ *router.Config) {
		c.ManagedKeys, _ = c.Keys.(*keys.Service)
	}
}

// expand replaces {kind} in a path by the hash of the rig's key of that kind.
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

// failingKeys is a store whose Get fails after gets calls, and whose List, Create and
// Replace always fail.
type failingKeys struct {
	keys.Store

	err  error
	gets int // calls of Get that still succeed
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

// keysFail gives a rig keys whose store fails after gets calls of Get.
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

// losingKeys is a store in which every change loses to a concurrent one.
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
