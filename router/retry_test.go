package router_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// At a hundred calls a second no call fails while one endpoint works. An endpoint
// that fails often gets no more further attempts than its budget, whatever put it
// in its place.
func TestRetryBudgetProtectsThoseThatSuffer(t *testing.T) {
	t.Parallel()
	const perSecond, seconds = 100, 60
	for name, tt := range map[string]struct {
		endpoints, prefs, dead string
		models                 []string
		asked                  map[string]int // by failing endpoint: the most further attempts
	}{
		"order, one dead":    {endpoints: "ant bee", prefs: `{"order":["ant","bee"]}`, dead: "ant"},
		"sort, one dead":     {endpoints: "ant bee", prefs: byPrice, dead: "ant"},
		"a fallback model":   {endpoints: "ant:M bee:N", models: []string{modelN}, dead: "ant"},
		"order, two dead":    {endpoints: "ant bee cat", prefs: `{"order":["ant","bee"]}`, dead: "ant bee", asked: map[string]int{"bee": 100 + perSecond*10/5}},
		"sort, three dead":   {endpoints: "ant bee cat dog", prefs: byPrice, dead: "ant bee cat", asked: map[string]int{"bee": 300, "cat": 300}},
		"two dead models":    {endpoints: "ant:M bee:N cat:N", models: []string{modelN}, prefs: byPrice, dead: "ant bee", asked: map[string]int{"bee": 100}},
		"the last one sound": {endpoints: "ant bee cat dog elk", prefs: byPrice, dead: "ant bee cat dog", asked: map[string]int{"bee": 300, "cat": 300, "dog": 300}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			g := newRig(t, tt.endpoints, func(cfg *router.Config) { cfg.Now, cfg.MaxAttempts = c.now, 5 })
			for dead := range strings.FieldsSeq(tt.dead) {
				g.upstreams[dead].will(fails(t, "500"))
			}
			further := map[string][]time.Time{}
			for range perSecond * seconds {
				call := &router.Call{Request: decision(tt.prefs)}
				call.Request.Models = systemone.Texts(tt.models...)
				_, err := g.router.Decide(t.Context(), call)
				require.NoError(t, err)
				assert.Empty(t, call.Report.Stopped)
				for _, a := range call.Report.Legs[0].Attempts[1:] {
					further[a.Endpoint.Provider] = append(further[a.Endpoint.Provider], c.now())
				}
				for _, s := range call.Report.Legs[0].Skipped {
					assert.Equal(t, "retry_budget", s.String())
				}
				c.step(time.Second / perSecond)
			}
			for dead, most := range tt.asked {
				worst := 0
				for i, from := range further[dead] {
					till := from.Truncate(time.Second).Add(10 * time.Second)
					n, _ := slices.BinarySearchFunc(further[dead], till, time.Time.Compare)
					worst = max(worst, n-i)
				}
				assert.LessOrEqual(t, worst, most+3, "%s: further attempts in ten seconds, and those before it was known to suffer", dead)
				assert.Greater(t, worst, most/2, "%s has a budget", dead)
			}
		})
	}
}

// While budgets are used up a walk is shorter; ten seconds later they are full
// again.
func TestRetryBudgetComesBack(t *testing.T) {
	t.Parallel()
	c := newClock()
	g := newRig(t, "ant bee", withClock(c))
	g.upstreams["ant"].will(fails(t, "500"))
	g.upstreams["bee"].will(fails(t, "500"))
	further := 0
	for range 200 {
		_, call, err := g.decide()
		assert.Equal(t, router.ProviderUnavailable, fault(t, err).Class)
		further += len(call.Report.Legs[0].Attempts) - 1
	}
	assert.Equal(t, 3+100+200/5, further, "three failures, 100, and a fifth of the calls")
	_, call, err := g.decide()
	assert.Equal(t, router.ProviderUnavailable, fault(t, err).Class)
	assert.Equal(t, "ant", asked(call))

	c.step(10 * time.Second)
	_, call, _ = g.decide()
	assert.Equal(t, "ant bee", asked(call))
}

// Share and reserve are configuration; a negative value is none.
func TestRetryBudgetIsConfigured(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ percent, reserve, want int }{
		"the defaults": {want: 100 + 100/5},
		"a share":      {percent: 50, reserve: -1, want: 50},
		"a reserve":    {percent: -1, reserve: 7, want: 7},
		"none":         {percent: -1, reserve: -1, want: 3},
	} {
		c := newClock()
		g := newRig(t, "ant bee", func(cfg *router.Config) {
			cfg.Now, cfg.RetryPercent, cfg.RetryReserve = c.now, tt.percent, tt.reserve
		})
		for _, u := range g.upstreams {
			u.will(fails(t, "500"))
		}
		further := 0
		for range 500 {
			_, call, err := g.decide()
			require.Error(t, err)
			further += len(call.Report.Legs[0].Attempts) - 1
		}
		if name == "the defaults" || name == "a share" {
			tt.want = tt.want - 100*max(tt.percent, 20)/100 + 500*max(tt.percent, 20)/100
		}
		assert.InDelta(t, tt.want, further, 3, "%s; three are made before it is known to suffer", name)
	}
}

// Concurrent calls together never exceed a budget.
func TestRivalsShareARetryBudget(t *testing.T) {
	t.Parallel()
	c := newClock()
	g := newRig(t, "ant bee", withClock(c))
	for _, u := range g.upstreams {
		u.will(fails(t, "500"))
	}
	for range 3 {
		_, _, err := g.decide()
		require.Error(t, err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				_, _, err := g.decide()
				assert.Error(t, err)
			}
		})
	}
	wg.Wait()
	assert.LessOrEqual(t, len(g.upstreams["bee"].attempts()), 3+100+803/5)
}

// R76e and R76f: a used-up budget passes over its candidate only.
func TestSpentRetryBudget(t *testing.T) {
	t.Parallel()
	c := newClock()
	g := newRig(t, "ant bee cat dog elk fox", func(cfg *router.Config) { cfg.Now, cfg.RetryPercent, cfg.RetryReserve = c.now, -1, -1 })
	for slug, u := range g.upstreams {
		u.will(fails(t, "500"))
		for range 3 {
			_, err := g.router.Decide(t.Context(), &router.Call{Request: decision(`{"order":["` + slug + `"],"allow_fallbacks":false}`)})
			require.Error(t, err)
		}
	}
	_, call, err := g.decide()
	e := fault(t, err)
	assert.Equal(t, router.ProviderUnavailable, e.Class, "R76e")
	assert.Equal(t, "ant", asked(call), "R76e")
	assert.Equal(t, router.StopCandidates, call.Report.Stopped)
	assert.Len(t, call.Report.Legs[0].Skipped, 5)

	c.step(time.Second)
	g.upstreams["bee"].will(answer)
	for range 12 {
		_, err := g.router.Decide(t.Context(), &router.Call{Request: decision(`{"order":["bee"]}`)})
		require.NoError(t, err)
	}
	_, call, err = g.decide()
	require.NoError(t, err, "R76f")
	assert.Equal(t, "ant bee", asked(call), "R76f")
}

// An endpoint fails often after three failures, and more than one in five, within
// thirty seconds. A pause that it asked for does not count.
func TestWhoSuffers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		what string
		n    int
		good int
		want string
	}{
		"two failures":              {"500", 2, 0, "ant bee"},
		"three":                     {"500", 3, 0, "ant"},
		"three of fifteen":          {"500", 3, 12, "ant bee"},
		"three of fourteen":         {"500", 3, 11, "ant"},
		"rate limits":               {"429(20)", 9, 0, "ant bee"},
		"what the caller got wrong": {"413", 9, 0, "ant bee"},
	} {
		c := newClock()
		g := newRig(t, "ant bee", func(cfg *router.Config) { cfg.Now, cfg.RetryPercent, cfg.RetryReserve = c.now, -1, -1 })
		first := func() { _, _ = g.router.Decide(t.Context(), &router.Call{Request: decision(`{"only":["bee"]}`)}) }
		g.upstreams["bee"].will(fails(t, tt.what))
		for range tt.n {
			first()
		}
		g.upstreams["bee"].will(answer)
		for range tt.good {
			first()
		}
		g.upstreams["ant"].will(fails(t, "500"))
		_, call, _ := g.decide()
		assert.Equal(t, tt.want, asked(call), name)
	}
}

// A new catalog keeps the used part of a budget.
func TestRetryBudgetOutlivesACatalog(t *testing.T) {
	t.Parallel()
	c := newClock()
	g := newRig(t, "ant bee", func(cfg *router.Config) { cfg.Now, cfg.RetryPercent, cfg.RetryReserve = c.now, -1, 2 })
	for _, u := range g.upstreams {
		u.will(fails(t, "500"))
	}
	for range 9 {
		_, _, err := g.decide()
		require.Error(t, err)
		g.router.SetCatalog(g.catalog("ant bee"))
	}
	assert.Len(t, g.upstreams["bee"].attempts(), 3+2)
}
