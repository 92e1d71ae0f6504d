package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/systemone"
)

// orgKept stores objects with every field set, all different, and with none.
func orgKept(t *testing.T, set store.Set) {
	t.Helper()
	s, ctx := set.Organization, t.Context()
	at := orgNoon.Add(123_456 * time.Microsecond)
	m := organization.Member{
		ID: "ann", Email: "ann@x.example", FirstName: "Ann", LastName: "Øre", Role: organization.RoleAdmin, CreatedAt: at, Version: 1,
	}
	w := organization.Workspace{
		ID: "w1", Account: "a", Slug: "slug", Name: "wörk", Description: new("d"), CreatedBy: "ann", DefaultGuardrail: "g",
		DefaultSort: systemone.SortLatency, IncludeBYOK: true, CreatedAt: at, UpdatedAt: at.Add(time.Hour), Version: 1,
		Budgets: []organization.Budget{
			{ID: "b1", Interval: router.Monthly, Limit: 9_000_000_000 * router.Dollar, CreatedAt: at, UpdatedAt: at.Add(time.Minute)},
			{ID: "b2", Interval: router.Daily, Limit: 1, CreatedAt: at.Add(time.Second), UpdatedAt: at},
		},
	}
	a := organization.Account{
		ID: "a", Name: "näme", Personal: true, DefaultWorkspace: "w1", FilteredCatalog: true, Allowed: []string{"ant", "b<e>e"},
		Ignored: []string{"cat"}, ZDR: true, Prepaid: true, Credits: 9_000_000_000 * router.Dollar,
		CreatedAt: at, UpdatedAt: at.Add(time.Hour), Version: 1,
	}
	require.NoError(t, s.CreateAccount(ctx, a, m, w, orgChange("a")))
	expectOrg(t, s, a, m, w)

	a = organization.Account{ID: "a", Allowed: []string{}, Version: 1}
	m = organization.Member{ID: "ann", Version: 1}
	w = organization.Workspace{ID: "w1", Account: "a", Description: new(""), Budgets: []organization.Budget{}, Version: 1}
	require.NoError(t, s.ReplaceAccount(ctx, a, orgChange("a")))
	require.NoError(t, s.ReplaceMember(ctx, "a", m, orgChange("a")))
	require.NoError(t, s.ReplaceWorkspace(ctx, w, orgChange("a")))
	a.Version, m.Version, w.Version = 2, 2, 2
	expectOrg(t, s, a, m, w)

	a.ZDR, a.UpdatedAt, a.Version = true, at, 3
	p := organization.Payment{ID: "p", Account: "a", Amount: 5, At: at}
	given := a
	given.Version = 2
	require.NoError(t, s.AddPayment(ctx, p, given, orgChange("a")))
	expectOrg(t, s, a, m, w)
	stored, err := s.Payment(ctx, "a", "p")
	require.NoError(t, err)
	assert.Equal(t, p, stored)
}

func expectOrg(t *testing.T, s organization.Store, a organization.Account, m organization.Member, w organization.Workspace) {
	t.Helper()
	gotAccount, err := s.Account(t.Context(), "a")
	require.NoError(t, err)
	assert.Equal(t, a, gotAccount)
	gotMember, err := s.Member(t.Context(), "a", "ann")
	require.NoError(t, err)
	assert.Equal(t, m, gotMember)
	gotWorkspace, err := s.Workspace(t.Context(), "a", "w1")
	require.NoError(t, err)
	assert.Equal(t, w, gotWorkspace)
	members, _, err := s.Members(t.Context(), "a", 0, 0)
	require.NoError(t, err)
	assert.Equal(t, []organization.Member{m}, members)
	workspaces, _, err := s.Workspaces(t.Context(), "a", 0, 0)
	require.NoError(t, err)
	assert.Equal(t, []organization.Workspace{w}, workspaces)
}

// orgCalls returns calls of every method on an account, about what orgSeed created in a.
func orgCalls(ctx context.Context, s organization.Store, account string) map[string]func() error {
	change := orgChange(account)
	join := []organization.Membership{{ID: "j", User: "ann", Workspace: "w1"}}
	return map[string]func() error{
		"Account": func() error { _, err := s.Account(ctx, account); return err },
		"ReplaceAccount": func() error {
			return s.ReplaceAccount(ctx, organization.Account{ID: account, Version: 1}, change)
		},
		"AddPayment": func() error {
			return s.AddPayment(ctx, organization.Payment{ID: "p", Account: account}, organization.Account{ID: account, Version: 1}, change)
		},
		"Payment":   func() error { _, err := s.Payment(ctx, account, "p"); return err },
		"AddMember": func() error { return s.AddMember(ctx, account, organization.Member{ID: "new"}, change) },
		"ReplaceMember": func() error {
			return s.ReplaceMember(ctx, account, organization.Member{ID: "ann", Version: 1}, change)
		},
		"RemoveMember": func() error { return s.RemoveMember(ctx, account, "ann", change) },
		"Member":       func() error { _, err := s.Member(ctx, account, "ann"); return err },
		"Members":      func() error { _, _, err := s.Members(ctx, account, 0, 0); return err },
		"CreateWorkspace": func() error {
			return s.CreateWorkspace(ctx, organization.Workspace{ID: "w9", Account: account, Slug: "new"}, change)
		},
		"Workspace":  func() error { _, err := s.Workspace(ctx, account, "w1"); return err },
		"Workspaces": func() error { _, _, err := s.Workspaces(ctx, account, 0, 0); return err },
		"ReplaceWorkspace": func() error {
			return s.ReplaceWorkspace(ctx, organization.Workspace{ID: "w1", Account: account, Slug: "new", Version: 1}, change)
		},
		"DeleteWorkspace":     func() error { return s.DeleteWorkspace(ctx, account, "w1", change) },
		"AddToWorkspace":      func() error { _, err := s.AddToWorkspace(ctx, account, "w1", join, change); return err },
		"RemoveFromWorkspace": func() error { _, err := s.RemoveFromWorkspace(ctx, account, "w1", []string{"ann"}, change); return err },
		"Memberships":         func() error { _, _, err := s.Memberships(ctx, account, "w1", 0, 0); return err },
	}
}

func orgUnknown(t *testing.T, set store.Set) {
	t.Helper()
	orgSeed(t, set.Organization)
	for _, account := range []string{"nobody", "", "A"} {
		for name, try := range orgCalls(t.Context(), set.Organization, account) {
			require.ErrorIs(t, try(), organization.ErrNotFound, "%s of %q", name, account)
		}
	}
}

func orgContext(t *testing.T, set store.Set) {
	t.Helper()
	s := set.Organization
	orgSeed(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, try := range orgCalls(ctx, s, "a") {
		require.ErrorIs(t, try(), context.Canceled, name)
	}
	require.ErrorIs(t, s.CreateAccount(ctx, organization.Account{ID: "c"}, organization.Member{ID: "m"},
		organization.Workspace{ID: "w9", Account: "c"}, orgChange("c")), context.Canceled)
	for name, changed := range map[string]func() error{
		"CreateAccount":   func() error { _, err := s.Account(t.Context(), "c"); return err },
		"AddPayment":      func() error { _, err := s.Payment(t.Context(), "a", "p"); return err },
		"AddMember":       func() error { _, err := s.Member(t.Context(), "a", "new"); return err },
		"CreateWorkspace": func() error { _, err := s.Workspace(t.Context(), "a", "new"); return err },
	} {
		require.ErrorIs(t, changed(), organization.ErrNotFound, name)
	}
	a, err := s.Account(t.Context(), "a")
	require.NoError(t, err)
	assert.EqualValues(t, 1, a.Version)
	m, err := s.Member(t.Context(), "a", "ann")
	require.NoError(t, err)
	assert.EqualValues(t, 1, m.Version)
	w, err := s.Workspace(t.Context(), "a", "w1")
	require.NoError(t, err)
	assert.EqualValues(t, 1, w.Version)
}
