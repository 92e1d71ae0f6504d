package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/store"
)

func orgMembers(t *testing.T, set store.Set) {
	t.Helper()
	s, ctx := set.Organization, t.Context()
	orgSeed(t, s)
	m := organization.Member{
		ID: "cy", Email: "cy@x.example", FirstName: "Cy", LastName: "Young", Role: organization.RoleMember, CreatedAt: orgNoon, Version: 1,
	}
	require.NoError(t, s.AddMember(ctx, "a", m, orgChange("a")))
	require.ErrorIs(t, s.AddMember(ctx, "a", m, orgChange("a")), organization.ErrExists)
	require.NoError(t, s.AddMember(ctx, "b", m, orgChange("b")), "one person in two accounts")
	got, err := s.Member(ctx, "a", "cy")
	require.NoError(t, err)
	assert.Equal(t, m, got)
	m.Role = organization.RoleAdmin
	require.NoError(t, s.ReplaceMember(ctx, "a", m, orgChange("a")))
	got, err = s.Member(ctx, "a", "cy")
	require.NoError(t, err)
	assert.Equal(t, organization.RoleAdmin, got.Role)
	require.NoError(t, s.RemoveMember(ctx, "a", "cy", orgChange("a")))
	_, err = s.Member(ctx, "a", "cy")
	require.ErrorIs(t, err, organization.ErrNotFound)
	require.ErrorIs(t, s.RemoveMember(ctx, "a", "cy", orgChange("a")), organization.ErrNotFound)
	_, err = s.Member(ctx, "a", "CY")
	require.ErrorIs(t, err, organization.ErrNotFound, "text is compared byte for byte")
}

func orgSlugs(t *testing.T, set store.Set) {
	t.Helper()
	s, ctx := set.Organization, t.Context()
	orgSeed(t, s)
	w := organization.Workspace{ID: "w3", Account: "a", Slug: "default", CreatedAt: orgNoon, Version: 1}
	require.ErrorIs(t, s.CreateWorkspace(ctx, w, orgChange("a")), organization.ErrExists)
	w.Slug = "east"
	require.NoError(t, s.CreateWorkspace(ctx, w, orgChange("a")))
	require.ErrorIs(t, s.CreateWorkspace(ctx, organization.Workspace{ID: "w3", Account: "a", Slug: "x"}, orgChange("a")), organization.ErrExists)
	w.Slug = "default"
	require.ErrorIs(t, s.ReplaceWorkspace(ctx, w, orgChange("a")), organization.ErrExists)
	w.Slug = "east"
	require.NoError(t, s.ReplaceWorkspace(ctx, w, orgChange("a")), "its own slug is free to it")
	for _, ref := range []string{"w3", "east"} {
		got, err := s.Workspace(ctx, "a", ref)
		require.NoError(t, err)
		assert.Equal(t, "w3", got.ID)
	}
	got, err := s.Workspace(ctx, "b", "default")
	require.NoError(t, err)
	assert.Equal(t, "w2", got.ID)
	_, err = s.Workspace(ctx, "a", "EAST")
	require.ErrorIs(t, err, organization.ErrNotFound)
	require.ErrorIs(t, s.CreateWorkspace(ctx, organization.Workspace{ID: "w4", Account: "nobody", Slug: "x"}, orgChange("a")), organization.ErrNotFound)
	require.NoError(t, s.CreateWorkspace(ctx, organization.Workspace{ID: "w5", Account: "a", Slug: "w3"}, orgChange("a")))
	got, err = s.Workspace(ctx, "a", "w3")
	require.NoError(t, err)
	assert.Equal(t, "w3", got.ID, "the id comes first")
}

func orgMemberships(t *testing.T, set store.Set) {
	t.Helper()
	s, ctx := set.Organization, t.Context()
	orgSeed(t, s)
	require.NoError(t, s.CreateWorkspace(ctx, organization.Workspace{ID: "w3", Account: "a", Slug: "east", Version: 1}, orgChange("a")))
	require.NoError(t, s.AddMember(ctx, "a", organization.Member{ID: "cy", Role: organization.RoleMember, Version: 1}, orgChange("a")))
	in := func(users ...string) []organization.Membership {
		var list []organization.Membership
		for i, user := range users {
			list = append(list, organization.Membership{
				ID: "m-" + user, User: user, Workspace: "w3", CreatedAt: orgNoon.Add(time.Duration(i) * time.Second),
			})
		}
		return list
	}
	_, err := s.AddToWorkspace(ctx, "a", "w3", in("cy", "eve"), orgChange("a"))
	require.ErrorIs(t, err, organization.ErrNotFound)
	_, total, err := s.Memberships(ctx, "a", "w3", 0, 0)
	require.NoError(t, err)
	assert.Zero(t, total, "all or none")
	added, err := s.AddToWorkspace(ctx, "a", "w3", in("cy"), orgChange("a"))
	require.NoError(t, err)
	assert.Equal(t, 1, added)
	added, err = s.AddToWorkspace(ctx, "a", "w3", in("ann", "cy"), orgChange("a"))
	require.NoError(t, err)
	assert.Equal(t, 1, added)
	require.NoError(t, s.ReplaceMember(ctx, "a", organization.Member{ID: "cy", Role: organization.RoleAdmin, Version: 1}, orgChange("a")))
	list, total, err := s.Memberships(ctx, "a", "w3", 0, 0)
	require.NoError(t, err)
	assert.Equal(t, 2, total)
	require.Len(t, list, 2)
	assert.Equal(t, "ann", list[0].User)
	assert.Equal(t, orgNoon, list[1].CreatedAt.UTC(), "the earlier addition stays")
	assert.Equal(t, organization.RoleAdmin, list[1].Role, "the role that the member has now")
	list, total, err = s.Memberships(ctx, "a", "w3", 1, 1)
	require.NoError(t, err)
	assert.Equal(t, 2, total)
	require.Len(t, list, 1)
	assert.Equal(t, "cy", list[0].User)
	removed, err := s.RemoveFromWorkspace(ctx, "a", "w3", []string{"cy", "eve", "cy"}, orgChange("a"))
	require.NoError(t, err)
	assert.Equal(t, 1, removed)
}

func orgRemoval(t *testing.T, set store.Set) {
	t.Helper()
	s, ctx := set.Organization, t.Context()
	orgSeed(t, s)
	w := organization.Workspace{ID: "w3", Account: "a", Slug: "east", Version: 1}
	cy := organization.Member{ID: "cy", Role: organization.RoleMember, Version: 1}
	joins := []organization.Membership{{ID: "m", User: "cy", Workspace: "w3"}}
	for range 2 { // the second time nothing may be left of the first
		require.NoError(t, s.CreateWorkspace(ctx, w, orgChange("a")))
		require.NoError(t, s.AddMember(ctx, "a", cy, orgChange("a")))
		_, total, err := s.Memberships(ctx, "a", "w3", 0, 0)
		require.NoError(t, err)
		assert.Zero(t, total)
		_, err = s.AddToWorkspace(ctx, "a", "w3", joins, orgChange("a"))
		require.NoError(t, err)
		require.NoError(t, s.RemoveMember(ctx, "a", "cy", orgChange("a")))
		_, total, err = s.Memberships(ctx, "a", "w3", 0, 0)
		require.NoError(t, err)
		assert.Zero(t, total)
		require.NoError(t, s.AddMember(ctx, "a", cy, orgChange("a")))
		_, err = s.AddToWorkspace(ctx, "a", "w3", joins, orgChange("a"))
		require.NoError(t, err)
		require.NoError(t, s.DeleteWorkspace(ctx, "a", "w3", orgChange("a")))
		require.NoError(t, s.RemoveMember(ctx, "a", "cy", orgChange("a")))
		_, err = s.Workspace(ctx, "a", "east")
		require.ErrorIs(t, err, organization.ErrNotFound)
	}
}

func orgPages(t *testing.T, set store.Set) {
	t.Helper()
	s, ctx := set.Organization, t.Context()
	orgSeed(t, s)
	for i, id := range []string{"c", "b", "d"} {
		at := orgNoon.Add(time.Duration(i/2+1) * time.Minute) // c and b at the same instant
		require.NoError(t, s.AddMember(ctx, "a", organization.Member{ID: id, CreatedAt: at, Version: 1}, orgChange("a")))
		require.NoError(t, s.CreateWorkspace(ctx, organization.Workspace{ID: id, Account: "a", Slug: id, CreatedAt: at, Version: 1}, orgChange("a")))
	}
	for _, c := range []struct {
		offset, limit       int
		members, workspaces string
	}{{0, 0, "ann b c d", "w1 b c d"}, {1, 2, "b c", "b c"}, {3, 50, "d", "d"}, {4, 1, "", ""}, {99, 0, "", ""}} {
		var members, workspaces []string
		list, total, err := s.Members(ctx, "a", c.offset, c.limit)
		require.NoError(t, err)
		assert.Equal(t, 4, total)
		for _, m := range list {
			members = append(members, m.ID)
		}
		places, total, err := s.Workspaces(ctx, "a", c.offset, c.limit)
		require.NoError(t, err)
		assert.Equal(t, 4, total)
		for _, w := range places {
			workspaces = append(workspaces, w.ID)
		}
		assert.Equal(t, c.members, strings.Join(members, " "))
		assert.Equal(t, c.workspaces, strings.Join(workspaces, " "))
	}
}

func orgRecords(t *testing.T, set store.Set) {
	t.Helper()
	if set.Audit == nil {
		t.Skip("no Audit")
	}
	s, ctx := set.Organization, t.Context()
	orgSeed(t, s)
	records := func() int {
		_, total, err := set.Audit.Changes(ctx, "a", 0, 1)
		require.NoError(t, err)
		return total
	}
	require.Equal(t, 1, records())
	require.ErrorIs(t, s.AddMember(ctx, "a", organization.Member{ID: "ann"}, orgChange("a")), organization.ErrExists)
	require.ErrorIs(t, s.ReplaceAccount(ctx, organization.Account{ID: "a"}, orgChange("a")), organization.ErrConflict)
	require.ErrorIs(t, s.DeleteWorkspace(ctx, "a", "none", orgChange("a")), organization.ErrNotFound)
	_, err := s.RemoveFromWorkspace(ctx, "a", "w1", []string{"ann"}, orgChange("a"))
	require.NoError(t, err)
	assert.Equal(t, 1, records())
	joins := []organization.Membership{{ID: "m", User: "ann", Workspace: "w1"}}
	for range 2 {
		_, err = s.AddToWorkspace(ctx, "a", "w1", joins, orgChange("a"))
		require.NoError(t, err)
		assert.Equal(t, 2, records(), "adding twice changes nothing")
	}
}

// orgSeparate has one person in two workspaces and in another account.
func orgSeparate(t *testing.T, set store.Set) {
	t.Helper()
	s, ctx := set.Organization, t.Context()
	orgSeed(t, s)
	require.NoError(t, s.CreateWorkspace(ctx, organization.Workspace{ID: "w3", Account: "a", Slug: "east", Version: 1}, orgChange("a")))
	for _, at := range [][2]string{{"a", "w1"}, {"a", "w3"}, {"b", "w2"}} {
		account, workspace := at[0], at[1]
		var joins []organization.Membership
		for i, user := range []string{"cy", "dee", "ben"} { // the last two at the same instant
			err := s.AddMember(ctx, account, organization.Member{ID: user, Version: 1}, orgChange(account))
			if workspace != "w3" { // where they exist already
				require.NoError(t, err)
			}
			joins = append(joins, organization.Membership{
				ID: user + workspace, User: user, Workspace: workspace, CreatedAt: orgNoon.Add(time.Duration((i+1)/2) * time.Microsecond),
			})
		}
		_, err := s.AddToWorkspace(ctx, account, workspace, joins, orgChange(account))
		require.NoError(t, err)
	}
	expect := func(account, workspace, want string) {
		t.Helper()
		var ids []string
		for offset := range 4 {
			page, total, err := s.Memberships(ctx, account, workspace, offset, 1)
			require.NoError(t, err)
			assert.Len(t, strings.Fields(want), total)
			for _, m := range page {
				ids = append(ids, m.ID)
			}
		}
		assert.Equal(t, want, strings.Join(ids, " "))
	}
	expect("a", "w1", "cyw1 benw1 deew1")
	_, err := s.RemoveFromWorkspace(ctx, "a", "w3", []string{"ben"}, orgChange("a"))
	require.NoError(t, err)
	expect("a", "w3", "cyw3 deew3")
	expect("a", "w1", "cyw1 benw1 deew1")
	require.NoError(t, s.RemoveMember(ctx, "a", "dee", orgChange("a")))
	expect("a", "w3", "cyw3")
	expect("a", "w1", "cyw1 benw1")
	require.NoError(t, s.DeleteWorkspace(ctx, "a", "w3", orgChange("a")))
	expect("a", "w1", "cyw1 benw1")
	expect("b", "w2", "cyw2 benw2 deew2")
}
