package keys_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// canary is a provider's credential that must not appear in any output.
const canary router.Secret = "pk-live-canary-0123456789-secret-tail"

func sealingKey(id string) keys.SealingKey {
	return keys.SealingKey{ID: id, Key: router.Secret(strings.Repeat(id[:1], 32))}
}

var errHook = errors.New("the hook fails")

func credentialsConfig(set store.Set) keys.CredentialsConfig {
	return keys.CredentialsConfig{
		Store: set.Credentials, SealingKeys: []keys.SealingKey{sealingKey("k1")},
		Provider: func(slug string) bool { return slug == "ant" || slug == "bee" },
		Workspace: func(_ context.Context, _, workspace string) (string, error) {
			if workspace == "fails" {
				return "", errHook
			}
			if workspace == "" {
				workspace = "default"
			}
			return workspace, nil
		},
		OwnsKey: func(_ context.Context, account, hash string) (bool, error) {
			return strings.HasPrefix(hash, account), nil
		},
		Now: func() time.Time { return noon },
	}
}

func credentials(t *testing.T, set store.Set, change ...func(*keys.CredentialsConfig)) *keys.Credentials {
	t.Helper()
	cfg := credentialsConfig(set)
	for _, c := range change {
		c(&cfg)
	}
	s, err := keys.NewCredentials(cfg)
	require.NoError(t, err)
	return s
}

func by(account string) router.Actor {
	return router.Actor{Principal: router.Principal{Account: account, Management: true}, RequestID: "r-1"}
}

// offered returns the credentials that a call gets.
func offered(t *testing.T, s *keys.Credentials, p router.Principal) []router.Credential {
	t.Helper()
	call := router.Call{Principal: p}
	_, err := s.Intercept(func(context.Context, *router.Call) (*router.Result, error) {
		return &router.Result{}, nil
	})(t.Context(), &call)
	require.NoError(t, err)
	return call.Credentials
}

func inDefault(account string) router.Principal {
	return router.Principal{Account: account, Workspace: "default", KeyHash: account + "-key", Member: "u"}
}

func TestNewCredentialsRefusesMistakes(t *testing.T) {
	for name, change := range map[string]func(*keys.CredentialsConfig){
		"no store":    func(c *keys.CredentialsConfig) { c.Store = nil },
		"no provider": func(c *keys.CredentialsConfig) { c.Provider = nil },
		"no keys":     func(c *keys.CredentialsConfig) { c.SealingKeys = nil },
		"empty key":   func(c *keys.CredentialsConfig) { c.SealingKeys[0].Key = "" },
		"short key":   func(c *keys.CredentialsConfig) { c.SealingKeys[0].Key = c.SealingKeys[0].Key[1:] },
		"AES-128":     func(c *keys.CredentialsConfig) { c.SealingKeys[0].Key = c.SealingKeys[0].Key[:16] },
		"long key":    func(c *keys.CredentialsConfig) { c.SealingKeys[0].Key += "x" },
		"no id":       func(c *keys.CredentialsConfig) { c.SealingKeys[0].ID = "" },
		"id twice":    func(c *keys.CredentialsConfig) { c.SealingKeys = append(c.SealingKeys, c.SealingKeys[0]) },
		"short second": func(c *keys.CredentialsConfig) {
			c.SealingKeys = append(c.SealingKeys, keys.SealingKey{ID: "k2", Key: "x"})
		},
	} {
		cfg := credentialsConfig(memory.New())
		change(&cfg)
		_, err := keys.NewCredentials(cfg)
		require.ErrorIs(t, err, keys.ErrConfig, name)
		assert.NotContains(t, err.Error(), string(sealingKey("k1").Key[:8]), name)
	}
}

func TestCredentialIsKeptAndHandedOut(t *testing.T) {
	set := memory.New()
	s := credentials(t, set)
	c, err := s.Create(t.Context(), by("a"), keys.Credential{Provider: "ANT", Name: "ours", Models: []string{"acme/judge"}, Fallback: true}, canary)
	require.NoError(t, err)
	assert.Equal(t, keys.Credential{
		ID: c.ID, Account: "a", Workspace: "default", Provider: "ant", Label: "pk-l...tail", Name: "ours", Fallback: true,
		Models: []string{"acme/judge"}, Order: 1, CreatedAt: noon, Revision: 1,
	}, c)
	got, err := s.Get(t.Context(), by("a"), c.ID)
	require.NoError(t, err)
	assert.Equal(t, c, got)
	own := offered(t, s, inDefault("a"))
	require.Len(t, own, 1)
	assert.Equal(t, string(canary), string(own[0].Secret))
	assert.Equal(t, c.ID, own[0].ID.String())
	assert.Equal(t, []string{"acme/judge"}, own[0].Models)
	assert.Equal(t, "ant", own[0].Provider)
	assert.True(t, own[0].Fallback)
	assert.Empty(t, offered(t, s, inDefault("b")), "another account's")
	assert.Empty(t, offered(t, s, router.Principal{Account: "a", Workspace: "other", KeyHash: "a-key"}), "another workspace's")
}

func TestCredentialLabelsShowLittle(t *testing.T) {
	s := credentials(t, memory.New())
	for text, want := range map[router.Secret]string{
		"x": "...", "12345678": "...", "12345678901234567890123": "...", "123456789012345678901234": "1234...1234",
	} {
		c, err := s.Create(t.Context(), by("a"), keys.Credential{Provider: "ant"}, text)
		require.NoError(t, err)
		assert.Equal(t, want, c.Label)
	}
}

func TestCredentialMistakesAreAllNamed(t *testing.T) {
	s := credentials(t, memory.New())
	_, err := s.Create(t.Context(), by("a"), keys.Credential{
		Provider: "cat", Name: strings.Repeat("é", 201), Models: []string{}, Members: []string{""}, KeyHashes: []string{"a1", "b1"},
	}, "two words")
	invalid, ok := errors.AsType[*systemone.InvalidError](err)
	require.True(t, ok, "%v", err)
	var paths []string
	for _, issue := range invalid.Issues {
		paths = append(paths, issue.Path)
		assert.NotContains(t, issue.Message, "two words")
	}
	assert.Equal(t, []string{"key", "provider", "name", "allowed_models", "allowed_user_ids.0", "allowed_api_key_hashes.1"}, paths)
	_, err = s.Create(t.Context(), by("a"), keys.Credential{Provider: "ant", Name: "\x00", Models: []string{"\xff"}}, canary)
	invalid, ok = errors.AsType[*systemone.InvalidError](err)
	require.True(t, ok, "%v", err)
	assert.Len(t, invalid.Issues, 2)
	for _, text := range []router.Secret{"", "a\nb", "a\r\nX-Evil: 1", "ä", "a\x00", router.Secret(strings.Repeat("x", 4097))} {
		_, err = s.Create(t.Context(), by("a"), keys.Credential{Provider: "ant"}, text)
		require.ErrorIs(t, err, systemone.ErrInvalid)
	}
	_, err = s.Create(t.Context(), by("a"), keys.Credential{Provider: "ant", Workspace: "fails"}, canary)
	require.ErrorIs(t, err, errHook)
	_, _, err = s.List(t.Context(), by("a"), keys.CredentialQuery{Workspace: "fails", Limit: 1})
	require.ErrorIs(t, err, errHook)
	list, total, err := s.List(t.Context(), by("a"), keys.CredentialQuery{Limit: 10})
	require.NoError(t, err)
	assert.Empty(t, list)
	assert.Zero(t, total, "nothing of it was kept")
}

func TestCredentialUpdateIsPartial(t *testing.T) {
	s := credentials(t, memory.New())
	made, err := s.Create(t.Context(), by("a"), keys.Credential{
		Provider: "bee", Name: "n", Models: []string{"m"}, KeyHashes: []string{"a-key"}, Members: []string{"u"},
	}, canary)
	require.NoError(t, err)
	want := made
	step := func(p keys.CredentialPatch, change func()) {
		change()
		want.Revision++
		got, err := s.Update(t.Context(), by("a"), made.ID, p)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		got, err = s.Get(t.Context(), by("a"), made.ID)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	step(keys.CredentialPatch{Name: router.To[*string](nil)}, func() { want.Name = "" })
	step(keys.CredentialPatch{Name: router.To(new("x")), Fallback: router.To(true)}, func() { want.Name, want.Fallback = "x", true })
	step(keys.CredentialPatch{Models: router.To[[]string](nil)}, func() { want.Models = nil })
	step(keys.CredentialPatch{Members: router.To([]string{"u", "v"})}, func() { want.Members = []string{"u", "v"} })
	assert.Equal(t, string(canary), string(offered(t, s, inDefault("a"))[0].Secret), "the text is left as it is")
	step(keys.CredentialPatch{Secret: router.To[router.Secret]("another-text-of-some-length")}, func() { want.Label = "anot...ngth" })
	assert.Equal(t, "another-text-of-some-length", string(offered(t, s, inDefault("a"))[0].Secret), "at once")
	step(keys.CredentialPatch{Disabled: router.To(true)}, func() { want.Disabled = true })
	assert.Empty(t, offered(t, s, inDefault("a")), "at once")

	_, err = s.Update(t.Context(), by("a"), made.ID, keys.CredentialPatch{Disabled: router.To(false), Secret: router.To[router.Secret](" ")})
	require.ErrorIs(t, err, systemone.ErrInvalid)
	_, err = s.Update(t.Context(), by("a"), made.ID, keys.CredentialPatch{Disabled: router.To(false), KeyHashes: router.To([]string{"b1"})})
	require.ErrorIs(t, err, systemone.ErrInvalid)
	assert.Empty(t, offered(t, s, inDefault("a")), "nothing is applied in part")
}

func TestCredentialUpdateForgivesKeysThatAreGone(t *testing.T) {
	owns := true
	s := credentials(t, memory.New(), func(c *keys.CredentialsConfig) {
		c.OwnsKey = func(context.Context, string, string) (bool, error) { return owns, nil }
	})
	c, err := s.Create(t.Context(), by("a"), keys.Credential{Provider: "ant", KeyHashes: []string{"h"}}, canary)
	require.NoError(t, err)
	owns = false
	c, err = s.Update(t.Context(), by("a"), c.ID, keys.CredentialPatch{Disabled: router.To(true)})
	require.NoError(t, err)
	assert.Equal(t, []string{"h"}, c.KeyHashes)
}

func TestConcurrentCredentialUpdatesAreAllKept(t *testing.T) {
	s := credentials(t, memory.New())
	c, err := s.Create(t.Context(), by("a"), keys.Credential{Provider: "ant"}, canary)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for _, p := range []keys.CredentialPatch{
		{Name: router.To(new("n"))}, {Fallback: router.To(true)}, {Models: router.To([]string{"m"})}, {Members: router.To([]string{"u"})},
	} {
		wg.Go(func() {
			_, err := s.Update(t.Context(), by("a"), c.ID, p)
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	got, err := s.Get(t.Context(), by("a"), c.ID)
	require.NoError(t, err)
	c.Name, c.Fallback, c.Models, c.Members, c.Revision = "n", true, []string{"m"}, []string{"u"}, 5
	assert.Equal(t, c, got)
}

func TestForeignCredentialsAreMissing(t *testing.T) {
	s := credentials(t, memory.New())
	c, err := s.Create(t.Context(), by("a"), keys.Credential{Provider: "ant"}, canary)
	require.NoError(t, err)
	foreign, missing := []string{}, []string{}
	for _, try := range []struct {
		id string
		to *[]string
	}{{c.ID, &foreign}, {strings.Replace(c.ID, c.ID[:1], "f", 1), &missing}} {
		_, err = s.Get(t.Context(), by("b"), try.id)
		require.ErrorIs(t, err, keys.ErrNoCredential)
		*try.to = append(*try.to, err.Error())
		_, err = s.Update(t.Context(), by("b"), try.id, keys.CredentialPatch{Disabled: router.To(true)})
		require.ErrorIs(t, err, keys.ErrNoCredential)
		*try.to = append(*try.to, err.Error())
		err = s.Delete(t.Context(), by("b"), try.id)
		require.ErrorIs(t, err, keys.ErrNoCredential)
		*try.to = append(*try.to, err.Error())
	}
	assert.Equal(t, missing, foreign)
	require.NoError(t, s.Delete(t.Context(), by("a"), c.ID))
	require.ErrorIs(t, s.Delete(t.Context(), by("a"), c.ID), keys.ErrNoCredential)
	assert.Empty(t, offered(t, s, inDefault("a")))
}

// TestR56CredentialFilters holds that a credential is offered where all its
// filters match; the one on models goes on to the planner.
func TestR56CredentialFilters(t *testing.T) {
	s := credentials(t, memory.New())
	ids := map[string]string{}
	for _, c := range []keys.Credential{
		{Name: "all", Provider: "bee"},
		{Name: "second", Provider: "bee"},
		{Name: "fallback", Provider: "bee", Fallback: true},
		{Name: "disabled", Provider: "bee", Disabled: true},
		{Name: "key 1", Provider: "ant", KeyHashes: []string{"a1", "a9"}},
		{Name: "user u", Provider: "ant", Members: []string{"t", "u"}},
		{Name: "key 1 of u", Provider: "ant", KeyHashes: []string{"a1"}, Members: []string{"u"}},
		{Name: "model", Provider: "ant", Models: []string{"acme/judge-mini"}},
	} {
		made, err := s.Create(t.Context(), by("a"), c, canary)
		require.NoError(t, err)
		ids[made.ID] = c.Name
	}
	for _, c := range []struct {
		hash, member string
		want         []string
	}{
		{"a1", "u", []string{"all", "second", "fallback", "key 1", "user u", "key 1 of u", "model"}},
		{"a1", "v", []string{"all", "second", "fallback", "key 1", "model"}},
		{"a2", "u", []string{"all", "second", "fallback", "user u", "model"}},
		{"a2", "", []string{"all", "second", "fallback", "model"}},
		{"", "", []string{"all", "second", "fallback", "model"}},
	} {
		var got []string
		for _, o := range offered(t, s, router.Principal{Account: "a", Workspace: "default", KeyHash: c.hash, Member: c.member}) {
			got = append(got, ids[o.ID.String()])
		}
		assert.Equal(t, c.want, got, "%s %s: oldest first", c.hash, c.member)
	}
}

func TestSealedTextOpensOnlyInItsPlace(t *testing.T) {
	set := memory.New()
	s := credentials(t, set)
	one, err := s.Create(t.Context(), by("a"), keys.Credential{Provider: "ant"}, canary)
	require.NoError(t, err)
	two, err := s.Create(t.Context(), by("a"), keys.Credential{Provider: "ant"}, canary)
	require.NoError(t, err)
	first, err := set.Credentials.Get(t.Context(), "a", one.ID)
	require.NoError(t, err)
	second, err := set.Credentials.Get(t.Context(), "a", two.ID)
	require.NoError(t, err)
	assert.NotEqual(t, first.Sealed, second.Sealed, "equal texts are not sealed alike")
	assert.Equal(t, "k1", first.Sealed.KeyID)
	for name, spoil := range map[string]func(*keys.StoredCredential){
		"another row's":    func(c *keys.StoredCredential) { c.Sealed = first.Sealed },
		"a bit turned":     func(c *keys.StoredCredential) { c.Sealed.Text[20] ^= 1 },
		"cut short":        func(c *keys.StoredCredential) { c.Sealed.Text = c.Sealed.Text[:5] },
		"empty":            func(c *keys.StoredCredential) { c.Sealed.Text = nil },
		"of no known key":  func(c *keys.StoredCredential) { c.Sealed.KeyID = "k0" },
		"another account":  func(c *keys.StoredCredential) { c.Account = "b" },
		"another place":    func(c *keys.StoredCredential) { c.Workspace = "w" },
		"another provider": func(c *keys.StoredCredential) { c.Provider = "bee" },
	} {
		fresh := memory.New()
		c := second
		c.Sealed.Text = bytes.Clone(c.Sealed.Text)
		spoil(&c)
		_, err := fresh.Credentials.Create(t.Context(), c, router.Change{})
		require.NoError(t, err)
		call := router.Call{Principal: router.Principal{Account: c.Account, Workspace: c.Workspace}}
		_, err = credentials(t, fresh).Intercept(func(context.Context, *router.Call) (*router.Result, error) {
			t.Error("the call went on")
			return nil, nil
		})(t.Context(), &call)
		require.ErrorIs(t, err, keys.ErrSealed, name)
		assert.NotContains(t, err.Error(), "canary", name)
	}
}

func TestSealingKeysAreReplaced(t *testing.T) {
	set := memory.New()
	old := credentials(t, set)
	c, err := old.Create(t.Context(), by("a"), keys.Credential{Provider: "ant"}, canary)
	require.NoError(t, err)
	both := credentials(t, set, func(c *keys.CredentialsConfig) {
		c.SealingKeys = []keys.SealingKey{sealingKey("n2"), sealingKey("k1")}
	})
	assert.Equal(t, string(canary), string(offered(t, both, inDefault("a"))[0].Secret), "the old key still opens")
	_, err = both.Update(t.Context(), by("a"), c.ID, keys.CredentialPatch{Secret: router.To(canary)})
	require.NoError(t, err)
	young := credentials(t, set, func(c *keys.CredentialsConfig) { c.SealingKeys = []keys.SealingKey{sealingKey("n2")} })
	assert.Equal(t, string(canary), string(offered(t, young, inDefault("a"))[0].Secret), "the new one seals")
}

func TestCredentialChangesAreRecorded(t *testing.T) {
	set := memory.New()
	s := credentials(t, set)
	c, err := s.Create(t.Context(), by("a"), keys.Credential{Provider: "ant", Name: "n"}, canary)
	require.NoError(t, err)
	_, err = s.Update(t.Context(), by("a"), c.ID, keys.CredentialPatch{Disabled: router.To(true), Secret: router.To(canary + "2")})
	require.NoError(t, err)
	require.NoError(t, s.Delete(t.Context(), by("a"), c.ID))
	list, total, err := set.Audit.Changes(t.Context(), "a", 0, 10)
	require.NoError(t, err)
	require.Equal(t, 3, total)
	for i, action := range []string{"delete", "update", "create"} {
		assert.Equal(t, action, list[i].Action)
		assert.Equal(t, "credential", list[i].Kind)
		assert.Equal(t, c.ID, list[i].Object)
		assert.Equal(t, by("a"), list[i].Actor)
		assert.Equal(t, noon, list[i].At)
	}
	assert.Nil(t, list[0].After)
	assert.Nil(t, list[2].Before)
	assert.JSONEq(t, string(list[0].Before), string(list[1].After))
	assert.JSONEq(t, string(list[1].Before), string(list[2].After))
	assert.JSONEq(t, `{"id":"`+c.ID+`","workspace_id":"default","provider":"ant","label":"pk-l...tail","name":"n","disabled":false,"is_fallback":false,
		"allowed_models":null,"allowed_api_key_hashes":null,"allowed_user_ids":null,"revision":1}`, string(list[2].After))
}

func TestCredentialTextShowsNowhere(t *testing.T) { synctest.Test(t, showsNowhere) }

func showsNowhere(t *testing.T) {
	set := memory.New()
	cfg := credentialsConfig(set)
	s := credentials(t, set)
	made, err := s.Create(t.Context(), by("a"), keys.Credential{Provider: "ant"}, canary)
	require.NoError(t, err)
	patch := keys.CredentialPatch{Secret: router.To(canary), Name: router.To(new("x"))}
	updated, err := s.Update(t.Context(), by("a"), made.ID, patch)
	require.NoError(t, err)
	own := offered(t, s, inDefault("a"))
	list, _, err := s.List(t.Context(), by("a"), keys.CredentialQuery{Limit: 10})
	require.NoError(t, err)
	stored, err := set.Credentials.Get(t.Context(), "a", made.ID)
	require.NoError(t, err)
	changes, _, err := set.Audit.Changes(t.Context(), "a", 0, 10)
	require.NoError(t, err)
	_, failure := s.Create(t.Context(), by("a"), keys.Credential{Provider: "cat"}, canary+" \n")
	require.Error(t, failure)
	synctest.Wait() // printing reads without locks
	type program struct{ hidden *keys.Credentials }
	var shown bytes.Buffer
	for _, v := range []any{
		s,
		program{s},
		&program{s}, cfg, &cfg, cfg.SealingKeys, made, updated, patch, &patch, own, &own, list, stored, changes, failure,
		router.Call{Credentials: own},
		set.Credentials,
	} {
		fmt.Fprintf(&shown, "%v %+v %#v %s %q\n", v, v, v, v, v)
		if text, err := json.Marshal(v); err == nil {
			shown.Write(text)
		}
	}
	for _, secret := range []string{string(canary), string(canary[4:20]), string(sealingKey("k1").Key)} {
		digits := fmt.Sprint(any([]byte(secret)))
		for i, form := range []string{secret, hex.EncodeToString([]byte(secret)), digits[1 : len(digits)-1]} {
			assert.False(t, bytes.Contains(shown.Bytes(), []byte(form)), "form %d of %q", i, secret)
		}
		assert.False(t, bytes.Contains(stored.Sealed.Text, []byte(secret)), "nor is it stored in the clear")
	}
}

// counting counts calls of Enabled, and makes them wait.
type counting struct {
	keys.CredentialStore
	mu    sync.Mutex
	reads int
	fails error
	hold  chan struct{} // nil: they do not wait
}

func (s *counting) Enabled(ctx context.Context, account, workspace string) ([]keys.StoredCredential, error) {
	s.mu.Lock()
	s.reads++
	hold, fails := s.hold, s.fails
	s.mu.Unlock()
	list, err := s.CredentialStore.Enabled(ctx, account, workspace)
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return list, errors.Join(err, fails)
}

func TestCredentialsAreReadAtMostEvery10s(t *testing.T) {
	set, now := memory.New(), noon
	spy := &counting{CredentialStore: set.Credentials}
	s := credentials(t, set, func(c *keys.CredentialsConfig) { c.Store, c.Now = spy, func() time.Time { return now } })
	elsewhere := credentials(t, set)
	for range 3 {
		assert.Empty(t, offered(t, s, inDefault("a")))
	}
	assert.Equal(t, 1, spy.reads)
	_, err := elsewhere.Create(t.Context(), by("a"), keys.Credential{Provider: "ant"}, canary)
	require.NoError(t, err)
	now = noon.Add(10*time.Second - 1)
	assert.Empty(t, offered(t, s, inDefault("a")))
	assert.Equal(t, 1, spy.reads)
	now = noon.Add(10 * time.Second)
	assert.Len(t, offered(t, s, inDefault("a")), 1, "another process's change")
	now = noon
	offered(t, s, inDefault("a"))
	assert.Equal(t, 3, spy.reads, "a clock that steps back does not keep anything for longer")
	spy.fails, now = errHook, noon.Add(time.Hour)
	call := router.Call{Principal: inDefault("a")}
	_, err = s.Intercept(nil)(t.Context(), &call)
	require.ErrorIs(t, err, errHook, "nothing older is used in its place")
}

func TestOneReadingServesAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := memory.New()
		spy := &counting{CredentialStore: set.Credentials, hold: make(chan struct{})}
		s := credentials(t, set, func(c *keys.CredentialsConfig) { c.Store = spy })
		next := func(context.Context, *router.Call) (*router.Result, error) { return &router.Result{}, nil }
		first, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := s.Intercept(next)(first, &router.Call{Principal: inDefault("a")})
			assert.ErrorIs(t, err, context.Canceled)
		})
		synctest.Wait()
		for range 20 {
			wg.Go(func() {
				_, err := s.Intercept(next)(t.Context(), &router.Call{Principal: inDefault("a")})
				assert.NoError(t, err, "a caller does not depend on the one that came first")
			})
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(spy.hold)
		wg.Wait()
		assert.Equal(t, 1, spy.reads)
	})
}

func TestReadingOfTheStoreIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := memory.New()
		s := credentials(t, set, func(c *keys.CredentialsConfig) {
			c.Store = &counting{CredentialStore: set.Credentials, hold: make(chan struct{})}
		})
		began := time.Now()
		_, err := s.Intercept(nil)(t.Context(), &router.Call{Principal: inDefault("a")})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 5*time.Second, time.Since(began))
	})
}

// TestChangeActsAlsoOnReadingsUnderWay changes a credential while an older
// state of it is being read.
func TestChangeActsAlsoOnReadingsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := memory.New()
		spy := &counting{CredentialStore: set.Credentials, hold: make(chan struct{})}
		s := credentials(t, set, func(c *keys.CredentialsConfig) { c.Store = spy })
		c, err := s.Create(t.Context(), by("a"), keys.Credential{Provider: "ant"}, canary)
		require.NoError(t, err)
		var wg sync.WaitGroup
		wg.Go(func() { assert.Len(t, offered(t, s, inDefault("a")), 1, "it was there when this call began") })
		synctest.Wait()
		require.NoError(t, s.Delete(t.Context(), by("a"), c.ID))
		spy.mu.Lock()
		hold := spy.hold
		spy.hold = nil
		spy.mu.Unlock()
		assert.Empty(t, offered(t, s, inDefault("a")))
		close(hold)
		wg.Wait()
		assert.Empty(t, offered(t, s, inDefault("a")), "the older state is not remembered")
	})
}

func TestInterceptWithoutCredentialsAllocatesNothing(t *testing.T) {
	s := credentials(t, memory.New())
	call := router.Call{Principal: inDefault("a")}
	res := &router.Result{}
	decide := s.Intercept(func(context.Context, *router.Call) (*router.Result, error) { return res, nil })
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = decide(t.Context(), &call) }))
}

func BenchmarkInterceptWithoutCredentials(b *testing.B) {
	cfg := credentialsConfig(memory.New())
	s, err := keys.NewCredentials(cfg)
	require.NoError(b, err)
	call := router.Call{Principal: inDefault("a")}
	decide := s.Intercept(func(context.Context, *router.Call) (*router.Result, error) { return nil, nil })
	b.ReportAllocs()
	for b.Loop() {
		_, _ = decide(b.Context(), &call)
	}
}

// explosive is a store that panics.
type explosive struct{ keys.CredentialStore }

func (explosive) Enabled(context.Context, string, string) ([]keys.StoredCredential, error) {
	panic("store")
}

func TestCredentialStoreThatPanicsRefusesCallsAndEndsNothing(t *testing.T) {
	set := memory.New()
	s := credentials(t, set, func(c *keys.CredentialsConfig) { c.Store = explosive{set.Credentials} })
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			_, err := s.Intercept(nil)(t.Context(), &router.Call{Principal: inDefault("a")})
			assert.ErrorContains(t, err, "panic: store")
		})
	}
	wg.Wait()
}
