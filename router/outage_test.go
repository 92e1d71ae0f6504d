package router_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// TestOutages is R5. Events are "what*times@seconds".
func TestOutages(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, tt := range []struct {
		row    string
		events string
		at     time.Duration // after noon
		outage bool
	}{
		{"R5a", "500*3@0", 0, true},
		{"R5b", "500*2@0", 0, false},
		{"R5c", "500*3@0 200*12@0", 0, false},
		{"R5d", "500*3@0 200*11@0", 0, true},
		{"R5e", "429*50@0", 5000 * ms, false},
		{"R5f still in it", "500*3@0", 29_999 * ms, true},
		{"R5f", "500*3@0", 30_000 * ms, false},
		{"R5f failures go one by one", "500*1@0 500*2@5", 30_000 * ms, false},
		{"R5f successes go too", "200*12@0 500*3@5", 29_999 * ms, false},
		{"R5f and leave an outage", "200*12@0 500*3@5", 30_000 * ms, true},
		{"R5g 429 begins", "429(20)*1@0", 0, true},
		{"R5g 429 lasts", "429(20)*1@0", 19_999 * ms, true},
		{"R5g 429 ends", "429(20)*1@0", 20_000 * ms, false},
		{"R5g 503 lasts", "503(20)*1@0", 19_999 * ms, true},
		{"R5g 503 ends", "503(20)*1@0", 20_000 * ms, false},
		{"R5g 529 lasts", "529(20)*1@0", 19_999 * ms, true},
		{"R5g 529 ends", "529(20)*1@0", 20_000 * ms, false},
		{"R5g not for a 500", "500(20)*1@0", 1000 * ms, false},
		{"R5h lasts", "429(600)*1@0", 59_999 * ms, true},
		{"R5h ends", "429(600)*1@0", 60_000 * ms, false},
		{"R5i lasts", "429*1@0", 4999 * ms, true},
		{"R5i ends", "429*1@0", 5000 * ms, false},
		{"R5j before", "429(20)*1@0", 3000 * ms, true},
		{"R5j", "429(20)*1@0 200*1@3", 3000 * ms, false},
	} {
		t.Run(tt.row, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			noon := c.now()
			g := newRig(t, "ant", withClock(c))
			id := g.endpoint(0).ID
			for event := range strings.FieldsSeq(tt.events) {
				word, rest, _ := strings.Cut(event, "*")
				times, at, _ := strings.Cut(rest, "@")
				after, err := time.ParseDuration(at + "s")
				require.NoError(t, err)
				c.step(noon.Add(after).Sub(c.now()))
				g.upstreams["ant"].will(fails(t, word))
				n, err := time.ParseDuration(times + "ns")
				require.NoError(t, err)
				for range n {
					_, _, _ = g.decide()
				}
				g.router.StatsOf(id) // a snapshot taken now must not hide later changes
			}
			c.step(noon.Add(tt.at).Sub(c.now()))
			assert.Equal(t, tt.outage, g.router.StatsOf(id).Outage, "what plans see")
			assert.Equal(t, tt.outage, g.router.Health(id).Outage, "what listings see")
		})
	}
}

// An outage that begins or ends is in the very next plan.
func TestOutageIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	c := newClock()
	g := newRig(t, "ant bee", withClock(c))
	first := func() router.Candidate {
		call := &router.Call{Request: decision(`{"data_collection":"allow"}`)}
		_, err := g.router.Decide(t.Context(), call)
		assert.NoError(t, err)
		return call.Report.Legs[0].Plan.Candidates[0]
	}
	first()
	g.upstreams["ant"].will(fails(t, "429(20)"), answer)
	_, call, err := g.decide()
	require.NoError(t, err)
	assert.Equal(t, "ant bee", asked(call))
	for range 20 {
		assert.Equal(t, "bee", first().Endpoint.Provider)
	}
	_, call, err = g.decide() // sorted by price, so ant is asked, and answers
	require.NoError(t, err)
	assert.Equal(t, "ant", asked(call))
	assert.False(t, g.router.StatsOf(g.endpoint(0).ID).Outage)
}
