package storetest

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

func testCredentials(t *testing.T, open Open) {
	t.Helper()
	if open(t).Credentials == nil {
		t.Skip("no Credentials")
	}
	for _, c := range []struct {
		name string
		test func(t *testing.T, set store.Set)
	}{
		{"what was created is returned", credentialReturns},
		{"the order counts per account and workspace", credentialOrders},
		{"a page of a workspace, of one provider or of all", credentialPages},
		{"those that are enabled", credentialsEnabled},
		{"an update replaces what may change", credentialUpdates},
		{"a change that another came before is refused", credentialConflicts},
		{"of many rivals one wins", credentialRivals},
		{"rivals are added one after the other", credentialRivalsCreate},
		{"what is deleted is gone", credentialDeletes},
		{"another account's is missing", credentialForeign},
		{"what is returned is a copy", credentialCopies},
		{"ctx is honoured", credentialContext},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// credential returns the n-th credential of account a and workspace w.
func credential(n int) keys.StoredCredential {
	return keys.StoredCredential{
		Credential: keys.Credential{
			ID: uuid.NewSHA1(uuid.Nil, []byte(strconv.Itoa(n))).String(), Account: "a", Workspace: "w", Provider: "ant", Label: "l", Name: "n",
			Models: []string{"m"}, KeyHashes: []string{"h"}, Members: []string{"u"},
			CreatedAt: time.Date(2026, 11, 21, 12, 0, 0, 123_000, time.UTC), Revision: 1,
		},
		Sealed: keys.Sealed{KeyID: "k", Text: []byte{0, 1, 255}},
	}
}

func create(t *testing.T, s keys.CredentialStore, c keys.StoredCredential) keys.StoredCredential {
	t.Helper()
	order, err := s.Create(t.Context(), c, credentialChange(c, "create"))
	require.NoError(t, err)
	c.Order = order
	return c
}

func credentialChange(c keys.StoredCredential, action string) router.Change {
	return router.Change{ID: uuid.New(), At: c.CreatedAt, Account: c.Account, Action: action, Kind: "credential", Object: c.ID}
}

// actions returns the recorded actions of an account, oldest first.
func actions(t *testing.T, set store.Set, account string) []string {
	t.Helper()
	if set.Audit == nil {
		return nil
	}
	list, _, err := set.Audit.Changes(t.Context(), account, 0, 100)
	require.NoError(t, err)
	var words []string
	for i := range list {
		words = append(words, list[len(list)-1-i].Action)
	}
	return words
}

func expectActions(t *testing.T, set store.Set, want ...string) {
	t.Helper()
	if set.Audit != nil {
		assert.Equal(t, want, actions(t, set, "a"), "changes are recorded with what they change, and only then")
	}
}

func credentialReturns(t *testing.T, set store.Set) {
	t.Helper()
	want := create(t, set.Credentials, credential(1))
	got, err := set.Credentials.Get(t.Context(), "a", want.ID)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	bare := credential(2)
	bare.Models, bare.KeyHashes, bare.Members, bare.Name = nil, nil, nil, ""
	bare = create(t, set.Credentials, bare)
	got, err = set.Credentials.Get(t.Context(), "a", bare.ID)
	require.NoError(t, err)
	assert.Equal(t, bare, got, "nil lists come back as nil")
	_, err = set.Credentials.Get(t.Context(), "a", credential(3).ID)
	require.ErrorIs(t, err, keys.ErrNoCredential)
	expectActions(t, set, "create", "create")
}

func credentialOrders(t *testing.T, set store.Set) {
	t.Helper()
	for n, want := range []int64{1, 2, 3} {
		assert.Equal(t, want, create(t, set.Credentials, credential(n)).Order)
	}
	other := credential(3)
	other.Workspace = "w2"
	assert.EqualValues(t, 1, create(t, set.Credentials, other).Order)
	other = credential(4)
	other.Account = "b"
	assert.EqualValues(t, 1, create(t, set.Credentials, other).Order)
	last := credential(2)
	require.NoError(t, set.Credentials.Delete(t.Context(), "a", last.ID, 1, credentialChange(last, "delete")))
	assert.EqualValues(t, 4, create(t, set.Credentials, credential(5)).Order, "never given twice")
}

func credentialPages(t *testing.T, set store.Set) {
	t.Helper()
	var all []keys.Credential
	for n := range 5 {
		c := credential(n)
		if n%2 == 1 {
			c.Provider, c.Disabled = "bee", true
		}
		all = append(all, create(t, set.Credentials, c).Credential)
	}
	elsewhere := credential(9)
	elsewhere.Workspace = "w2"
	create(t, set.Credentials, elsewhere)
	for _, c := range []struct {
		q     keys.CredentialQuery
		want  []keys.Credential
		total int
	}{
		{keys.CredentialQuery{Account: "a", Workspace: "w", Limit: 10}, all, 5},
		{keys.CredentialQuery{Account: "a", Workspace: "w", Offset: 1, Limit: 2}, all[1:3], 5},
		{keys.CredentialQuery{Account: "a", Workspace: "w", Offset: 9, Limit: 2}, []keys.Credential{}, 5},
		{keys.CredentialQuery{Account: "a", Workspace: "w", Provider: "bee", Limit: 10}, []keys.Credential{all[1], all[3]}, 2},
		{keys.CredentialQuery{Account: "a", Workspace: "", Limit: 10}, []keys.Credential{}, 0},
		{keys.CredentialQuery{Account: "b", Workspace: "w", Limit: 10}, []keys.Credential{}, 0},
	} {
		got, total, err := set.Credentials.List(t.Context(), c.q)
		require.NoError(t, err)
		assert.Equal(t, c.total, total, "%+v", c.q)
		assert.ElementsMatch(t, c.want, got, "%+v", c.q)
		for i := range got {
			assert.Equal(t, c.want[i].ID, got[i].ID, "in order, %+v", c.q)
		}
	}
}

func credentialsEnabled(t *testing.T, set store.Set) {
	t.Helper()
	first := create(t, set.Credentials, credential(1))
	off := credential(2)
	off.Disabled = true
	create(t, set.Credentials, off)
	second := credential(3)
	second.Provider = "bee"
	second = create(t, set.Credentials, second)
	got, err := set.Credentials.Enabled(t.Context(), "a", "w")
	require.NoError(t, err)
	assert.Equal(t, []keys.StoredCredential{first, second}, got)
	for _, at := range [][2]string{{"a", ""}, {"b", "w"}} {
		got, err = set.Credentials.Enabled(t.Context(), at[0], at[1])
		require.NoError(t, err)
		assert.Empty(t, got)
	}
}

func credentialUpdates(t *testing.T, set store.Set) {
	t.Helper()
	c := create(t, set.Credentials, credential(1))
	changed := c
	changed.Label, changed.Name, changed.Disabled, changed.Fallback = "l2", "", true, true
	changed.Models, changed.KeyHashes, changed.Members = nil, []string{"h2", "h3"}, []string{"u2"}
	changed.Sealed = keys.Sealed{KeyID: "k2", Text: []byte{9}}
	want := changed
	changed.Workspace, changed.Provider, changed.Order, changed.CreatedAt = "w2", "bee", 77, c.CreatedAt.Add(time.Hour)
	require.NoError(t, set.Credentials.Update(t.Context(), changed, credentialChange(c, "update")))
	want.Revision = 2
	got, err := set.Credentials.Get(t.Context(), "a", c.ID)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	expectActions(t, set, "create", "update")
}

func credentialConflicts(t *testing.T, set store.Set) {
	t.Helper()
	c := create(t, set.Credentials, credential(1))
	require.NoError(t, set.Credentials.Update(t.Context(), c, credentialChange(c, "update")))
	c.Name = "late"
	require.ErrorIs(t, set.Credentials.Update(t.Context(), c, credentialChange(c, "update")), keys.ErrCredentialChanged)
	require.ErrorIs(t, set.Credentials.Delete(t.Context(), "a", c.ID, 1, credentialChange(c, "delete")), keys.ErrCredentialChanged)
	got, err := set.Credentials.Get(t.Context(), "a", c.ID)
	require.NoError(t, err)
	assert.Equal(t, "n", got.Name)
	expectActions(t, set, "create", "update")
}

func credentialDeletes(t *testing.T, set store.Set) {
	t.Helper()
	c := create(t, set.Credentials, credential(1))
	require.NoError(t, set.Credentials.Delete(t.Context(), "a", c.ID, 1, credentialChange(c, "delete")))
	_, err := set.Credentials.Get(t.Context(), "a", c.ID)
	require.ErrorIs(t, err, keys.ErrNoCredential)
	require.ErrorIs(t, set.Credentials.Delete(t.Context(), "a", c.ID, 1, credentialChange(c, "delete")), keys.ErrNoCredential)
	require.ErrorIs(t, set.Credentials.Update(t.Context(), c, credentialChange(c, "update")), keys.ErrNoCredential)
	expectActions(t, set, "create", "delete")
}

func credentialForeign(t *testing.T, set store.Set) {
	t.Helper()
	c := create(t, set.Credentials, credential(1))
	foreign := c
	foreign.Account = "b"
	_, err := set.Credentials.Get(t.Context(), "b", c.ID)
	require.ErrorIs(t, err, keys.ErrNoCredential)
	require.ErrorIs(t, set.Credentials.Update(t.Context(), foreign, credentialChange(c, "update")), keys.ErrNoCredential)
	require.ErrorIs(t, set.Credentials.Delete(t.Context(), "b", c.ID, 1, credentialChange(c, "delete")), keys.ErrNoCredential)
	got, err := set.Credentials.Get(t.Context(), "a", c.ID)
	require.NoError(t, err)
	assert.Equal(t, c, got)
	expectActions(t, set, "create")
}

func credentialCopies(t *testing.T, set store.Set) {
	t.Helper()
	given := credential(1)
	create(t, set.Credentials, given)
	given.Models[0], given.Sealed.Text[0] = "spoilt", 99
	got, err := set.Credentials.Get(t.Context(), "a", given.ID)
	require.NoError(t, err)
	got.KeyHashes[0], got.Members[0] = "spoilt", "spoilt"
	list, err := set.Credentials.Enabled(t.Context(), "a", "w")
	require.NoError(t, err)
	require.Len(t, list, 1)
	list[0].Sealed.Text[1], list[0].Models[0] = 99, "spoilt"
	again, err := set.Credentials.Get(t.Context(), "a", given.ID)
	require.NoError(t, err)
	want := credential(1)
	want.Order = 1
	assert.Equal(t, want, again)
}

func credentialContext(t *testing.T, set store.Set) {
	t.Helper()
	c := create(t, set.Credentials, credential(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := set.Credentials.Create(ctx, credential(2), credentialChange(c, "create"))
	require.ErrorIs(t, err, context.Canceled)
	_, err = set.Credentials.Get(ctx, "a", c.ID)
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = set.Credentials.List(ctx, keys.CredentialQuery{Account: "a", Workspace: "w", Limit: 1})
	require.ErrorIs(t, err, context.Canceled)
	_, err = set.Credentials.Enabled(ctx, "a", "w")
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, set.Credentials.Update(ctx, c, credentialChange(c, "update")), context.Canceled)
	require.ErrorIs(t, set.Credentials.Delete(ctx, "a", c.ID, 1, credentialChange(c, "delete")), context.Canceled)
	expectActions(t, set, "create")
}
