package keys_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

func TestResealedTextsNeedTheNewKeyAlone(t *testing.T) {
	set := memory.New()
	old := credentials(t, set)
	var made []keys.Credential
	for i := range 120 { // more than a page
		c, err := old.Create(t.Context(), by("a"), keys.Credential{Provider: "ant", Disabled: i%2 == 1}, canary)
		require.NoError(t, err)
		made = append(made, c)
	}
	_, err := old.Create(t.Context(), by("b"), keys.Credential{Provider: "ant"}, canary)
	require.NoError(t, err)
	both := credentials(t, set, func(c *keys.CredentialsConfig) {
		c.SealingKeys = []keys.SealingKey{sealingKey("n2"), sealingKey("k1")}
	})
	young := credentials(t, set, func(c *keys.CredentialsConfig) { c.SealingKeys = []keys.SealingKey{sealingKey("n2")} })
	for _, want := range []int{120, 0} {
		n, err := both.Reseal(t.Context(), by("a"), "")
		require.NoError(t, err)
		assert.Equal(t, want, n)
	}
	own := offered(t, young, inDefault("a"))
	require.Len(t, own, 60)
	assert.Equal(t, canary, own[0].Secret)
	c, err := young.Get(t.Context(), by("a"), made[1].ID)
	require.NoError(t, err)
	want := made[1]
	want.Revision = 2
	assert.Equal(t, want, c, "nothing else has changed")
	changes, _, err := set.Audit.Changes(t.Context(), "a", 0, 1)
	require.NoError(t, err)
	assert.Equal(t, "reseal", changes[0].Action)

	_, err = young.Reseal(t.Context(), by("b"), "default")
	require.ErrorIs(t, err, keys.ErrSealed, "another account's still needs the old one")
	_, err = both.Reseal(t.Context(), by("a"), "fails")
	require.ErrorIs(t, err, errHook)
}

// overtaking is a store in which another change precedes the first Update.
type overtaking struct {
	keys.CredentialStore
	first func()
}

func (s *overtaking) Update(ctx context.Context, c keys.StoredCredential, change router.Change) error {
	if first := s.first; first != nil {
		s.first = nil
		first()
	}
	return s.CredentialStore.Update(ctx, c, change)
}

func TestResealingLosesNoConcurrentChange(t *testing.T) {
	set := memory.New()
	plain := credentials(t, set)
	c, err := plain.Create(t.Context(), by("a"), keys.Credential{Provider: "ant"}, canary)
	require.NoError(t, err)
	store := &overtaking{CredentialStore: set.Credentials, first: func() {
		_, err := plain.Update(t.Context(), by("a"), c.ID, keys.CredentialPatch{Secret: router.To(router.Secret("another-one"))})
		assert.NoError(t, err)
	}}
	both := credentials(t, set, func(c *keys.CredentialsConfig) {
		c.Store, c.SealingKeys = store, []keys.SealingKey{sealingKey("n2"), sealingKey("k1")}
	})
	n, err := both.Reseal(t.Context(), by("a"), "")
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	young := credentials(t, set, func(c *keys.CredentialsConfig) { c.SealingKeys = []keys.SealingKey{sealingKey("n2")} })
	assert.Equal(t, router.Secret("another-one"), offered(t, young, inDefault("a"))[0].Secret)
}
