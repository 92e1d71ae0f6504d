package presets_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/router"
)

// TestChangesActInTime has a service that makes changes and one of another
// process.
func TestChangesActInTime(t *testing.T) {
	g := newRig(t)
	here, there := newRouter(t, g.Intercept), newRouter(t, g.another(t, g.set.Presets).Intercept)
	const use = `"preset":"p"`
	assert.Equal(t, notFound, ask(t, here, use))
	assert.Equal(t, notFound, ask(t, there, use))

	g.make(t, shop, "p", presetP)
	assert.Equal(t, allOfP, ask(t, here, use), "at once, though it was not there a moment ago")
	assert.Equal(t, notFound, ask(t, there, use))
	g.now = g.now.Add(10 * time.Second)
	assert.Equal(t, allOfP, ask(t, there, use))

	g.make(t, shop, "p", `"model":"acme/judge-mini","provider":{"sort":"price"}`)
	assert.Equal(t, miniOfP, ask(t, here, use), "the new version at once")
	assert.Equal(t, allOfP, ask(t, there, use))
	g.now = g.now.Add(10 * time.Second)
	assert.Equal(t, miniOfP, ask(t, there, use))

	assert.Equal(t, miniOfP, ask(t, here, use), "which is remembered from now on")
	_, err := g.SetStatus(t.Context(), manager, shop, "p", presets.Archived)
	require.NoError(t, err)
	assert.Equal(t, notFound, ask(t, here, use), "at once")
	assert.Equal(t, miniOfP, ask(t, there, use))
	g.now = g.now.Add(10 * time.Second)
	assert.Equal(t, notFound, ask(t, there, use))

	_, err = g.SetStatus(t.Context(), manager, shop, "p", presets.Active)
	require.NoError(t, err)
	g.now = g.now.Add(-time.Hour)
	assert.Equal(t, miniOfP, ask(t, there, use), "a clock that steps back makes nothing live longer")
}

// unsure is a store that makes each change and then loses the reply.
type unsure struct{ presets.Store }

func (s unsure) SetStatus(
	ctx context.Context, account, workspace, slug string, status presets.Status, at time.Time, change router.Change,
) (presets.Preset, error) {
	if _, err := s.Store.SetStatus(ctx, account, workspace, slug, status, at, change); err != nil {
		return presets.Preset{}, err
	}
	return presets.Preset{}, context.DeadlineExceeded
}

func TestStatusThatMayHaveChangedActsAtOnce(t *testing.T) {
	g := newRig(t)
	s := g.another(t, unsure{g.set.Presets})
	r := newRouter(t, s.Intercept)
	g.make(t, shop, "p", presetP)
	require.Equal(t, allOfP, ask(t, r, `"preset":"p"`))
	_, err := s.SetStatus(t.Context(), manager, shop, "p", presets.Disabled)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Equal(t, notFound, ask(t, r, `"preset":"p"`))
}

// counting is a store that counts reads, and can fail them or call a function before
// they return.
type counting struct {
	presets.Store

	mu    sync.Mutex
	reads int
	fail  error
	after func()
}

func (s *counting) Get(ctx context.Context, account, workspace, slug string) (presets.Preset, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if s.fail != nil {
		return presets.Preset{}, s.fail
	}
	p, err := s.Store.Get(ctx, account, workspace, slug)
	if s.after != nil {
		s.after()
	}
	return p, err
}

func TestLookUpsAreCached(t *testing.T) {
	g := newRig(t)
	g.make(t, shop, "p", presetP)
	s := &counting{Store: g.set.Presets}
	r := newRouter(t, g.another(t, s).Intercept)
	for range 5 {
		assert.Equal(t, allOfP, ask(t, r, `"preset":"p"`))
	}
	assert.Equal(t, 1, s.reads)
	for range 5 {
		assert.Equal(t, notFound, ask(t, r, `"preset":"none"`))
	}
	assert.Equal(t, 3, s.reads, "in the key's workspace and in the default one")
	for i := range 5000 {
		assert.Equal(t, notFound, ask(t, r, fmt.Sprintf(`"preset":"none-%d"`, i)))
	}
	assert.Equal(t, allOfP, ask(t, r, `"preset":"p"`), "whatever else was asked for")
	g.make(t, shop, "new", presetP)
	before := s.reads
	for range 5 {
		assert.Equal(t, allOfP, ask(t, r, `"preset":"new"`))
	}
	assert.Equal(t, before+1, s.reads, "a full cache makes room")
}

// TestAChangeDuringALookUpIsNotHidden makes a version between the moment a
// lookup reads the old one and the moment it is kept.
func TestAChangeDuringALookUpIsNotHidden(t *testing.T) {
	g := newRig(t)
	g.make(t, shop, "p", presetP)
	s := &counting{Store: g.set.Presets}
	g.Service = g.another(t, s)
	s.after = func() {
		s.after = nil
		g.make(t, shop, "p", `"model":"acme/judge-mini","provider":{"sort":"price"}`)
	}
	r := newRouter(t, g.Intercept)
	assert.Equal(t, allOfP, ask(t, r, `"preset":"p"`), "it began before the change")
	assert.Equal(t, miniOfP, ask(t, r, `"preset":"p"`))
}

func TestTheDefaultWorkspaceIsReadOnce(t *testing.T) {
	g := newRig(t)
	s := &counting{Store: g.set.Presets}
	c := &router.Call{Request: request(t, `"preset":"none"`), Principal: router.Principal{Account: "acme", Workspace: usual}}
	_, err := newRouter(t, g.another(t, s).Intercept).Decide(t.Context(), c)
	require.Error(t, err)
	assert.Equal(t, 1, s.reads)
}
