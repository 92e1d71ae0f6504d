package router_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// small makes an endpoint of judge-mini take one question at once.
func small(e *router.Endpoint) {
	if e.Model == modelN {
		e.Limits.Questions = 1
	}
}

// A second opinion that could only be asked in parts and for which no time is left is
// a leg that keeps the first answers.
func TestAStageInPartsThatHasNoTimeIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, "ant bee:N", nil, small)
		g.upstreams["bee"].will(slow(3*time.Second, answer))
		for range 10 { // so that the median is known
			q := decision("")
			q.Model, q.Questions = "judge-mini", q.Questions[:1]
			_, err := g.router.Decide(t.Context(), &router.Call{Request: q})
			require.NoError(t, err)
		}
		c := staged(func(q *systemone.Request) {
			q.Models[0].Scope = systemone.ScopeAll
			q.Routing = &systemone.Routing{DeadlineMS: 2000}
		})
		_, err := g.router.Decide(t.Context(), c)
		require.NoError(t, err)
		require.Len(t, c.Report.Legs, 2)
		l := c.Report.Legs[1]
		assert.Equal(t, router.LegEscalated, l.Reason)
		assert.Equal(t, router.KeptDeadline, l.Kept)
		require.Len(t, l.Skipped, 1)
		assert.Equal(t, router.SkipTime, l.Skipped[0].Reason)
	})
}

// failing is a ledger that cannot be reached any more after some holds.
type failing struct {
	router.Ledger
	holds int
}

func (f *failing) Reserve(ctx context.Context, h router.Hold) error {
	if f.holds--; f.holds < 0 {
		return router.ErrUnavailable
	}
	return f.Ledger.Reserve(ctx, h)
}

// A ledger that fails before a stage in parts keeps the first answers.
func TestAStageInPartsWithoutALedgerIsKept(t *testing.T) {
	t.Parallel()
	ledger := &failing{Ledger: memory.New().Ledger, holds: 1}
	g := newRig(t, "ant bee:N", func(cfg *router.Config) { cfg.Ledger = ledger }, small)
	c := staged(func(q *systemone.Request) { q.Models[0].Scope = systemone.ScopeAll })
	_, err := g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, c.Report.Legs, 2)
	assert.Equal(t, router.LegEscalated, c.Report.Legs[1].Reason)
	assert.Equal(t, router.KeptError, c.Report.Legs[1].Kept)
}

// Sheets of a group that failed as a whole are no stage, although some were answered:
// the group behind it is the first.
func TestADroppedSheetIsNoStage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, "ant bee:N", nil, func(e *router.Endpoint) {
			if e.Model == modelM {
				e.Limits.Questions = 1
			}
		})
		fail := slow(time.Second, fails(t, "500"))
		g.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
			if a.Request.Questions[0].Name == "urgency" {
				return fail(ctx, a)
			}
			return answer(ctx, a)
		})
		c := staged(func(q *systemone.Request) { q.Models[0].When.ConfidenceBelow = new(0.0) })
		_, err := g.router.Decide(t.Context(), c)
		require.NoError(t, err)
		require.Len(t, c.Report.Legs, 4)
		assert.Zero(t, c.Report.Escalated())
		assert.Equal(t, 1, c.Report.Legs[c.Report.Provenance(0).Leg].Group)
	})
}

// A sheet leaves time for what is asked where it fails, and only for that.
func TestSheetsLeaveTimeForWhatFollows(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, endpoints string
		request         *systemone.Request
		want            time.Duration // of the first attempt, of ten seconds
	}{
		{"nothing follows", "ant", large(4, 0), 10 * time.Second},
		{"nothing follows a choice", "ant", large(0, 4), 10 * time.Second},
		{"another endpoint", "ant bee", large(4, 0), 5 * time.Second},
		{"another endpoint for a choice", "ant bee", large(0, 4), 5 * time.Second},
		{"another group", "ant bee:N", large(4, 0), 5 * time.Second},
		{"another group for a choice", "ant bee:N", large(0, 4), 5 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(t, test.endpoints, func(cfg *router.Config) { cfg.Timeout = 10 * time.Second }, limited(2, 2))
			var mu sync.Mutex
			var given []time.Duration
			even := softmax(func(string) float64 { return 0 })
			g.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
				end, _ := ctx.Deadline()
				mu.Lock()
				given = append(given, time.Until(end))
				mu.Unlock()
				return even(ctx, a)
			})
			test.request.Provider = decision(byPrice).Provider
			if g.router.Catalog().Endpoints()[len(g.order)-1].Model == modelN {
				test.request.Models = []systemone.Entry{{Model: "judge-mini", When: &systemone.Condition{ConfidenceBelow: new(0.0)}}}
			}
			_, err := g.router.Decide(t.Context(), &router.Call{Request: test.request})
			require.NoError(t, err)
			assert.Equal(t, test.want, given[0], test.name)
		})
	}
}

// Whoever answered most questions names the reply, on however many sheets.
func TestTheReplyNamesTheEndpointOfMostAnswers(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant bee:N", nil, func(e *router.Endpoint) {
		if e.Model == modelM {
			e.Limits.Questions = 2
		}
	})
	half := softmax(func(string) float64 { return 0 })
	g.upstreams["ant"].will(half)
	g.upstreams["bee"].will(half)
	q := large(8, 0) // four sheets of two
	q.Models = []systemone.Entry{{Model: "judge-mini", When: &systemone.Condition{Any: []systemone.Condition{
		{Question: "n1", ProbabilityBetween: &[2]float64{0, 1}},
		{Question: "n3", ProbabilityBetween: &[2]float64{0, 1}},
		{Question: "n5", ProbabilityBetween: &[2]float64{0, 1}},
	}}}}
	res, err := g.router.Decide(t.Context(), &router.Call{Request: q})
	require.NoError(t, err)
	assert.Equal(t, "Ant Cloud", res.Response.Provider, "five of eight")
}

// A required stage that fails says in the report why it ended.
func TestARequiredStageSaysWhyItStopped(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant bee:N", nil)
	g.upstreams["bee"].will(fails(t, "500"))
	c := staged(func(q *systemone.Request) { q.Models[0].Required = true })
	_, err := g.router.Decide(t.Context(), c)
	assert.Equal(t, router.ProviderUnavailable, fault(t, err).Class)
	assert.Equal(t, router.StopCandidates, c.Report.Stopped)
}

// A required group that can be asked what its condition finds need not be able to
// take the whole request.
func TestARequiredGroupNeedNotTakeEverything(t *testing.T) {
	t.Parallel()
	for scope, ok := range map[systemone.Scope]bool{"": true, systemone.ScopeMatched: true, systemone.ScopeAll: false} {
		g := newRig(t, "ant bee:N", nil, func(e *router.Endpoint) {
			if e.Model == modelN {
				e.Limits.Levels = 1 // the score has two
			}
		})
		c := staged(func(q *systemone.Request) { q.Models[0].Required, q.Models[0].Scope = true, scope })
		_, err := g.router.Decide(t.Context(), c)
		if ok {
			require.NoError(t, err, scope)
			continue
		}
		assert.Equal(t, router.NotFound, fault(t, err).Class)
		assert.Empty(t, g.upstreams["ant"].attempts(), "before anything is sent")
	}
}

// What a stage refuses for safety is asked of no further group, whether it refused
// all that it was asked or some.
func TestARefusalForSafetyEndsStages(t *testing.T) {
	t.Parallel()
	for _, when := range []*systemone.Condition{
		unsure(),
		{Any: []systemone.Condition{*unsure(), {Question: "refund", ProbabilityBetween: &[2]float64{0, 1}}}},
	} {
		g := newRig(t, "ant bee:N", nil)
		g.upstreams["bee"].will(reply(func(r *router.Reply) {
			r.Answers = slices.DeleteFunc(r.Answers, func(a systemone.Answer) bool { return a.Name == "team" })
			r.Refused = []router.Refusal{{Question: "team", Safety: true}}
		}))
		c := staged(func(q *systemone.Request) {
			q.Models[0].When = when
			q.Models = append(q.Models, systemone.Entry{Model: "judge", When: unsure()})
		})
		res, err := g.router.Decide(t.Context(), c)
		require.NoError(t, err)
		assert.Equal(t, "ant bee", asked(c))
		assert.Equal(t, router.KeptRefused, c.Report.Legs[1].Kept)
		assert.Equal(t, "billing", res.Response.Answers[1].Choice)
	}
}
