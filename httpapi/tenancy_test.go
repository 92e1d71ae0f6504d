package httpapi_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

// tenant is a request for one route. {names} in path and body are ids of objects: of
// the caller's account, of another account, or of no account.
type tenant struct {
	keys   string // public, inference, management or any
	path   string
	body   string
	status int // for a valid key and ids of its own account; 0 is 200
	// elsewhere is the status for ids in the body that belong to another account or to
	// none; 0 is any refusal. Such ids in the path are always answered with 404.
	elsewhere int
}

// tenancy has every route of the documented interface. A route that is missing here
// fails the tests, so every route that is served is tested for access.
func tenancy() map[string]tenant {
	const guardrail, workspace = "/guardrails/{guardrail}", "/workspaces/{workspace}"
	return map[string]tenant{
		"POST /systemone":                       {keys: "inference", path: "/systemone", body: sound},
		"POST /decisions":                       {keys: "inference", path: "/decisions", body: soundDecision},
		"GET /models":                           {keys: "public", path: "/models"},
		"GET /models/count":                     {keys: "public", path: "/models/count"},
		"GET /model/{author}/{slug}":            {keys: "public", path: "/model/acme/judge"},
		"GET /models/{author}/{slug}/endpoints": {keys: "public", path: "/models/acme/judge/endpoints"},
		"GET /providers":                        {keys: "public", path: "/providers"},
		"GET /models/user":                      {keys: "any", path: "/models/user"},
		"GET /endpoints/zdr":                    {keys: "any", path: "/endpoints/zdr"},
		"GET /key":                              {keys: "any", path: "/key"},
		"GET /credits":                          {keys: "management", path: "/credits"},
		"GET /activity":                         {keys: "management", path: "/activity?workspace_id={workspace}"},

		"GET /keys":           {keys: "management", path: "/keys?workspace_id={workspace}"},
		"POST /keys":          {keys: "management", path: "/keys", body: `{"name":"n","workspace_id":"{workspace}"}`, status: 201},
		"GET /keys/{hash}":    {keys: "management", path: "/keys/{key}"},
		"PATCH /keys/{hash}":  {keys: "management", path: "/keys/{key}", body: `{"name":"n"}`},
		"DELETE /keys/{hash}": {keys: "management", path: "/keys/{key}"},

		"GET /organization/settings":   {keys: "management", path: "/organization/settings"},
		"PATCH /organization/settings": {keys: "management", path: "/organization/settings", body: `{"is_filtered_model_catalog_enabled":false}`},
		"GET /organization/members":    {keys: "management", path: "/organization/members"},

		"GET /workspaces":                            {keys: "management", path: "/workspaces"},
		"POST /workspaces":                           {keys: "management", path: "/workspaces", body: `{"name":"New","slug":"new"}`, status: 201},
		"GET /workspaces/{id}":                       {keys: "management", path: workspace},
		"PATCH /workspaces/{id}":                     {keys: "management", path: workspace, body: `{"name":"n"}`},
		"DELETE /workspaces/{id}":                    {keys: "management", path: workspace},
		"GET /workspaces/{id}/members":               {keys: "management", path: workspace + "/members"},
		"POST /workspaces/{id}/members/add":          {keys: "management", path: workspace + "/members/add", body: `{"user_ids":["{user}"]}`},
		"POST /workspaces/{id}/members/remove":       {keys: "management", path: workspace + "/members/remove", body: `{"user_ids":["{user}"]}`, elsewhere: 200},
		"GET /workspaces/{id}/budgets":               {keys: "management", path: workspace + "/budgets"},
		"GET /workspaces/{id}/budgets/{interval}":    {keys: "management", path: workspace + "/budgets/monthly"},
		"PUT /workspaces/{id}/budgets/{interval}":    {keys: "management", path: workspace + "/budgets/monthly", body: `{"limit_usd":5}`},
		"DELETE /workspaces/{id}/budgets/{interval}": {keys: "management", path: workspace + "/budgets/monthly"},

		"POST /presets/{slug}/chat/completions":  {keys: "management", path: "/presets/p/chat/completions?workspace_id={workspace}", body: `{"model":"acme/judge","messages":[{"role":"user","content":"x"}]}`},
		"POST /presets/{slug}/messages":          {keys: "management", path: "/presets/p/messages?workspace_id={workspace}", body: `{"model":"acme/judge","messages":[{"role":"user","content":"x"}]}`},
		"POST /presets/{slug}/responses":         {keys: "management", path: "/presets/p/responses?workspace_id={workspace}", body: `{"model":"acme/judge","input":"x"}`},
		"GET /presets":                           {keys: "management", path: "/presets?workspace_id={workspace}"},
		"GET /presets/{slug}":                    {keys: "management", path: "/presets/{preset}?workspace_id={workspace}"},
		"GET /presets/{slug}/versions":           {keys: "management", path: "/presets/{preset}/versions?workspace_id={workspace}"},
		"GET /presets/{slug}/versions/{version}": {keys: "management", path: "/presets/{preset}/versions/1?workspace_id={workspace}"},

		"GET /guardrails":                                  {keys: "management", path: "/guardrails"},
		"POST /guardrails":                                 {keys: "management", path: "/guardrails", body: `{"name":"n","workspace_id":"{workspace}"}`, status: 201},
		"GET /guardrails/{id}":                             {keys: "management", path: guardrail},
		"PATCH /guardrails/{id}":                           {keys: "management", path: guardrail, body: `{"name":"n"}`},
		"DELETE /guardrails/{id}":                          {keys: "management", path: guardrail},
		"GET /guardrails/assignments/keys":                 {keys: "management", path: "/guardrails/assignments/keys"},
		"GET /guardrails/assignments/members":              {keys: "management", path: "/guardrails/assignments/members"},
		"GET /guardrails/{id}/assignments/keys":            {keys: "management", path: guardrail + "/assignments/keys"},
		"POST /guardrails/{id}/assignments/keys":           {keys: "management", path: guardrail + "/assignments/keys", body: `{"key_hashes":["{key}"]}`},
		"POST /guardrails/{id}/assignments/keys/remove":    {keys: "management", path: guardrail + "/assignments/keys/remove", body: `{"key_hashes":["{key}"]}`, elsewhere: 200},
		"GET /guardrails/{id}/assignments/members":         {keys: "management", path: guardrail + "/assignments/members"},
		"POST /guardrails/{id}/assignments/members":        {keys: "management", path: guardrail + "/assignments/members", body: `{"member_user_ids":["{user}"]}`},
		"POST /guardrails/{id}/assignments/members/remove": {keys: "management", path: guardrail + "/assignments/members/remove", body: `{"member_user_ids":["{user}"]}`, elsewhere: 200},

		"GET /byok":         {keys: "management", path: "/byok?workspace_id={workspace}"},
		"POST /byok":        {keys: "management", path: "/byok", body: `{"provider":"ant","key":"provider-secret-1","workspace_id":"{workspace}"}`, status: 201},
		"GET /byok/{id}":    {keys: "management", path: "/byok/{credential}"},
		"PATCH /byok/{id}":  {keys: "management", path: "/byok/{credential}", body: `{"name":"n"}`},
		"DELETE /byok/{id}": {keys: "management", path: "/byok/{credential}"},
	}
}

// house is a complete service with two similar accounts.
type house struct {
	handler *httpapi.Handler
	keys    map[string]router.Secret // of account demo, by kind
	foreign router.Secret            // a management key of account other
	own     map[string]string        // ids of account demo, by name
	theirs  map[string]string        // ids of account other
	log     *lockedBuffer
}

// missing returns ids that no account has.
func missing() map[string]string {
	const id = "99999999-9999-4999-8999-999999999999"
	return map[string]string{
		"workspace": id, "guardrail": id, "credential": id, "preset": "nobodys", "user": "user_nobody", "key": strings.Repeat("9", 64),
	}
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{keys: map[string]router.Secret{}, log: &lockedBuffer{}}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	require.NoError(t, errEngine)
	s, err := signalbox.New(signalbox.Config{
		Catalog:    newCatalog(t, &scripted{}, &scripted{}),
		Logger:     slog.New(slog.NewJSONHandler(h.log, nil)),
		Now:        func() time.Time { return now },
		Guardrails: guardrails.Config{Engine: engine},
	})
	require.NoError(t, err)
	h.handler = s.API
	seeded, err := demo.Seed(t.Context(), s)
	require.NoError(t, err)
	by := demo.Program()
	h.keys["management"], h.keys["inference"] = seeded.Management, seeded.Inference
	h.keys["unknown"], h.keys["malformed"] = router.Secret("sk-rt-v1-"+strings.Repeat("a", 64)), "x"
	for kind, k := range map[string]keys.Key{
		"disabled": {Disabled: true}, "expired": {ExpiresAt: now.Add(time.Second)}, "deleted": {},
		"disabled management": {Disabled: true, Management: true, Creator: demo.Admin},
		"expired management":  {ExpiresAt: now.Add(time.Second), Management: true, Creator: demo.Admin},
	} {
		k.Name = kind
		r, secret, err := s.Keys.Create(t.Context(), by, k)
		require.NoError(t, err)
		h.keys[kind] = secret
		if kind == "deleted" {
			require.NoError(t, s.Keys.Delete(t.Context(), by, r.Hash))
		}
	}
	h.own = h.furnish(t, seeded.Management, "user_ben")

	other, err := s.Organization.CreateAccount(t.Context(), router.Actor{}, organization.NewAccount{
		ID: "other", Name: "Other", Owner: organization.Member{ID: "user_eve", Email: "eve@example.org"},
	})
	require.NoError(t, err)
	_, h.foreign, err = s.Keys.Create(t.Context(), router.Actor{Principal: router.Principal{Account: other.ID}},
		keys.Key{Name: "theirs", Management: true, Creator: "user_eve"})
	require.NoError(t, err)
	h.theirs = h.furnish(t, h.foreign, "user_eve")
	now = now.Add(time.Minute)
	return h
}

// furnish creates one object of every kind in the account of a management key.
func (h *house) furnish(t *testing.T, key router.Secret, user string) map[string]string {
	t.Helper()
	ids := map[string]string{"user": user, "preset": "p-" + user[5:]}
	for _, o := range []struct{ name, path, body, id string }{
		{"workspace", "/workspaces", `{"name":"Spare","slug":"spare"}`, "data.id"},
		{"key", "/keys", `{"name":"object"}`, "data.hash"},
		{"guardrail", "/guardrails", `{"name":"object"}`, "data.id"},
		{"credential", "/byok", `{"provider":"bee","key":"provider-secret-` + user + `"}`, "data.id"},
		{"", "/presets/{preset}/chat/completions?workspace_id={workspace}", `{"model":"acme/judge","messages":[{"role":"user","content":"x"}]}`, "data.slug"},
	} {
		w := h.ask(t, http.MethodPost+" ", tenant{path: o.path, body: o.body}, key, ids)
		require.Less(t, w.Code, 300, "%s: %s", o.path, w.Body)
		if o.name != "" {
			id, ok := at(t, w.Body.Bytes(), o.id).(string)
			require.True(t, ok)
			ids[o.name] = id
		}
	}
	w := h.ask(t, http.MethodPut+" ", tenant{path: "/workspaces/{workspace}/budgets/monthly", body: `{"limit_usd":3}`}, key, ids)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	return ids
}

// ask sends the request of a route, with these ids in place of the names.
func (h *house) ask(t *testing.T, pattern string, c tenant, key router.Secret, ids map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	path, body := c.path, c.body
	for name, id := range ids {
		path, body = strings.ReplaceAll(path, "{"+name+"}", id), strings.ReplaceAll(body, "{"+name+"}", id)
	}
	method, _, _ := strings.Cut(pattern, " ")
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+string(key))
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	require.True(t, json.Valid(w.Body.Bytes()), "%s %s: %s", method, path, w.Body)
	return w
}

func TestTenancyTableHasEveryRoute(t *testing.T) {
	api := httpapi.Routes(newHouse(t).handler)["/api/v1"]
	table := tenancy()
	for _, pattern := range api {
		assert.Contains(t, table, pattern)
	}
	assert.Len(t, table, len(api), "the table has routes that nobody serves")
}

// TestEveryRouteKnowsItsKeys sends every route a request with every kind of key.
func TestEveryRouteKnowsItsKeys(t *testing.T) {
	const missingKey, badKey = "Missing Authentication header", "Invalid API key"
	for pattern, c := range tenancy() {
		t.Run(pattern, func(t *testing.T) {
			h := newHouse(t)
			refused := func(key string, status int, message string) {
				t.Helper()
				w := h.ask(t, pattern, c, h.keys[key], h.own)
				assert.Equal(t, status, w.Code, "%s key: %s", key, w.Body)
				assert.Equal(t, message, at(t, w.Body.Bytes(), "error.message"), "%s key", key)
			}
			if c.keys != "public" {
				refused("", http.StatusUnauthorized, missingKey)
			}
			for _, key := range []string{"malformed", "unknown", "deleted"} {
				refused(key, http.StatusUnauthorized, badKey)
			}
			for _, key := range []string{"disabled", "disabled management"} {
				refused(key, http.StatusUnauthorized, "API key disabled")
			}
			for _, key := range []string{"expired", "expired management"} {
				refused(key, http.StatusUnauthorized, "API key expired")
			}
			switch c.keys {
			case "management":
				refused("inference", http.StatusForbidden, "Only management keys can perform this operation")
			case "inference":
				refused("management", http.StatusForbidden, "Management keys cannot be used for inference")
			}
			for _, key := range []string{"", "inference", "management"} {
				if key != "" && key != c.keys && (c.keys == "inference" || c.keys == "management") || key == "" && c.keys != "public" {
					continue
				}
				w := newHouse(t).askOwn(t, pattern, c, key)
				assert.Equal(t, max(c.status, http.StatusOK), w.Code, "%s key: %s", key, w.Body)
			}
		})
	}
}

func (h *house) askOwn(t *testing.T, pattern string, c tenant, key string) *httptest.ResponseRecorder {
	t.Helper()
	return h.ask(t, pattern, c, h.keys[key], h.own)
}

// TestForeignIsMissing sends every route that takes ids the ids of another account, and
// ids that no account has. The replies must be equal.
func TestForeignIsMissing(t *testing.T) {
	for pattern, c := range tenancy() {
		var names []string
		for name := range missing() {
			if strings.Contains(c.path+c.body, "{"+name+"}") {
				names = append(names, name)
			}
		}
		if c.keys != "management" || len(names) == 0 {
			continue
		}
		for _, name := range names {
			t.Run(pattern+" "+name, func(t *testing.T) {
				h := newHouse(t)
				with := func(id string) *httptest.ResponseRecorder {
					ids := map[string]string{name: id}
					for other, own := range h.theirs {
						if other != name {
							ids[other] = own
						}
					}
					return h.ask(t, pattern, c, h.foreign, ids)
				}
				foreign, nobodys := with(h.own[name]), with(missing()[name])
				assert.Equal(t, nobodys.Code, foreign.Code)
				assert.Equal(t, nobodys.Body.String(), foreign.Body.String())
				switch inPath := strings.Contains(c.path, "{"+name+"}"); {
				case inPath:
					assert.Equal(t, http.StatusNotFound, foreign.Code, "%s", foreign.Body)
				case c.elsewhere != 0:
					assert.Equal(t, c.elsewhere, foreign.Code, "%s", foreign.Body)
				default:
					assert.Contains(t, []int{http.StatusBadRequest, http.StatusNotFound}, foreign.Code, "%s", foreign.Body)
				}
			})
		}
	}
}
