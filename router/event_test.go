package router_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Only billed attempts have events.
func TestEvents(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant bee", nil)
	g.upstreams["ant"].will(fails(t, "500"))
	g.upstreams["bee"].will(reply(func(r *router.Reply) {
		r.Usage = systemone.Usage{InputTokens: 1000, OutputTokens: 10, ReasoningTokens: 3, CachedTokens: 4}
	}))
	berlin := time.FixedZone("CET", 3600)
	c := &router.Call{
		Request: decision(byPrice), ID: "gen-dec-1",
		Admitted:  time.Date(2026, 11, 22, 0, 30, 0, 0, berlin),
		Principal: router.Principal{Account: "a", KeyHash: "k"},
	}
	res, err := g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, []router.Event{{
		ID: "gen-dec-1/0", Admitted: time.Date(2026, 11, 21, 23, 30, 0, 0, time.UTC), Principal: c.Principal,
		Model: modelM, Permaslug: "acme/judge-20260901", Endpoint: g.endpoint(1).ID, Provider: "Bee",
		Requests: 1, Prompt: 1000, Completion: 10, Reasoning: 3, Cached: 4,
		Cost: router.Amount{Credit: res.Cost, Total: res.Cost}, Reason: router.LegFirst,
	}}, c.Events(res))
}

// A call without an answer is not billed.
func TestNoEventsWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant", nil)
	g.upstreams["ant"].will(fails(t, "500"))
	res, c, err := g.decide()
	require.Error(t, err)
	assert.Empty(t, c.Events(res))
}
