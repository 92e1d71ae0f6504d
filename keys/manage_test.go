package keys_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

func TestCreateFillsInWhatIsNotSaid(t *testing.T) {
	b := newBench(t)
	r, _ := b.key(t, keys.Key{Name: "x"})
	assert.Equal(t, "acme", r.Account)
	assert.Equal(t, home, r.Workspace, "the default one")
	assert.Equal(t, "ann", r.Creator, "whose management key made it")
	assert.Equal(t, r.CreatedAt, r.UpdatedAt)
	assert.Nil(t, r.Remaining)
	r, _ = b.key(t, keys.Key{Name: "y", Workspace: other, Creator: "bob", Limit: new(usd(500))})
	assert.Equal(t, other, r.Workspace)
	assert.Equal(t, "bob", r.Creator)
	assert.Equal(t, usd(500), *r.Remaining)
}

func TestWhatCreateRefuses(t *testing.T) {
	b := newBench(t)
	program := router.Actor{}
	for name, c := range map[string]struct {
		by   router.Actor
		k    keys.Key
		path string // of the issue; else the error
		is   error
	}{
		"no name":                        {b.admin, keys.Key{}, "name", nil},
		"long name":                      {b.admin, keys.Key{Name: strings.Repeat("é", 201)}, "name", nil},
		"name that is no text":           {b.admin, keys.Key{Name: "\x00"}, "name", nil},
		"user that is no text":           {b.admin, keys.Key{Name: "x", ExternalUser: "\xff"}, "external.user", nil},
		"long user":                      {b.admin, keys.Key{Name: "x", ExternalUser: strings.Repeat("é", 257)}, "external.user", nil},
		"negative limit":                 {b.admin, keys.Key{Name: "x", Limit: new(router.USD(-1))}, "limit", nil},
		"limit above all":                {b.admin, keys.Key{Name: "x", Limit: new(9_000_000_000*router.Dollar + 1)}, "limit", nil},
		"odd interval":                   {b.admin, keys.Key{Name: "x", Reset: 9}, "limit_reset", nil},
		"expired":                        {b.admin, keys.Key{Name: "x", ExpiresAt: noon}, "expires_at", nil},
		"expired by less than is stored": {b.admin, keys.Key{Name: "x", ExpiresAt: noon.Add(time.Nanosecond)}, "expires_at", nil},
		"creator is a stranger":          {b.admin, keys.Key{Name: "x", Creator: "eve"}, "creator_user_id", nil},
		"creator in a personal account":  {b.solo, keys.Key{Name: "x", Creator: "ann"}, "creator_user_id", nil},
		"workspace of nobody":            {b.admin, keys.Key{Name: "x", Workspace: "w"}, "", keys.ErrNotFound},
		"workspace of another account":   {b.solo, keys.Key{Name: "x", Workspace: other}, "", keys.ErrNotFound},
		"another account":                {b.admin, keys.Key{Name: "x", Account: "solo"}, "", keys.ErrForbidden},
		"a management key by a key":      {b.admin, keys.Key{Name: "x", Management: true}, "", keys.ErrForbidden},
		"a provisioned one by a key":     {b.admin, keys.Key{Name: "x", Provisioned: true}, "", keys.ErrForbidden},
		"management without an owner":    {program, keys.Key{Name: "x", Account: "acme", Management: true}, "creator_user_id", nil},
		"management of no admin":         {program, keys.Key{Name: "x", Account: "acme", Management: true, Creator: "bob"}, "creator_user_id", nil},
		"management of a stranger":       {program, keys.Key{Name: "x", Account: "solo", Management: true, Creator: "bob"}, "creator_user_id", nil},
	} {
		_, secret, err := b.Create(t.Context(), c.by, c.k)
		assert.Empty(t, string(secret), name)
		if c.is != nil {
			require.ErrorIs(t, err, c.is, name)
			continue
		}
		var ie *systemone.InvalidError
		require.ErrorAs(t, err, &ie, name)
		require.Len(t, ie.Issues, 1, name)
		assert.Equal(t, c.path, ie.Issues[0].Path, name)
	}
	list, err := b.List(t.Context(), b.admin, keys.Query{IncludeDisabled: true})
	require.NoError(t, err)
	assert.Empty(t, list, "nothing was made")
	_, _, err = b.Create(t.Context(), b.admin, keys.Key{Limit: new(router.USD(-1)), ExpiresAt: noon, Creator: "eve"})
	var ie *systemone.InvalidError
	require.ErrorAs(t, err, &ie)
	assert.Len(t, ie.Issues, 4, "every problem is told")
}

func TestAFailingDirectoryLetsNothingThrough(t *testing.T) {
	b := newBench(t)
	s, err := keys.New(keys.Config{Store: b.set.Keys, Directory: town{err: errDown}})
	require.NoError(t, err)
	_, _, err = s.Create(t.Context(), b.admin, keys.Key{Name: "x", Creator: "bob"})
	require.ErrorIs(t, err, errDown)
	_, _, err = s.Create(t.Context(), b.admin, keys.Key{Name: "x"})
	require.ErrorIs(t, err, errDown)
	_, err = s.List(t.Context(), b.admin, keys.Query{})
	require.ErrorIs(t, err, errDown)
	_, _, err = s.Current(t.Context(), b.admin.Principal)
	require.ErrorIs(t, err, errDown)
}

func TestForeignMissingAndManagementKeysAreTheSame(t *testing.T) {
	b := newBench(t)
	r, secret := b.key(t, keys.Key{})
	for name, c := range map[string]struct {
		by   router.Actor
		hash string
	}{
		"foreign":    {b.solo, r.Hash},
		"missing":    {b.admin, strings.Repeat("0", 64)},
		"upper case": {b.admin, strings.ToUpper(r.Hash)},
		"no hash":    {b.admin, "x"},
		"management": {b.admin, b.admin.Principal.KeyHash},
		"program's":  {router.Actor{}, r.Hash},
	} {
		_, err := b.Get(t.Context(), c.by, c.hash)
		require.ErrorIs(t, err, keys.ErrNotFound, name)
		_, err = b.Update(t.Context(), c.by, c.hash, keys.Patch{Disabled: router.To(true)})
		require.ErrorIs(t, err, keys.ErrNotFound, name)
		require.ErrorIs(t, b.Delete(t.Context(), c.by, c.hash), keys.ErrNotFound, name)
	}
	_, err := b.Authenticate(t.Context(), secret)
	require.NoError(t, err)
	list, err := b.List(t.Context(), b.solo, keys.Query{})
	require.NoError(t, err)
	assert.Empty(t, list)
	// The embedding program manages what it made.
	program := router.Actor{Principal: router.Principal{Account: "acme"}}
	managers, err := b.List(t.Context(), program, keys.Query{Management: true})
	require.NoError(t, err)
	require.Len(t, managers, 1)
	_, err = b.List(t.Context(), b.admin, keys.Query{Management: true})
	require.ErrorIs(t, err, keys.ErrForbidden)
	require.NoError(t, b.Delete(t.Context(), program, managers[0].Hash))
}

func TestProvisionedKeysAreSeenButNotChanged(t *testing.T) {
	b := newBench(t)
	program := router.Actor{Principal: router.Principal{Account: "acme"}}
	r, _, err := b.Create(t.Context(), program, keys.Key{Name: "x", Provisioned: true})
	require.NoError(t, err)
	_, err = b.Get(t.Context(), b.admin, r.Hash)
	require.NoError(t, err)
	_, err = b.Update(t.Context(), b.admin, r.Hash, keys.Patch{Disabled: router.To(true)})
	require.ErrorIs(t, err, keys.ErrProvisioned)
	require.ErrorIs(t, b.Delete(t.Context(), b.admin, r.Hash), keys.ErrProvisioned)
	_, err = b.Update(t.Context(), program, r.Hash, keys.Patch{Disabled: router.To(true)})
	require.NoError(t, err)
}

func TestUpdateIsAllOrNothingAndAlwaysMovesOn(t *testing.T) {
	b := newBench(t)
	r, _ := b.key(t, keys.Key{Name: "old", Limit: new(usd(100)), Reset: router.Daily})
	_, err := b.Update(t.Context(), b.admin, r.Hash, keys.Patch{Name: router.To("new"), Limit: router.To(new(router.USD(-1)))})
	require.ErrorIs(t, err, systemone.ErrInvalid)
	got, err := b.Get(t.Context(), b.admin, r.Hash)
	require.NoError(t, err)
	assert.Equal(t, r, got)
	last := r.UpdatedAt
	for range 3 {
		got, err = b.Update(t.Context(), b.admin, r.Hash, keys.Patch{Name: router.To("old")})
		require.NoError(t, err)
		assert.True(t, got.UpdatedAt.After(last), "also when nothing changes and the clock stands still")
		last = got.UpdatedAt
		b.clock.after(-time.Second)
	}
	assert.Equal(t, router.Daily, got.Reset)
	assert.Equal(t, usd(100), *got.Limit)
}

func TestExpiredKeysStayListed(t *testing.T) {
	b := newBench(t)
	r, _ := b.key(t, keys.Key{ExpiresAt: noon.Add(time.Second)})
	b.clock.after(time.Hour)
	list, err := b.List(t.Context(), b.admin, keys.Query{})
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, r.Hash, list[0].Hash)
}

func TestNoRivalsChangeIsLost(t *testing.T) {
	b := newBench(t)
	r, _ := b.key(t, keys.Key{})
	var wg sync.WaitGroup
	for _, p := range []keys.Patch{
		{Name: router.To("n")}, {Disabled: router.To(true)}, {Limit: router.To(new(usd(7)))}, {Reset: router.To(router.Weekly)}, {IncludeBYOK: router.To(true)},
	} {
		wg.Go(func() {
			_, err := b.Update(t.Context(), b.admin, r.Hash, p)
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	got, err := b.Get(t.Context(), b.admin, r.Hash)
	require.NoError(t, err)
	assert.Equal(t, "n", got.Name)
	assert.True(t, got.Disabled)
	assert.Equal(t, usd(7), *got.Limit)
	assert.Equal(t, router.Weekly, got.Reset)
	assert.True(t, got.IncludeBYOK)
}

// everConflict is a store whose changes always conflict.
type everConflict struct{ keys.Store }

func (everConflict) Replace(context.Context, keys.Key, router.Change) error { return keys.ErrConflict }

func TestAChangeThatAlwaysLosesEnds(t *testing.T) {
	b := newBench(t)
	r, _ := b.key(t, keys.Key{})
	s, err := keys.New(keys.Config{Store: everConflict{b.set.Keys}})
	require.NoError(t, err)
	_, err = s.Update(t.Context(), b.admin, r.Hash, keys.Patch{Name: router.To("n")})
	require.ErrorIs(t, err, keys.ErrConflict)
}

func TestEveryActionLeavesARecordWithoutSecrets(t *testing.T) {
	b := newBench(t)
	r, secret := b.key(t, keys.Key{Name: "x", ExternalUser: "them", ExternalHash: "cafe"})
	_, err := b.Update(t.Context(), b.admin, r.Hash, keys.Patch{Limit: router.To(new(usd(150)))})
	require.NoError(t, err)
	require.NoError(t, b.Delete(t.Context(), b.admin, r.Hash))
	list, _, err := b.set.Audit.Changes(t.Context(), "acme", 0, 10)
	require.NoError(t, err)
	require.Len(t, list, 4, "the management key is the first")
	for i, action := range []string{"delete", "update", "create"} {
		c := list[i]
		assert.Equal(t, action, c.Action)
		assert.Equal(t, "key", c.Kind)
		assert.Equal(t, r.Hash, c.Object)
		assert.Equal(t, b.admin, c.Actor)
		assert.Equal(t, "acme", c.Account)
		assert.Equal(t, noon, c.At)
		assert.NotContains(t, string(c.Before)+string(c.After), "cafe")
		assert.NotContains(t, string(c.Before)+string(c.After), string(secret))
	}
	assert.Nil(t, list[2].Before)
	assert.JSONEq(t, string(list[2].After), string(list[1].Before))
	assert.Contains(t, string(list[1].Before), `"limit":null`)
	assert.Contains(t, string(list[1].After), `"limit":1.5`)
	assert.JSONEq(t, string(list[1].After), string(list[0].Before))
	assert.Nil(t, list[0].After)
}

// vanishing is a town whose other workspace is deleted after it was asked about
// once.
type vanishing struct {
	town
	asked *atomic.Int32
}

func (d vanishing) Workspace(ctx context.Context, account, id string) (string, error) {
	if id == other && d.asked.Add(1) > 1 {
		return "", keys.ErrNotFound
	}
	return d.town.Workspace(ctx, account, id)
}

func TestCreateLeavesNoKeyInAWorkspaceDeletedMeanwhile(t *testing.T) {
	set := memory.New()
	s, err := keys.New(keys.Config{Store: set.Keys, Ledger: set.Ledger, Directory: vanishing{asked: new(atomic.Int32)}})
	require.NoError(t, err)
	by := router.Actor{Principal: router.Principal{Account: "acme", KeyHash: "h", Member: "ann"}}
	_, secret, err := s.Create(t.Context(), by, keys.Key{Name: "x", Workspace: other})
	require.ErrorIs(t, err, keys.ErrNotFound)
	assert.Empty(t, secret)
	n, err := set.Keys.CountIn(t.Context(), "acme", other)
	require.NoError(t, err)
	assert.Zero(t, n)
	changes, _, err := set.Audit.Changes(t.Context(), "acme", 0, 10)
	require.NoError(t, err)
	require.Len(t, changes, 2)
	assert.Equal(t, "delete", changes[0].Action)
	assert.Equal(t, by, changes[0].Actor)
}

// TestAnAdminWithoutAKeyIsNotTheProgram: who has signed in without a key may no more
// than the holder of a management key.
func TestAnAdminWithoutAKeyIsNotTheProgram(t *testing.T) {
	b := newBench(t)
	managementKey, admin := b.admin.Principal.KeyHash, b.admin
	admin.Principal.KeyHash = ""
	provisioned, _, err := b.Create(t.Context(), router.Actor{}, keys.Key{Name: "x", Account: "acme", Provisioned: true})
	require.NoError(t, err)
	for name, k := range map[string]keys.Key{
		"management": {Name: "x", Management: true}, "provisioned": {Name: "x", Provisioned: true}, "elsewhere": {Name: "x", Account: "solo"},
	} {
		_, _, err := b.Create(t.Context(), admin, k)
		require.ErrorIs(t, err, keys.ErrForbidden, name)
	}
	_, err = b.List(t.Context(), admin, keys.Query{Management: true})
	require.ErrorIs(t, err, keys.ErrForbidden)
	require.ErrorIs(t, b.Delete(t.Context(), admin, managementKey), keys.ErrNotFound)
	require.ErrorIs(t, b.Delete(t.Context(), admin, provisioned.Hash), keys.ErrProvisioned)
	own, _, err := b.Create(t.Context(), admin, keys.Key{Name: "x"})
	require.NoError(t, err)
	require.NoError(t, b.Delete(t.Context(), admin, own.Hash))
}
