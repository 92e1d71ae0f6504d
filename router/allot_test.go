package router_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// marked marks endpoints as last resorts.
func marked(slugs ...string) func(*router.Endpoint) {
	return func(e *router.Endpoint) {
		e.LastResort = strings.Contains(strings.Join(slugs, " ")+" ", e.Provider+" ")
	}
}

// Where every upstream hangs, each attempt gets its share of the time, to the
// nanosecond.
func TestTimeOfAttempts(t *testing.T) {
	t.Parallel()
	const s, ms = time.Second, time.Millisecond
	for _, tt := range []struct {
		name, endpoints string
		total           time.Duration
		attempts        int // 0 is the default
		own             map[string]time.Duration
		last            string
		want            []time.Duration
		stopped         router.Stop
	}{
		{name: "30 s, one", endpoints: "ant", want: []time.Duration{10 * s}},
		{name: "9 s, one", endpoints: "ant", total: 9 * s, want: []time.Duration{9 * s}, stopped: router.StopDeadline},
		{name: "30 s, four", endpoints: "ant bee cat dog", want: []time.Duration{10 * s, 10 * s, 5 * s, 5 * s}, stopped: router.StopDeadline},
		{
			name: "9 s, three", endpoints: "ant bee cat", total: 9 * s,
			want: []time.Duration{4500 * ms, 2250 * ms, 2250 * ms}, stopped: router.StopDeadline,
		},
		{name: "entries behind count", endpoints: "ant:M bee:N", total: 9 * s, want: []time.Duration{4500 * ms, 4500 * ms}, stopped: router.StopDeadline},
		{
			name: "what the limit forbids does not", endpoints: "ant bee cat dog", total: 9 * s, attempts: 2,
			want: []time.Duration{4500 * ms, 4500 * ms}, stopped: router.StopDeadline,
		},
		{name: "one attempt", endpoints: "ant bee", total: 9 * s, attempts: 1, want: []time.Duration{9 * s}, stopped: router.StopDeadline},
		{
			name: "an endpoint's own time", endpoints: "ant bee cat", own: map[string]time.Duration{"ant": 2 * s, "cat": 20 * s},
			want: []time.Duration{2 * s, 10 * s, 18 * s}, stopped: router.StopDeadline,
		},
		{name: "a last resort", endpoints: "ant bee", total: 9 * s, last: "bee", want: []time.Duration{8750 * ms, 250 * ms}, stopped: router.StopDeadline},
		{
			name: "behind four", endpoints: "ant bee cat dog elk", last: "elk",
			want: []time.Duration{10 * s, 9875 * ms, 4937500 * time.Microsecond, 4937500 * time.Microsecond, 250 * ms}, stopped: router.StopDeadline,
		},
		{
			name: "a quarter at most", endpoints: "ant bee cat", total: 800 * ms, last: "cat",
			want: []time.Duration{300 * ms, 300 * ms, 200 * ms}, stopped: router.StopDeadline,
		},
		{
			name: "two of them", endpoints: "ant bee cat", total: 9 * s, last: "bee cat",
			want: []time.Duration{8500 * ms, 250 * ms, 250 * ms}, stopped: router.StopDeadline,
		},
		{
			name: "one within the plan", endpoints: "ant:M bee:M cat:N", total: 9 * s, last: "bee",
			want: []time.Duration{4375 * ms, 2312500 * time.Microsecond, 2312500 * time.Microsecond}, stopped: router.StopDeadline,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newRig(t, tt.endpoints, func(cfg *router.Config) { cfg.MaxAttempts = tt.attempts },
					marked(strings.Fields(tt.last)...), func(e *router.Endpoint) { e.AttemptTimeout = tt.own[e.Provider] })
				for _, u := range g.upstreams {
					u.will(fails(t, "timeout"))
				}
				c := &router.Call{Request: decision(byPrice), Timeout: tt.total}
				if strings.Contains(tt.endpoints, ":N") {
					c.Request.Models = systemone.Texts(modelN)
				}
				_, err := g.router.Decide(t.Context(), c)
				assert.Equal(t, router.Timeout, fault(t, err).Class)
				var got []time.Duration
				for _, a := range c.Report.Legs[0].Attempts {
					got = append(got, a.Duration)
				}
				assert.Equal(t, tt.want, got)
				if tt.stopped == "" {
					tt.stopped = router.StopCandidates
				}
				assert.Equal(t, tt.stopped, c.Report.Stopped)
			})
		})
	}
}

// A last resort whose latency is known gets its P99.
func TestLastResortGetsItsP99(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, "ant bee", nil, marked("bee"))
		g.upstreams["ant"].will(fails(t, "500"))
		g.upstreams["bee"].will(slow(time.Second, answer))
		for range 20 {
			_, _, err := g.decide()
			require.NoError(t, err)
		}
		time.Sleep(time.Second) // of the bubble's clock: the next snapshot
		p99 := g.router.StatsOf(g.endpoint(1).ID).Latency.P99
		require.InDelta(t, 1, p99, 0.1)
		g.upstreams["ant"].will(fails(t, "timeout"))
		g.upstreams["bee"].will(slow(900*time.Millisecond, answer))
		c := &router.Call{Request: decision(byPrice), Timeout: 9 * time.Second}
		_, err := g.router.Decide(t.Context(), c)
		require.NoError(t, err)
		assert.InDelta(t, 9-p99, c.Report.Legs[0].Attempts[0].Duration.Seconds(), 1e-6)
		assert.Equal(t, 900*time.Millisecond, c.Report.Legs[0].Attempts[1].Duration)
	})
}

// A last resort does not count towards the limit of attempts, wherever it stands.
func TestLastResortIsOutsideTheLimit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, endpoints, last, sound, asked string
		attempts                            int
		stopped                             router.Stop
	}{
		{name: "behind what was not asked", endpoints: "ant bee cat dog", last: "dog", sound: "dog", attempts: 2, asked: "ant bee dog"},
		{name: "and failing", endpoints: "ant bee cat dog", last: "dog", attempts: 2, asked: "ant bee dog", stopped: router.StopAttempts},
		{name: "behind all", endpoints: "ant bee cat", last: "cat", attempts: 2, asked: "ant bee cat", stopped: router.StopCandidates},
		{name: "the limit", endpoints: "ant bee cat", attempts: 2, asked: "ant bee", stopped: router.StopAttempts},
		{name: "as many as there are", endpoints: "ant bee", attempts: 2, asked: "ant bee", stopped: router.StopCandidates},
		{name: "before another model", endpoints: "ant:M bee:M cat:N", last: "bee", sound: "cat", attempts: 2, asked: "ant bee cat"},
		{name: "which the limit forbids", endpoints: "ant:M bee:M cat:N", last: "bee", sound: "cat", attempts: 1, asked: "ant bee", stopped: router.StopAttempts},
	} {
		g := newRig(t, tt.endpoints, func(cfg *router.Config) { cfg.MaxAttempts = tt.attempts }, marked(strings.Fields(tt.last)...))
		for slug, u := range g.upstreams {
			if slug != tt.sound {
				u.will(fails(t, "500"))
			}
		}
		c := &router.Call{Request: decision(byPrice)}
		if strings.Contains(tt.endpoints, ":N") {
			c.Request.Models = systemone.Texts(modelN)
		}
		_, err := g.router.Decide(t.Context(), c)
		assert.Equal(t, tt.sound == "" || tt.stopped != "", err != nil, tt.name)
		assert.Equal(t, tt.asked, asked(c), tt.name)
		assert.Equal(t, tt.stopped, c.Report.Stopped, tt.name)
	}
}

// Upstreams that hang leave the last resort its time, under any deadline, so that
// the caller is answered in time.
func TestHangingUpstreamsLeaveTheLastResortItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, "ant bee cat dog elk fox", nil, marked("fox"))
		for _, slug := range g.order[:5] {
			g.upstreams[slug].will(fails(t, "timeout"))
		}
		g.upstreams["fox"].will(slow(20*time.Millisecond, answer))
		for _, total := range []time.Duration{0, 9 * time.Second, time.Second, 100 * time.Millisecond} {
			began := time.Now()
			c := &router.Call{Request: decision(byPrice), Timeout: total}
			_, err := g.router.Decide(t.Context(), c)
			require.NoError(t, err)
			assert.Equal(t, "ant bee cat dog fox", asked(c))
			if total > 0 {
				assert.LessOrEqual(t, time.Since(began), total)
			}
		}
	})
}

// No session is pinned to a last resort.
func TestLastResortIsNotPinned(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant bee", nil, marked("bee"))
	ask := func() string {
		c := &router.Call{Request: decision("")}
		c.Request.SessionID = "s"
		_, err := g.router.Decide(t.Context(), c)
		require.NoError(t, err)
		return asked(c) + " " + c.Report.Legs[0].Plan.Strategy
	}
	assert.Equal(t, "ant load-balancing", ask())
	g.upstreams["ant"].will(fails(t, "500"), answer)
	assert.Equal(t, "ant bee sticky", ask())
	assert.Equal(t, "ant sticky", ask())
}

// No attempt is made when a policy has used up the time.
func TestNoTimeNoAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		timeless := func(next router.Decider) router.Decider {
			return func(ctx context.Context, c *router.Call) (*router.Result, error) {
				return next(context.WithoutCancel(ctx), c)
			}
		}
		g := newRig(t, "ant", intercepted(timeless))
		g.upstreams["ant"].will(fails(t, "timeout"))
		began := time.Now()
		_, c, err := g.decide()
		assert.Equal(t, router.Timeout, fault(t, err).Class)
		assert.Equal(t, 10*time.Second, time.Since(began), "an attempt's time, although the call has no end")
		assert.Len(t, c.Report.Legs[0].Attempts, 1)
	})
}
