package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

const (
	guardrailHome    = "0190f5a0-0000-7000-8000-000000000001"
	guardrailDefault = "0190f5a0-0000-7000-8000-0000000000d1"
	guardrailFirst   = "00000000-0000-0000-0000-000000000001"
)

// newGuardrails gives a rig a service for the account acme with one workspace, the key
// h and the member bob. Ids are counted from 1.
func newGuardrails(tb testing.TB) option {
	tb.Helper()
	return withGuardrails(guardrailsOn(tb, memory.New().Guardrails))
}

func withGuardrails(s *guardrails.Service) option {
	return func(c *httpapi.Config, _ *router.Config) { c.Guardrails = s }
}

// engine is shared by all rigs, because compiling its injection detector takes longer
// than most scenarios. It is made before any test runs, so that its channels belong to
// no synctest bubble.
var engine, errEngine = content.New(content.Config{})

// guardrailsOn is the service of newGuardrails on a storage.
func guardrailsOn(tb testing.TB, store guardrails.Store) *guardrails.Service {
	tb.Helper()
	require.NoError(tb, errEngine)
	ids := byte(0)
	s, err := guardrails.New(guardrails.Config{
		Store:  store,
		Engine: engine,
		Workspace: func(_ context.Context, account, id string) (string, error) {
			if account != "acme" || id != "" && id != guardrailHome {
				return "", guardrails.ErrNotFound
			}
			return guardrailHome, nil
		},
		DefaultOf: func(_ context.Context, account string, id uuid.UUID) (string, error) {
			if account != "acme" || id.String() != guardrailDefault {
				return "", guardrails.ErrNotFound
			}
			return guardrailHome, nil
		},
		Key: func(_ context.Context, account, hash string) (name, label string, ok bool, err error) {
			return "key", "sk-...", account == "acme" && hash == "h", nil
		},
		IsMember: func(_ context.Context, account, user string) (bool, error) {
			return account == "acme" && user == "bob", nil
		},
		Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
		NewID: func() uuid.UUID {
			ids++
			return uuid.UUID{15: ids}
		},
	})
	require.NoError(tb, err)
	return s
}

// manage sends a request with a management key and returns the reply's body.
func manage(t *testing.T, status int, method, path, body string, options ...option) map[string]any {
	t.Helper()
	s := scenario{method: method, path: path, key: "management", body: body, options: options}
	_, _, got := s.play(t)
	require.Equal(t, status, got.status, "%s %s: %s", method, path, got.body)
	var v map[string]any
	require.NoError(t, json.Unmarshal(got.body, &v))
	return v
}

func TestGuardrailsOverHTTP(t *testing.T) {
	options := []option{newGuardrails(t), account("acme")}
	send := func(status int, method, path, body string) map[string]any {
		t.Helper()
		return manage(t, status, method, path, body, options...)
	}
	const first = "/guardrails/" + guardrailFirst
	made := send(201, http.MethodPost, "/guardrails", `{"name":"g","limit_usd":100,"reset_interval":"monthly","enforce_zdr":true,"enforce_zdr_openai":false,
		"allowed_providers":["ant"],"enable_paid_model_training":false,
		"content_filter_builtins":[{"slug":"email","action":"redact","label":"mine"},{"slug":"regex-prompt-injection","action":"block"}],
		"content_filters":[{"pattern":"\\d+","action":"flag","label":null}]}`)["data"]
	assert.Equal(t, map[string]any{
		"id": guardrailFirst, "name": "g", "description": nil, "workspace_id": guardrailHome,
		"allowed_models": nil, "ignored_models": nil, "allowed_providers": []any{"ant"}, "ignored_providers": nil,
		"limit_usd": 100.0, "reset_interval": "monthly", "include_byok_in_budgets": false,
		"enforce_zdr": true, "enforce_zdr_anthropic": true, "enforce_zdr_openai": false, "enforce_zdr_google": true, "enforce_zdr_xai": true, "enforce_zdr_other": true,
		"enable_free_model_publication": nil, "enable_free_model_training": nil, "enable_paid_model_training": false,
		"content_filter_builtins": []any{
			map[string]any{"slug": "email", "action": "redact", "label": "[EMAIL]"},
			map[string]any{"slug": "regex-prompt-injection", "action": "block", "label": "[PROMPT_INJECTION]", "scan_scope": "all_messages"},
		},
		"content_filters": []any{map[string]any{"pattern": `\d+`, "action": "flag", "label": nil}},
		"created_at":      "2026-11-21T12:00:00Z", "updated_at": "2026-11-21T12:00:00Z",
	}, made)
	assert.Equal(t, made, send(200, http.MethodGet, first, "")["data"])
	assert.Equal(t, map[string]any{"data": []any{made}, "total_count": 1.0}, send(200, http.MethodGet, "/guardrails", ""))
	send(404, http.MethodGet, "/guardrails?workspace_id="+guardrailDefault, "")
	send(404, http.MethodPost, "/guardrails", `{"name":"g","workspace_id":"`+guardrailDefault+`"}`)
	send(400, http.MethodGet, "/guardrails?workspace_id=home", "")

	changed, ok := send(200, http.MethodPatch, first, `{"enforce_zdr":false,"limit_usd":null,"content_filters":null,"content_filter_builtins":null,"unknown":1}`)["data"].(map[string]any)
	require.True(t, ok)
	for _, vendor := range []string{"", "_anthropic", "_openai", "_google", "_xai", "_other"} {
		assert.Equal(t, false, changed["enforce_zdr"+vendor], "R88g")
	}
	assert.Nil(t, changed["limit_usd"])
	assert.Nil(t, changed["content_filters"])
	assert.Equal(t, []any{}, changed["content_filter_builtins"])
	assert.Equal(t, "monthly", changed["reset_interval"])

	send(404, http.MethodGet, "/guardrails/"+guardrailDefault, "")
	patched, _ := send(200, http.MethodPatch, "/guardrails/"+guardrailDefault, `{"limit_usd":5}`)["data"].(map[string]any)
	assert.Equal(t, guardrails.DefaultName, patched["name"])
	send(400, http.MethodPatch, "/guardrails/"+guardrailDefault, `{"name":"mine"}`)
	send(400, http.MethodDelete, "/guardrails/"+guardrailDefault, "")

	assert.Equal(t, map[string]any{"assigned_count": 1.0}, send(200, http.MethodPost, first+"/assignments/keys", `{"key_hashes":["h"]}`))
	assert.Equal(t, map[string]any{"assigned_count": 1.0}, send(200, http.MethodPost, first+"/assignments/members", `{"member_user_ids":["bob"]}`))
	for path, member := range map[string]string{"/guardrails/assignments/keys": "key_hash", first + "/assignments/members": "user_id"} {
		rows := send(200, http.MethodGet, path, "")
		assert.EqualValues(t, 1, rows["total_count"])
		row, _ := rows["data"].([]any)[0].(map[string]any)
		assert.Contains(t, row, member)
		assert.Equal(t, "user_2", row["assigned_by"])
	}
	assert.Equal(t, map[string]any{"unassigned_count": 1.0}, send(200, http.MethodPost, first+"/assignments/keys/remove", `{"key_hashes":["h","i"]}`))
	send(404, http.MethodGet, "/guardrails/"+uuid.Nil.String()+"/assignments/keys", "")
	assert.Equal(t, map[string]any{"deleted": true}, send(200, http.MethodDelete, first, ""))
	send(404, http.MethodDelete, first, "")
}

func TestBadGuardrailsAreToldEverything(t *testing.T) {
	options := []option{newGuardrails(t), account("acme")}
	for body, paths := range map[string]string{
		`{}`:                        "name",
		`{"name":1,"limit_usd":-1}`: "name limit_usd",
		`{"name":"g","limit_usd":"1","reset_interval":"yearly","allowed_models":[],"ignored_models":[1]}`: "ignored_models.0 limit_usd reset_interval allowed_models",
		`{"name":"g","workspace_id":"x","enforce_zdr":1,"include_byok_in_budgets":null}`:                  "workspace_id include_byok_in_budgets enforce_zdr",
		`{"name":"g","content_filter_builtins":[{"slug":"secrets","action":"flag"}]}`:                     "content_filter_builtins.0.slug",
		`{"name":"g","content_filter_builtins":[{"action":"drop","scan_scope":"none"},1]}`:                "content_filter_builtins.0.slug content_filter_builtins.0.scan_scope content_filter_builtins.0.action content_filter_builtins.1",
		`{"name":"g","content_filters":{}}`:                                                               "content_filters",
		`{"name":"","content_filters":[{"pattern":"(a+)+","action":"flag"}]}`:                             "name content_filters.0.pattern",
	} {
		t.Run(body, func(t *testing.T) {
			reply := manage(t, 400, http.MethodPost, "/guardrails", body, options...)
			failure, _ := reply["error"].(map[string]any)
			metadata, _ := failure["metadata"].(map[string]any)
			issues, _ := metadata["issues"].([]any)
			var got []string
			for _, issue := range issues {
				entry, _ := issue.(map[string]any)
				path, _ := entry["path"].(string)
				got = append(got, path)
			}
			assert.ElementsMatch(t, strings.Fields(paths), got)
			assert.Equal(t, invalid, failure["message"])
			kind := "invalid_request"
			if strings.Contains(body, "(a+)+") {
				kind = "invalid_regex_pattern"
			}
			assert.Equal(t, kind, metadata["error_type"])
		})
	}
	manage(t, 201, http.MethodPost, "/guardrails", `{"name":"g"}`, options...)
	for _, body := range []string{`{}`, `{"color":"red"}`} {
		reply := manage(t, 400, http.MethodPatch, "/guardrails/"+guardrailFirst, body, options...)
		problem, _ := reply["error"].(map[string]any)
		assert.Equal(t, "No update fields provided", problem["message"])
	}
	for _, body := range []string{`{}`, `{"key_hashes":null}`, `{"key_hashes":[]}`, `{"key_hashes":["x"]}`} {
		manage(t, 400, http.MethodPost, "/guardrails/"+guardrailFirst+"/assignments/keys", body, options...)
	}
}
