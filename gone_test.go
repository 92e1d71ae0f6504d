package signalbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
)

// made creates an object and returns its id.
func (g *gateway) made(t *testing.T, path, body string) string {
	t.Helper()
	w := g.do(t, http.MethodPost, path, body, g.seeded.Management)
	require.Equal(t, http.StatusCreated, w.Code, w.Body)
	var got struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
	return got.Data.ID
}

const question = `{"model":"acme/judge","state":"x","questions":{"q":{"type":"noul","instructions":"?"}}}`

// TestADeletedWorkspaceLeavesNothing: its guardrail applies to no call any more, and
// none of its objects can be read, changed or deleted.
func TestADeletedWorkspaceLeavesNothing(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	lab := g.seeded.Lab.ID
	rail := g.made(t, "/guardrails", fmt.Sprintf(`{"name":"g","workspace_id":%q,"ignored_models":["acme/judge"]}`, lab))
	credential := g.made(t, "/byok", fmt.Sprintf(`{"provider":"ant","key":"pk-1","workspace_id":%q}`, lab))
	g.manage(t, http.MethodPost, "/presets/p/chat/completions?workspace_id="+lab, `{"messages":[{"role":"user"}]}`)
	g.manage(t, http.MethodPost, "/guardrails/"+rail+"/assignments/members", fmt.Sprintf(`{"member_user_ids":[%q]}`, demo.Admin))
	g.manage(t, http.MethodPatch, "/guardrails/"+g.seeded.Lab.DefaultGuardrail, `{"enforce_zdr":true}`)
	require.Equal(t, 404, g.do(t, http.MethodPost, "/systemone", question, g.seeded.Inference).Code, "the guardrail is enforced")

	g.manage(t, http.MethodDelete, "/workspaces/"+lab, "")
	for _, at := range [][2]string{
		{http.MethodDelete, "/workspaces/" + lab},
		{http.MethodGet, "/workspaces/lab"},
		{http.MethodGet, "/keys?workspace_id=" + lab},
		{http.MethodGet, "/guardrails?workspace_id=" + lab},
		{http.MethodGet, "/guardrails/" + rail},
		{http.MethodPatch, "/guardrails/" + rail},
		{http.MethodDelete, "/guardrails/" + rail},
		{http.MethodGet, "/guardrails/" + rail + "/assignments/members"},
		{http.MethodGet, "/guardrails/" + g.seeded.Lab.DefaultGuardrail},
		{http.MethodPatch, "/guardrails/" + g.seeded.Lab.DefaultGuardrail},
		{http.MethodGet, "/byok?workspace_id=" + lab},
		{http.MethodGet, "/byok/" + credential},
		{http.MethodPatch, "/byok/" + credential},
		{http.MethodDelete, "/byok/" + credential},
		{http.MethodGet, "/presets?workspace_id=" + lab},
		{http.MethodGet, "/presets/p?workspace_id=" + lab},
	} {
		w := g.do(t, at[0], at[1], `{"name":"n","disabled":true}`, g.seeded.Management)
		assert.Equal(t, 404, w.Code, "%s %s: %s", at[0], at[1], w.Body)
	}
	w := g.do(t, http.MethodGet, "/guardrails/assignments/members", "", g.seeded.Management)
	assert.JSONEq(t, `{"data":[],"total_count":0}`, w.Body.String())
	assert.Equal(t, 502, g.do(t, http.MethodPost, "/systemone", question, g.seeded.Inference).Code, "and no longer")
}

// TestKeysThatAreMadeWhileTheirWorkspaceIsDeleted: either the deletion is refused, or
// the key is deleted with the workspace. No request is answered with a 500.
func TestKeysThatAreMadeWhileTheirWorkspaceIsDeleted(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	for round := range 40 {
		id := g.made(t, "/workspaces", fmt.Sprintf(`{"name":"w","slug":"w-%d"}`, round))
		var wg sync.WaitGroup
		secrets := make([]router.Secret, 4)
		for i := range secrets {
			wg.Go(func() {
				w := g.do(t, http.MethodPost, "/keys", fmt.Sprintf(`{"name":"k","workspace_id":%q}`, id), g.seeded.Management)
				assert.Contains(t, []int{201, 404}, w.Code, w.Body)
				var got struct{ Key router.Secret }
				if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
					t.Error(err)
				}
				if secrets[i] = got.Key; got.Key != "" {
					g.do(t, http.MethodGet, "/key", "", got.Key) // now the key is cached
				}
			})
		}
		status := 0
		wg.Go(func() { status = g.do(t, http.MethodDelete, "/workspaces/"+id, "", g.seeded.Management).Code })
		wg.Wait()
		want := map[int]int{200: 401, 400: 502}[status]
		require.NotZero(t, want, status)
		for _, secret := range secrets {
			if secret == "" {
				continue
			}
			assert.Equal(t, want, g.do(t, http.MethodPost, "/systemone", question, secret).Code)
			for _, path := range []string{"/key", "/models/user", "/endpoints/zdr", "/models"} {
				w := g.do(t, http.MethodGet, path, "", secret)
				assert.Less(t, w.Code, 500, "%s: %s", path, w.Body)
			}
		}
	}
	assert.NotContains(t, strings.ToLower(g.log.String()), `"level":"error"`)
}

// TestAKeyThatOutlivedItsWorkspace begins with the rows that remain if a process ends
// between two steps of a deletion.
func TestAKeyThatOutlivedItsWorkspace(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	w := g.do(t, http.MethodPost, "/keys", fmt.Sprintf(`{"name":"k","workspace_id":%q}`, g.seeded.Lab.ID), g.seeded.Management)
	var got struct {
		Key  router.Secret
		Data struct{ Hash string }
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
	require.Equal(t, 200, g.do(t, http.MethodGet, "/key", "", got.Key).Code)
	require.NoError(t, g.stores.Organization.DeleteWorkspace(t.Context(), demo.Account, g.seeded.Lab.ID, router.Change{}))

	assert.Equal(t, 401, g.do(t, http.MethodPost, "/systemone", question, got.Key).Code)
	for _, path := range []string{"/key", "/models/user", "/endpoints/zdr"} {
		w := g.do(t, http.MethodGet, path, "", got.Key)
		assert.Equal(t, 401, w.Code, "%s: %s", path, w.Body)
		assert.Contains(t, w.Body.String(), "Invalid API key")
	}
	for _, method := range []string{http.MethodGet, http.MethodPatch, http.MethodDelete} {
		assert.Equal(t, 404, g.do(t, method, "/keys/"+got.Data.Hash, `{"name":"n"}`, g.seeded.Management).Code)
	}
	assert.Equal(t, 404, g.do(t, http.MethodDelete, "/workspaces/"+g.seeded.Lab.ID, "", g.seeded.Management).Code, "it is gone already")
	_, err := g.stores.Keys.Get(t.Context(), got.Data.Hash)
	require.ErrorIs(t, err, keys.ErrNotFound, "and now the key, too")
}
