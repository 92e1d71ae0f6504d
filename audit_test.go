package signalbox_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
)

// TestEveryManagementActionLeavesARecord calls every route that changes something,
// and looks for a record with the actor, the action, the object and the time.
func TestEveryManagementActionLeavesARecord(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	who, err := g.Keys.Authenticate(t.Context(), g.seeded.Management)
	require.NoError(t, err)
	ids := map[string]string{
		"user": demo.Member, "preset": "p", "interval": "monthly",
		"new secret": "sk-own-0123456789abcdefghij", "changed secret": "sk-own-9876543210abcdefghij",
	}
	fill := func(text string) string {
		for name, id := range ids {
			text = strings.ReplaceAll(text, "{"+name+"}", id)
		}
		return text
	}
	made := func(path, body, id string) string {
		w := g.do(t, http.MethodPost, path, fill(body), g.seeded.Management)
		var object struct{ Data map[string]any }
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &object))
		return fmt.Sprint(object.Data[id])
	}
	ids["workspace"] = made("/workspaces", `{"name":"Spare","slug":"spare"}`, "id")
	ids["hash"] = made("/keys", `{"name":"object"}`, "hash")
	ids["guardrail"] = made("/guardrails", `{"name":"object"}`, "id")
	ids["credential"] = made("/byok", `{"provider":"ant","key":"{new secret}"}`, "id")

	walked := 0
	for _, r := range routes() {
		if r.method == http.MethodGet || strings.HasSuffix(r.path, "/systemone") || strings.HasSuffix(r.path, "/decisions") {
			continue
		}
		walked++
		name, path := r.method+" "+r.path, fill(r.path)
		if name == "DELETE /workspaces/{workspace}" || name == "POST /workspaces/{workspace}/members/remove" { // there must be no keys
			list, err := g.Keys.List(t.Context(), router.Actor{Principal: who}, keys.Query{Workspace: ids["workspace"]})
			require.NoError(t, err)
			for _, k := range list {
				g.manage(t, http.MethodDelete, "/keys/"+k.Hash, "")
			}
		}
		_, before, err := g.Organization.Changes(t.Context(), demo.Account, 0, 1)
		require.NoError(t, err)
		w := g.do(t, r.method, path, fill(r.body), g.seeded.Management)
		require.Less(t, w.Code, 300, "%s: %s", name, w.Body)
		list, after, err := g.Organization.Changes(t.Context(), demo.Account, 0, 100)
		require.NoError(t, err)
		require.Greater(t, after, before, name)
		for _, c := range list[:after-before] {
			assert.Equal(t, who, c.Actor.Principal, name)
			assert.Equal(t, w.Header().Get("X-Request-Id"), c.Actor.RequestID, name)
			assert.Equal(t, demo.Account, c.Account, name)
			assert.Equal(t, "2026-11-21T12:00:00Z", c.At.Format("2006-01-02T15:04:05Z07:00"), name)
			assert.NotContains(t, []string{c.Action, c.Kind, c.Object}, "", name)
			assert.NotEmpty(t, slices.Concat(c.Before, c.After), name)
			if r.method == http.MethodDelete && !strings.Contains(r.path, "budgets") {
				assert.Equal(t, "delete", c.Action, name)
				assert.Empty(t, c.After, name)
			}
			for secret := range maps.Values(ids) {
				if strings.HasPrefix(secret, "sk-own-") {
					assert.NotContains(t, fmt.Sprintf("%s %s", c.Before, c.After), secret, name)
				}
			}
		}
	}
	assert.NotZero(t, walked)
}
