package signalbox_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/systemone"
)

// TestAnEmptyFilterIsAMistake: an empty value must not select everything, because it
// may be a variable that was not set.
func TestAnEmptyFilterIsAMistake(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	for _, name := range []string{"date", "api_key_hash", "user_id", "workspace_id", "group_by"} {
		w := g.do(t, http.MethodGet, "/activity?"+name+"=", "", g.seeded.Management)
		assert.Equal(t, http.StatusBadRequest, w.Code, name)
		assert.Contains(t, w.Body.String(), `"path":"`+name+`"`)
	}
	assert.Equal(t, http.StatusOK, g.do(t, http.MethodGet, "/activity?unknown=", "", g.seeded.Management).Code)
}

// TestAFilterThatCannotBeReadIsAMistake: a filter with a broken escape or an unescaped
// semicolon is refused, because without the filter the reply would show everything.
func TestAFilterThatCannotBeReadIsAMistake(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	for _, path := range []string{
		"/activity?user_id=a;b", "/activity?date=2026-11-21%zz", "/activity?unknown=;", "/keys?workspace_id=x;y", "/guardrails?workspace_id=%z",
		"/presets?workspace_id=%", "/byok?provider=a;b", "/workspaces?limit=1;2", "/organization/members?offset=%q", "/models?limit=1;2",
		"/workspaces/lab/members?offset=1;2", "/guardrails/assignments/keys?limit=1;2",
	} {
		w := g.do(t, http.MethodGet, path, "", g.seeded.Management)
		assert.Equal(t, http.StatusBadRequest, w.Code, path)
		assert.Contains(t, w.Body.String(), `"issues":[{"path":"","message":"the query`, path)
	}
	w := g.do(t, http.MethodPost, "/presets/p/chat/completions?workspace_id=x;y", `{"messages":[{"role":"user"}]}`, g.seeded.Management)
	assert.Equal(t, http.StatusBadRequest, w.Code)
}

// TestEveryProblemIsTold: a reply lists the problems of all members, also if different
// packages find them.
func TestEveryProblemIsTold(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	for _, c := range []struct{ method, path, body, paths string }{
		{http.MethodGet, "/keys?offset=x&include_disabled=1&workspace_id=z", "", "offset include_disabled workspace_id"},
		{http.MethodGet, "/keys?offset=&include_disabled=&workspace_id=", "", "offset include_disabled workspace_id"},
		{http.MethodGet, "/workspaces?offset=-1&limit=101", "", "offset limit"},
		{http.MethodGet, "/guardrails?offset=1&offset=1&workspace_id=z", "", "offset workspace_id"},
		{http.MethodGet, "/byok?limit=0&workspace_id=z&provider=", "", "limit workspace_id provider"},
		{http.MethodGet, "/presets?limit=0&workspace_id=z", "", "workspace_id limit"},
		{http.MethodGet, "/activity?group_by=day&date=x&api_key_hash=y&workspace_id=z", "", "group_by workspace_id date api_key_hash"},
		{http.MethodGet, "/activity?group_by=day&user_id=u", "", "group_by"},
		{http.MethodPost, "/keys", `{"name":"","limit":"1","expires_at":"2020-01-01T00:00:00Z","creator_user_id":"nobody"}`, "name limit expires_at creator_user_id"},
		{http.MethodPost, "/keys", `{"name":1,"workspace_id":"00000000-0000-0000-0000-0000000000ff"}`, "name"},
		{http.MethodPost, "/workspaces", `{"name":"","slug":"A-"}`, "name slug"},
		{http.MethodPatch, "/workspaces/lab", `{"description":5,"slug":"A-"}`, "description slug"},
		{http.MethodPost, "/byok", `{"provider":"nobody","key":"two words","name":5}`, "name key provider"},
		{http.MethodPost, "/byok", `{"provider":"nobody","disabled":0}`, "key disabled provider"},
		{http.MethodPost, "/presets/a%20b/chat/completions", `{"messages":[]}`, "slug messages"},
	} {
		w := g.do(t, c.method, c.path, c.body, g.seeded.Management)
		assert.Equal(t, http.StatusBadRequest, w.Code, "%s %s", c.path, c.body)
		var reply struct {
			Error struct {
				Metadata struct{ Issues []systemone.Issue }
			}
		}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &reply))
		var paths []string
		for _, is := range reply.Error.Metadata.Issues {
			paths = append(paths, is.Path)
		}
		assert.Equal(t, c.paths, strings.Join(paths, " "), "%s %s", c.path, c.body)
	}
	keysNow, err := g.Keys.CountIn(t.Context(), demo.Account, g.seeded.Home.ID)
	require.NoError(t, err)
	assert.Equal(t, 1, keysNow, "who asks what is wrong with a key makes none")
}
