package router_test

import (
	"context"
	"fmt"
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
		stopped   router.Stop   // default of a failure: candidates
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
		{row: "R75a", endpoints: "ant bee", steps: []string{"400", "200"}, class: invalid, asked: "ant", stopped: router.StopCaller},
		{row: "R75b", steps: []string{"500", "400", "200"}, class: invalid, asked: "ant bee", stopped: router.StopCaller},
		{row: "R75c", steps: []string{"429", "422", "200"}, class: invalid, asked: "ant bee", stopped: router.StopCaller},
		{
			row: "R75d", endpoints: "ant:M bee:N", models: []string{modelN}, steps: []string{"400", "200"},
			class: invalid, asked: "ant", stopped: router.StopCaller,
		},
		{row: "R75e", steps: []string{"413", "200"}, asked: "ant bee"},
		{
			row: "R76a", endpoints: "ant bee cat dog elk fox", steps: []string{"500", "500", "500", "500", "200", "200"},
			class: unavailable, asked: "ant bee cat dog", stopped: router.StopAttempts,
		},
		{
			row: "R76b", endpoints: "ant bee cat dog elk fox", steps: []string{"429", "429", "429", "429", "200", "200"},
			class: router.RateLimitExceeded, asked: "ant bee cat dog", stopped: router.StopAttempts,
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
				c.Request.Models = systemone.Texts(tt.models...)
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
				if tt.class != "" && tt.stopped == "" {
					tt.stopped = router.StopCandidates
				}
				assert.Equal(t, tt.stopped, c.Report.Stopped)
			})
		})
	}
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
		assert.Empty(t, c.Report.Legs[0].Attempts)
		require.Len(t, c.Report.Legs[0].Skipped, 2)
		assert.Equal(t, "busy", c.Report.Legs[0].Skipped[0].String())
		got := []string{<-first, <-first}
		slices.Sort(got)
		assert.Equal(t, []string{"ant", "bee"}, got)
		assert.Len(t, g.upstreams["ant"].attempts(), 1)
		assert.Len(t, g.upstreams["bee"].attempts(), 1)
		_, _, err = g.decide()
		require.NoError(t, err, "places are given back")
	})
}

// TestAllInOutage is R77e: no endpoint is skipped for an outage.
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
		assert.Len(t, c.Report.Legs[0].Attempts, 3)
	})
}

// A refusal names the position of the wrong model in the request.
func TestWrongModelsHavePaths(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant", nil)
	for _, tt := range []struct {
		model  string
		models []string
		want   []string
	}{
		{"nope/x", nil, []string{"model"}},
		{"", []string{"nope/x"}, []string{"models.0"}},
		{modelM, []string{modelN, "nope/x"}, []string{"models.1"}},
		{"nope/x", []string{modelM, "nope/x"}, []string{"model", "models.1"}},
	} {
		q := decision("")
		q.Model, q.Models = tt.model, systemone.Texts(tt.models...)
		_, err := g.router.Decide(t.Context(), &router.Call{Request: q})
		e := fault(t, err)
		assert.Equal(t, "nope/x is not a valid model ID", e.Message)
		var paths []string
		for _, is := range e.Issues {
			paths = append(paths, is.Path)
		}
		assert.Equal(t, tt.want, paths)
	}
}

// An attempt that was not sent is none: it appears neither in the report, nor in
// the endpoint's statistics, nor in the retry budget.
func TestNotSentIsNoAttempt(t *testing.T) {
	t.Parallel()
	unsent := func(context.Context, router.Attempt) (router.Reply, error) {
		return router.Reply{}, &router.UpstreamError{Class: router.NoCapacity, Err: fmt.Errorf("%w: full", router.ErrNotSent)}
	}
	g := newRig(t, "ant bee cat", withClock(newClock()))
	g.upstreams["ant"].will(unsent)
	for range 10 {
		_, c, err := g.decide()
		require.NoError(t, err)
		assert.Equal(t, "bee", asked(c))
	}
	ant := g.endpoint(0).ID
	assert.Equal(t, router.Stats{}, g.router.StatsOf(ant))
	assert.Equal(t, router.Health{}, g.router.Health(ant))
	assert.Zero(t, g.router.InFlight(ant), "its place is given back")

	g.upstreams["bee"].will(unsent)
	g.upstreams["cat"].will(unsent)
	_, c, err := g.decide()
	e := fault(t, err)
	assert.Equal(t, router.NoCapacity, e.Class, "as R77c")
	assert.Empty(t, c.Report.Legs[0].Attempts)
	assert.Empty(t, e.Metadata)

	// Between two attempts that fail, one that is not sent spends no retry.
	g.upstreams["ant"].will(fails(t, "500"))
	g.upstreams["cat"].will(fails(t, "500"))
	retries := 0
	for range 200 {
		_, c, _ := g.decide()
		retries += len(c.Report.Legs[0].Attempts) - 1
	}
	assert.Equal(t, 3+100+(10+200)/5, retries, "three failures make an endpoint one that suffers")
}
