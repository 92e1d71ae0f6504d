package keys_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// shrinking is a town whose other workspace can be deleted.
type shrinking struct {
	town
	gone *atomic.Bool
}

func (d shrinking) Workspace(ctx context.Context, account, id string) (string, error) {
	if id == other && d.gone.Load() {
		return "", keys.ErrNotFound
	}
	return d.town.Workspace(ctx, account, id)
}

func TestAKeyIsGoneWithItsWorkspace(t *testing.T) {
	var gone atomic.Bool
	b := newBench(t, func(c *keys.Config) { c.Directory = shrinking{gone: &gone} })
	r, secret := b.key(t, keys.Key{Workspace: other})
	kept, keptSecret := b.key(t, keys.Key{})
	_, err := b.Authenticate(t.Context(), secret)
	require.NoError(t, err)
	gone.Store(true)
	_, _, err = b.Current(t.Context(), router.Principal{KeyHash: r.Hash, Account: "acme", Workspace: other})
	require.ErrorIs(t, err, keys.ErrRefused, "at once, where the store is read")
	b.clock.after(freshFor)
	_, err = b.Authenticate(t.Context(), secret)
	require.ErrorIs(t, err, keys.ErrRefused, "like an unknown one")
	_, err = b.Get(t.Context(), b.admin, r.Hash)
	require.ErrorIs(t, err, keys.ErrNotFound)
	_, err = b.Update(t.Context(), b.admin, r.Hash, keys.Patch{Name: router.To("n")})
	require.ErrorIs(t, err, keys.ErrNotFound)
	require.ErrorIs(t, b.Delete(t.Context(), b.admin, r.Hash), keys.ErrNotFound)
	_, err = b.List(t.Context(), b.admin, keys.Query{Workspace: other})
	require.ErrorIs(t, err, keys.ErrNotFound)

	require.NoError(t, b.ClearWorkspace(t.Context(), b.solo, other), "another account's are not touched")
	assert.Equal(t, 1, countIn(t, b, other))
	for range 2 {
		require.NoError(t, b.ClearWorkspace(t.Context(), b.admin, other))
		assert.Zero(t, countIn(t, b, other))
	}
	changes, _, err := b.set.Audit.Changes(t.Context(), "acme", 0, 1)
	require.NoError(t, err)
	assert.Equal(t, "delete", changes[0].Action)
	assert.Equal(t, r.Hash, changes[0].Object)

	_, err = b.Authenticate(t.Context(), keptSecret)
	require.NoError(t, err)
	for _, workspace := range []string{home, ""} {
		require.NoError(t, b.ClearWorkspace(t.Context(), b.admin, workspace))
	}
	_, err = b.Get(t.Context(), b.admin, kept.Hash)
	require.NoError(t, err, "a workspace that is there is left alone")
}

const freshFor = 10e9 // nanoseconds that a key is kept

func countIn(t *testing.T, b *bench, workspace string) int {
	t.Helper()
	n, err := b.set.Keys.CountIn(t.Context(), "acme", workspace)
	require.NoError(t, err)
	return n
}

func TestAKeyIsKeptWhileTheDirectoryFails(t *testing.T) {
	d := &town{}
	b := newBench(t, func(c *keys.Config) { c.Directory = d })
	_, secret := b.key(t, keys.Key{})
	_, unseen := b.key(t, keys.Key{})
	_, err := b.Authenticate(t.Context(), secret)
	require.NoError(t, err)
	d.err = errDown
	b.clock.after(freshFor)
	_, err = b.Authenticate(t.Context(), secret)
	require.NoError(t, err)
	_, err = b.Authenticate(t.Context(), unseen)
	require.ErrorIs(t, err, errDown)
	require.ErrorIs(t, b.ClearWorkspace(t.Context(), b.admin, other), errDown)
}

func TestACredentialIsGoneWithItsWorkspace(t *testing.T) {
	gone := false
	set := memory.New()
	s := credentials(t, set, func(c *keys.CredentialsConfig) {
		c.Workspace = func(_ context.Context, _, workspace string) (string, error) {
			switch {
			case workspace == "lab" && gone:
				return "", keys.ErrNoCredential
			case workspace == "fails":
				return "", errors.New("down")
			}
			return workspace, nil
		}
	})
	ctx := t.Context()
	c, err := s.Create(ctx, by("a"), keys.Credential{Provider: "ant", Workspace: "lab"}, canary)
	require.NoError(t, err)
	foreign, err := s.Create(ctx, by("b"), keys.Credential{Provider: "ant", Workspace: "lab"}, canary)
	require.NoError(t, err)
	gone = true
	_, err = s.Get(ctx, by("a"), c.ID)
	require.ErrorIs(t, err, keys.ErrNoCredential)
	_, err = s.Update(ctx, by("a"), c.ID, keys.CredentialPatch{Disabled: router.To(true)})
	require.ErrorIs(t, err, keys.ErrNoCredential)
	require.ErrorIs(t, s.Delete(ctx, by("a"), c.ID), keys.ErrNoCredential)

	for range 2 {
		require.NoError(t, s.ClearWorkspace(ctx, by("a"), "lab"))
		_, err = set.Credentials.Get(ctx, "a", c.ID)
		require.ErrorIs(t, err, keys.ErrNoCredential, "the sealed text, too")
	}
	_, err = set.Credentials.Get(ctx, "b", foreign.ID)
	require.NoError(t, err)
	require.Error(t, s.ClearWorkspace(ctx, by("a"), "fails"))

	gone = false
	c, err = s.Create(ctx, by("a"), keys.Credential{Provider: "ant", Workspace: "lab"}, canary)
	require.NoError(t, err)
	require.NoError(t, s.ClearWorkspace(ctx, by("a"), "lab"))
	_, err = s.Get(ctx, by("a"), c.ID)
	require.NoError(t, err, "a workspace that is there is left alone")
}
