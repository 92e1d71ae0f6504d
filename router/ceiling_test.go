package router_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// newCappedRig answers acme/triage by ant, whose answer about the team is unsure, and
// then by bee.
func newCappedRig(t *testing.T, most float64, change func(*router.Config)) (*rig, *clock) {
	t.Helper()
	c := &clock{at: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	m := triage(cascade())
	m.MaxEscalated = most
	return newComposedRig(t, func(cfg *router.Config) {
		cfg.Now = c.now
		if change != nil {
			change(cfg)
		}
	}, m), c
}

// sure makes an answer about the team that needs no second opinion.
func sure(r *router.Reply) {
	r.Answers[1].Probabilities = []systemone.Probability{{Label: "billing", P: 0.99}, {Label: "sales", P: 0.01}}
}

// escalates decides a call for acme/triage and reports whether bee was asked.
func (g *rig) escalates(unsure bool) bool {
	g.t.Helper()
	if unsure {
		g.upstreams["ant"].will(answer)
	} else {
		g.upstreams["ant"].will(reply(sure))
	}
	c := triaged(modelTriage)
	_, err := g.router.Decide(g.t.Context(), c)
	require.NoError(g.t, err)
	last := c.Report.Legs[len(c.Report.Legs)-1]
	if unsure && len(last.Attempts) == 0 {
		require.Equal(g.t, router.KeptBudget, last.Kept)
		require.Equal(g.t, modelTriage, last.Capped.ID)
		require.Equal(g.t, []string{"team"}, last.TriggeredBy)
		require.Equal(g.t, "team", last.Questions[0].Name)
	}
	return last.Reason == router.LegEscalated && len(last.Attempts) == 1
}

// TestACeilingKeepsTheShareOfEscalations: for any order of calls that are sure and
// unsure, at any times, a stage is asked exactly where the share among the last 1,000
// calls of the last ten minutes is not above the ceiling.
func TestACeilingKeepsTheShareOfEscalations(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.SampledFrom([]float64{0.01, 0.1, 1.0 / 3, 0.5, 1}).Draw(rt, "most")
		g, clock := newCappedRig(t, most, nil)
		type call struct {
			at        time.Time
			escalated bool
		}
		var calls []call
		kept := int64(0)
		for range rapid.IntRange(1, 40).Draw(rt, "calls") {
			clock.step(time.Duration(rapid.SampledFrom([]int{0, 1, 60, 300, 600}).Draw(rt, "seconds")) * time.Second)
			unsure := rapid.Bool().Draw(rt, "unsure")
			n, escalated := 0, 0
			for _, c := range calls[max(0, len(calls)-1000):] {
				if clock.now().Sub(c.at) < 10*time.Minute {
					n++
					if c.escalated {
						escalated++
					}
				}
			}
			want := unsure && float64(escalated) <= most*float64(n)
			require.Equal(rt, want, g.escalates(unsure))
			calls = append(calls, call{clock.now(), want})
			if unsure && !want {
				kept++
			}
		}
		assert.Equal(rt, kept, g.router.Capped())
	})
}

// TestACeilingCountsTheLastThousandCalls, not all of ten minutes.
func TestACeilingCountsTheLastThousandCalls(t *testing.T) {
	t.Parallel()
	g, _ := newCappedRig(t, 0.002, nil)
	require.True(t, g.escalates(true))
	require.False(t, g.escalates(true), "1 of 1")
	for range 998 {
		g.escalates(false)
	}
	require.True(t, g.escalates(true), "1 of 1,000")
	require.True(t, g.escalates(true), "1 of 1,000, because the first is forgotten")
	require.True(t, g.escalates(true), "2 of 1,000")
	require.False(t, g.escalates(true), "3 of 1,000")
}

// TestACeilingHoldsWhileCallsRunAtOnce: calls that escalate at the same time count
// each other, so the share is passed by one call at most.
func TestACeilingHoldsWhileCallsRunAtOnce(t *testing.T) {
	t.Parallel()
	g, _ := newCappedRig(t, 0.1, nil)
	for range 99 {
		g.escalates(false)
	}
	g.upstreams["ant"].will(answer)
	var wait sync.WaitGroup
	for range 200 {
		wait.Go(func() {
			_, err := g.router.Decide(t.Context(), triaged(modelTriage))
			assert.NoError(t, err)
		})
	}
	wait.Wait()
	asked := len(g.upstreams["bee"].seen)
	assert.GreaterOrEqual(t, asked, 10)
	assert.LessOrEqual(t, asked, 30, "a tenth of 299, and one")
	assert.Equal(t, int64(200-asked), g.router.Capped())
}

// TestACeilingIsForSecondOpinions: questions without an answer are asked further, and
// failures of the first stage are not counted.
func TestACeilingIsForSecondOpinions(t *testing.T) {
	t.Parallel()
	g, _ := newCappedRig(t, 0.01, nil)
	require.True(t, g.escalates(true))
	require.False(t, g.escalates(true))

	g.upstreams["ant"].will(reply(func(r *router.Reply) {
		r.Answers, r.Refused = r.Answers[:2], []router.Refusal{{Question: "urgency"}}
	}))
	c := triaged(modelTriage)
	res, err := g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.Len(t, res.Response.Answers, 3)

	g.upstreams["ant"].will(fails(t, "500"))
	c = triaged(modelTriage)
	_, err = g.router.Decide(t.Context(), c)
	require.NoError(t, err, "bee answers all")
	assert.Equal(t, router.LegFirst, c.Report.Legs[1].Reason)
}

// TestAStageThatWasNotSentDoesNotCount for the ceiling.
func TestAStageThatWasNotSentDoesNotCount(t *testing.T) {
	t.Parallel()
	g, _ := newCappedRig(t, 0.01, nil)
	for range 3 {
		c := triaged(modelTriage)
		c.Policy = []router.Rule{{IgnoredProviders: []string{"bee"}}}
		_, err := g.router.Decide(t.Context(), c)
		require.NoError(t, err)
		assert.Equal(t, router.KeptNoEndpoint, c.Report.Legs[1].Kept)
	}
	assert.True(t, g.escalates(true))
}

// A stage of which nothing was sent does not undo that an earlier one was asked.
func TestAnEarlierStageCounts(t *testing.T) {
	t.Parallel()
	g, _ := newCappedRig(t, 1, nil)
	m := triage(append(cascade(), systemone.Entry{Model: modelM, When: unsure()}))
	m.MaxEscalated = 0.5
	g.compose(m)
	for _, want := range []string{"ant bee", "ant"} {
		n := 0
		g.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
			if n++; n > 1 { // the third stage
				return router.Reply{}, router.ErrNotSent
			}
			return answer(ctx, a)
		})
		c := triaged(modelTriage)
		_, err := g.router.Decide(t.Context(), c)
		require.NoError(t, err)
		assert.Equal(t, want, asked(c))
	}
}

// TestARequiredStageAboveItsCeilingFails, because the request asks for it.
func TestARequiredStageAboveItsCeilingFails(t *testing.T) {
	t.Parallel()
	g, _ := newCappedRig(t, 0.01, nil)
	stages := cascade()
	stages[1].Required = true
	m := triage(stages)
	m.MaxEscalated = 0.01
	g.compose(m)
	require.True(t, g.escalates(true))
	_, err := g.router.Decide(t.Context(), triaged(modelTriage))
	assert.Equal(t, router.NoCapacity, fault(t, err).Class)
}

// TestACeilingSurvivesAReload, with the share that the new catalog states.
func TestACeilingSurvivesAReload(t *testing.T) {
	t.Parallel()
	g, _ := newCappedRig(t, 0.01, nil)
	require.True(t, g.escalates(true))
	m := triage(cascade())
	m.MaxEscalated = 0.02
	g.compose(m)
	require.False(t, g.escalates(true))
	m.MaxEscalated = 1
	g.compose(m)
	require.True(t, g.escalates(true))
	m.MaxEscalated = 0
	g.compose(m)
	require.True(t, g.escalates(true))
}

// TestTheOperatorIsToldOfACeiling once an hour.
func TestTheOperatorIsToldOfACeiling(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	g, clock := newCappedRig(t, 0.01, func(cfg *router.Config) {
		cfg.Interceptors = []router.Interceptor{router.Log(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn})))}
	})
	for range 5 {
		g.escalates(true)
	}
	line := `msg="first answers kept: the model escalates too many calls" model=acme/triage max_escalated=0.01`
	assert.Equal(t, 1, strings.Count(out.String(), line), out.String())
	clock.step(time.Hour)
	for range 2 {
		g.escalates(true)
	}
	assert.Equal(t, 2, strings.Count(out.String(), line), out.String())
}
