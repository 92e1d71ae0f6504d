package signalbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

// TestTextsThatNoStoreCouldKeepAreRefused: in every member that is stored, such a text
// is a 400 that names the member.
func TestTextsThatNoStoreCouldKeepAreRefused(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	key := g.do(t, http.MethodPost, "/keys", `{"name":"k"}`, g.seeded.Management)
	var made struct{ Data struct{ Hash string } }
	require.NoError(t, json.Unmarshal(key.Body.Bytes(), &made))
	rail := "/guardrails/" + g.made(t, "/guardrails", `{"name":"g"}`)
	own := "/byok/" + g.made(t, "/byok", `{"provider":"ant","key":"pk"}`)
	const chat = "/presets/p/chat/completions"
	for _, c := range []struct{ method, path, body, issue string }{
		{http.MethodPost, "/keys", `{"name":"a\u0000"}`, "name"},
		{http.MethodPost, "/keys", `{"name":"a","creator_user_id":"\u0000"}`, "creator_user_id"},
		{http.MethodPost, "/keys", `{"name":"a","external":{"user":"\u0000"}}`, "external.user"},
		{http.MethodPatch, "/keys/" + made.Data.Hash, `{"name":"\u0000"}`, "name"},
		{http.MethodPost, "/workspaces", `{"name":"\u0000","slug":"s"}`, "name"},
		{http.MethodPost, "/workspaces", `{"name":"a","slug":"\u0000"}`, "slug"},
		{http.MethodPatch, "/workspaces/lab", `{"description":"\u0000"}`, "description"},
		{http.MethodPost, "/workspaces/lab/members/add", `{"user_ids":["\u0000"]}`, "user_ids.0"},
		{http.MethodPost, "/workspaces/lab/members/remove", `{"user_ids":["\u0000"]}`, "user_ids.0"},
		{http.MethodPost, "/guardrails", `{"name":"\u0000"}`, "name"},
		{http.MethodPatch, rail, `{"description":"\u0000"}`, "description"},
		{http.MethodPatch, rail, `{"allowed_models":["a","\u0000"]}`, "allowed_models.1"},
		{http.MethodPatch, rail, `{"ignored_providers":["\u0000"]}`, "ignored_providers.0"},
		{http.MethodPatch, rail, `{"content_filters":[{"pattern":"\u0000","action":"flag"}]}`, "content_filters.0.pattern"},
		{http.MethodPatch, rail, `{"content_filters":[{"pattern":"a","action":"flag","label":"\u0000"}]}`, "content_filters.0.label"},
		{http.MethodPatch, rail, `{"content_filter_builtins":[{"slug":"email","action":"flag","scan_scope":"user_only"}]}`, "content_filter_builtins.0.scan_scope"},
		{http.MethodPost, rail + "/assignments/keys", `{"key_hashes":["\u0000"]}`, "key_hashes.0"},
		{http.MethodPost, rail + "/assignments/members/remove", `{"member_user_ids":["\u0000"]}`, "member_user_ids.0"},
		{http.MethodPost, "/byok", `{"provider":"ant","key":"pk","name":"\u0000"}`, "name"},
		{http.MethodPatch, own, `{"allowed_models":["\u0000"]}`, "allowed_models.0"},
		{http.MethodPatch, own, `{"key":"\u0000"}`, "key"},
		{http.MethodPost, "/presets/%00/chat/completions", `{"messages":[{"role":"user"}]}`, "slug"},
		{http.MethodPost, chat, `{"messages":[{"role":"user"}],"model":"\u0000"}`, "model"},
		{http.MethodPost, chat, `{"messages":[{"role":"user"}],"metadata":{"a":"b\u0000"}}`, "metadata.a"},
		{http.MethodPost, chat, `{"messages":[{"role":"system","content":[{"type":"text","text":"\u0000"}]}]}`, "messages.0.content.0.text"},
		{http.MethodGet, "/activity?user_id=%00", "", "user_id"},
		{http.MethodGet, "/activity?user_id=%ff", "", "user_id"},
		{http.MethodGet, "/byok?provider=%00", "", "provider"},
		// Texts without a documented bound have one as well.
		{http.MethodPost, "/keys", `{"name":"` + strings.Repeat("n", 201) + `"}`, "name"},
		{http.MethodPatch, "/keys/" + made.Data.Hash, `{"name":"` + strings.Repeat("n", 201) + `"}`, "name"},
		{http.MethodPost, "/keys", `{"name":"a","external":{"user":"` + strings.Repeat("u", 257) + `"}}`, "external.user"},
		{http.MethodPatch, rail, `{"ignored_models":["` + strings.Repeat("m", 257) + `"]}`, "ignored_models.0"},
		{http.MethodPost, "/workspaces/lab/members/remove", `{"user_ids":["` + strings.Repeat("u", 257) + `"]}`, "user_ids.0"},
		{http.MethodPost, rail + "/assignments/keys/remove", `{"key_hashes":["` + strings.Repeat("u", 257) + `"]}`, "key_hashes"},
	} {
		w := g.do(t, c.method, c.path, c.body, g.seeded.Management)
		assert.Equal(t, 400, w.Code, "%s %s %s: %s", c.method, c.path, c.body, w.Body)
		assert.Contains(t, w.Body.String(), `"path":"`+c.issue+`"`, "%s %s", c.path, c.body)
	}
	for _, c := range [][2]string{
		{"/keys", `{"name":"` + strings.Repeat("é", 200) + `"}`},
		{"/guardrails", `{"name":"g","content_filters":[{"pattern":"\\x00","action":"flag"}],"content_filter_builtins":[{"slug":"email","action":"flag","scan_scope":"all_messages"}]}`},
		{chat, `{"messages":[{"role":"user","content":"\u0000"}],"user":"\u0000","odd\u0000":"\u0000","metadata":{"a":"\\u0000"}}`},
	} {
		w := g.do(t, http.MethodPost, c[0], c[1], g.seeded.Management)
		assert.Less(t, w.Code, 300, "%s: %s", c[0], w.Body)
	}
	w := g.do(t, http.MethodPost, "/systemone", strings.Replace(question, `"x"`, `"\u0000"`, 1), g.seeded.Inference)
	assert.Equal(t, 502, w.Code, "what is not kept may hold it: %s", w.Body)
}

// The picky stores fail on texts that they could not search for.
type (
	pickyKeys         struct{ keys.Store }
	pickyOrganization struct{ organization.Store }
	pickyActivity     struct{ activity.Store }
)

var errText = errors.New("invalid byte sequence for encoding UTF8")

func (s pickyKeys) Get(ctx context.Context, hash string) (keys.Key, error) {
	if !router.Storable(hash) {
		return keys.Key{}, errText
	}
	return s.Store.Get(ctx, hash)
}

func (s pickyOrganization) Workspace(ctx context.Context, account, ref string) (organization.Workspace, error) {
	if !router.Storable(ref) {
		return organization.Workspace{}, errText
	}
	return s.Store.Workspace(ctx, account, ref)
}

func (s pickyActivity) Items(ctx context.Context, r activity.Range) ([]activity.Item, error) {
	if !router.Storable(r.Member + r.KeyHash) {
		return nil, errText
	}
	return s.Store.Items(ctx, r)
}

func TestPathsThatNoStoreCouldLookForAreNothing(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	for _, odd := range []string{"%00", "a%00b", "%ff"} {
		for _, path := range []string{
			"/keys/", "/workspaces/", "/guardrails/", "/byok/",
		} {
			for _, method := range []string{http.MethodGet, http.MethodPatch, http.MethodDelete} {
				w := g.do(t, method, path+odd, `{"name":"n"}`, g.seeded.Management)
				assert.Equal(t, 404, w.Code, "%s %s%s: %s", method, path, odd, w.Body)
			}
		}
		for _, path := range []string{"/members", "/budgets", "/budgets/daily"} {
			w := g.do(t, http.MethodGet, "/workspaces/"+odd+path, "", g.seeded.Management)
			assert.Equal(t, 404, w.Code, "%s: %s", path, w.Body)
		}
		assert.Equal(t, 401, g.do(t, http.MethodGet, "/key", "", router.Secret("a\x00")).Code)
	}
}

func TestACredentialThatCannotWorkIsRefused(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	for _, provider := range []string{"local", "LOCAL", "nobody"} {
		w := g.do(t, http.MethodPost, "/byok", `{"provider":"`+provider+`","key":"pk"}`, g.seeded.Management)
		assert.Equal(t, 400, w.Code, w.Body)
		assert.Contains(t, w.Body.String(), `{"path":"provider","message":"must be a provider of the catalog that takes an account's own credential"}`)
	}
}
