package storetest

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

const orgRivalCount = 16

// orgRace runs rival in many goroutines and returns how many of them succeeded. The others
// must fail with one of the errors lost.
func orgRace(t *testing.T, rival func(i int) error, lost ...error) int {
	t.Helper()
	won := make([]bool, orgRivalCount)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range won {
		wg.Go(func() {
			<-start
			err := rival(i)
			won[i] = err == nil
			if err != nil && !slices.ContainsFunc(lost, func(l error) bool { return errors.Is(err, l) }) {
				t.Errorf("rival %d: %v", i, err)
			}
		})
	}
	close(start)
	wg.Wait()
	count := 0
	for _, w := range won {
		if w {
			count++
		}
	}
	return count
}

func orgRivals(t *testing.T, set store.Set) {
	t.Helper()
	s := set.Organization
	orgSeed(t, s)
	for name, replace := range map[string]func(i int) error{
		"account": func(i int) error {
			return s.ReplaceAccount(t.Context(), organization.Account{ID: "a", Name: strconv.Itoa(i), Version: 1}, orgChange("a"))
		},
		"member": func(i int) error {
			return s.ReplaceMember(t.Context(), "a", organization.Member{ID: "ann", FirstName: strconv.Itoa(i), Version: 1}, orgChange("a"))
		},
		"workspace": func(i int) error {
			w := organization.Workspace{ID: "w1", Account: "a", Slug: "default", Name: strconv.Itoa(i), Version: 1}
			return s.ReplaceWorkspace(t.Context(), w, orgChange("a"))
		},
	} {
		assert.Equal(t, 1, orgRace(t, replace, organization.ErrConflict), name)
	}
}

func orgRivalAccounts(t *testing.T, set store.Set) {
	t.Helper()
	s := set.Organization
	assert.Equal(t, 1, orgRace(t, func(i int) error {
		n := strconv.Itoa(i)
		return s.CreateAccount(t.Context(), organization.Account{ID: "c", Name: n, Version: 1}, organization.Member{ID: n, Version: 1},
			organization.Workspace{ID: "w" + n, Account: "c", Slug: "s" + n, Version: 1}, orgChange("c"))
	}, organization.ErrExists))
	a, err := s.Account(t.Context(), "c")
	require.NoError(t, err)
	members, _, err := s.Members(t.Context(), "c", 0, 0)
	require.NoError(t, err)
	workspaces, _, err := s.Workspaces(t.Context(), "c", 0, 0)
	require.NoError(t, err)
	require.Len(t, members, 1)
	require.Len(t, workspaces, 1)
	assert.Equal(t, a.Name, members[0].ID)
	assert.Equal(t, "w"+a.Name, workspaces[0].ID)
}

// orgRivalPayments adds several payments at once, each twice.
func orgRivalPayments(t *testing.T, set store.Set) {
	t.Helper()
	s, ctx := set.Organization, t.Context()
	orgSeed(t, s)
	assert.Equal(t, orgRivalCount/2, orgRace(t, func(i int) error {
		p := organization.Payment{ID: strconv.Itoa(i / 2), Account: "a", Amount: 1}
		for {
			a, err := s.Account(ctx, "a")
			if err != nil {
				return err
			}
			a.Credits++
			if err := s.AddPayment(ctx, p, a, orgChange("a")); !errors.Is(err, organization.ErrConflict) {
				return err
			}
		}
	}, organization.ErrExists))
	a, err := s.Account(ctx, "a")
	require.NoError(t, err)
	assert.Equal(t, router.USD(orgRivalCount/2), a.Credits)
}

// orgRivalSlugs creates workspaces with a slug while others are renamed to it.
func orgRivalSlugs(t *testing.T, set store.Set) {
	t.Helper()
	s, ctx := set.Organization, t.Context()
	orgSeed(t, s)
	workspace := func(i int, slug string) organization.Workspace {
		return organization.Workspace{ID: "r" + strconv.Itoa(i), Account: "a", Slug: slug, Version: 1}
	}
	for i := 0; i < orgRivalCount; i += 2 {
		require.NoError(t, s.CreateWorkspace(ctx, workspace(i, "s"+strconv.Itoa(i)), orgChange("a")))
	}
	assert.Equal(t, 1, orgRace(t, func(i int) error {
		if i%2 == 0 {
			return s.ReplaceWorkspace(ctx, workspace(i, "east"), orgChange("a"))
		}
		return s.CreateWorkspace(ctx, workspace(i, "east"), orgChange("a"))
	}, organization.ErrExists))
	all, _, err := s.Workspaces(ctx, "a", 0, 0)
	require.NoError(t, err)
	all = slices.DeleteFunc(all, func(w organization.Workspace) bool { return w.Slug != "east" })
	assert.Len(t, all, 1)
}

func orgRivalMemberships(t *testing.T, set store.Set) {
	t.Helper()
	s, ctx := set.Organization, t.Context()
	orgSeed(t, s)
	var joins []organization.Membership
	for i := range 8 {
		user := "u" + strconv.Itoa(i)
		require.NoError(t, s.AddMember(ctx, "a", organization.Member{ID: user, Version: 1}, orgChange("a")))
		joins = append(joins, organization.Membership{ID: user, User: user, Workspace: "w1"})
	}
	var counts [orgRivalCount]int
	orgRace(t, func(i int) (err error) { // each begins with another workspace
		mine := slices.Concat(joins[i%8:], joins[:i%8])
		counts[i], err = s.AddToWorkspace(ctx, "a", "w1", mine, orgChange("a"))
		return err
	})
	sum := 0
	for _, n := range counts {
		sum += n
	}
	assert.Equal(t, len(joins), sum, "each is counted once")
	_, total, err := s.Memberships(ctx, "a", "w1", 0, 0)
	require.NoError(t, err)
	assert.Equal(t, len(joins), total)
}

// orgRivalRemoval adds members to workspaces while one or the other is deleted. A membership
// that is left over would show when both exist again.
func orgRivalRemoval(t *testing.T, set store.Set) {
	t.Helper()
	s, ctx := set.Organization, t.Context()
	orgSeed(t, s)
	w := organization.Workspace{ID: "w3", Account: "a", Slug: "east", Version: 1}
	m := organization.Member{ID: "cy", Role: organization.RoleMember, Version: 1}
	require.NoError(t, s.CreateWorkspace(ctx, w, orgChange("a")))
	require.NoError(t, s.AddMember(ctx, "a", m, orgChange("a")))
	join := func(int) error {
		_, err := s.AddToWorkspace(ctx, "a", "w3", []organization.Membership{{ID: "j", User: "cy", Workspace: "w3"}}, orgChange("a"))
		return err
	}
	for range 8 {
		for name, round := range map[string]struct{ remove, restore func() error }{
			"the member": {
				func() error { return s.RemoveMember(ctx, "a", "cy", orgChange("a")) },
				func() error { return s.AddMember(ctx, "a", m, orgChange("a")) },
			},
			"the workspace": {
				func() error { return s.DeleteWorkspace(ctx, "a", "w3", orgChange("a")) },
				func() error { return s.CreateWorkspace(ctx, w, orgChange("a")) },
			},
		} {
			orgRace(t, func(i int) error {
				if i == orgRivalCount/2 {
					return round.remove()
				}
				return join(i)
			}, organization.ErrNotFound)
			require.NoError(t, round.restore())
			_, total, err := s.Memberships(ctx, "a", "w3", 0, 0)
			require.NoError(t, err)
			require.Zero(t, total, "a membership outlived %s", name)
		}
	}
}
