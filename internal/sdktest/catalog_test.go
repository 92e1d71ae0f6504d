package sdktest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/router"
)

func TestOpenRouterUsableCatalog(t *testing.T) {
	t.Parallel()
	m := newManaged(t)
	got := m.run(t,
		m.call("user", "usable", object{"limit": 100}),
		m.call("all", "models.list", object{"limit": 500}),
		m.call("zdr", "endpoints.listZdrEndpoints", object{}),
		m.call("endpoints", "endpoints.list", object{"author": "lab", "slug": "answer"}),
		m.call("providers", "providers.list", object{}),
		m.call("count", "models.count", object{"outputModalities": "decisions"}),
		m.call("count of texts", "models.count", object{"outputModalities": "text,image"}),
		m.call("texts", "models.list", object{"outputModalities": "text"}),
		m.call("category", "models.list", object{"category": "legal"}),
		m.call("model", "models.get", object{"author": "lab", "slug": "answer"}),
		m.call("bad model", "models.get", object{"author": "lab", "slug": "none"}),
		m.call("bad user", "usable", object{"limit": 0}),
		m.call("bad endpoints", "endpoints.list", object{"author": "lab", "slug": "none"}),
		call{Name: "no user", Key: "sk-rt-v1-nobodys", Call: "usable"},
		call{Name: "no zdr", Key: "sk-rt-v1-nobodys", Call: "endpoints.listZdrEndpoints"},
	)
	catalog := m.Router.Catalog()
	user, all := parsed[page](t, got["user"]), parsed[page](t, got["all"])
	assert.Equal(t, len(all.Data), all.TotalCount)
	assert.Equal(t, len(user.Data), user.TotalCount)
	require.NotEmpty(t, user.Data)
	for _, o := range user.Data {
		id, ok := o["id"].(string)
		require.True(t, ok)
		assert.NotNil(t, catalog.Model(id), id)
	}
	assert.EqualValues(t, len(all.Data), one(t, got["count"])["count"])
	assert.EqualValues(t, 0, one(t, got["count of texts"])["count"])
	assert.Empty(t, parsed[page](t, got["texts"]).Data)
	category := parsed[page](t, got["category"]).Data
	require.Len(t, category, 1)
	assert.Equal(t, "lab/answer", category[0]["id"])
	assert.Equal(t, "lab/answer", one(t, got["model"])["id"])
	zdr := parsed[struct{ Data []object }](t, got["zdr"]).Data
	require.NotEmpty(t, zdr)
	for _, o := range zdr {
		assert.Equal(t, "Scripted Lab", o["providerName"], "the careless one keeps what it is sent")
	}
	listed := parsed[struct {
		Data struct {
			ID        string
			Endpoints []object
		}
	}](t, got["endpoints"]).Data
	assert.Equal(t, "lab/answer", listed.ID)
	assert.Len(t, listed.Endpoints, 2)
	providers := parsed[page](t, got["providers"]).Data
	require.Len(t, providers, 3)
	for _, o := range providers {
		slug, ok := o["slug"].(string)
		require.True(t, ok)
		require.NotNil(t, catalog.Provider(slug), slug)
		assert.Equal(t, catalog.Provider(slug).Name, o["name"])
	}
	refused(t, got, map[string]string{"bad user": badOther, "bad endpoints": missing, "bad model": missing, "no user": unknown, "no zdr": unknownOther})
}

func TestOpenRouterActivityAndCredits(t *testing.T) {
	t.Parallel()
	m := newManaged(t)
	_, err := m.Organization.TopUp(t.Context(), m.by, "payment-1", 5*router.Dollar)
	require.NoError(t, err)
	ask := call{Name: "first", Key: string(m.seeded.Inference), Call: "systemOne.create", Request: decision("lab/answer", nil)}
	again := ask
	again.Name = "second"
	for name, o := range m.run(t, ask, again) {
		require.Nil(t, o.Error, "%s: %+v", name, o.Error)
	}
	m.nano.Add(int64(24 * time.Hour)) // activity covers only past days
	p, err := m.Keys.Authenticate(t.Context(), m.seeded.Inference)
	require.NoError(t, err)
	queries := map[string]activity.Query{
		"all": {}, "day": {Date: "2026-11-20"}, "key": {KeyHash: p.KeyHash}, "member": {Member: demo.Admin},
		"workspace": {Workspace: m.seeded.Home.ID}, "split": {ByWorkspace: true},
	}
	got := m.run(t,
		m.call("all", "analytics.getUserActivity", object{}),
		m.call("day", "analytics.getUserActivity", object{"date": "2026-11-20"}),
		m.call("key", "analytics.getUserActivity", object{"apiKeyHash": p.KeyHash}),
		m.call("member", "analytics.getUserActivity", object{"userId": demo.Admin}),
		m.call("workspace", "analytics.getUserActivity", object{"workspaceId": m.seeded.Home.ID}),
		m.call("split", "analytics.getUserActivity", object{"groupBy": "workspace"}),
		m.call("credits", "credits.getCredits", object{}),
		m.call("bad day", "analytics.getUserActivity", object{"date": "yesterday"}),
		call{Name: "no activity", Key: string(m.seeded.Inference), Call: "analytics.getUserActivity"},
		call{Name: "no credits", Key: string(m.seeded.Inference), Call: "credits.getCredits"},
	)
	for name, q := range queries {
		items, err := m.Activity.Items(t.Context(), demo.Account, q)
		require.NoError(t, err)
		require.Len(t, items, 1, name)
		i := items[0]
		byok := i.Cost.BYOK()
		want := object{
			"date": i.Date, "model": i.Model, "modelPermaslug": i.Permaslug, "endpointId": i.Endpoint, "providerName": i.Provider,
			"requests": 2, "promptTokens": i.Prompt, "completionTokens": i.Completion, "reasoningTokens": i.Reasoning,
			"usage": dollars(t, &i.Cost.Credit), "byokUsageInference": dollars(t, &byok),
		}
		if name == "split" {
			want["workspaceId"] = m.seeded.Home.ID
		}
		rows := parsed[page](t, got[name]).Data
		require.Len(t, rows, 1, name)
		same(t, want, rows[0])
	}
	credits, err := m.Organization.Credits(t.Context(), demo.Account)
	require.NoError(t, err)
	assert.Positive(t, credits.Used)
	same(t, object{"totalCredits": 5, "totalUsage": dollars(t, &credits.Used)}, one(t, got["credits"]))
	refused(t, got, map[string]string{"bad day": bad, "no activity": barred, "no credits": barred})
}

// TestOpenRouterMembers reads the members of the organization.
func TestOpenRouterMembers(t *testing.T) {
	t.Parallel()
	m := newManaged(t)
	got := m.run(t,
		m.call("members", "organization.listMembers", object{}),
		m.call("second", "organization.listMembers", object{"offset": 1, "limit": 1}),
		m.call("bad members", "organization.listMembers", object{"limit": 101}),
		call{Name: "no members", Key: string(m.seeded.Inference), Call: "organization.listMembers"},
	)
	held, total, err := m.Organization.Members(t.Context(), demo.Account, 0, 100)
	require.NoError(t, err)
	var want []object
	for _, p := range held {
		want = append(want, object{
			"id": p.ID, "email": p.Email, "firstName": p.FirstName, "lastName": p.LastName,
			"role": map[bool]string{true: "org:admin", false: "org:member"}[p.ID == demo.Admin],
		})
	}
	listed := parsed[page](t, got["members"])
	assert.Equal(t, total, listed.TotalCount)
	assert.Equal(t, want, listed.Data)
	assert.Equal(t, want[1:], parsed[page](t, got["second"]).Data)
	refused(t, got, map[string]string{"bad members": badOther, "no members": barredOther})
}
