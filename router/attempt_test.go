package router_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// changed answers with one answer changed.
func changed(change func(systemone.Answers)) step {
	return reply(func(r *router.Reply) { change(r.Answers) })
}

// classCase is one row of section 11 of the routing cases: one attempt.
type classCase struct {
	row     string
	what    string // notation, unless do is given
	do      step
	next    bool // the next candidate is asked
	uptime  bool // counts against the endpoint
	checked bool // counts in exacto
	class   router.Class
	status  int // of the attempt
}

func classCases() []classCase {
	const (
		invalid     = router.InvalidRequest
		large       = router.PayloadTooLarge
		limited     = router.RateLimitExceeded
		unavailable = router.ProviderUnavailable
		timeout     = router.Timeout
	)
	unknownModel := func(context.Context, router.Attempt) (router.Reply, error) {
		return router.Reply{}, &router.UpstreamError{Status: 400, Class: unavailable}
	}
	tooLarge := func(context.Context, router.Attempt) (router.Reply, error) {
		return router.Reply{}, &router.UpstreamError{Status: 400, Class: large}
	}
	oddClass := func(context.Context, router.Attempt) (router.Reply, error) {
		return router.Reply{}, &router.UpstreamError{Status: 500, Class: router.PermissionDenied}
	}
	noClass := func(context.Context, router.Attempt) (router.Reply, error) {
		return router.Reply{}, &router.UpstreamError{}
	}
	return []classCase{
		{"R62a", "400", nil, false, false, false, invalid, 400},
		{"R62b", "422", nil, false, false, false, invalid, 422},
		{"R63a", "413", nil, true, false, false, large, 413},
		{"R63b a 400 that means too large", "", tooLarge, true, false, false, large, 400},
		{"R64a", "401", nil, true, true, false, unavailable, 401},
		{"R64b", "402", nil, true, true, false, unavailable, 402},
		{"R64c", "403", nil, true, false, false, unavailable, 403},
		{"R65a", "404", nil, true, true, false, unavailable, 404},
		{"R65b", "418", nil, true, true, false, unavailable, 418},
		{"R65c", "302", nil, true, true, false, unavailable, 302},
		{"R65d a 400 that means unknown model", "", unknownModel, true, true, false, unavailable, 400},
		{"R66", "429", nil, true, false, false, limited, 429},
		{"R67a", "529", nil, true, true, false, router.ProviderOverloaded, 529},
		{"R67b", "503", nil, true, true, false, router.NoCapacity, 503},
		{"R68a", "408", nil, true, true, false, timeout, 408},
		{"R68b", "504", nil, true, true, false, timeout, 504},
		{"R68c", "524", nil, true, true, false, timeout, 524},
		{"R68d no reply in time", "timeout", nil, true, true, false, timeout, 0},
		{"R68e the client's own deadline", "", func(context.Context, router.Attempt) (router.Reply, error) {
			return router.Reply{}, context.DeadlineExceeded
		}, true, true, false, timeout, 0},
		{"R68f no reply in time, put otherwise", "", func(ctx context.Context, _ router.Attempt) (router.Reply, error) {
			<-ctx.Done()
			return router.Reply{}, &router.UpstreamError{Class: unavailable, Err: errUpstream}
		}, true, true, false, timeout, 0},
		{"R68g a reply in time, read too late", "", func(ctx context.Context, _ router.Attempt) (router.Reply, error) {
			<-ctx.Done()
			return router.Reply{}, &router.UpstreamError{Status: 500, Class: unavailable, Err: errUpstream}
		}, true, true, false, unavailable, 500},
		{"R69a", "500", nil, true, true, false, unavailable, 500},
		{"R69b", "520", nil, true, true, false, unavailable, 520},
		{"R69c connection refused", "refused", nil, true, true, false, unavailable, 0},
		{"R69d connection reset", "reset", nil, true, true, false, unavailable, 0},
		{"R69e DNS", "dns", nil, true, true, false, unavailable, 0},
		{"R69f TLS", "tls", nil, true, true, false, unavailable, 0},
		{"R69g an error of no kind", "plain", nil, true, true, false, unavailable, 0},
		{"R69h no class", "", noClass, true, true, false, unavailable, 0},
		{"R69i not a class of attempts", "", oddClass, true, true, false, unavailable, 500},
		{"R70a HTML", "html", nil, true, true, false, unavailable, 502},
		{"R70b cut", "cut", nil, true, true, false, unavailable, 502},
		{"R70c invalid JSON", "json", nil, true, true, false, unavailable, 502},
		{"R70d question missing", "", reply(func(r *router.Reply) { r.Answers = r.Answers[:2] }), true, true, true, unavailable, 502},
		{"R70e question invented", "", reply(func(r *router.Reply) {
			r.Answers = append(r.Answers, systemone.Answer{Name: "more", Kind: systemone.Noul})
		}), true, true, true, unavailable, 502},
		{"R70f wrong type", "", changed(func(a systemone.Answers) { a[0].Kind = systemone.Score }), true, true, true, unavailable, 502},
		{"R70g unknown label", "", changed(func(a systemone.Answers) { a[1].Probabilities[1].Label = "x" }), true, true, true, unavailable, 502},
		{"R70h sum off", "", changed(func(a systemone.Answers) { a[1].Probabilities[0].P = 0.9 }), true, true, true, unavailable, 502},
		{"R70i argmax wrong", "", changed(func(a systemone.Answers) { a[1].Choice = "sales" }), true, true, true, unavailable, 502},
		{"R70j mean wrong", "", changed(func(a systemone.Answers) { a[2].Score = 0.9 }), true, true, true, unavailable, 502},
		{"R70k no answers at all", "", reply(func(r *router.Reply) { r.Answers = nil }), true, true, true, unavailable, 502},
		{"R70l negative usage", "", reply(func(r *router.Reply) { r.Usage.InputTokens = -1 }), true, true, true, unavailable, 502},
		{"R70m absurd usage", "", reply(func(r *router.Reply) { r.Usage.OutputTokens = 1 << 60 }), true, true, true, unavailable, 502},
		{"R70n refuses what was not asked", "", reply(func(r *router.Reply) {
			r.Answers, r.Refused = nil, []string{"invented"}
		}), true, true, true, unavailable, 502},
		{"R71 one question refused", "", reply(func(r *router.Reply) {
			r.Answers, r.Refused = r.Answers[:2], []string{"urgency"}
		}), true, false, false, unavailable, 502},
	}
}

// TestClasses is R62 to R71: what one attempt's end means for the walk, for
// the endpoint's uptime and for the caller.
func TestClasses(t *testing.T) {
	t.Parallel()
	for _, tt := range classCases() {
		t.Run(tt.row, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				do := tt.do
				if do == nil {
					do = fails(t, tt.what)
				}
				alone(t, tt, do)
				together(t, tt, do)
			})
		})
	}
}

// alone is the case of the only attempt, after a hundred answers.
func alone(t *testing.T, tt classCase, do step) {
	t.Helper()
	g := newRig(t, "ant", nil)
	for range 100 {
		_, _, err := g.decide()
		require.NoError(t, err)
	}
	g.upstreams["ant"].will(do)
	res, c, err := g.decide()
	assert.Nil(t, res)
	e := fault(t, err)
	assert.Equal(t, tt.class, e.Class)
	assert.Equal(t, "Ant Cloud", e.Metadata["provider_name"])
	assert.Equal(t, []router.PreviousError{}, e.Metadata["previous_errors"])
	require.Len(t, c.Report.Attempts, 1)
	a := c.Report.Attempts[0]
	assert.Equal(t, tt.class, a.Class)
	assert.Equal(t, tt.status, a.Status)
	assert.Zero(t, a.Cost)
	assert.Nil(t, a.Answers)

	h := g.router.Health(g.endpoint(0).ID)
	require.NotNil(t, h.Uptime5m)
	assert.Equal(t, tt.uptime, *h.Uptime5m < 100, "counts against uptime")
	time.Sleep(time.Second) // of the bubble's clock: the next snapshot
	s := g.router.StatsOf(g.endpoint(0).ID)
	assert.Equal(t, int64(100), s.Passed)
	assert.Equal(t, tt.checked, s.Checked > 100, "counts as checked")
}

// together is the case of a sound endpoint behind it.
func together(t *testing.T, tt classCase, do step) {
	t.Helper()
	g := newRig(t, "ant bee", nil)
	g.upstreams["ant"].will(do)
	_, c, err := g.decide()
	if tt.next {
		require.NoError(t, err)
		assert.Equal(t, "ant bee", asked(c))
		assert.Equal(t, router.Class(""), c.Report.Attempts[1].Class)
		assert.Equal(t, http.StatusOK, c.Report.Attempts[1].Status)
		return
	}
	assert.Equal(t, tt.class, fault(t, err).Class)
	assert.Equal(t, "ant", asked(c))
}

// TestHangUp is R72, and what belongs to it.
func TestHangUp(t *testing.T) {
	t.Parallel()
	t.Run("R72a upstream is cancelled and nobody else is asked", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := newRig(t, "ant bee", nil)
			var upstream error
			g.upstreams["ant"].will(func(ctx context.Context, _ router.Attempt) (router.Reply, error) {
				<-ctx.Done()
				upstream = ctx.Err()
				return router.Reply{}, &router.UpstreamError{Err: ctx.Err()}
			})
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			c := &router.Call{Request: decision(byPrice)}
			_, err := g.router.Decide(ctx, c)
			require.ErrorIs(t, err, context.Canceled)
			_ = fault(t, err)
			require.ErrorIs(t, upstream, context.Canceled)
			assert.Equal(t, "ant", asked(c))
			assert.Equal(t, time.Second, c.Report.Attempts[0].Duration)
			assert.Empty(t, g.upstreams["bee"].attempts())
		})
	})
	t.Run("R72b does not count against uptime", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := newRig(t, "ant", nil)
			g.upstreams["ant"].will(fails(t, "timeout"))
			for range 5 {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Millisecond, cancel)
				_, err := g.router.Decide(ctx, &router.Call{Request: decision("")})
				require.ErrorIs(t, err, context.Canceled)
			}
			assert.False(t, g.router.Health(g.endpoint(0).ID).Outage)
		})
	})
	t.Run("R72c an answer that has arrived is charged", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := newRig(t, "ant", nil)
			ctx, cancel := context.WithCancel(t.Context())
			g.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
				cancel()
				return answer(ctx, a)
			})
			res, err := g.router.Decide(ctx, &router.Call{Request: decision("")})
			require.NoError(t, err)
			assert.NotZero(t, res.Cost)
		})
	})
	t.Run("R72d before anything was sent", func(t *testing.T) {
		t.Parallel()
		g := newRig(t, "ant", nil)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := g.router.Decide(ctx, &router.Call{Request: decision("")})
		require.ErrorIs(t, err, context.Canceled)
		assert.Empty(t, g.upstreams["ant"].attempts())
	})
}

// TestWalks is R73 to R77: several attempts, one reply.
func TestWalks(t *testing.T) {
	t.Parallel()
	const (
		invalid     = router.InvalidRequest
		unavailable = router.ProviderUnavailable
		timeout     = router.Timeout
	)
	for _, tt := range []struct {
		row       string
		endpoints string // default ant bee cat
		models    []string
		steps     []string // by endpoint
		class     router.Class
		after     time.Duration // Retry-After
		asked     string        // default: all with steps
	}{
		{row: "R73a", steps: []string{"429(7)", "429(3)", "429"}, class: router.RateLimitExceeded, after: 3 * time.Second},
		{row: "R73b", steps: []string{"529", "529(20)"}, class: router.ProviderOverloaded, after: 20 * time.Second},
		{row: "R73c", steps: []string{"503", "503"}, class: router.NoCapacity},
		{row: "R73d", steps: []string{"timeout", "504", "524"}, class: timeout},
		{row: "R73e", steps: []string{"413", "413"}, class: router.PayloadTooLarge},
		{row: "R73f", steps: []string{"401", "403"}, class: unavailable},
		{row: "R73g beyond an hour", steps: []string{"429(9000)"}, class: router.RateLimitExceeded, after: time.Hour},
		{row: "R73h less than a second", steps: []string{"503(0.2)"}, class: router.NoCapacity, after: 200 * time.Millisecond},
		{row: "R73i no hint where none is due", steps: []string{"500(7)"}, class: unavailable},
		{row: "R74a", steps: []string{"429(7)", "500"}, class: unavailable},
		{row: "R74b", steps: []string{"429", "529"}, class: unavailable},
		{row: "R74c", steps: []string{"529", "503"}, class: unavailable},
		{row: "R74d", steps: []string{"timeout", "429"}, class: unavailable},
		{row: "R74e", steps: []string{"413", "500"}, class: unavailable},
		{row: "R74f", steps: []string{"500", "refused", "html"}, class: unavailable},
		{row: "R75a", endpoints: "ant bee", steps: []string{"400", "200"}, class: invalid, asked: "ant"},
		{row: "R75b", steps: []string{"500", "400", "200"}, class: invalid, asked: "ant bee"},
		{row: "R75c", steps: []string{"429", "422", "200"}, class: invalid, asked: "ant bee"},
		{row: "R75d", endpoints: "ant:M bee:N", models: []string{modelN}, steps: []string{"400", "200"}, class: invalid, asked: "ant"},
		{row: "R75e", steps: []string{"413", "200"}, asked: "ant bee"},
		{
			row: "R76a", endpoints: "ant bee cat dog elk fox", steps: []string{"500", "500", "500", "500", "200", "200"},
			class: unavailable, asked: "ant bee cat dog",
		},
		{
			row: "R76b", endpoints: "ant bee cat dog elk fox", steps: []string{"429", "429", "429", "429", "200", "200"},
			class: router.RateLimitExceeded, asked: "ant bee cat dog",
		},
		{row: "R77b", endpoints: "ant bee", steps: []string{"500", "200"}, asked: "ant bee"},
	} {
		t.Run(tt.row, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				list := []string{"ant", "bee", "cat", "dog", "elk", "fox"}[:len(tt.steps)]
				endpoints := tt.endpoints
				if endpoints == "" {
					endpoints = strings.Join(list, " ")
				}
				g := newRig(t, endpoints, nil)
				for i, word := range tt.steps {
					g.upstreams[list[i]].will(fails(t, word))
				}
				c := &router.Call{Request: decision(byPrice)}
				c.Request.Models = tt.models
				_, err := g.router.Decide(t.Context(), c)
				if tt.class == "" {
					require.NoError(t, err)
				} else {
					e := fault(t, err)
					assert.Equal(t, tt.class, e.Class)
					assert.Equal(t, tt.after, e.RetryAfter)
					assert.NotContains(t, e.Message, "hunter2")
				}
				if tt.asked == "" {
					tt.asked = strings.Join(list, " ")
				}
				assert.Equal(t, tt.asked, asked(c))
			})
		})
	}
}

// TestDeadlines is R76c and d, and the deadlines themselves.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		row     string
		steps   []step
		attempt time.Duration // its timeout; 0 is the default
		timeout time.Duration // of the call; 0 is the router's
		class   router.Class
		asked   string
		took    time.Duration
	}{
		{
			"R76c",
			[]step{slow(5*time.Second, fails(t, "500")), fails(t, "timeout")},
			time.Minute, 0,
			router.ProviderUnavailable, "ant bee", 30 * time.Second,
		},
		{
			"R76d",
			[]step{slow(5*time.Second, fails(t, "504")), fails(t, "timeout")},
			time.Minute, 0,
			router.Timeout, "ant bee", 30 * time.Second,
		},
		{
			"three attempts of 10 s are 30 s",
			[]step{fails(t, "timeout"), fails(t, "timeout"), fails(t, "timeout"), answer},
			0, 0,
			router.Timeout, "ant bee cat", 30 * time.Second,
		},
		{
			"the native mount's 9 s",
			[]step{fails(t, "timeout"), answer},
			0, 9 * time.Second,
			router.Timeout, "ant", 9 * time.Second,
		},
		{
			"an attempt has 10 s",
			[]step{fails(t, "timeout"), answer},
			0, 0,
			"", "ant bee", 10 * time.Second,
		},
		{
			"Retry-After makes nobody wait",
			[]step{fails(t, "429(7)"), answer},
			0, 0,
			"", "ant bee", 0,
		},
		{
			"an answer that comes after the end is still one",
			[]step{func(ctx context.Context, a router.Attempt) (router.Reply, error) {
				<-ctx.Done()
				return answer(ctx, a)
			}},
			time.Minute, 0,
			"", "ant", 30 * time.Second,
		},
	} {
		t.Run(tt.row, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newRig(t, "ant bee cat dog", func(cfg *router.Config) { cfg.AttemptTimeout = tt.attempt })
				for i, do := range tt.steps {
					g.upstreams[g.order[i]].will(do)
				}
				started := time.Now()
				c := &router.Call{Request: decision(byPrice), Timeout: tt.timeout}
				_, err := g.router.Decide(t.Context(), c)
				assert.Equal(t, tt.took, time.Since(started))
				assert.Equal(t, tt.asked, asked(c))
				if tt.class == "" {
					require.NoError(t, err)
					return
				}
				assert.Equal(t, tt.class, fault(t, err).Class)
			})
		})
	}
}

// The provider is told the deadline that its context has.
func TestAttemptCarriesItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, "ant", nil)
		g.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
			deadline, ok := ctx.Deadline()
			assert.True(t, ok)
			assert.Equal(t, deadline, a.Deadline)
			assert.Equal(t, 10*time.Second, time.Until(deadline))
			return answer(ctx, a)
		})
		_, _, err := g.decide()
		require.NoError(t, err)
	})
}

// TestRetryBudgetEndsTheWalk is R76e.
func TestRetryBudgetEndsTheWalk(t *testing.T) {
	t.Parallel()
	c := newClock()
	g := newRig(t, "ant bee", withClock(c))
	g.upstreams["ant"].will(fails(t, "500"))
	g.upstreams["bee"].will(fails(t, "500"))
	retries := 0
	for range 200 {
		_, call, err := g.decide()
		assert.Equal(t, router.ProviderUnavailable, fault(t, err).Class)
		retries += len(call.Report.Attempts) - 1
	}
	assert.Equal(t, 100+200/5, retries, "100 and a fifth of the requests")
	_, call, err := g.decide()
	assert.Equal(t, router.ProviderUnavailable, fault(t, err).Class)
	assert.Equal(t, "ant", asked(call), "R76e")

	c.step(10 * time.Second)
	_, call, _ = g.decide()
	assert.Equal(t, "ant bee", asked(call), "ten seconds later")
}

// TestPreviousErrors is R77a.
func TestPreviousErrors(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant bee cat", nil)
	for slug, word := range map[string]string{"ant": "429(7)", "bee": "500", "cat": "refused"} {
		g.upstreams[slug].will(fails(t, word))
	}
	_, _, err := g.decide()
	e := fault(t, err)
	assert.Equal(t, router.ProviderUnavailable, e.Class)
	assert.Zero(t, e.RetryAfter)
	assert.Equal(t, "Cat Labs", e.Metadata["provider_name"])
	assert.Equal(t, []router.PreviousError{
		{Provider: "ant", Code: router.RateLimitExceeded, Status: 429},
		{Provider: "bee", Code: router.ProviderUnavailable, Status: 500},
	}, e.Metadata["previous_errors"])
}

// TestConcurrencyLimits is R77c: a full endpoint is passed over.
func TestConcurrencyLimits(t *testing.T) {
	t.Parallel()
	one := func(e *router.Endpoint) { e.Limits.Concurrency = 1 }
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, "ant bee", nil, one)
		hold := slow(5*time.Second, answer)
		g.upstreams["ant"].will(hold)
		g.upstreams["bee"].will(hold)
		first := make(chan string, 2)
		for range 2 {
			go func() {
				_, c, err := g.decide()
				assert.NoError(t, err)
				first <- asked(c)
			}()
			synctest.Wait()
		}
		_, c, err := g.decide()
		e := fault(t, err)
		assert.Equal(t, router.NoCapacity, e.Class, "R77c")
		assert.Empty(t, c.Report.Attempts)
		got := []string{<-first, <-first}
		slices.Sort(got)
		assert.Equal(t, []string{"ant", "bee"}, got)
		assert.Len(t, g.upstreams["ant"].attempts(), 1)
		assert.Len(t, g.upstreams["bee"].attempts(), 1)
		_, _, err = g.decide()
		require.NoError(t, err, "places are given back")
	})
}

// TestAllInOutage is R77e: nobody is skipped for an outage.
func TestAllInOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, "ant bee cat", nil)
		for _, u := range g.upstreams {
			u.will(fails(t, "503"))
		}
		for range 3 {
			_, _, err := g.decide()
			require.Error(t, err)
		}
		for i, u := range []string{"ant", "bee", "cat"} {
			require.True(t, g.router.StatsOf(g.endpoint(i).ID).Outage)
			g.upstreams[u].will(fails(t, "timeout"))
		}
		c := &router.Call{Request: decision("")}
		_, err := g.router.Decide(t.Context(), c)
		assert.Equal(t, router.Timeout, fault(t, err).Class)
		assert.Len(t, c.Report.Attempts, 3)
	})
}
