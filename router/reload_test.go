package router_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// A reload does not affect a request in flight: it keeps its catalog, including
// providers that are gone.
func TestReloadLeavesRequestsInFlightAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, "ant bee", nil)
		old := g.router.Catalog()
		g.upstreams["ant"].will(slow(5*time.Second, fails(t, "500")))
		g.upstreams["bee"].will(slow(time.Second, answer))
		var wg sync.WaitGroup
		var res *router.Result
		var inFlight *router.Call
		var err error
		wg.Go(func() { res, inFlight, err = g.decide() })
		synctest.Wait()
		renewed := g.catalog("cat ant", func(e *router.Endpoint) { e.Pricing.Prompt = (100 * e.Pricing.Prompt.USD()).Price() })
		g.router.SetCatalog(renewed)
		assert.Same(t, renewed, g.router.Catalog())
		_, next, nextErr := g.decide()
		require.NoError(t, nextErr)
		assert.Equal(t, "cat", asked(next), "the next request has the new one")
		wg.Wait()
		require.NoError(t, err)
		assert.Equal(t, "ant bee", asked(inFlight))
		assert.Same(t, old.Endpoints()[1], res.Endpoint)
		assert.Equal(t, router.USD(2_010_000), res.Cost, "at the old price")
		g.router.SetCatalog(nil)
		assert.Same(t, renewed, g.router.Catalog(), "no catalog changes nothing")
	})
}

// The statistics of an endpoint stay with its id over a reload, including what
// requests in flight add later. An endpoint that was gone starts anew.
func TestStatisticsSurviveReloads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, "ant bee", nil, func(e *router.Endpoint) { e.Limits.Concurrency = 1 })
		again := func(endpoints string) {
			g.router.SetCatalog(g.catalog(endpoints, func(e *router.Endpoint) { e.Limits.Concurrency = 1 }))
		}
		ant, bee := g.endpoint(0).ID, g.endpoint(1).ID
		g.upstreams["ant"].will(fails(t, "429(60)"))
		g.upstreams["bee"].will(slow(5*time.Second, fails(t, "529(60)")))
		var wg sync.WaitGroup
		wg.Go(func() { _, _, _ = g.decide() })
		synctest.Wait()
		require.True(t, g.router.StatsOf(ant).Outage)
		again("cat bee ant")
		assert.True(t, g.router.StatsOf(ant).Outage)
		assert.Equal(t, int64(1), g.router.InFlight(bee), "and its places")
		assert.False(t, g.router.StatsOf(bee).Outage)
		wg.Wait()
		assert.True(t, g.router.StatsOf(bee).Outage, "learned after the reload")
		again("cat")
		assert.Equal(t, router.Health{}, g.router.Health(ant))
		again("ant")
		assert.False(t, g.router.StatsOf(ant).Outage, "forgotten in between")
	})
}

// Many requests run while catalogs are replaced and health is read. Each is
// answered by an endpoint of one catalog, and all places are released. Run it with
// the race detector.
func TestParallelDecisionsAndReloads(t *testing.T) {
	t.Parallel()
	const workers, each = 8, 100
	g := newRig(t, "ant bee cat", nil)
	catalogs := []*router.Catalog{g.router.Catalog(), g.catalog("bee cat dog"), g.catalog("cat ant dog")}
	var n atomic.Int64
	g.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
		if n.Add(1)%7 == 0 {
			return router.Reply{}, &router.UpstreamError{Status: 429, Class: router.RateLimitExceeded}
		}
		return answer(ctx, a)
	})
	var wg sync.WaitGroup
	var answered atomic.Int64
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				c := session{account: "A", id: string(rune('a' + i%26))}.call()
				if w%2 == 0 {
					c.Request.SessionID = ""
				}
				res, err := g.router.Decide(t.Context(), c)
				if assert.NoError(t, err) {
					answered.Add(1)
					assert.Same(t, c.Report.Legs[0].Attempts[len(c.Report.Legs[0].Attempts)-1].Endpoint, res.Endpoint)
				}
			}
		})
	}
	stop := make(chan struct{})
	var reloads sync.WaitGroup
	reloads.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				g.router.SetCatalog(catalogs[i%len(catalogs)])
				g.router.Health(catalogs[0].Endpoints()[0].ID)
			}
		}
	})
	wg.Wait()
	close(stop)
	reloads.Wait()
	assert.Equal(t, int64(workers*each), answered.Load())
	for _, e := range g.router.Catalog().Endpoints() {
		assert.Zero(t, g.router.InFlight(e.ID))
	}
}

// BenchmarkDecide is the router's own share of a decision.
func BenchmarkDecide(b *testing.B) {
	for _, bench := range []struct {
		name    string
		session string
		ledger  router.Ledger
		who     router.Principal
	}{
		{name: "plain"},
		{name: "session", session: "s"},
		{name: "recorded", ledger: lavish{}, who: who()},
	} {
		b.Run(bench.name, func(b *testing.B) {
			r, err := router.New(router.Config{Catalog: benchCatalog(b), Ledger: bench.ledger})
			require.NoError(b, err)
			q := decision("")
			q.SessionID = bench.session
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := r.Decide(context.Background(), &router.Call{Request: q, Principal: bench.who}); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// instant answers without doing anything.
type instant struct{ reply router.Reply }

func (p instant) Decide(context.Context, router.Attempt) (router.Reply, error) { return p.reply, nil }

// lavish is a ledger that grants everything and stores nothing.
type lavish struct{ router.Ledger }

func (lavish) Reserve(context.Context, router.Hold) error { return nil }

func (lavish) SettleWith(context.Context, uuid.UUID, router.Amount, []router.Event) error { return nil }

func (lavish) RecordsTo(any) bool { return true }

func benchCatalog(b *testing.B) *router.Catalog {
	b.Helper()
	good, _ := answer(b.Context(), router.Attempt{})
	var providers []router.ProviderInfo
	var endpoints []router.Endpoint
	for slug := range names() {
		providers = append(providers, router.ProviderInfo{Slug: slug, Client: instant{good}})
		endpoints = append(endpoints, router.Endpoint{
			Provider: slug, Model: modelM, UpstreamModel: "judge", Pricing: router.Pricing{Prompt: router.Dollars("1")},
		})
	}
	c, err := router.NewCatalog(models(), providers, endpoints)
	require.NoError(b, err)
	return c
}

// What was used of a model's retry budget stays used over a reload.
func TestRetryBudgetsSurviveReloads(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant bee", withClock(newClock()))
	for _, u := range g.upstreams {
		u.will(fails(t, "500"))
	}
	for range 200 {
		_, _, _ = g.decide()
	}
	_, call, _ := g.decide()
	require.Equal(t, "ant", asked(call), "the budget is spent")
	g.router.SetCatalog(g.catalog("ant bee"))
	_, call, _ = g.decide()
	assert.Equal(t, "ant", asked(call), "and stays so")
}
