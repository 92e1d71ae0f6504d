package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// someGuardrails gives a rig two guardrails of the account acme. The embedding program
// has assigned the first to the key h and the member bob.
func someGuardrails(tb testing.TB) option {
	tb.Helper()
	s := guardrailsOn(tb, memory.New().Guardrails)
	ctx, by := tb.Context(), router.Actor{Principal: router.Principal{Account: "acme"}}
	first, err := s.Create(ctx, by, "", guardrails.Patch{
		Name: router.To("first"), Filters: router.To([]content.Filter{{Pattern: "x+", Action: content.Block}}),
		Builtins: router.To([]content.Filter{{Slug: content.Email, Action: content.Redact}, {Slug: content.PromptInjection, UserOnly: true}}),
	})
	require.NoError(tb, err)
	_, err = s.Create(ctx, by, "", guardrails.Patch{Name: router.To("second")})
	require.NoError(tb, err)
	for kind, subject := range map[guardrails.Kind]string{guardrails.KeyKind: "h", guardrails.MemberKind: "bob"} {
		_, err = s.Assign(ctx, by, first.ID, kind, []string{subject})
		require.NoError(tb, err)
	}
	return withGuardrails(s)
}

// failingGuardrails is a store in which every call fails.
type failingGuardrails struct{ guardrails.Store }

var errGuardrails = errors.New("the storage is down: " + canary)

func (failingGuardrails) Create(context.Context, guardrails.Guardrail, router.Change) error {
	return errGuardrails
}

func (failingGuardrails) Get(context.Context, string, uuid.UUID) (guardrails.Guardrail, error) {
	return guardrails.Guardrail{}, errGuardrails
}

func (failingGuardrails) List(context.Context, string, string, int, int) ([]guardrails.Guardrail, int, error) {
	return nil, 0, errGuardrails
}

func (failingGuardrails) Delete(context.Context, string, uuid.UUID, router.Change) error {
	return errGuardrails
}

func (failingGuardrails) Unassign(context.Context, string, uuid.UUID, guardrails.Kind, []string, router.Change) (int, error) {
	return 0, errGuardrails
}

func (failingGuardrails) Assignments(context.Context, string, uuid.UUID, guardrails.Kind, int, int) ([]guardrails.Assignment, int, error) {
	return nil, 0, errGuardrails
}

// contestedGuardrails is a store in which every update loses to a concurrent one.
type contestedGuardrails struct{ guardrails.Store }

func (contestedGuardrails) Get(_ context.Context, account string, id uuid.UUID) (guardrails.Guardrail, error) {
	return guardrails.Guardrail{ID: id, Account: account, Name: "first", Revision: 1}, nil
}

func (contestedGuardrails) Replace(context.Context, guardrails.Guardrail, router.Change) error {
	return guardrails.ErrConflict
}

// guardrailRoutes returns every route of guardrails with a body that it accepts.
func guardrailRoutes() []struct{ method, path, body string } {
	const first, hashes, users = "/guardrails/" + guardrailFirst, `{"key_hashes":["h"]}`, `{"member_user_ids":["bob"]}`
	return []struct{ method, path, body string }{
		{http.MethodGet, "/guardrails", ""},
		{http.MethodPost, "/guardrails", `{"name":"third"}`},
		{http.MethodGet, first, ""},
		{http.MethodPatch, first, `{"name":"next"}`},
		{http.MethodDelete, first, ""},
		{http.MethodGet, "/guardrails/assignments/keys", ""},
		{http.MethodGet, "/guardrails/assignments/members", ""},
		{http.MethodGet, first + "/assignments/keys", ""},
		{http.MethodPost, first + "/assignments/keys", hashes},
		{http.MethodPost, first + "/assignments/keys/remove", hashes},
		{http.MethodGet, first + "/assignments/members", ""},
		{http.MethodPost, first + "/assignments/members", users},
		{http.MethodPost, first + "/assignments/members/remove", users},
	}
}

func guardrailScenarios(tb testing.TB) []scenario {
	tb.Helper()
	const first = "/guardrails/" + guardrailFirst
	down := withGuardrails(guardrailsOn(tb, failingGuardrails{memory.New().Guardrails}))
	contested := withGuardrails(guardrailsOn(tb, contestedGuardrails{memory.New().Guardrails}))
	list := append(soundGuardrails(), []scenario{
		{name: "lost", method: http.MethodPatch, path: first, body: `{"name":"n"}`, options: []option{contested}, status: 409, message: "Resource conflict. Please try again later.", kind: "conflict"},
		{name: "elsewhere", method: http.MethodGet, path: "/guardrails?workspace_id=" + uuid.Max.String(), status: 404, message: "Resource not found", kind: "not_found"},
		{name: "elsewhere", method: http.MethodPost, path: "/guardrails", body: `{"name":"n","workspace_id":"` + uuid.Max.String() + `"}`, status: 404, message: "Resource not found", kind: "not_found"},
		{name: "pattern", method: http.MethodPost, path: "/guardrails", body: `{"name":"n","content_filters":[{"pattern":"(","action":"flag"}]}`, status: 400, message: invalid, kind: "invalid_regex_pattern", want: map[string]any{"error.metadata.issues.0.path": "content_filters.0.pattern"}},
	}...)
	for _, r := range guardrailRoutes() {
		list = append(list, managedRefusals(r.method, r.path, r.body, down)...)
		if !strings.Contains(r.path, guardrailFirst) {
			continue
		}
		for _, id := range []string{uuid.Max.String(), "x"} {
			list = append(list, scenario{method: r.method, path: strings.Replace(r.path, guardrailFirst, id, 1), body: r.body, status: 404, message: "Resource not found", kind: "not_found"})
		}
	}
	for i := range list {
		s := &list[i]
		s.name = strings.Join([]string{s.method, s.path, s.name}, " ")
		s.key = orText(s.key, "management")
		s.options = slices.Concat([]option{account("acme")}, s.options)
	}
	return list
}

// soundGuardrails returns the successful reply of every route.
func soundGuardrails() []scenario {
	const first = "/guardrails/" + guardrailFirst
	assigned := func(member, subject string) map[string]any {
		return map[string]any{
			"total_count": 1.0, "data.0.guardrail_id": guardrailFirst, "data.0." + member: subject, "data.0.assigned_by": nil,
			"data.0.created_at": "2026-11-21T12:00:00Z",
		}
	}
	list := []scenario{
		{method: http.MethodGet, path: "/guardrails", status: 200, want: map[string]any{"total_count": 2.0, "data.0.name": "second", "data.1.name": "first"}},
		{method: http.MethodGet, path: "/guardrails?offset=1&limit=1&workspace_id=" + guardrailHome, status: 200, want: map[string]any{"total_count": 2.0, "data.0.name": "first"}, absent: []string{"data.1"}},
		{method: http.MethodPost, path: "/guardrails", body: `{"name":"third","limit_usd":0.5,"reset_interval":"daily","allowed_models":["m"],"enforce_zdr":true}`, status: 201, want: map[string]any{
			"data.name": "third", "data.limit_usd": 0.5, "data.reset_interval": "daily", "data.allowed_models": []any{"m"}, "data.enforce_zdr_other": true, "data.content_filter_builtins": []any{},
		}},
		{method: http.MethodGet, path: first, status: 200, want: map[string]any{
			"data.id": guardrailFirst, "data.content_filters.0.pattern": "x+", "data.content_filter_builtins.0.label": "[EMAIL]",
			"data.content_filter_builtins.1.scan_scope": "user_only", "data.content_filter_builtins.1.action": "flag",
		}},
		{method: http.MethodPatch, path: first, body: `{"name":"next","content_filters":null}`, status: 200, want: map[string]any{"data.name": "next", "data.content_filters": nil}},
		{method: http.MethodPatch, path: first, body: `{"color":"red"}`, status: 400, message: "No update fields provided", kind: "invalid_request"},
		{method: http.MethodDelete, path: first, status: 200, want: map[string]any{"deleted": true}},
	}
	for _, k := range []struct{ word, member, names, subject string }{{"keys", "key_hash", "key_hashes", "h"}, {"members", "user_id", "member_user_ids", "bob"}} {
		path, body := "/assignments/"+k.word, `{"`+k.names+`":["`+k.subject+`"]}`
		other := "/guardrails/00000000-0000-0000-0000-000000000003"
		list = append(list, []scenario{
			{method: http.MethodGet, path: "/guardrails" + path, status: 200, want: assigned(k.member, k.subject)},
			{method: http.MethodGet, path: first + path, status: 200, want: assigned(k.member, k.subject)},
			{method: http.MethodGet, path: first + path + "?offset=1", status: 200, want: map[string]any{"total_count": 1.0, "data": []any{}}},
			{method: http.MethodPost, path: first + path, body: body, status: 200, want: map[string]any{"assigned_count": 0.0}},
			{method: http.MethodPost, path: other + path, body: body, status: 200, want: map[string]any{"assigned_count": 1.0}},
			{method: http.MethodPost, path: first + path, body: `{"` + k.names + `":["stranger"]}`, status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": k.names + ".0"}},
			{method: http.MethodPost, path: first + path + "/remove", body: body, status: 200, want: map[string]any{"unassigned_count": 1.0}},
			{method: http.MethodPost, path: other + path + "/remove", body: body, status: 200, want: map[string]any{"unassigned_count": 0.0}},
			{method: http.MethodPost, path: first + path + "/remove", body: `{}`, status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": k.names}},
		}...)
	}
	return list
}
