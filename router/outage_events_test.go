package router_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// watcher notes outages as "ant rate_limit_exceeded 5s", seconds after it was made,
// and "ant rate_limit_exceeded 5s-25s" when they are over.
type watcher struct {
	began time.Time
	do    func(router.Outage) // besides
	mu    sync.Mutex
	seen  []string
}

func (*watcher) Observe(context.Context, router.Outcome) {}

func (w *watcher) ObserveOutage(ctx context.Context, o router.Outage) {
	text := fmt.Sprintf("%s %s %s", o.Endpoint.Tag(), o.Class, o.Since.Sub(w.began))
	if !o.Until.IsZero() {
		text += "-" + o.Until.Sub(w.began).String()
	}
	w.mu.Lock()
	w.seen = append(w.seen, text)
	w.mu.Unlock()
	if ctx.Err() == nil && w.do != nil {
		w.do(o)
	}
}

// told returns the notes since the last call.
func (w *watcher) told() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.seen
	w.seen = nil
	return seen
}

func watched(t *testing.T, endpoints string, edit ...func(*router.Endpoint)) (*rig, *watcher) {
	t.Helper()
	w := &watcher{began: time.Now()}
	return newRig(t, endpoints, func(cfg *router.Config) {
		cfg.Interceptors = []router.Interceptor{router.Observe(w)}
	}, edit...), w
}

// TestOutagesAreObservedOnce: each begin and each end is observed once, whatever
// causes it, by the call that notices it.
func TestOutagesAreObservedOnce(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]func(t *testing.T, g *rig, w *watcher){
		"failures": func(t *testing.T, g *rig, w *watcher) {
			t.Helper()
			g.upstreams["ant"].will(fails(t, "dns"), fails(t, "html"), fails(t, "500"), fails(t, "500"), answer)
			_, _, _ = g.decide()
			_, _, _ = g.decide()
			assert.Empty(t, w.told(), "two failures")
			_, _, _ = g.decide()
			assert.Equal(t, []string{"ant provider_unavailable 0s"}, w.told(), "before the call was over")
			_, _, _ = g.decide()
			assert.Empty(t, w.told(), "it lasts")
			time.Sleep(30 * time.Second)
			g.router.Health(g.endpoint(0).ID)
			assert.Empty(t, w.told(), "no call has come")
			_, _, _ = g.decide()
			assert.Equal(t, []string{"ant provider_unavailable 0s-30s"}, w.told())
		},
		"rest": func(t *testing.T, g *rig, w *watcher) {
			t.Helper()
			g.upstreams["ant"].will(fails(t, "429(20)"))
			_, _, _ = g.decide()
			assert.Equal(t, []string{"ant rate_limit_exceeded 0s"}, w.told())
			time.Sleep(20*time.Second - 1)
			g.upstreams["ant"].will(fails(t, "400"))
			_, _, _ = g.decide()
			assert.Empty(t, w.told())
			time.Sleep(time.Nanosecond)
			_, _, _ = g.decide()
			assert.Equal(t, []string{"ant rate_limit_exceeded 0s-20s"}, w.told())
			g.upstreams["ant"].will(fails(t, "529(5)"))
			_, _, _ = g.decide()
			assert.Equal(t, []string{"ant provider_overloaded 20s"}, w.told(), "another one")
		},
		"an answer ends it": func(t *testing.T, g *rig, w *watcher) {
			t.Helper()
			g.upstreams["ant"].will(fails(t, "503(20)"), answer)
			_, _, _ = g.decide()
			time.Sleep(3 * time.Second)
			_, _, _ = g.decide()
			assert.Equal(t, []string{"ant no_capacity 0s", "ant no_capacity 0s-3s"}, w.told())
		},
		"successes leave the window": func(t *testing.T, g *rig, w *watcher) {
			t.Helper()
			for range 12 {
				_, _, _ = g.decide()
			}
			time.Sleep(5 * time.Second)
			g.upstreams["ant"].will(fails(t, "500"), fails(t, "500"), fails(t, "500"))
			for range 3 {
				_, _, _ = g.decide()
			}
			assert.Empty(t, w.told())
			time.Sleep(25 * time.Second)
			g.upstreams["ant"].will(fails(t, "400"))
			_, _, _ = g.decide()
			assert.Equal(t, []string{"ant provider_unavailable 30s"}, w.told())
		},
		"reload": func(t *testing.T, g *rig, w *watcher) {
			t.Helper()
			g.upstreams["ant"].will(fails(t, "429(60)"))
			g.upstreams["bee"].will(fails(t, "529(60)"), answer)
			_, _, _ = g.decide()
			w.told()
			g.router.SetCatalog(g.catalog("bee cat"))
			assert.Empty(t, w.told(), "no call has come")
			time.Sleep(time.Second)
			_, _, _ = g.decide()
			assert.ElementsMatch(t, []string{"ant rate_limit_exceeded 0s-0s", "bee provider_overloaded 0s-1s"}, w.told(), "bee has answered")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g, w := watched(t, "ant bee")
				play(t, g, w)
			})
		})
	}
}

// TestOutagesAlternateUnderRivals: while many goroutines call an endpoint that
// fails and recovers, begins and ends alternate, and events are delivered one at a
// time.
func TestOutagesAlternateUnderRivals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, w := watched(t, "ant")
		telling, lasts, events := false, false, 0
		w.do = func(o router.Outage) { // without a lock, so that the race detector finds concurrent events
			assert.False(t, telling)
			telling = true
			assert.NotEqual(t, lasts, o.Until.IsZero())
			lasts = o.Until.IsZero()
			events++
			time.Sleep(time.Millisecond)
			telling = false
		}
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				for i := range 40 {
					if (i+n)%5 == 0 {
						g.upstreams["ant"].will(fails(t, "429(2)"), answer)
					}
					_, _, _ = g.decide()
					time.Sleep(time.Duration(n+1) * 100 * time.Millisecond)
				}
			})
		}
		all.Wait()
		g.upstreams["ant"].will(answer)
		time.Sleep(time.Minute)
		_, _, err := g.decide()
		require.NoError(t, err)
		assert.False(t, lasts)
		assert.Greater(t, events, 10)
	})
}

// TestOutageObserversMayFail: a panic in an observer ends its own call and loses no
// later event, and an observer that calls the router does not deadlock.
func TestOutageObserversMayFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, w := watched(t, "ant")
		w.do = func(router.Outage) {
			_, _, _ = g.decide()
			w.do = nil
			panic(errors.New("a bug"))
		}
		g.upstreams["ant"].will(fails(t, "429(20)"), answer)
		assert.Panics(t, func() { _, _, _ = g.decide() })
		_, _, err := g.decide()
		require.NoError(t, err)
		assert.Equal(t, []string{"ant rate_limit_exceeded 0s", "ant rate_limit_exceeded 0s-0s"}, w.told())
	})
}

// TestAnswersAreChargedBeforeOutagesAreTold: an answer that ends an outage is charged
// even if the observer panics.
func TestAnswersAreChargedBeforeOutagesAreTold(t *testing.T) {
	t.Parallel()
	w := &watcher{do: func(o router.Outage) {
		if !o.Until.IsZero() {
			panic(errors.New("a bug"))
		}
	}}
	ledger := memory.New().Ledger
	g := newRig(t, "ant", func(cfg *router.Config) {
		cfg.Ledger, cfg.Interceptors = ledger, []router.Interceptor{router.Observe(w)}
	}, fee(cent))
	call := func() { _, _ = g.router.Decide(t.Context(), &router.Call{Request: decision(""), Principal: who()}) }
	g.upstreams["ant"].will(fails(t, "429(20)"), answer)
	call()
	assert.Panics(t, call)
	list, err := ledger.Balances(t.Context(), []router.Line{router.OwnerKey.Line(who(), "ever")})
	require.NoError(t, err)
	assert.Equal(t, router.Balance{Spent: router.Amount{Credit: cent, Total: cent}}, list[0])
}

// TestEveryOutageObserverIsTold, and once even where a call passes it twice.
func TestEveryOutageObserverIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outer, inner := &watcher{began: time.Now()}, &watcher{began: time.Now()}
		twice := func(next router.Decider) router.Decider {
			return func(ctx context.Context, c *router.Call) (*router.Result, error) {
				_, _ = next(ctx, c)
				return next(ctx, c)
			}
		}
		g := newRig(t, "ant", func(cfg *router.Config) {
			cfg.Interceptors = []router.Interceptor{
				router.Observe(outer), twice, router.Observe(inner), router.Observe(router.ObserverFunc(nil)), router.Observe(nil),
			}
		})
		g.upstreams["ant"].will(answer, fails(t, "429(20)"))
		_, _, _ = g.decide()
		assert.Equal(t, []string{"ant rate_limit_exceeded 0s"}, outer.told())
		assert.Equal(t, []string{"ant rate_limit_exceeded 0s"}, inner.told())
	})
}

func ExampleObserverFunc() {
	catalog, err := router.Single(yes(0.9), router.Endpoint{Provider: "ant", Model: "acme/judge"})
	if err != nil {
		fmt.Println(err)
		return
	}
	rt, err := router.New(router.Config{Catalog: catalog, Interceptors: []router.Interceptor{
		router.Observe(router.ObserverFunc(func(_ context.Context, o router.Outcome) {
			fmt.Println(o.Report.Requested, "failed:", o.Err != nil)
		})),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = rt.Decide(context.Background(), &router.Call{Request: decision("")})
	// Output: acme/judge failed: true
}
