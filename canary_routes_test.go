package signalbox_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// route is one route with a valid request. {names} stand for ids.
type route struct{ method, path, body string }

// mounted returns the path with its mount.
func (r route) mounted() string {
	if strings.HasPrefix(r.path, "/v1/") || strings.HasPrefix(r.path, "/api/") {
		return r.path
	}
	return "/api/v1" + r.path
}

// routes returns all routes of the documented interface, those that delete last.
func routes() []route {
	const (
		chat = `{"model":"acme/judge","messages":[{"role":"system","content":"Judge."},{"role":"user","content":"x"}],"route":"fallback","reasoning_effort":"low"}`
		work = "/workspaces/{workspace}"
		rail = "/guardrails/{guardrail}"
	)
	return []route{
		{"POST", "/systemone", twoQuestions},
		{"POST", "/v1/systemone", twoQuestions},
		{"POST", "/decisions", twoDecisions},
		{"POST", "/v1/decisions", twoDecisions},
		{"POST", "/api/alpha/decisions", twoQuestions},
		{"GET", "/v1/models", ""},
		{"GET", "/models", ""},
		{"GET", "/models/count", ""},
		{"GET", "/model/{author}/{slug}", ""},
		{"GET", "/models/{author}/{slug}/endpoints", ""},
		{"GET", "/providers", ""},
		{"GET", "/models/user", ""},
		{"GET", "/endpoints/zdr", ""},
		{"GET", "/key", ""},
		{"GET", "/credits", ""},
		{"GET", "/activity", ""},
		{"GET", "/keys", ""},
		{"POST", "/keys", `{"name":"made","limit":1,"limit_reset":"daily","expires_at":"2027-01-01T00:00:00Z","workspace_id":"{workspace}","creator_user_id":"{user}"}`},
		{"GET", "/keys/{hash}", ""},
		{"PATCH", "/keys/{hash}", `{"name":"new","limit_reset":"weekly"}`},
		{"GET", "/organization/settings", ""},
		{"PATCH", "/organization/settings", `{"is_filtered_model_catalog_enabled":false}`},
		{"GET", "/organization/members", ""},
		{"GET", "/workspaces", ""},
		{"POST", "/workspaces", `{"name":"New","slug":"new","default_provider_sort":"price"}`},
		{"GET", work, ""},
		{"PATCH", work, `{"name":"New","slug":"newer","default_provider_sort":"price"}`},
		{"GET", work + "/members", ""},
		{"POST", work + "/members/add", `{"user_ids":["{user}"]}`},
		{"POST", work + "/members/remove", `{"user_ids":["{user}"]}`},
		{"GET", work + "/budgets", ""},
		{"PUT", work + "/budgets/{interval}", `{"limit_usd":5}`},
		{"GET", work + "/budgets/{interval}", ""},
		{"GET", "/presets", ""},
		{"POST", "/presets/{preset}/chat/completions", chat},
		{"POST", "/presets/{preset}/messages", `{"model":"acme/judge","system":"Judge.","messages":[{"role":"user","content":"x"}]}`},
		{"POST", "/presets/{preset}/responses", `{"model":"acme/judge","instructions":"Judge.","input":"x"}`},
		{"GET", "/presets/{preset}", ""},
		{"GET", "/presets/{preset}/versions", ""},
		{"GET", "/presets/{preset}/versions/{version}", ""},
		{"GET", "/guardrails", ""},
		{"POST", "/guardrails", `{"name":"g","reset_interval":"daily","content_filter_builtins":[{"slug":"phone","action":"flag"}],"content_filters":[{"pattern":"x","action":"flag"}],"workspace_id":"{workspace}"}`},
		{"GET", rail, ""},
		{"PATCH", rail, `{"name":"g2","reset_interval":"weekly"}`},
		{"GET", "/guardrails/assignments/keys", ""},
		{"GET", "/guardrails/assignments/members", ""},
		{"GET", rail + "/assignments/keys", ""},
		{"POST", rail + "/assignments/keys", `{"key_hashes":["{hash}"]}`},
		{"POST", rail + "/assignments/keys/remove", `{"key_hashes":["{hash}"]}`},
		{"GET", rail + "/assignments/members", ""},
		{"POST", rail + "/assignments/members", `{"member_user_ids":["{user}"]}`},
		{"POST", rail + "/assignments/members/remove", `{"member_user_ids":["{user}"]}`},
		{"GET", "/byok", ""},
		{"POST", "/byok", `{"provider":"ant","key":"{new secret}","workspace_id":"{workspace}","allowed_models":["acme/judge"],"allowed_api_key_hashes":["{hash}"],"allowed_user_ids":["{user}"]}`},
		{"GET", "/byok/{credential}", ""},
		{"PATCH", "/byok/{credential}", `{"key":"{changed secret}","name":"n"}`},

		{"DELETE", "/byok/{credential}", ""},
		{"DELETE", work + "/budgets/{interval}", ""},
		{"DELETE", rail, ""},
		{"DELETE", "/keys/{hash}", ""},
		{"DELETE", work, ""},
	}
}

// keptAsSent reports whether the service may store and show the text of a member, or
// repeat it to the caller that sent it.
func keptAsSent(path string) bool {
	return regexp.MustCompile(`(^|\.)(name|description|content|system|instructions|input|pattern|key|model|allowed_models\.0|allowed_user_ids\.0)$`).MatchString(path)
}

// TestEveryRouteIsInTheWalk: the walk calls every documented route.
func TestEveryRouteIsInTheWalk(t *testing.T) {
	document, err := os.ReadFile("docs/openapi.yaml")
	require.NoError(t, err)
	names := regexp.MustCompile(`\{[^}]*\}`)
	walked := map[string]bool{}
	for _, r := range routes() {
		walked[r.method+" "+names.ReplaceAllString(r.mounted(), "{}")] = true
	}
	path, documented := "", 0
	for line := range strings.Lines(string(document)) {
		if m := regexp.MustCompile(`^  (/\S*):\s*$`).FindStringSubmatch(line); m != nil {
			path = names.ReplaceAllString(m[1], "{}")
		}
		if m := regexp.MustCompile(`^    (get|post|put|patch|delete):\s*$`).FindStringSubmatch(line); m != nil {
			documented++
			assert.True(t, walked[strings.ToUpper(m[1])+" "+path], "%s %s", m[1], path)
		}
	}
	assert.Equal(t, len(walked), documented)
}
