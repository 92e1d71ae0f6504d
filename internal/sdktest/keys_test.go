package sdktest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
)

// keyAs returns a key as the SDK must return it.
func keyAs(t *testing.T, r keys.Record) object {
	t.Helper()
	o := currentAs(t, r)
	o["hash"], o["name"], o["disabled"], o["createdAt"], o["updatedAt"] = r.Hash, r.Name, r.Disabled, r.CreatedAt.UTC(), nil
	o["externalUser"] = nil
	if r.ExternalUser != "" {
		o["externalUser"] = r.ExternalUser
	}
	if !r.UpdatedAt.IsZero() {
		o["updatedAt"] = r.UpdatedAt.UTC()
	}
	return o
}

// currentAs returns the members that every description of a key has.
func currentAs(t *testing.T, r keys.Record) object {
	t.Helper()
	credit := func(i router.Interval) any { return dollars(t, &r.Usage[i].Credit) }
	byok := func(i router.Interval) any { v := r.Usage[i].BYOK(); return dollars(t, &v) }
	o := object{
		"label": r.Label, "limit": dollars(t, r.Limit), "limitRemaining": dollars(t, r.Remaining), "limitReset": nil,
		"includeByokInLimit": r.IncludeBYOK, "creatorUserId": r.Creator, "workspaceId": r.Workspace, "expiresAt": nil,
		"usage": credit(router.Lifetime), "usageDaily": credit(router.Daily), "usageWeekly": credit(router.Weekly), "usageMonthly": credit(router.Monthly),
		"byokUsage": byok(router.Lifetime), "byokUsageDaily": byok(router.Daily), "byokUsageWeekly": byok(router.Weekly), "byokUsageMonthly": byok(router.Monthly),
	}
	if r.Reset != router.Lifetime {
		o["limitReset"] = r.Reset.String()
	}
	if !r.ExpiresAt.IsZero() {
		o["expiresAt"] = iso(r.ExpiresAt)
	}
	return o
}

func TestOpenRouterKeys(t *testing.T) {
	t.Parallel()
	m := newManaged(t)
	lab := m.seeded.Lab.ID
	made := func(k keys.Key) keys.Record {
		r, _, err := m.Keys.Create(t.Context(), m.by, k)
		require.NoError(t, err)
		return r
	}
	kept := made(keys.Key{Name: "kept", Creator: demo.Admin, Workspace: lab, Disabled: true})
	changed := made(keys.Key{Name: "changed", Creator: demo.Member, Limit: new(router.Dollar)})
	gone := made(keys.Key{Name: "gone", Creator: demo.Admin})
	expires := m.now().Add(48 * time.Hour)
	body := func(hash string, body object) object { return object{"hash": hash, "requestBody": body} }
	got := m.run(t,
		call{Name: "spend", Key: string(m.seeded.Inference), Call: "systemOne.create", Request: decision("lab/answer", nil)},
		m.call("create", "apiKeys.create", object{"requestBody": object{
			"name": "full", "limit": 0.25, "limitReset": "weekly", "includeByokInLimit": true, "expiresAt": expires, "workspaceId": lab,
			"creatorUserId": demo.Member, "external": object{"user": "partner-1", "apiKey": "a partner's secret"},
		}}),
		m.call("plain", "apiKeys.create", object{"requestBody": object{"name": "plain"}}),
		m.call("update", "apiKeys.update", body(changed.Hash, object{"name": "new name", "disabled": true, "limit": 2.5, "limitReset": "daily", "includeByokInLimit": true})),
		m.call("delete", "apiKeys.delete", object{"hash": gone.Hash}),
		m.call("get", "apiKeys.get", object{"hash": kept.Hash}),
		m.call("list", "apiKeys.list", object{"includeDisabled": true, "offset": 0}),
		m.call("list enabled", "apiKeys.list", object{"workspaceId": lab}),
		m.call("current management", "apiKeys.getCurrentKeyMetadata", object{}),
		call{Name: "current", Key: string(m.seeded.Inference), Call: "apiKeys.getCurrentKeyMetadata"},

		m.call("bad create", "apiKeys.create", object{"requestBody": object{"name": ""}}),
		m.call("bad reset", "apiKeys.create", object{"requestBody": object{"name": "x", "limit": 1, "limitReset": "hourly"}}),
		m.call("foreign workspace", "apiKeys.create", object{"requestBody": object{"name": "x", "workspaceId": unknownID}}),
		m.call("bad list", "apiKeys.list", object{"workspaceId": "lab"}),
		m.call("bad get", "apiKeys.get", object{"hash": "none"}),
		m.call("bad update", "apiKeys.update", body(changed.Hash, object{"limit": -1})),
		m.call("empty update", "apiKeys.update", body(changed.Hash, object{})),
		m.call("bad delete", "apiKeys.delete", object{"hash": gone.Hash}),
		call{Name: "bad current", Key: "sk-rt-v1-nobodys", Call: "apiKeys.getCurrentKeyMetadata"},
		call{Name: "inference", Key: string(m.seeded.Inference), Call: "apiKeys.list"},
	)
	held := func(hash string) keys.Record {
		r, err := m.Keys.Get(t.Context(), m.by, hash)
		require.NoError(t, err)
		return r
	}
	for _, name := range []string{"create", "plain", "update", "get"} {
		o := one(t, got[name])
		hash, ok := o["hash"].(string)
		require.True(t, ok, name)
		same(t, keyAs(t, held(hash)), o)
	}
	created := parsed[struct {
		Data struct{ Hash string }
		Key  string
	}](t, got["create"])
	p, err := m.Keys.Authenticate(t.Context(), router.Secret(created.Key))
	require.NoError(t, err)
	assert.Equal(t, created.Data.Hash, p.KeyHash, "the key that is shown once works")
	full := held(created.Data.Hash)
	assert.Equal(t, []any{"full", router.Dollar / 4, router.Weekly, true, expires, lab, demo.Member, "partner-1"},
		[]any{full.Name, *full.Limit, full.Reset, full.IncludeBYOK, full.ExpiresAt, full.Workspace, full.Creator, full.ExternalUser})
	after := held(changed.Hash)
	assert.Equal(t, []any{"new name", true, router.Dollar * 5 / 2, router.Daily, true},
		[]any{after.Name, after.Disabled, *after.Limit, after.Reset, after.IncludeBYOK})
	assert.JSONEq(t, `{"deleted":true}`, string(got["delete"].Value))
	_, err = m.Keys.Get(t.Context(), m.by, gone.Hash)
	require.ErrorIs(t, err, keys.ErrNotFound)

	for name, q := range map[string]keys.Query{"list": {IncludeDisabled: true}, "list enabled": {Workspace: lab}} {
		records, err := m.Keys.List(t.Context(), m.by, q)
		require.NoError(t, err)
		require.NotEmpty(t, records)
		rows := parsed[page](t, got[name]).Data
		require.Len(t, rows, len(records), name)
		for i, r := range records {
			same(t, keyAs(t, r), rows[i])
		}
	}
	for name, secret := range map[string]router.Secret{"current": m.seeded.Inference, "current management": m.seeded.Management} {
		p, err := m.Keys.Authenticate(t.Context(), secret)
		require.NoError(t, err)
		r, organization, err := m.Keys.Current(t.Context(), p)
		require.NoError(t, err)
		require.True(t, organization)
		assert.Equal(t, !r.Management, r.Usage[router.Daily].Credit > 0, "the decision is on the books")
		o := one(t, got[name])
		for member, want := range currentAs(t, r) {
			if member == "workspaceId" && r.Workspace == "" {
				want = nil
			}
			same(t, object{member: want}, object{member: o[member]})
		}
		assert.Equal(t, r.Management, o["isManagementKey"])
		assert.Equal(t, demo.Account, o["organizationId"])
	}
	refused(t, got, map[string]string{
		"bad create": bad, "bad reset": bad, "foreign workspace": missingOther, "bad list": bad, "bad get": missing, "bad update": bad,
		"empty update": bad, "bad delete": missing, "bad current": unknown, "inference": barredOther,
	})
}
