package presets_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

func TestNewRefusesMistakes(t *testing.T) {
	_, err := presets.New(presets.Config{})
	require.ErrorIs(t, err, presets.ErrConfig)
}

func TestCreate(t *testing.T) {
	g := newRig(t)
	g.now = noon.In(time.FixedZone("x", 3600)).Add(1234 * time.Nanosecond)
	p, err := g.Create(t.Context(), manager, shop, "p", presets.ChatCompletions,
		[]byte(`{"messages":[{"role":"system","content":"Be brief."}],"model":"acme/judge","temperature":0.70,"stream":true}`))
	require.NoError(t, err)
	at := noon.Add(time.Microsecond)
	assert.Equal(t, presets.Preset{
		ID: p.ID, Account: "acme", Workspace: shop, Slug: "p", Name: "p", Status: presets.Active, Creator: "user_1", CreatedAt: at, UpdatedAt: at,
		Designated: presets.Version{
			ID: p.Designated.ID, Preset: p.ID, Number: 1, Config: json.RawMessage(`{"model":"acme/judge","temperature":0.70}`),
			SystemPrompt: "Be brief.", Creator: "user_1", CreatedAt: at,
		},
	}, p)
	assert.NotEqual(t, p.ID, p.Designated.ID)

	g.now = noon.Add(time.Minute)
	second := g.make(t, shop, "p", "")
	assert.Equal(t, p.ID, second.ID)
	assert.Equal(t, 2, second.Designated.Number)
	assert.Equal(t, noon.Add(time.Minute), second.UpdatedAt)
	assert.Equal(t, at, second.CreatedAt)
	got, err := g.Get(t.Context(), manager, shop, "p")
	require.NoError(t, err)
	assert.Equal(t, second, got)
	first, err := g.Version(t.Context(), manager, shop, "p", 1)
	require.NoError(t, err)
	assert.Equal(t, p.Designated, first)
	versions, total, err := g.Versions(t.Context(), manager, shop, "p", 0, 10)
	require.NoError(t, err)
	assert.Equal(t, 2, total)
	assert.Equal(t, []presets.Version{first, second.Designated}, versions)
	list, total, err := g.List(t.Context(), manager, shop, 0, 10)
	require.NoError(t, err)
	assert.Equal(t, 1, total)
	assert.Equal(t, []presets.Preset{second}, list)
}

func TestNoWorkspaceMeansTheDefaultOne(t *testing.T) {
	g := newRig(t)
	p := g.make(t, "", "p", "")
	assert.Equal(t, usual, p.Workspace)
	got, err := g.Get(t.Context(), manager, usual, "p")
	require.NoError(t, err)
	assert.Equal(t, p, got)
	_, err = g.Get(t.Context(), manager, shop, "p")
	require.ErrorIs(t, err, presets.ErrNotFound)
}

// everyMethod calls every method for management.
func everyMethod(t *testing.T, s *presets.Service, by router.Actor, workspace, slug string) []error {
	t.Helper()
	_, created := s.Create(t.Context(), by, workspace, slug, presets.ChatCompletions, []byte(chat("")))
	_, set := s.SetStatus(t.Context(), by, workspace, slug, presets.Active)
	_, got := s.Get(t.Context(), by, workspace, slug)
	_, version := s.Version(t.Context(), by, workspace, slug, 1)
	_, _, versions := s.Versions(t.Context(), by, workspace, slug, 0, 1)
	return []error{created, set, got, version, versions}
}

func TestForeignWorkspacesAreNotFound(t *testing.T) {
	g := newRig(t)
	g.make(t, shop, "p", "")
	stranger := router.Actor{Principal: router.Principal{Account: "other"}}
	for _, err := range append(everyMethod(t, g.Service, stranger, shop, "p"), everyMethod(t, g.Service, manager, uuid.NewString(), "p")...) {
		require.ErrorIs(t, err, presets.ErrNotFound)
	}
	_, _, err := g.List(t.Context(), stranger, shop, 0, 1)
	require.ErrorIs(t, err, presets.ErrNotFound)
}

func TestSlugs(t *testing.T) {
	g := newRig(t)
	for _, slug := range []string{"a", "A-z0.9_~", strings.Repeat("x", 128)} {
		for _, err := range everyMethod(t, g.Service, manager, shop, slug) {
			require.NoError(t, err, slug)
		}
	}
	for _, slug := range []string{"", strings.Repeat("x", 129), "a b", "a/b", "a@b", "é", "a%", "a+b"} {
		for _, err := range everyMethod(t, g.Service, manager, shop, slug) {
			var invalid *systemone.InvalidError
			require.ErrorAs(t, err, &invalid, slug)
			assert.Equal(t, "slug", invalid.Issues[0].Path)
		}
	}
}

func TestStatus(t *testing.T) {
	g := newRig(t)
	p := g.make(t, shop, "p", "")
	g.now = noon.Add(time.Hour)
	got, err := g.SetStatus(t.Context(), manager, shop, "p", presets.Disabled)
	require.NoError(t, err)
	p.Status, p.StatusUpdatedAt, p.UpdatedAt = presets.Disabled, g.now, g.now
	assert.Equal(t, p, got)
	second := g.make(t, shop, "p", "")
	assert.Equal(t, presets.Disabled, second.Status, "a new version does not change the status")
	for _, status := range []presets.Status{"", "ACTIVE", "deleted"} {
		_, err = g.SetStatus(t.Context(), manager, shop, "p", status)
		require.ErrorIs(t, err, systemone.ErrInvalid)
	}
	_, err = g.SetStatus(t.Context(), manager, shop, "none", presets.Disabled)
	require.ErrorIs(t, err, presets.ErrNotFound)
}

func TestMistakesAreNotStored(t *testing.T) {
	g := newRig(t)
	_, err := g.Create(t.Context(), manager, shop, "p", presets.ChatCompletions, []byte(chat(`"temperature":3`)))
	require.ErrorIs(t, err, systemone.ErrInvalid)
	_, err = g.Get(t.Context(), manager, shop, "p")
	require.ErrorIs(t, err, presets.ErrNotFound)
}

func TestEveryActionIsRecorded(t *testing.T) {
	g := newRig(t)
	p, err := g.Create(t.Context(), manager, shop, "p", presets.Responses, []byte(`{"instructions":"Say \"x\".","model":"m","user":"canary"}`))
	require.NoError(t, err)
	g.now = noon.Add(time.Minute)
	_, err = g.SetStatus(t.Context(), manager, shop, "p", presets.Disabled)
	require.NoError(t, err)
	list, _, err := g.set.Audit.Changes(t.Context(), "acme", 0, 10)
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.NotEqual(t, list[0].ID, list[1].ID)
	list[0].ID, list[1].ID = uuid.Nil, uuid.Nil
	assert.Equal(t, router.Change{
		At: noon, Actor: manager, Action: "create", Kind: "preset_version", Object: p.Designated.ID.String(), Account: "acme",
		After: json.RawMessage(`{"workspace_id":"` + shop + `","slug":"p","config":{"model":"m"},"system_prompt":"Say \"x\"."}`),
	}, list[1])
	assert.Equal(t, router.Change{
		At: g.now, Actor: manager, Action: "update", Kind: "preset", Object: p.ID.String(), Account: "acme",
		Before: json.RawMessage(`{"workspace_id":"` + shop + `","slug":"p","status":"active"}`),
		After:  json.RawMessage(`{"workspace_id":"` + shop + `","slug":"p","status":"disabled"}`),
	}, list[0])
}

// racing refuses versions a number of times, as a store may that cannot order
// concurrent writes.
type racing struct {
	presets.Store

	lose  int
	tries int
	err   error
}

func (s *racing) AddVersion(ctx context.Context, p presets.Preset, v presets.Version, b presets.Bounds, c router.Change) (presets.Preset, error) {
	s.tries++
	if s.tries <= s.lose {
		return presets.Preset{}, s.err
	}
	return s.Store.AddVersion(ctx, p, v, b, c)
}

func TestConflictsAreTriedAgain(t *testing.T) {
	g := newRig(t)
	create := func(s *racing) error {
		s.Store = g.set.Presets
		_, err := g.another(t, s).Create(t.Context(), manager, shop, "p", presets.ChatCompletions, []byte(chat("")))
		return err
	}
	require.NoError(t, create(&racing{lose: 3, err: presets.ErrConflict}))
	hopeless := &racing{lose: 1 << 30, err: presets.ErrConflict}
	require.ErrorIs(t, create(hopeless), presets.ErrConflict)
	assert.Equal(t, 8, hopeless.tries)
	broken := &racing{lose: 1, err: errors.New("disk on fire")}
	require.ErrorIs(t, create(broken), broken.err)
	assert.Equal(t, 1, broken.tries, "only races are tried again")
	versions, _, err := g.Versions(t.Context(), manager, shop, "p", 0, 10)
	require.NoError(t, err)
	assert.Len(t, versions, 1)
}

func TestConcurrentVersionsGetDistinctNumbers(t *testing.T) {
	g := newRig(t)
	const rivals = 64
	var wg sync.WaitGroup
	for range rivals {
		wg.Go(func() {
			_, err := g.Create(t.Context(), manager, shop, "p", presets.ChatCompletions, []byte(chat("")))
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	versions, total, err := g.Versions(t.Context(), manager, shop, "p", 0, 100)
	require.NoError(t, err)
	assert.Equal(t, rivals, total)
	for i, v := range versions {
		assert.Equal(t, i+1, v.Number)
	}
	p, err := g.Get(t.Context(), manager, shop, "p")
	require.NoError(t, err)
	assert.Equal(t, rivals, p.Designated.Number)
}
