package organization_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

func TestWorkspacesRefuseBadValues(t *testing.T) {
	b := newBench(t)
	b.east(t)
	for name, c := range map[string]struct {
		w    organization.NewWorkspace
		want []string
	}{
		"nothing":     {organization.NewWorkspace{}, []string{"name", "slug"}},
		"long name":   {organization.NewWorkspace{Name: strings.Repeat("é", 101), Slug: "a"}, []string{"name"}},
		"capitals":    {organization.NewWorkspace{Name: "a", Slug: "East"}, []string{"slug"}},
		"two dashes":  {organization.NewWorkspace{Name: "a", Slug: "a--b"}, []string{"slug"}},
		"dash first":  {organization.NewWorkspace{Name: "a", Slug: "-a"}, []string{"slug"}},
		"dash last":   {organization.NewWorkspace{Name: "a", Slug: "a-"}, []string{"slug"}},
		"line feed":   {organization.NewWorkspace{Name: "a", Slug: "a\n"}, []string{"slug"}},
		"long slug":   {organization.NewWorkspace{Name: "a", Slug: strings.Repeat("a", 51)}, []string{"slug"}},
		"an id":       {organization.NewWorkspace{Name: "a", Slug: b.account.DefaultWorkspace}, []string{"slug"}},
		"taken":       {organization.NewWorkspace{Name: "a", Slug: "east"}, []string{"slug"}},
		"description": {organization.NewWorkspace{Name: "a", Slug: "b", Description: new(strings.Repeat("é", 501))}, []string{"description"}},
		"no text":     {organization.NewWorkspace{Name: "\x00", Slug: "b", Description: new("\xff")}, []string{"name", "description"}},
		"sort":        {organization.NewWorkspace{Name: "a", Slug: "b", DefaultSort: "cheap"}, []string{"default_provider_sort"}},
	} {
		_, err := b.CreateWorkspace(t.Context(), b.by, c.w)
		assert.Equal(t, c.want, paths(t, err), name)
		_, err = b.UpdateWorkspace(t.Context(), b.by, "default", organization.WorkspaceUpdate{
			Name: router.To(c.w.Name), Slug: router.To(c.w.Slug), Description: router.To(c.w.Description), DefaultSort: router.To(c.w.DefaultSort),
		})
		assert.Equal(t, c.want, paths(t, err), name)
	}
	_, total, err := b.Workspaces(t.Context(), "acme", 0, 1)
	require.NoError(t, err)
	assert.Equal(t, 2, total)
	w := organization.NewWorkspace{
		Name: strings.Repeat("é", 100), Slug: strings.Repeat("a", 50), Description: new(strings.Repeat("é", 500)), DefaultSort: systemone.SortExacto,
	}
	made, err := b.CreateWorkspace(t.Context(), b.by, w)
	require.NoError(t, err)
	*w.Description = "changed"
	got, err := b.Workspace(t.Context(), "acme", made.ID)
	require.NoError(t, err)
	assert.Equal(t, made, got)
	assert.NotEqual(t, "changed", *got.Description)
}

func TestUpdateWorkspaceChangesOnlyWhatIsGiven(t *testing.T) {
	b := newBench(t)
	w := b.east(t)
	b.pass(1e9)
	got, err := b.UpdateWorkspace(t.Context(), b.by, "east", organization.WorkspaceUpdate{DefaultSort: router.To(systemone.SortPrice)})
	require.NoError(t, err)
	w.DefaultSort, w.UpdatedAt, w.Version = systemone.SortPrice, noon.Add(1e9), 2
	assert.Equal(t, w, got)
	got, err = b.UpdateWorkspace(t.Context(), b.by, w.ID, organization.WorkspaceUpdate{
		Slug: router.To("west"), Description: router.To(new("d")), DefaultSort: router.To(systemone.SortBy("")),
	})
	require.NoError(t, err)
	assert.Equal(t, "west", got.Slug)
	assert.Equal(t, "d", *got.Description)
	assert.Empty(t, got.DefaultSort)
	assert.Equal(t, w.DefaultGuardrail, got.DefaultGuardrail, "fixed for good")
	_, err = b.Workspace(t.Context(), "acme", "east")
	require.ErrorIs(t, err, organization.ErrNotFound)
	got, err = b.UpdateWorkspace(t.Context(), b.by, w.ID, organization.WorkspaceUpdate{Description: router.To[*string](nil)})
	require.NoError(t, err)
	assert.Nil(t, got.Description)
}

func TestDeleteWorkspace(t *testing.T) {
	b := newBench(t)
	w := b.east(t)
	assert.Equal(t, []string{"id"}, paths(t, b.DeleteWorkspace(t.Context(), b.by, "default")))
	b.keys["acme/"+w.ID] = 1
	assert.Equal(t, []string{"id"}, paths(t, b.DeleteWorkspace(t.Context(), b.by, "east")))
	has, err := b.HasWorkspace(t.Context(), "acme", w.ID)
	require.NoError(t, err)
	assert.True(t, has)
	has, err = b.HasWorkspace(t.Context(), "acme", "east")
	require.NoError(t, err)
	assert.False(t, has, "a slug is no id")
	has, err = b.HasWorkspace(t.Context(), "other", w.ID)
	require.NoError(t, err)
	assert.False(t, has)
	b.keys["acme/"+w.ID] = 0
	require.NoError(t, b.DeleteWorkspace(t.Context(), b.by, "east"))
	require.ErrorIs(t, b.DeleteWorkspace(t.Context(), b.by, "east"), organization.ErrNotFound)
	ids, err := b.LiveWorkspaces(t.Context(), "acme")
	require.NoError(t, err)
	assert.Equal(t, []string{b.account.DefaultWorkspace}, ids)
}

func TestOneOfManyRivalsGetsASlug(t *testing.T) {
	b := newBench(t)
	var wg sync.WaitGroup
	won := make(chan string, 16)
	for range 16 {
		wg.Go(func() {
			w, err := b.CreateWorkspace(t.Context(), b.by, organization.NewWorkspace{Name: "x", Slug: "x"})
			if err == nil {
				won <- w.ID
			}
		})
	}
	wg.Wait()
	assert.Len(t, won, 1)
}

func TestWorkspaceMembers(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	b.member(t, "bob")
	b.pass(1e9)
	w := b.east(t)

	list, added, err := b.AddToWorkspace(ctx, b.by, "east", []string{"bob", "ann", "bob"})
	require.NoError(t, err)
	assert.Equal(t, 2, added)
	require.Len(t, list, 2)
	assert.Equal(t, "bob", list[0].User)
	assert.Equal(t, organization.RoleMember, list[0].Role)
	assert.Equal(t, organization.RoleAdmin, list[1].Role)
	assert.Equal(t, w.ID, list[0].Workspace)
	assert.NotEqual(t, list[0].ID, list[1].ID)
	assert.Equal(t, noon.Add(1e9), list[0].CreatedAt)

	b.pass(1e9)
	again, added, err := b.AddToWorkspace(ctx, b.by, w.ID, []string{"bob"})
	require.NoError(t, err)
	assert.Zero(t, added)
	assert.Equal(t, list[:1], again, "adding twice changes nothing")

	_, _, err = b.AddToWorkspace(ctx, b.by, "east", []string{"eve", "bob", "mal"})
	assert.Equal(t, []string{"user_ids.0", "user_ids.2"}, paths(t, err))

	b.keys["acme/"+w.ID+"/bob"] = 2
	_, err = b.RemoveFromWorkspace(ctx, b.by, "east", []string{"ann", "bob"})
	assert.Equal(t, []string{"user_ids.1"}, paths(t, err))
	_, total, err := b.Memberships(ctx, "acme", "east", 0, 50)
	require.NoError(t, err)
	assert.Equal(t, 2, total, "then nobody is removed")
	b.keys["acme/"+w.ID+"/bob"] = 0
	removed, err := b.RemoveFromWorkspace(ctx, b.by, "east", []string{"bob", "bob", "eve"})
	require.NoError(t, err)
	assert.Equal(t, 1, removed)

	_, _, err = b.AddToWorkspace(ctx, b.by, "nowhere", []string{"bob"})
	require.ErrorIs(t, err, organization.ErrNotFound)
	_, err = b.RemoveFromWorkspace(ctx, b.by, "nowhere", []string{"bob"})
	require.ErrorIs(t, err, organization.ErrNotFound)
}

func TestEverybodyIsInTheDefaultWorkspace(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	b.pass(1e9)
	b.member(t, "bob")
	list, total, err := b.Memberships(ctx, "acme", "default", 1, 50)
	require.NoError(t, err)
	assert.Equal(t, 2, total)
	require.Len(t, list, 1)
	assert.Equal(t, "bob", list[0].User)
	again, added, err := b.AddToWorkspace(ctx, b.by, "default", []string{"bob"})
	require.NoError(t, err)
	assert.Zero(t, added)
	assert.Equal(t, list, again)
	_, err = b.RemoveFromWorkspace(ctx, b.by, "default", []string{"bob"})
	assert.Equal(t, []string{"id"}, paths(t, err))
}

func TestOneToAHundredUsers(t *testing.T) {
	b := newBench(t)
	b.east(t)
	var users []string
	for i := range 101 {
		users = append(users, "u"+strconv.Itoa(i))
		b.member(t, users[i])
	}
	for _, list := range [][]string{nil, users} {
		_, _, err := b.AddToWorkspace(t.Context(), b.by, "east", list)
		assert.Equal(t, []string{"user_ids"}, paths(t, err))
		_, err = b.RemoveFromWorkspace(t.Context(), b.by, "east", list)
		assert.Equal(t, []string{"user_ids"}, paths(t, err))
	}
	_, added, err := b.AddToWorkspace(t.Context(), b.by, "east", users[:100])
	require.NoError(t, err)
	assert.Equal(t, 100, added)
	removed, err := b.RemoveFromWorkspace(t.Context(), b.by, "east", users[1:])
	require.NoError(t, err)
	assert.Equal(t, 99, removed)
}

// TestDeletingAgainClearsWhatWasLeft repeats a deletion that failed halfway.
func TestDeletingAgainClearsWhatWasLeft(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	var cleared []string
	var fails error
	s, err := organization.New(organization.Config{
		Store: b.set.Organization, Audit: b.set.Audit,
		Deleted: func(ctx context.Context, by router.Actor, workspace string) error {
			_, err := b.Workspace(ctx, "acme", workspace)
			require.ErrorIs(t, err, organization.ErrNotFound, "it is gone by then")
			assert.Equal(t, b.by, by)
			cleared = append(cleared, workspace)
			return fails
		},
	})
	require.NoError(t, err)
	w := b.east(t)
	require.Error(t, s.DeleteWorkspace(ctx, b.by, "default"))
	require.ErrorIs(t, s.DeleteWorkspace(ctx, b.by, "nowhere"), organization.ErrNotFound)
	assert.Empty(t, cleared)
	fails = errors.New("down")
	require.ErrorIs(t, s.DeleteWorkspace(ctx, b.by, "east"), fails)
	require.ErrorIs(t, s.DeleteWorkspace(ctx, b.by, w.ID), fails, "not yet")
	fails = nil
	require.ErrorIs(t, s.DeleteWorkspace(ctx, b.by, w.ID), organization.ErrNotFound)
	assert.Equal(t, []string{w.ID, w.ID, w.ID}, cleared)
}
