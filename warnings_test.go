package signalbox_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/systemone"
)

// issuesOf returns the problems that a refusal lists.
func issuesOf(t *testing.T, w *httptest.ResponseRecorder) map[string]string {
	t.Helper()
	var reply struct {
		Error struct {
			Metadata struct{ Issues []systemone.Issue }
		}
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &reply))
	issues := map[string]string{}
	for _, is := range reply.Error.Metadata.Issues {
		issues[is.Path] = is.Message
	}
	return issues
}

// TestProtectionsThatAreNotBuiltAreRefused sends each member that clients know for a
// protection or policy that does not exist here. It sends them to each route that
// creates or changes something, with each kind of value.
func TestProtectionsThatAreNotBuiltAreRefused(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	guardrail := g.made(t, "/guardrails", `{"name":"g"}`)
	credential := g.made(t, "/byok", `{"provider":"ant","key":"k"}`)
	for _, route := range []struct{ method, path, rest string }{
		{http.MethodPost, "/guardrails", `"name":"g"`},
		{http.MethodPatch, "/guardrails/" + guardrail, `"name":"h"`},
		{http.MethodPost, "/byok", `"provider":"ant","key":"k"`},
		{http.MethodPatch, "/byok/" + credential, `"name":"n"`},
		{http.MethodPost, "/workspaces", `"name":"w","slug":"w#"`},
		{http.MethodPatch, "/workspaces/lab", `"name":"w"`},
		{http.MethodPost, "/keys", `"name":"k"`},
		{http.MethodPatch, "/keys/" + keyHash(t, g), `"name":"k"`},
		{http.MethodPatch, "/organization/settings", `"is_filtered_model_catalog_enabled":false`},
	} {
		for i, member := range []string{
			"allowed_data_regions", "is_required", "is_byok_only", "declared_zdr", "io_logging_api_key_ids", "io_logging_sampling_rate",
			"is_data_discount_logging_enabled", "is_observability_broadcast_enabled", "is_observability_io_logging_enabled", "disabled_server_tools",
		} {
			ask := func(n int, value string) *httptest.ResponseRecorder {
				rest := strings.ReplaceAll(route.rest, "#", strconv.Itoa(i*100+n))
				return g.do(t, route.method, route.path, `{`+rest+`,"`+member+`":`+value+`}`, g.seeded.Management)
			}
			for n, value := range []string{`true`, `["europe"]`, `[null]`, `"eu"`, `1`, `0.5`, `{"a":1}`, `-1e-9`} {
				w := ask(n, value)
				require.Equal(t, http.StatusBadRequest, w.Code, "%s %s %s: %s", route.path, member, value, w.Body)
				assert.Equal(t, "is not supported", issuesOf(t, w)[member], "%s %s", route.path, value)
			}
			for n, value := range []string{`null`, `false`, `[]`, `[ ]`, `0`, `0.0`, `""`, `{}`} {
				w := ask(50+n, value)
				require.Less(t, w.Code, 300, "%s %s %s: %s", route.path, member, value, w.Body)
			}
		}
	}
	w := g.do(t, http.MethodPatch, "/byok/"+credential, `{"is_required":true}`, g.seeded.Management)
	assert.Equal(t, map[string]string{"is_required": "is not supported"}, issuesOf(t, w), "alone, too")
}

// keyHash returns the hash of a key that can be changed.
func keyHash(t *testing.T, g *gateway) string {
	t.Helper()
	w := g.do(t, http.MethodPost, "/keys", `{"name":"k"}`, g.seeded.Management)
	var got struct{ Data struct{ Hash string } }
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
	return got.Data.Hash
}

// TestNamesThatCanNameNothingAreRefused sends lists with entries that look like a
// rule and could never match.
func TestNamesThatCanNameNothingAreRefused(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	guardrail := g.made(t, "/guardrails", `{"name":"g"}`)
	credential := g.made(t, "/byok", `{"provider":"ant","key":"k"}`)
	both := []string{" acme", "acme ", "\tacme", "acme\n", " ", "*", "acme/*", "*/judge", "/judge", "acme/", "/", "a//b", "acme/judge:floor", "acme:nitro", "acme:EXACTO"}
	models := append([]string{"acme/judge:free", "acme/jud ge", "a/b/c", "~judge", "~", "-a/b", "a/b-", "acmé/judge", "acme|judge", "acme/judge,acme/x"}, both...)
	for member, names := range map[string][]string{
		"allowed_models": models, "ignored_models": models, "allowed_providers": both, "ignored_providers": both,
	} {
		for _, name := range names {
			list := `{"name":"g","` + member + `":["acme/judge",` + string(systemone.AppendString(nil, name)) + `]}`
			w := g.do(t, http.MethodPost, "/guardrails", list, g.seeded.Management)
			require.Equal(t, http.StatusBadRequest, w.Code, "%s %q", member, name)
			assert.Contains(t, issuesOf(t, w), member+".1", "%q", name)
			w = g.do(t, http.MethodPatch, "/guardrails/"+guardrail, list, g.seeded.Management)
			assert.Contains(t, issuesOf(t, w), member+".1", "%q", name)
			if member != "allowed_models" {
				continue
			}
			list = strings.Replace(list, `"name":"g"`, `"provider":"ant","key":"k"`, 1)
			w = g.do(t, http.MethodPost, "/byok", list, g.seeded.Management)
			assert.Contains(t, issuesOf(t, w), member+".1", "%q", name)
			w = g.do(t, http.MethodPatch, "/byok/"+credential, list, g.seeded.Management)
			assert.Contains(t, issuesOf(t, w), member+".1", "%q", name)
		}
	}
}

// warned reads the header of warnings.
func warned(t *testing.T, w *httptest.ResponseRecorder) (list []systemone.Issue) {
	t.Helper()
	text := w.Header().Get("X-Router-Warnings")
	if text == "" {
		return nil
	}
	assert.LessOrEqual(t, len(text), 4<<10)
	for _, c := range []byte(text) {
		require.True(t, ' ' <= c && c < 0x7f, "%q", text)
	}
	require.NoError(t, json.Unmarshal([]byte(text), &list))
	return list
}

func TestUnknownNamesAreKeptAndWarnedOf(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	lists := `"allowed_models":["acme/judge","Acme/JUDGE-1","acme/judge-9","judge","ghost"],"ignored_models":["x/y"],` +
		`"allowed_providers":["ant","Ant Cloud","ANT","ant/eu","Zoë \ud83d\ude00 & Co"],"ignored_providers":["none"]`
	want := []systemone.Issue{
		{Path: "allowed_models.2", Message: "acme/judge-9 is not in the catalog"},
		{Path: "allowed_models.4", Message: "ghost is not in the catalog"},
		{Path: "ignored_models.0", Message: "x/y is not in the catalog"},
		{Path: "allowed_providers.3", Message: "ant/eu is not in the catalog"},
		{Path: "allowed_providers.4", Message: "Zoë 😀 & Co is not in the catalog"},
		{Path: "ignored_providers.0", Message: "none is not in the catalog"},
	}
	w := g.do(t, http.MethodPost, "/guardrails", `{"name":"g",`+lists+`}`, g.seeded.Management)
	require.Equal(t, http.StatusCreated, w.Code, w.Body)
	assert.Equal(t, want, warned(t, w))
	var made struct {
		Data struct {
			ID        string
			Providers []string `json:"allowed_providers"`
		}
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &made))
	assert.Len(t, made.Data.Providers, 5, "they are kept")
	w = g.do(t, http.MethodPatch, "/guardrails/"+made.Data.ID, `{`+lists+`}`, g.seeded.Management)
	assert.Equal(t, want, warned(t, w))
	w = g.do(t, http.MethodPatch, "/guardrails/"+made.Data.ID, `{"name":"h"}`, g.seeded.Management)
	assert.Nil(t, warned(t, w), "what is not given is not warned of again")
	w = g.do(t, http.MethodPost, "/byok", `{"provider":"ant","key":"k","allowed_models":["acme/judge","gone"]}`, g.seeded.Management)
	assert.Equal(t, []systemone.Issue{{Path: "allowed_models.1", Message: "gone is not in the catalog"}}, warned(t, w))

	changes, _, err := g.Organization.Changes(t.Context(), demo.Account, 0, 4)
	require.NoError(t, err)
	for i, n := range []int{1, 0, 6, 6} {
		var after struct{ Warnings []systemone.Issue }
		require.NoError(t, json.Unmarshal(changes[i].After, &after))
		assert.Len(t, after.Warnings, n, "%s %s", changes[i].Action, changes[i].Kind)
	}
}

func TestWarningsHaveABound(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	for _, entry := range []string{`"a"`, `"` + strings.Repeat("😀", 200) + `"`, `"` + strings.Repeat("p", 250) + `"`} {
		many := strings.TrimSuffix(strings.Repeat(entry+",", 9000), ",")
		if len(entry) > 10 {
			many = strings.TrimSuffix(strings.Repeat(entry+",", 300), ",")
		}
		w := g.do(t, http.MethodPost, "/guardrails", `{"name":"g","ignored_providers":[`+many+`]}`, g.seeded.Management)
		require.Equal(t, http.StatusCreated, w.Code, "%.300s", w.Body)
		list := warned(t, w)
		require.NotEmpty(t, list)
		assert.Contains(t, list[len(list)-1].Message, "more warnings are left out")
	}
}

// TestUnknownProvidersOfARequestAreTold: they are legal. The reply names them if the
// caller requested metadata, or if no endpoint is left.
func TestUnknownProvidersOfARequestAreTold(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	ask := func(provider string) string {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/systemone",
			strings.NewReader(strings.Replace(question, `{"model"`, `{"provider":`+provider+`,"model"`, 1)))
		r.Header.Set("Authorization", "Bearer "+string(g.seeded.Inference))
		r.Header.Set("X-Router-Metadata", "enabled")
		w := httptest.NewRecorder()
		g.Handler.ServeHTTP(w, r)
		return strconv.Itoa(w.Code) + " " + w.Body.String()
	}
	got := ask(`{"order":["ghost","ant"],"ignore":["gone"]}`)
	assert.Contains(t, got, `"warnings":[{"path":"provider.order.0","message":"ghost is not in the catalog"},{"path":"provider.ignore.0","message":"gone is not in the catalog"}]`)
	assert.NotContains(t, ask(`{"order":["ant"]}`), "warnings")
	got = ask(`{"only":["ghost"]}`)
	assert.True(t, strings.HasPrefix(got, "404 "), got)
	_, metadata, _ := strings.Cut(got, `"metadata":{`)
	metadata, _, _ = strings.Cut(metadata, `"router_metadata"`)
	assert.Contains(t, metadata, `"warnings":[{"path":"provider.only.0","message":"ghost is not in the catalog"}]`)
}
