package sdktest

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/router"
)

// fullGuardrail returns a guardrail with every supported member.
func fullGuardrail(workspace string) object {
	return object{
		"name": "full", "description": "Everything.", "workspaceId": workspace, "allowedModels": []string{"lab/answer"}, "ignoredModels": []string{"lab/half"},
		"allowedProviders": []string{"lab"}, "ignoredProviders": []string{"careless"}, "limitUsd": 12.5, "resetInterval": "weekly", "includeByokInBudgets": true,
		"enforceZdrAnthropic": true, "enforceZdrGoogle": false, "enforceZdrOpenai": true, "enforceZdrXai": false, "enforceZdrOther": true,
		"enableFreeModelPublication": false, "enableFreeModelTraining": false, "enablePaidModelTraining": true,
		"contentFilters": []any{object{"pattern": "ticket-[0-9]+", "action": "redact", "label": "[TICKET]"}},
		"contentFilterBuiltins": []any{
			object{"slug": "email", "action": "redact"},
			object{"slug": "credit-card", "action": "block"},
			object{"slug": "regex-prompt-injection", "action": "flag", "scanScope": "user_only"},
		},
	}
}

func TestOpenRouterGuardrails(t *testing.T) {
	t.Parallel()
	m := newManaged(t)
	made := func(name string) string {
		g, err := m.Guardrails.Create(t.Context(), m.by, "", guardrails.Patch{Name: router.Update[string]{Set: true, To: name}})
		require.NoError(t, err)
		return g.ID.String()
	}
	changed, gone, lab := made("changed"), made("gone"), m.seeded.Lab.ID
	got := m.run(t,
		m.call("create", "guardrails.create", object{"createGuardrailRequest": fullGuardrail(lab)}),
		m.call("update", "guardrails.update", object{"id": changed, "updateGuardrailRequest": object{"name": "new name", "limitUsd": 3, "resetInterval": "daily"}}),
		m.call("delete", "guardrails.delete", object{"id": gone}),
		m.call("get", "guardrails.get", object{"id": changed}),
		m.call("list", "guardrails.list", object{"workspaceId": lab}),
		m.call("bad create", "guardrails.create", object{"createGuardrailRequest": object{"name": "x", "limitUsd": -1}}),
		m.call("bad update", "guardrails.update", object{"id": changed, "updateGuardrailRequest": object{"contentFilters": []any{object{"pattern": "(", "action": "block"}}}}),
		m.call("bad delete", "guardrails.delete", object{"id": gone}),
		m.call("bad get", "guardrails.get", object{"id": unknownID}),
		m.call("bad list", "guardrails.list", object{"limit": 101}),
	)
	full := one(t, got["create"])
	for member, want := range fullGuardrail(lab) {
		if member != "contentFilterBuiltins" { // whose labels and scopes the service fills in
			same(t, object{member: want}, object{member: full[member]})
		}
	}
	assert.Len(t, full["contentFilterBuiltins"], 3)
	id, ok := full["id"].(string)
	require.True(t, ok)
	held, err := m.Guardrails.Get(t.Context(), m.by, uuid.MustParse(id))
	require.NoError(t, err)
	assert.Equal(t, []any{"full", lab, router.Weekly, 25 * router.Dollar / 2}, []any{held.Name, held.Workspace, held.Reset, *held.Limit})
	assert.Len(t, held.Builtins, 3)
	after, err := m.Guardrails.Get(t.Context(), m.by, uuid.MustParse(changed))
	require.NoError(t, err)
	updated := one(t, got["update"])
	assert.Equal(t, []any{"new name", 3 * router.Dollar, router.Daily}, []any{after.Name, *after.Limit, after.Reset})
	assert.Equal(t, []any{"new name", 3.0, "daily"}, []any{updated["name"], updated["limitUsd"], updated["resetInterval"]})
	assert.Equal(t, updated, one(t, got["get"]))
	_, err = m.Guardrails.Get(t.Context(), m.by, uuid.MustParse(gone))
	require.ErrorIs(t, err, guardrails.ErrNotFound)
	_, total, err := m.Guardrails.List(t.Context(), m.by, lab, 0, 100)
	require.NoError(t, err)
	listed := parsed[page](t, got["list"])
	assert.Equal(t, total, listed.TotalCount)
	assert.Contains(t, listed.Data, full)
	refused(t, got, map[string]string{"bad create": bad, "bad update": bad, "bad delete": missing, "bad get": missing, "bad list": bad})
}

func TestOpenRouterGuardrailAssignments(t *testing.T) {
	t.Parallel()
	m := newManaged(t)
	g, err := m.Guardrails.Create(t.Context(), m.by, "", guardrails.Patch{Name: router.Update[string]{Set: true, To: "g"}})
	require.NoError(t, err)
	p, err := m.Keys.Authenticate(t.Context(), m.seeded.Inference)
	require.NoError(t, err)
	id := g.ID.String()
	ids := func(request, member string, list ...string) object {
		return object{"id": id, request: object{member: list}}
	}
	got := m.run(t,
		m.call("assign keys", "guardrails.bulkAssignKeys", ids("bulkAssignKeysRequest", "keyHashes", p.KeyHash)),
		m.call("assign members", "guardrails.bulkAssignMembers", ids("bulkAssignMembersRequest", "memberUserIds", demo.Member)),
		m.call("keys", "guardrails.listKeyAssignments", object{}),
		m.call("its keys", "guardrails.listGuardrailKeyAssignments", object{"id": id}),
		m.call("members", "guardrails.listMemberAssignments", object{}),
		m.call("its members", "guardrails.listGuardrailMemberAssignments", object{"id": id}),
		m.call("bad keys", "guardrails.bulkAssignKeys", ids("bulkAssignKeysRequest", "keyHashes", "none")),
		m.call("bad members", "guardrails.bulkAssignMembers", ids("bulkAssignMembersRequest", "memberUserIds", "nobody")),
		m.call("bad its keys", "guardrails.listGuardrailKeyAssignments", object{"id": unknownID}),
		m.call("bad its members", "guardrails.listGuardrailMemberAssignments", object{"id": unknownID}),
		m.call("bad all keys", "guardrails.listKeyAssignments", object{"limit": 101}),
		m.call("bad all members", "guardrails.listMemberAssignments", object{"limit": 101}),
	)
	assert.JSONEq(t, `{"assignedCount":1}`, string(got["assign keys"].Value))
	assert.JSONEq(t, `{"assignedCount":1}`, string(got["assign members"].Value))
	for name, kind := range map[string]guardrails.Kind{"keys": guardrails.KeyKind, "members": guardrails.MemberKind} {
		held, _, err := m.Guardrails.Assignments(t.Context(), m.by, g.ID, kind, 0, 100)
		require.NoError(t, err)
		require.Len(t, held, 1)
		a := held[0]
		want := object{"id": a.ID, "guardrailId": id, "assignedBy": orNull(a.By), "createdAt": a.CreatedAt.UTC()}
		if kind == guardrails.KeyKind {
			want["keyHash"], want["keyName"], want["keyLabel"] = a.Subject, a.Name, a.Label
		} else {
			want["userId"], want["organizationId"] = a.Subject, demo.Account
		}
		for _, list := range []string{name, "its " + name} {
			listed := parsed[page](t, got[list])
			assert.Equal(t, 1, listed.TotalCount)
			require.Len(t, listed.Data, 1)
			same(t, want, listed.Data[0])
		}
	}
	refused(t, got, map[string]string{
		"bad keys": bad, "bad members": bad, "bad its keys": missing, "bad its members": missing, "bad all keys": badOther, "bad all members": badOther,
	})

	got = m.run(t,
		m.call("keys", "guardrails.bulkUnassignKeys", ids("bulkUnassignKeysRequest", "keyHashes", p.KeyHash)),
		m.call("members", "guardrails.bulkUnassignMembers", ids("bulkUnassignMembersRequest", "memberUserIds", demo.Member)),
		m.call("bad keys", "guardrails.bulkUnassignKeys", ids("bulkUnassignKeysRequest", "keyHashes", []string{}...)),
		m.call("bad members", "guardrails.bulkUnassignMembers", ids("bulkUnassignMembersRequest", "memberUserIds", []string{}...)),
	)
	assert.JSONEq(t, `{"unassignedCount":1}`, string(got["keys"].Value))
	assert.JSONEq(t, `{"unassignedCount":1}`, string(got["members"].Value))
	for _, kind := range []guardrails.Kind{guardrails.KeyKind, guardrails.MemberKind} {
		_, total, err := m.Guardrails.Assignments(t.Context(), m.by, g.ID, kind, 0, 100)
		require.NoError(t, err)
		assert.Zero(t, total)
	}
	refused(t, got, map[string]string{"bad keys": bad, "bad members": bad})
}
