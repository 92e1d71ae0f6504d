package organization_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// principal is a key of the default workspace.
func (b *bench) principal() router.Principal {
	return router.Principal{Account: "acme", Workspace: b.account.DefaultWorkspace, KeyHash: "h", Member: "ann"}
}

func TestInterceptAddsRules(t *testing.T) {
	b := newBench(t)
	c, err := call(t, b.Service, b.principal())
	require.NoError(t, err)
	assert.Empty(t, c.Policy)
	_, err = b.UpdateAccount(t.Context(), b.by, organization.AccountUpdate{
		Allowed: router.To([]string{"ant", "bee"}), Ignored: router.To([]string{"bee"}), ZDR: router.To(true),
	})
	require.NoError(t, err)
	_, err = b.UpdateWorkspace(t.Context(), b.by, "default", organization.WorkspaceUpdate{DefaultSort: router.To(systemone.SortPrice)})
	require.NoError(t, err)
	want := []router.Rule{
		{Source: router.SourceAccount, AllowedProviders: []string{"ant", "bee"}, IgnoredProviders: []string{"bee"}, ZDR: true},
		{Source: router.SourceWorkspace, Sort: systemone.SortPrice},
	}
	c, err = call(t, b.Service, b.principal())
	require.NoError(t, err)
	assert.Equal(t, want, c.Policy)
	rules, err := b.Rules(t.Context(), "acme", b.account.DefaultWorkspace)
	require.NoError(t, err)
	assert.Equal(t, want, rules)
	c, err = call(t, b.Service, router.Principal{Account: "acme"})
	require.NoError(t, err)
	assert.Equal(t, want[:1], c.Policy, "without a workspace only the account's")
}

func TestInterceptKnowsWhoseCallItIs(t *testing.T) {
	b := newBench(t)
	_, err := b.TopUp(t.Context(), b.by, "p", 1)
	require.NoError(t, err)
	c, err := call(t, b.Service, router.Principal{})
	require.NoError(t, err)
	assert.Empty(t, c.Budgets, "the embedding program itself")
	other, err := b.CreateAccount(t.Context(), router.Actor{}, organization.NewAccount{Name: "x", Owner: organization.Member{ID: "x", Email: "x@y"}})
	require.NoError(t, err)
	for name, p := range map[string]router.Principal{
		"unknown account":   {Account: "nobody"},
		"unknown workspace": {Account: "acme", Workspace: "nowhere"},
		"a slug":            {Account: "acme", Workspace: "default"},
		"foreign workspace": {Account: "acme", Workspace: other.DefaultWorkspace},
	} {
		_, err := call(t, b.Service, p)
		var re *router.Error
		require.ErrorAs(t, err, &re, name)
		assert.Equal(t, router.Authentication, re.Class, name)
		assert.Equal(t, "Invalid API key", re.Message, name)
		require.ErrorIs(t, err, organization.ErrNotFound, name)
	}
	id, err := b.DefaultGuardrail(t.Context(), "acme", b.account.DefaultWorkspace)
	require.NoError(t, err)
	w, err := b.Workspace(t.Context(), "acme", "default")
	require.NoError(t, err)
	assert.Equal(t, w.DefaultGuardrail, id)
}

func TestInterceptLeavesOthersEntriesAlone(t *testing.T) {
	b := newBench(t)
	_, err := b.TopUp(t.Context(), b.by, "p", 1)
	require.NoError(t, err)
	shared := make([]router.Budget, 1, 4)
	for range 2 {
		c := &router.Call{Principal: b.principal(), Budgets: shared}
		_, err := b.Intercept(func(context.Context, *router.Call) (*router.Result, error) { return &router.Result{}, nil })(t.Context(), c)
		require.NoError(t, err)
		assert.Len(t, c.Budgets, 2)
	}
	assert.Equal(t, router.Budget{}, shared[:2][1], "room behind the slice belongs to somebody else")
}

func TestChangesElsewhereActWithinTenSeconds(t *testing.T) {
	b := newBench(t)
	elsewhere := b.service(t, b.set.Organization)
	_, err := call(t, b.Service, b.principal())
	require.NoError(t, err)
	_, err = elsewhere.TopUp(t.Context(), b.by, "p", 1)
	require.NoError(t, err)
	b.pass(10*time.Second - 1)
	c, err := call(t, b.Service, b.principal())
	require.NoError(t, err)
	assert.Empty(t, c.Budgets)
	b.pass(1)
	c, err = call(t, b.Service, b.principal())
	require.NoError(t, err)
	assert.Len(t, c.Budgets, 1)
}

func TestAClockThatStepsBackKeepsNothingForLonger(t *testing.T) {
	b := newBench(t)
	elsewhere := b.service(t, b.set.Organization)
	_, err := call(t, b.Service, b.principal())
	require.NoError(t, err)
	_, err = elsewhere.TopUp(t.Context(), b.by, "p", 1)
	require.NoError(t, err)
	b.pass(-time.Hour)
	c, err := call(t, b.Service, b.principal())
	require.NoError(t, err)
	assert.Len(t, c.Budgets, 1)
}

// gate is a store that counts its readers and makes them wait.
type gate struct {
	organization.Store
	open    chan struct{}
	reads   atomic.Int32
	arrived chan struct{}
	broken  atomic.Bool
}

func (g *gate) Account(ctx context.Context, id string) (organization.Account, error) {
	if g.broken.Load() {
		return organization.Account{}, errors.New("the store is down")
	}
	a, err := g.Store.Account(ctx, id)
	g.reads.Add(1)
	select {
	case g.arrived <- struct{}{}:
	default:
	}
	<-g.open
	return a, err
}

func TestConcurrentCallersShareOneRead(t *testing.T) {
	b := newBench(t)
	g := &gate{Store: b.set.Organization, open: make(chan struct{}), arrived: make(chan struct{}, 1)}
	s := b.service(t, g)
	var wg sync.WaitGroup
	gone, cancel := context.WithCancel(t.Context())
	wg.Go(func() {
		_, err := s.FilteredCatalog(gone, "acme")
		assert.ErrorIs(t, err, context.Canceled)
	})
	<-g.arrived
	cancel() // the caller that began the read gives up; the others still get its result
	for range 32 {
		wg.Go(func() {
			_, err := s.FilteredCatalog(t.Context(), "acme")
			assert.NoError(t, err)
		})
	}
	close(g.open)
	wg.Wait()
	assert.EqualValues(t, 1, g.reads.Load())
	_, err := s.FilteredCatalog(t.Context(), "acme")
	require.NoError(t, err)
	assert.EqualValues(t, 1, g.reads.Load())
}

func TestAReadFromBeforeAChangeIsNotKept(t *testing.T) {
	b := newBench(t)
	g := &gate{Store: b.set.Organization, open: make(chan struct{}), arrived: make(chan struct{}, 1)}
	s := b.service(t, g)
	var wg sync.WaitGroup
	wg.Go(func() { // reads what was before, and is slow
		_, err := s.FilteredCatalog(t.Context(), "acme")
		assert.NoError(t, err)
	})
	<-g.arrived
	a, err := b.set.Organization.Account(t.Context(), "acme")
	require.NoError(t, err)
	a.FilteredCatalog = true
	require.NoError(t, b.set.Organization.ReplaceAccount(t.Context(), a, router.Change{Account: "acme"}))
	_, err = s.CreateWorkspace(t.Context(), b.by, organization.NewWorkspace{Name: "x", Slug: "x"}) // any change by s
	require.NoError(t, err)
	close(g.open)
	wg.Wait()
	on, err := s.FilteredCatalog(t.Context(), "acme")
	require.NoError(t, err)
	assert.True(t, on)
}

func TestAStoreThatIsDownRefusesCalls(t *testing.T) {
	b := newBench(t)
	g := &gate{Store: b.set.Organization}
	g.broken.Store(true)
	_, err := call(t, b.service(t, g), b.principal())
	var re *router.Error
	require.ErrorAs(t, err, &re)
	assert.Equal(t, router.Server, re.Class)
}

func TestInterceptAllocatesLittle(t *testing.T) {
	assert.LessOrEqual(t, testing.AllocsPerRun(100, full(t)), 5.0)
}

// full returns a call through the interceptor with all that it can add.
func full(tb testing.TB) func() {
	tb.Helper()
	b := newBench(tb)
	_, err := b.TopUp(tb.Context(), b.by, "p", 1)
	require.NoError(tb, err)
	for i, limit := range []router.USD{40, 30, 20, 10} {
		_, err = b.SetBudget(tb.Context(), b.by, "default", router.Interval(i), limit, router.Update[bool]{})
		require.NoError(tb, err)
	}
	_, err = b.UpdateAccount(tb.Context(), b.by, organization.AccountUpdate{ZDR: router.To(true)})
	require.NoError(tb, err)
	_, err = b.UpdateWorkspace(tb.Context(), b.by, "default", organization.WorkspaceUpdate{DefaultSort: router.To(systemone.SortPrice)})
	require.NoError(tb, err)
	done := &router.Result{}
	decide := b.Intercept(func(_ context.Context, c *router.Call) (*router.Result, error) {
		if len(c.Budgets) != 5 || len(c.Policy) != 2 {
			return nil, errors.New("something is missing")
		}
		return done, nil
	})
	c := &router.Call{Principal: b.principal()}
	return func() {
		c.Policy, c.Budgets = nil, nil
		_, err := decide(tb.Context(), c)
		require.NoError(tb, err)
	}
}

func BenchmarkIntercept(b *testing.B) {
	one := full(b)
	b.ReportAllocs()
	for b.Loop() {
		one()
	}
}

// explosive is a store that panics, and then no longer does.
type explosive struct {
	organization.Store
	mended atomic.Bool
}

func (e *explosive) Account(ctx context.Context, id string) (organization.Account, error) {
	if !e.mended.Load() {
		panic("store")
	}
	return e.Store.Account(ctx, id)
}

func TestAStoreThatPanicsRefusesCallsAndEndsNothing(t *testing.T) {
	b := newBench(t)
	e := &explosive{Store: b.set.Organization}
	s := b.service(t, e)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			_, err := call(t, s, b.principal())
			var re *router.Error
			if assert.ErrorAs(t, err, &re) {
				assert.Equal(t, router.Server, re.Class)
			}
		})
	}
	wg.Wait()
	e.mended.Store(true)
	_, err := call(t, s, b.principal())
	require.NoError(t, err)
}
