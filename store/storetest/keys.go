package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
)

// sampleKey has every field set to something.
func sampleKey(hash string) keys.Key {
	at := time.Date(2026, 11, 21, 12, 0, 0, 123_456_000, time.UTC)
	return keys.Key{
		Hash: hash, Label: "sk-rt-v1-123...abcd", Name: "näme", Account: "acme", Workspace: "w1", Creator: "ann",
		Provisioned: true, Disabled: true, Limit: new(router.USD(1)), Reset: router.Weekly, IncludeBYOK: true,
		ExternalUser: "them", ExternalHash: "ff", ExpiresAt: at.Add(time.Hour), CreatedAt: at, UpdatedAt: at.Add(time.Minute),
		Version: 1,
	}
}

func keyChange(action, hash string) router.Change {
	return router.Change{
		ID: uuid.New(), At: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Action: action, Kind: "key", Object: hash, Account: "acme",
		After: json.RawMessage(`{"name":"x"}`),
	}
}

func testKeys(t *testing.T, open Open) {
	t.Helper()
	if open(t).Keys == nil {
		t.Skip("no Keys")
	}
	for name, test := range map[string]func(t *testing.T, open Open){
		"a key is kept as it is":                      keyIsKept,
		"keys are copies both ways":                   keysAreCopies,
		"a key with the same hash exists":             keyExists,
		"Replace replaces the version it was shown":   keyReplace,
		"Delete deletes the version it was shown":     keyDelete,
		"another account's key is not found":          keyOfOthers,
		"List returns the newest first":               keyList,
		"List filters and pages":                      keyListChooses,
		"keys are counted":                            keyCounts,
		"a change and its record are stored together": keyChanges,
		"methods honour ctx":                          keyContext,
		"concurrent calls create a key once":          keyRivalsCreate,
		"no concurrent change is lost":                keyRivalsReplace,
	} {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

func keyIsKept(t *testing.T, open Open) {
	t.Helper()
	s := open(t).Keys
	want := sampleKey("a")
	require.NoError(t, s.Create(t.Context(), want, keyChange("create", "a")))
	bare := keys.Key{Hash: "b", Management: true, Version: 1}
	require.NoError(t, s.Create(t.Context(), bare, keyChange("create", "b")))
	for _, want := range []keys.Key{want, bare} {
		got, err := s.Get(t.Context(), want.Hash)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, hash := range []string{"A", "", "a "} {
		_, err := s.Get(t.Context(), hash)
		require.ErrorIs(t, err, keys.ErrNotFound, "text is compared byte for byte: %q", hash)
	}
}

func keysAreCopies(t *testing.T, open Open) {
	t.Helper()
	s := open(t).Keys
	k := sampleKey("a")
	require.NoError(t, s.Create(t.Context(), k, keyChange("create", "a")))
	*k.Limit = 99
	got, err := s.Get(t.Context(), "a")
	require.NoError(t, err)
	require.EqualValues(t, 1, *got.Limit, "what was given is not kept")
	*got.Limit = 98
	list, err := s.List(t.Context(), "acme", keys.Query{Workspace: "w1", IncludeDisabled: true, Limit: 1})
	require.NoError(t, err)
	require.EqualValues(t, 1, *list[0].Limit, "what was returned is not kept")
	*list[0].Limit = 97
	k = sampleKey("a")
	require.NoError(t, s.Replace(t.Context(), k, keyChange("update", "a")))
	*k.Limit = 96
	got, err = s.Get(t.Context(), "a")
	require.NoError(t, err)
	assert.EqualValues(t, 1, *got.Limit)
}

func keyExists(t *testing.T, open Open) {
	t.Helper()
	s := open(t).Keys
	first, second := sampleKey("a"), sampleKey("a")
	second.Account, second.Name = "zen", "other"
	require.NoError(t, s.Create(t.Context(), first, keyChange("create", "a")))
	require.ErrorIs(t, s.Create(t.Context(), second, keyChange("create", "a")), keys.ErrExists)
	got, err := s.Get(t.Context(), "a")
	require.NoError(t, err)
	assert.Equal(t, first, got)
}

func keyReplace(t *testing.T, open Open) {
	t.Helper()
	s := open(t).Keys
	require.NoError(t, s.Create(t.Context(), sampleKey("a"), keyChange("create", "a")))
	next := sampleKey("a")
	next.Name, next.Limit, next.Reset, next.Disabled, next.IncludeBYOK = "next", nil, router.Lifetime, false, false
	next.UpdatedAt = next.UpdatedAt.Add(time.Hour)
	require.NoError(t, s.Replace(t.Context(), next, keyChange("update", "a")))
	got, err := s.Get(t.Context(), "a")
	require.NoError(t, err)
	want := next
	want.Version = 2
	assert.Equal(t, want, got)
	require.ErrorIs(t, s.Replace(t.Context(), next, keyChange("update", "a")), keys.ErrConflict)
	require.ErrorIs(t, s.Replace(t.Context(), sampleKey("b"), keyChange("update", "b")), keys.ErrNotFound)
	got, err = s.Get(t.Context(), "a")
	require.NoError(t, err)
	assert.Equal(t, want, got, "a conflict changes nothing")
}

func keyDelete(t *testing.T, open Open) {
	t.Helper()
	s := open(t).Keys
	k := sampleKey("a")
	require.NoError(t, s.Create(t.Context(), k, keyChange("create", "a")))
	require.NoError(t, s.Replace(t.Context(), k, keyChange("update", "a")))
	require.ErrorIs(t, s.Delete(t.Context(), k, keyChange("delete", "a")), keys.ErrConflict)
	k.Version = 2
	require.NoError(t, s.Delete(t.Context(), k, keyChange("delete", "a")))
	_, err := s.Get(t.Context(), "a")
	require.ErrorIs(t, err, keys.ErrNotFound)
	require.ErrorIs(t, s.Delete(t.Context(), k, keyChange("delete", "a")), keys.ErrNotFound)
	require.ErrorIs(t, s.Replace(t.Context(), k, keyChange("update", "a")), keys.ErrNotFound)
}

func keyOfOthers(t *testing.T, open Open) {
	t.Helper()
	s := open(t).Keys
	require.NoError(t, s.Create(t.Context(), sampleKey("a"), keyChange("create", "a")))
	foreign := sampleKey("a")
	foreign.Account = "zen"
	require.ErrorIs(t, s.Replace(t.Context(), foreign, keyChange("update", "a")), keys.ErrNotFound)
	require.ErrorIs(t, s.Delete(t.Context(), foreign, keyChange("delete", "a")), keys.ErrNotFound)
	foreign.Version = 7
	require.ErrorIs(t, s.Delete(t.Context(), foreign, keyChange("delete", "a")), keys.ErrNotFound)
	list, err := s.List(t.Context(), "zen", keys.Query{Workspace: "w1", IncludeDisabled: true, Limit: 9})
	require.NoError(t, err)
	assert.Empty(t, list)
	n, err := s.CountIn(t.Context(), "zen", "w1")
	require.NoError(t, err)
	assert.Zero(t, n)
	n, err = s.CountOf(t.Context(), "zen", "", "ann")
	require.NoError(t, err)
	assert.Zero(t, n)
}

func keyChanges(t *testing.T, open Open) {
	t.Helper()
	set := open(t)
	if set.Audit == nil {
		t.Skip("no Audit")
	}
	s, k := set.Keys, sampleKey("a")
	wanted := []router.Change{keyChange("delete", "a"), keyChange("update", "a"), keyChange("create", "a")}
	require.NoError(t, s.Create(t.Context(), k, wanted[2]))
	require.ErrorIs(t, s.Create(t.Context(), k, keyChange("create", "a")), keys.ErrExists)
	require.NoError(t, s.Replace(t.Context(), k, wanted[1]))
	require.ErrorIs(t, s.Replace(t.Context(), k, keyChange("update", "a")), keys.ErrConflict)
	require.ErrorIs(t, s.Delete(t.Context(), k, keyChange("delete", "a")), keys.ErrConflict)
	k.Version = 2
	require.NoError(t, s.Delete(t.Context(), k, wanted[0]))
	require.ErrorIs(t, s.Delete(t.Context(), k, keyChange("delete", "a")), keys.ErrNotFound)
	got, total, err := set.Audit.Changes(t.Context(), "acme", 0, 10)
	require.NoError(t, err)
	assert.Equal(t, 3, total)
	assert.Equal(t, wanted, got)
}

func keyContext(t *testing.T, open Open) {
	t.Helper()
	s, k := open(t).Keys, sampleKey("a")
	require.NoError(t, s.Create(t.Context(), k, keyChange("create", "a")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, get := s.Get(ctx, "a")
	_, list := s.List(ctx, "acme", keys.Query{Limit: 1})
	_, in := s.CountIn(ctx, "acme", "w1")
	_, of := s.CountOf(ctx, "acme", "w1", "ann")
	for _, err := range []error{
		get, list, in, of, s.Create(ctx, sampleKey("b"), keyChange("create", "b")),
		s.Replace(ctx, k, keyChange("update", "a")), s.Delete(ctx, k, keyChange("delete", "a")),
	} {
		require.ErrorIs(t, err, context.Canceled)
	}
	got, err := s.Get(t.Context(), "a")
	require.NoError(t, err)
	assert.Equal(t, k, got)
}

func keyRivalsCreate(t *testing.T, open Open) {
	t.Helper()
	s := open(t).Keys
	var won atomic.Int32
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			err := s.Create(t.Context(), sampleKey("a"), keyChange("create", "a"))
			if err == nil {
				won.Add(1)
			} else {
				assert.ErrorIs(t, err, keys.ErrExists)
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, 1, won.Load())
}

func keyRivalsReplace(t *testing.T, open Open) {
	t.Helper()
	set := open(t)
	s := set.Keys
	first := sampleKey("a")
	first.Limit = new(router.USD(0))
	require.NoError(t, s.Create(t.Context(), first, keyChange("create", "a")))
	const rivals, each = 8, 16
	var wg sync.WaitGroup
	for range rivals {
		wg.Go(func() {
			for done := 0; done < each; {
				k, err := s.Get(t.Context(), "a")
				if err != nil {
					t.Error(err)
					return
				}
				*k.Limit++
				switch err = s.Replace(t.Context(), k, keyChange("update", "a")); {
				case err == nil:
					done++
				case !errors.Is(err, keys.ErrConflict):
					t.Errorf("a rival loses by ErrConflict only: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	k, err := s.Get(t.Context(), "a")
	require.NoError(t, err)
	assert.EqualValues(t, rivals*each, *k.Limit)
	assert.EqualValues(t, rivals*each+1, k.Version)
}
