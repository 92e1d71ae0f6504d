package sdktest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/keys"
)

// credentialAs returns a credential as the SDK must return it.
func credentialAs(c keys.Credential) object {
	return object{
		"id": c.ID, "provider": c.Provider, "label": c.Label, "name": orNull(c.Name), "disabled": c.Disabled, "sortOrder": c.Order,
		"isFallback": c.Fallback, "isByokOnly": false, "isRequired": false, "declaredZdr": false, "allowedModels": c.Models,
		"allowedApiKeyHashes": c.KeyHashes, "allowedUserIds": c.Members, "workspaceId": c.Workspace, "createdAt": c.CreatedAt.UTC(),
	}
}

func TestOpenRouterCredentials(t *testing.T) {
	t.Parallel()
	m := newManaged(t)
	const secret = "a-provider-secret-0123456789"
	made := func(name string) keys.Credential {
		c, err := m.Credentials.Create(t.Context(), m.by, keys.Credential{Provider: "lab", Name: name}, secret)
		require.NoError(t, err)
		return c
	}
	changed, gone := made("changed"), made("gone")
	p, err := m.Keys.Authenticate(t.Context(), m.seeded.Inference)
	require.NoError(t, err)
	lab := m.seeded.Lab.ID
	got := m.run(t,
		m.call("create", "byok.create", object{"createBYOKKeyRequest": object{
			"provider": "careless", "key": secret, "name": "ours", "workspaceId": lab, "isFallback": true, "disabled": true,
			"allowedModels": []string{"lab/answer"}, "allowedApiKeyHashes": []string{p.KeyHash}, "allowedUserIds": []string{demo.Member},
		}}),
		m.call("update", "byok.update", object{"id": changed.ID, "updateBYOKKeyRequest": object{"name": nil, "disabled": true, "isFallback": true, "key": "another-secret-0123456789"}}),
		m.call("delete", "byok.delete", object{"id": gone.ID}),
		m.call("get", "byok.get", object{"id": changed.ID}),
		m.call("list", "byok.list", object{}),
		m.call("filtered", "byok.list", object{"workspaceId": lab, "provider": "careless"}),
		m.call("bad create", "byok.create", object{"createBYOKKeyRequest": object{"provider": "nobody", "key": secret}}),
		m.call("bad update", "byok.update", object{"id": changed.ID, "updateBYOKKeyRequest": object{"key": ""}}),
		m.call("bad delete", "byok.delete", object{"id": gone.ID}),
		m.call("bad get", "byok.get", object{"id": unknownID}),
		m.call("bad list", "byok.list", object{"limit": 101}),
	)
	created, ok := one(t, got["create"])["id"].(string)
	require.True(t, ok)
	for name, id := range map[string]string{"create": created, "update": changed.ID, "get": changed.ID} {
		c, err := m.Credentials.Get(t.Context(), m.by, id)
		require.NoError(t, err)
		same(t, credentialAs(c), one(t, got[name]))
		assert.True(t, c.Disabled && c.Fallback, name)
	}
	assert.JSONEq(t, `{"deleted":true}`, string(got["delete"].Value))
	_, err = m.Credentials.Get(t.Context(), m.by, gone.ID)
	require.ErrorIs(t, err, keys.ErrNoCredential)
	for name, q := range map[string]keys.CredentialQuery{"list": {Limit: 100}, "filtered": {Workspace: lab, Provider: "careless", Limit: 100}} {
		held, total, err := m.Credentials.List(t.Context(), m.by, q)
		require.NoError(t, err)
		listed := parsed[page](t, got[name])
		assert.Equal(t, total, listed.TotalCount)
		require.Len(t, listed.Data, len(held))
		require.Len(t, held, 1)
		same(t, credentialAs(held[0]), listed.Data[0])
	}
	for name, o := range got {
		assert.NotContains(t, string(o.Value), secret, name)
	}
	refused(t, got, map[string]string{"bad create": bad, "bad update": bad, "bad delete": missing, "bad get": missing, "bad list": bad})
}
