package storetest

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

func testOrganization(t *testing.T, open Open) {
	t.Helper()
	if open(t).Organization == nil {
		t.Skip("no Organization")
	}
	for name, test := range map[string]func(*testing.T, store.Set){
		"an account with the same id exists":                     orgCreateTwice,
		"what belongs to another account is not found":           orgForeign,
		"values are copies both ways":                            orgCopies,
		"replacing another version is a conflict":                orgVersions,
		"what is stored comes back as it is":                     orgKept,
		"without the account every method returns ErrNotFound":   orgUnknown,
		"concurrent replacements succeed once":                   orgRivals,
		"concurrent calls create an account once":                orgRivalAccounts,
		"concurrent calls add a payment once":                    orgRivalPayments,
		"concurrent calls take a slug once":                      orgRivalSlugs,
		"concurrent calls add a membership once":                 orgRivalMemberships,
		"no membership outlives its member or its workspace":     orgRivalRemoval,
		"a payment and its account are stored together":          orgPayments,
		"members are added, replaced and removed":                orgMembers,
		"slugs are unique within an account":                     orgSlugs,
		"memberships are added all or none and counted":          orgMemberships,
		"removed members and deleted workspaces leave no traces": orgRemoval,
		"pages are in order":                                     orgPages,
		"memberships are of one workspace and one account":       orgSeparate,
		"every method honours ctx":                               orgContext,
		"what changes nothing leaves no record":                  orgRecords,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

var orgNoon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// orgChange returns a record of a change to account.
func orgChange(account string) router.Change {
	return router.Change{ID: uuid.New(), At: orgNoon, Account: account, Action: "create", Kind: "thing", Object: "t"}
}

// orgSeed creates account a with member ann and workspace w1, and account b with bob and w2.
func orgSeed(t *testing.T, s organization.Store) {
	t.Helper()
	for account, own := range map[string][2]string{"a": {"ann", "w1"}, "b": {"bob", "w2"}} {
		require.NoError(t, s.CreateAccount(t.Context(),
			organization.Account{ID: account, Name: account, DefaultWorkspace: own[1], CreatedAt: orgNoon, Version: 1},
			organization.Member{ID: own[0], Email: own[0] + "@x.example", Role: organization.RoleAdmin, CreatedAt: orgNoon, Version: 1},
			organization.Workspace{ID: own[1], Account: account, Slug: "default", CreatedAt: orgNoon, Version: 1},
			orgChange(account)))
	}
}

func orgCreateTwice(t *testing.T, set store.Set) {
	t.Helper()
	s := set.Organization
	orgSeed(t, s)
	err := s.CreateAccount(t.Context(), organization.Account{ID: "a", Name: "other"}, organization.Member{ID: "eve"},
		organization.Workspace{ID: "w3", Account: "a", Slug: "s"}, orgChange("a"))
	require.ErrorIs(t, err, organization.ErrExists)
	a, err := s.Account(t.Context(), "a")
	require.NoError(t, err)
	assert.Equal(t, "a", a.Name)
	_, err = s.Member(t.Context(), "a", "eve")
	require.ErrorIs(t, err, organization.ErrNotFound)
	_, err = s.Workspace(t.Context(), "a", "w3")
	require.ErrorIs(t, err, organization.ErrNotFound)
}

func orgForeign(t *testing.T, set store.Set) {
	t.Helper()
	s, ctx := set.Organization, t.Context()
	orgSeed(t, s)
	require.NoError(t, s.AddPayment(ctx, organization.Payment{ID: "p", Account: "b", Amount: 1},
		organization.Account{ID: "b", DefaultWorkspace: "w2", Version: 1}, orgChange("b")))
	for _, account := range []string{"a", "nobody", ""} {
		for name, try := range map[string]func() error{
			"payment":   func() error { _, err := s.Payment(ctx, account, "p"); return err },
			"member":    func() error { _, err := s.Member(ctx, account, "bob"); return err },
			"workspace": func() error { _, err := s.Workspace(ctx, account, "w2"); return err },
			"replace": func() error {
				return s.ReplaceWorkspace(ctx, organization.Workspace{ID: "w2", Account: account, Version: 1}, orgChange(""))
			},
			"replace member": func() error {
				return s.ReplaceMember(ctx, account, organization.Member{ID: "bob", Version: 1}, orgChange(""))
			},
			"remove": func() error { return s.RemoveMember(ctx, account, "bob", orgChange("")) },
			"delete": func() error { return s.DeleteWorkspace(ctx, account, "w2", orgChange("")) },
			"add": func() error {
				_, err := s.AddToWorkspace(ctx, account, "w2", []organization.Membership{{User: "ann"}}, orgChange(""))
				return err
			},
			"take": func() error {
				_, err := s.RemoveFromWorkspace(ctx, account, "w2", []string{"bob"}, orgChange(""))
				return err
			},
			"memberships": func() error { _, _, err := s.Memberships(ctx, account, "w2", 0, 0); return err },
		} {
			require.ErrorIs(t, try(), organization.ErrNotFound, "%s of b as %q", name, account)
		}
	}
	_, err := s.Member(ctx, "b", "bob")
	require.NoError(t, err)
	_, err = s.Workspace(ctx, "b", "w2")
	require.NoError(t, err)
}

func orgCopies(t *testing.T, set store.Set) {
	t.Helper()
	s, ctx := set.Organization, t.Context()
	orgSeed(t, s)
	text, lists := "d", []string{"ant"}
	w := organization.Workspace{
		ID: "w1", Account: "a", Slug: "default", Description: &text, Version: 1,
		Budgets: []organization.Budget{{ID: "1", Limit: 5}},
	}
	require.NoError(t, s.ReplaceWorkspace(ctx, w, orgChange("a")))
	require.NoError(t, s.ReplaceAccount(ctx, organization.Account{ID: "a", Allowed: lists, Ignored: lists, Version: 1}, orgChange("a")))
	for range 2 {
		text, lists[0], w.Budgets[0].Limit = "changed", "changed", 99
		var err error
		w, err = s.Workspace(ctx, "a", "w1")
		require.NoError(t, err)
		assert.Equal(t, "d", *w.Description)
		assert.Equal(t, router.USD(5), w.Budgets[0].Limit)
		a, err := s.Account(ctx, "a")
		require.NoError(t, err)
		assert.Equal(t, []string{"ant"}, a.Allowed)
		assert.Equal(t, []string{"ant"}, a.Ignored)
		*w.Description, a.Allowed[0], a.Ignored[0] = "changed", "changed", "changed"
	}
}

func orgVersions(t *testing.T, set store.Set) {
	t.Helper()
	s, ctx := set.Organization, t.Context()
	orgSeed(t, s)
	payments := 0
	for name, replace := range map[string]func(version int64) error{
		"account": func(v int64) error {
			return s.ReplaceAccount(ctx, organization.Account{ID: "a", Name: strconv.FormatInt(v, 10), Version: v}, orgChange("a"))
		},
		"payment": func(v int64) error {
			payments++
			return s.AddPayment(ctx, organization.Payment{ID: strconv.Itoa(payments), Account: "b", Amount: 1},
				organization.Account{ID: "b", Version: v}, orgChange("a"))
		},
		"member": func(v int64) error {
			return s.ReplaceMember(ctx, "a", organization.Member{ID: "ann", Version: v}, orgChange("a"))
		},
		"workspace": func(v int64) error {
			return s.ReplaceWorkspace(ctx, organization.Workspace{ID: "w1", Account: "a", Slug: "default", Version: v}, orgChange("a"))
		},
	} {
		require.ErrorIs(t, replace(0), organization.ErrConflict, name)
		require.ErrorIs(t, replace(2), organization.ErrConflict, name)
		require.NoError(t, replace(1), name)
		require.ErrorIs(t, replace(1), organization.ErrConflict, name)
		require.NoError(t, replace(2), name)
	}
	_, err := s.Payment(ctx, "b", "1")
	require.ErrorIs(t, err, organization.ErrNotFound, "a conflict stores no payment")
}

func orgPayments(t *testing.T, set store.Set) {
	t.Helper()
	s, ctx := set.Organization, t.Context()
	orgSeed(t, s)
	p := organization.Payment{ID: "p", Account: "a", Amount: 7, At: orgNoon}
	a := organization.Account{ID: "a", Credits: 7, Prepaid: true, Version: 1}
	require.NoError(t, s.AddPayment(ctx, p, a, orgChange("a")))
	a.Version, a.Credits = 2, 14
	require.ErrorIs(t, s.AddPayment(ctx, p, a, orgChange("a")), organization.ErrExists)
	a.Version = 1
	require.ErrorIs(t, s.AddPayment(ctx, p, a, orgChange("a")), organization.ErrExists, "whatever the version")
	got, err := s.Account(ctx, "a")
	require.NoError(t, err)
	assert.Equal(t, router.USD(7), got.Credits)
	stored, err := s.Payment(ctx, "a", "p")
	require.NoError(t, err)
	assert.Equal(t, p, stored)
	require.NoError(t, s.AddPayment(ctx, organization.Payment{ID: "p", Account: "b", Amount: 1},
		organization.Account{ID: "b", Version: 1}, orgChange("b")), "ids are the account's own")
}
