package organization_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

func TestNewRefusesToWorkWithoutAStore(t *testing.T) {
	_, err := organization.New(organization.Config{})
	require.ErrorIs(t, err, organization.ErrConfig)
}

func TestCreateAccountMakesItsDefaultWorkspaceAndOwner(t *testing.T) {
	b := newBench(t)
	id, err := b.DefaultWorkspace(t.Context(), "acme")
	require.NoError(t, err)
	w, err := b.Workspace(t.Context(), "acme", "default")
	require.NoError(t, err)
	assert.Equal(t, id, w.ID)
	assert.NotEmpty(t, w.DefaultGuardrail)
	assert.Equal(t, "ann", w.CreatedBy)
	m, err := b.Member(t.Context(), "acme", "ann")
	require.NoError(t, err)
	assert.Equal(t, organization.RoleAdmin, m.Role)
	for user, want := range map[string]bool{"ann": true, "ANN": false, "bob": false} {
		is, err := b.IsMember(t.Context(), "acme", user)
		require.NoError(t, err)
		assert.Equal(t, want, is, user)
	}
	_, err = b.CreateAccount(t.Context(), router.Actor{}, organization.NewAccount{ID: "acme", Name: "x", Owner: m})
	require.ErrorIs(t, err, organization.ErrExists)
	made, err := b.CreateAccount(t.Context(), router.Actor{}, organization.NewAccount{Name: "x", Owner: m})
	require.NoError(t, err)
	assert.Len(t, made.ID, 36)
}

func TestAccountsRefuseBadValues(t *testing.T) {
	b := newBench(t)
	owner := organization.Member{ID: "x", Email: "x@y"}
	for name, c := range map[string]struct {
		account organization.NewAccount
		want    []string
	}{
		"nothing":    {organization.NewAccount{}, []string{"owner.id", "owner.email", "name"}},
		"long name":  {organization.NewAccount{Name: strings.Repeat("é", 101), Owner: owner}, []string{"name"}},
		"no text":    {organization.NewAccount{ID: "\x00", Name: "\xff", Owner: organization.Member{ID: "\x00", Email: "@\x00", FirstName: "\x00", LastName: strings.Repeat("é", 101)}}, []string{"owner.id", "owner.email", "owner.first_name", "owner.last_name", "name", "id"}},
		"no address": {organization.NewAccount{Name: "x", Owner: organization.Member{ID: "x", Email: "x"}}, []string{"owner.email"}},
	} {
		_, err := b.CreateAccount(t.Context(), router.Actor{}, c.account)
		assert.Equal(t, c.want, paths(t, err), name)
	}
	_, err := b.UpdateAccount(t.Context(), b.by, organization.AccountUpdate{
		Name: router.To(""), Allowed: router.To([]string{"a", " "}), Ignored: router.To([]string{"\x00"}),
	})
	assert.Equal(t, []string{"name", "allowed", "ignored"}, paths(t, err))
	_, err = b.AddMember(t.Context(), b.by, organization.Member{ID: strings.Repeat("x", 257), Role: "admin"})
	assert.Equal(t, []string{"id", "email", "role"}, paths(t, err))
	_, err = b.UpdateMember(t.Context(), b.by, organization.Member{ID: "ann", Email: "ann@x", Role: "owner"})
	assert.Equal(t, []string{"role"}, paths(t, err))
}

func TestPersonalAccountsAreNoOrganization(t *testing.T) {
	b := newBench(t)
	a, err := b.CreateAccount(t.Context(), router.Actor{}, organization.NewAccount{
		Name: "Pat", Personal: true, Owner: organization.Member{ID: "pat", Email: "p@x"},
	})
	require.NoError(t, err)
	by := router.Actor{Principal: router.Principal{Account: a.ID}}
	_, err = b.Settings(t.Context(), a.ID)
	require.ErrorIs(t, err, organization.ErrNotFound)
	_, err = b.SetFilteredCatalog(t.Context(), by, true)
	require.ErrorIs(t, err, organization.ErrNotFound)
	_, _, err = b.Members(t.Context(), a.ID, 0, 50)
	require.ErrorIs(t, err, organization.ErrNotFound)
	_, err = b.AddMember(t.Context(), by, organization.Member{ID: "cy", Email: "c@x", Role: organization.RoleMember})
	assert.Equal(t, []string{"account"}, paths(t, err))
	assert.Equal(t, []string{"account"}, paths(t, b.RemoveMember(t.Context(), by, "pat")))
	list, total, err := b.Memberships(t.Context(), a.ID, "default", 0, 50)
	require.NoError(t, err)
	assert.Equal(t, 1, total)
	assert.Equal(t, "pat", list[0].User)
	_, err = b.UpdateAccount(t.Context(), by, organization.AccountUpdate{FilteredCatalog: router.To(true)})
	require.NoError(t, err)
	on, err := b.FilteredCatalog(t.Context(), a.ID)
	require.NoError(t, err)
	assert.False(t, on, "which is for organizations, whatever the embedding program says")
}

func TestSettings(t *testing.T) {
	b := newBench(t)
	got, err := b.Settings(t.Context(), "acme")
	require.NoError(t, err)
	assert.False(t, got.FilteredCatalog)
	on, err := b.FilteredCatalog(t.Context(), "acme")
	require.NoError(t, err)
	assert.False(t, on)
	got, err = b.SetFilteredCatalog(t.Context(), b.by, true)
	require.NoError(t, err)
	assert.True(t, got.FilteredCatalog)
	on, err = b.FilteredCatalog(t.Context(), "acme")
	require.NoError(t, err)
	assert.True(t, on, "at once")
	_, err = b.Settings(t.Context(), "nobody")
	require.ErrorIs(t, err, organization.ErrNotFound)
}

func TestMembersComeAndGo(t *testing.T) {
	b := newBench(t)
	b.member(t, "bob")
	m, err := b.UpdateMember(t.Context(), b.by, organization.Member{ID: "bob", Email: "b@x", FirstName: "Bob", Role: organization.RoleAdmin})
	require.NoError(t, err)
	got, err := b.Member(t.Context(), "acme", "bob")
	require.NoError(t, err)
	assert.Equal(t, m, got)
	assert.Equal(t, "Bob", got.FirstName)
	b.keys["acme//bob"] = 1
	assert.Equal(t, []string{"id"}, paths(t, b.RemoveMember(t.Context(), b.by, "bob")))
	b.keys["acme//bob"] = 0
	require.NoError(t, b.RemoveMember(t.Context(), b.by, "bob"))
	require.ErrorIs(t, b.RemoveMember(t.Context(), b.by, "bob"), organization.ErrNotFound)
	_, total, err := b.Members(t.Context(), "acme", 0, 50)
	require.NoError(t, err)
	assert.Equal(t, 1, total)
}

func TestEveryChangeLeavesARecord(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	b.member(t, "bob")
	w := b.east(t)
	steps := []struct {
		action, kind string
		do           func() error
	}{
		{"update", "account", func() error { _, err := b.SetFilteredCatalog(ctx, b.by, true); return err }},
		{"update", "account", func() error {
			_, err := b.UpdateAccount(ctx, b.by, organization.AccountUpdate{ZDR: router.To(true)})
			return err
		}},
		{"top_up", "account", func() error { _, err := b.TopUp(ctx, b.by, "p", router.Dollar); return err }},
		{"update", "member", func() error {
			_, err := b.UpdateMember(ctx, b.by, organization.Member{ID: "bob", Email: "b@x", Role: organization.RoleAdmin})
			return err
		}},
		{"update", "workspace", func() error {
			_, err := b.UpdateWorkspace(ctx, b.by, w.ID, organization.WorkspaceUpdate{Name: router.To("East")})
			return err
		}},
		{"add_members", "workspace", func() error { _, _, err := b.AddToWorkspace(ctx, b.by, w.ID, []string{"bob"}); return err }},
		{"remove_members", "workspace", func() error { _, err := b.RemoveFromWorkspace(ctx, b.by, w.ID, []string{"bob"}); return err }},
		{"set_budget", "workspace", func() error {
			_, err := b.SetBudget(ctx, b.by, w.ID, router.Daily, router.Dollar, router.Update[bool]{})
			return err
		}},
		{"delete_budget", "workspace", func() error { return b.DeleteBudget(ctx, b.by, w.ID, router.Daily) }},
		{"delete", "workspace", func() error { return b.DeleteWorkspace(ctx, b.by, w.ID) }},
		{"delete", "member", func() error { return b.RemoveMember(ctx, b.by, "bob") }},
	}
	for i, step := range steps {
		require.NoError(t, step.do())
		list, total, err := b.Changes(ctx, "acme", 0, 1)
		require.NoError(t, err)
		assert.Equal(t, 3+i+1, total, step.action)
		c := list[0]
		assert.Equal(t, step.action, c.Action)
		assert.Equal(t, step.kind, c.Kind)
		assert.Equal(t, b.by, c.Actor)
		assert.Equal(t, "acme", c.Account)
		assert.Equal(t, noon, c.At)
		assert.NotEmpty(t, c.Object)
		assert.True(t, c.Before == nil || json.Valid(c.Before))
		assert.False(t, c.Before == nil && c.After == nil)
	}
	_, err := b.UpdateAccount(ctx, b.by, organization.AccountUpdate{Name: router.To("")})
	require.Error(t, err)
	_, total, err := b.Changes(ctx, "acme", 0, 1)
	require.NoError(t, err)
	assert.Equal(t, 3+len(steps), total, "what is refused leaves none")
}
