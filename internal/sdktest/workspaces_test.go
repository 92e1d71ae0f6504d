package sdktest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// orNull returns a text, or nil for "".
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// workspaceAs returns a workspace as the SDK must return it.
func workspaceAs(w organization.Workspace) object {
	return object{
		"id": w.ID, "name": w.Name, "slug": w.Slug, "description": w.Description, "createdAt": w.CreatedAt.UTC(), "updatedAt": w.UpdatedAt.UTC(),
		"createdBy": orNull(w.CreatedBy), "defaultGuardrailId": w.DefaultGuardrail, "defaultProviderSort": orNull(string(w.DefaultSort)),
		"includeByokInBudgets": w.IncludeBYOK, "defaultTextModel": nil, "defaultImageModel": nil, "ioLoggingApiKeyIds": nil, "ioLoggingSamplingRate": 0,
		"isDataDiscountLoggingEnabled": false, "isObservabilityBroadcastEnabled": false, "isObservabilityIoLoggingEnabled": false,
	}
}

func TestOpenRouterWorkspaces(t *testing.T) {
	t.Parallel()
	m := newManaged(t)
	gone, err := m.Organization.CreateWorkspace(t.Context(), m.by, organization.NewWorkspace{Name: "Gone", Slug: "gone"})
	require.NoError(t, err)
	lab := m.seeded.Lab.ID
	got := m.run(t,
		m.call("create", "workspaces.create", object{"createWorkspaceRequest": object{
			"name": "New", "slug": "new", "description": "A new one.", "defaultProviderSort": "price",
		}}),
		m.call("delete", "workspaces.delete", object{"id": gone.ID}),
		m.call("update", "workspaces.update", object{"id": "lab", "updateWorkspaceRequest": object{
			"name": "Laboratory", "description": nil, "defaultProviderSort": "latency",
		}}),
		m.call("get", "workspaces.get", object{"id": lab}),
		m.call("list", "workspaces.list", object{}),
		m.call("page", "workspaces.list", object{"offset": 1, "limit": 1}),

		m.call("bad create", "workspaces.create", object{"createWorkspaceRequest": object{"name": "x", "slug": "No Slug"}}),
		m.call("bad delete", "workspaces.delete", object{"id": gone.ID}),
		m.call("bad update", "workspaces.update", object{"id": lab, "updateWorkspaceRequest": object{"defaultProviderSort": "beauty"}}),
		m.call("bad get", "workspaces.get", object{"id": "none"}),
		m.call("bad list", "workspaces.list", object{"limit": 101}),
		call{Name: "inference", Key: string(m.seeded.Inference), Call: "workspaces.list"},
	)
	held := func(ref string) organization.Workspace {
		w, err := m.Organization.Workspace(t.Context(), demo.Account, ref)
		require.NoError(t, err)
		return w
	}
	for name, ref := range map[string]string{"create": "new", "update": lab, "get": lab} {
		same(t, workspaceAs(held(ref)), one(t, got[name]))
	}
	created, updated := held("new"), held(lab)
	assert.Equal(t, []any{"New", "A new one.", systemone.SortBy("price")}, []any{created.Name, *created.Description, created.DefaultSort})
	assert.Equal(t, []any{"Laboratory", systemone.SortBy("latency")}, []any{updated.Name, updated.DefaultSort})
	assert.JSONEq(t, `{"deleted":true}`, string(got["delete"].Value))
	_, err = m.Organization.Workspace(t.Context(), demo.Account, gone.ID)
	require.ErrorIs(t, err, organization.ErrNotFound)

	all, total, err := m.Organization.Workspaces(t.Context(), demo.Account, 0, 100)
	require.NoError(t, err)
	listed := parsed[page](t, got["list"])
	assert.Equal(t, total, listed.TotalCount)
	require.Len(t, listed.Data, len(all))
	for i, w := range all {
		same(t, workspaceAs(w), listed.Data[i])
	}
	assert.Equal(t, listed.Data[1:2], parsed[page](t, got["page"]).Data)
	refused(t, got, map[string]string{
		"bad create": bad, "bad delete": missing, "bad update": bad, "bad get": missing, "bad list": badOther, "inference": barredOther,
	})
}

func TestOpenRouterWorkspaceMembers(t *testing.T) {
	t.Parallel()
	m := newManaged(t)
	lab := m.seeded.Lab.ID
	users := func(key, ref string, ids ...string) object { return object{"id": ref, key: object{"userIds": ids}} }
	const add, drop = "bulkAddWorkspaceMembersRequest", "bulkRemoveWorkspaceMembersRequest"
	got := m.run(t,
		m.call("add", "workspaces.bulkAddMembers", users(add, lab, demo.Member, demo.Admin)),
		m.call("remove", "workspaces.bulkRemoveMembers", users(drop, lab, demo.Admin)),
		m.call("list", "workspaces.listMembers", object{"id": lab}),
		m.call("bad add", "workspaces.bulkAddMembers", users(add, lab, "nobody")),
		m.call("bad remove", "workspaces.bulkRemoveMembers", users(drop, lab, []string{}...)),
		m.call("bad list", "workspaces.listMembers", object{"id": "none"}),
	)
	held, total, err := m.Organization.Memberships(t.Context(), demo.Account, lab, 0, 100)
	require.NoError(t, err)
	require.Len(t, held, 1)
	p := held[0]
	assert.Equal(t, demo.Member, p.User)
	want := object{"id": p.ID, "userId": p.User, "workspaceId": lab, "role": "member", "createdAt": p.CreatedAt.UTC()}
	added := parsed[struct {
		Data       []object
		AddedCount int
	}](t, got["add"])
	assert.Equal(t, 2, added.AddedCount)
	require.Len(t, added.Data, 2)
	same(t, want, added.Data[0])
	assert.Equal(t, "admin", added.Data[1]["role"])
	assert.JSONEq(t, `{"removedCount":1}`, string(got["remove"].Value))
	listed := parsed[page](t, got["list"])
	assert.Equal(t, total, listed.TotalCount)
	require.Len(t, listed.Data, 1)
	same(t, want, listed.Data[0])
	refused(t, got, map[string]string{"bad add": bad, "bad remove": bad, "bad list": missing})
}

func TestOpenRouterWorkspaceBudgets(t *testing.T) {
	t.Parallel()
	m := newManaged(t)
	lab := m.seeded.Lab.ID
	of := func(interval string) object { return object{"workspaceRef": "lab", "interval": interval} }
	set := func(interval string, body object) object {
		o := of(interval)
		o["upsertWorkspaceBudgetRequest"] = body
		return o
	}
	got := m.run(t,
		m.call("lifetime", "workspaces.setBudget", set("lifetime", object{"limitUsd": 1000, "includeByokInBudgets": true})),
		m.call("monthly", "workspaces.setBudget", set("monthly", object{"limitUsd": 100.5})),
		m.call("weekly", "workspaces.setBudget", set("weekly", object{"limitUsd": 50})),
		m.call("daily", "workspaces.setBudget", set("daily", object{"limitUsd": 5})),
		m.call("delete", "workspaces.deleteBudget", of("weekly")),
		m.call("get", "workspaces.getBudget", of("monthly")),
		m.call("list", "workspaces.listBudgets", object{"workspaceRef": lab}),
		m.call("bad set", "workspaces.setBudget", set("daily", object{"limitUsd": 500})),
		m.call("bad delete", "workspaces.deleteBudget", object{"workspaceRef": "none", "interval": "weekly"}),
		m.call("bad get", "workspaces.getBudget", of("weekly")),
		m.call("bad list", "workspaces.listBudgets", object{"workspaceRef": "none"}),
	)
	w, err := m.Organization.Workspace(t.Context(), demo.Account, lab)
	require.NoError(t, err)
	assert.True(t, w.IncludeBYOK)
	require.Len(t, w.Budgets, 3)
	listed := parsed[struct {
		Data                 []object
		IncludeByokInBudgets bool
	}](t, got["list"])
	assert.True(t, listed.IncludeByokInBudgets)
	require.Len(t, listed.Data, 3)
	limits := map[string]router.USD{"lifetime": 1000 * router.Dollar, "monthly": 201 * router.Dollar / 2, "daily": 5 * router.Dollar}
	for i, b := range w.Budgets {
		name, reset := b.Interval.String(), any(b.Interval.String())
		if b.Interval == router.Lifetime {
			name, reset = "lifetime", nil
		}
		want := object{
			"id": b.ID, "workspaceId": lab, "limitUsd": dollars(t, &b.Limit), "resetInterval": reset,
			"createdAt": b.CreatedAt.UTC(), "updatedAt": b.UpdatedAt.UTC(),
		}
		assert.Equal(t, limits[name], b.Limit, name)
		same(t, want, one(t, got[name]))
		same(t, want, listed.Data[i])
		if name == "monthly" {
			same(t, want, one(t, got["get"]))
		}
	}
	assert.JSONEq(t, `{"deleted":true}`, string(got["delete"].Value))
	refused(t, got, map[string]string{"bad set": bad, "bad delete": missing, "bad get": missing, "bad list": missing})
}
