package router_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// The counter counts the stages of answered calls that kept earlier answers, by
// reason. A stage that fails the call keeps nothing.
func TestKeptStagesAreCounted(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, bee, preferences string
		required               bool
		want                   router.KeepReason
	}{
		{name: "replaced", bee: "200"},
		{name: "error", bee: "500", want: router.KeptError},
		{name: "no endpoint", preferences: `{"only":["ant"]}`, want: router.KeptNoEndpoint},
		{name: "required", bee: "500", required: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g := newRig(t, "ant bee:N", nil)
			if test.bee != "" {
				g.upstreams["bee"].will(fails(t, test.bee))
			}
			c := staged(func(q *systemone.Request) {
				q.Models[0].Required = test.required
				if test.preferences != "" {
					q.Provider = decision(test.preferences).Provider
				}
			})
			_, err := g.router.Decide(t.Context(), c)
			assert.Equal(t, test.required, err != nil)
			require.Len(t, c.Report.Legs, 2)
			assert.Equal(t, test.want, c.Report.Legs[1].Kept)
			for _, why := range []router.KeepReason{router.KeptBudget, router.KeptDeadline, router.KeptError, router.KeptNoEndpoint, router.KeptRefused} {
				want := int64(0)
				if why == test.want {
					want = 1
				}
				assert.Equal(t, want, g.router.Kept(why), why)
			}
			assert.Zero(t, g.router.Kept("weather"))
			assert.Equal(t, test.name == "replaced", c.Report.Escalated() == 1)
		})
	}
}

// A group that is an error fallback is the first stage, and what is refused and
// asked again within a group is no further stage.
func TestEscalatedCountsStages(t *testing.T) {
	t.Parallel()
	answered := func(group int) *router.Leg {
		return &router.Leg{Group: group, Attempts: []router.AttemptRecord{{Billed: true}}}
	}
	unused := func(group int) *router.Leg {
		return &router.Leg{Group: group, Attempts: make([]router.AttemptRecord, 1)}
	}
	failed := func(group int) *router.Leg {
		return &router.Leg{Group: group, Attempts: []router.AttemptRecord{{Class: router.Timeout}}}
	}
	for want, lists := range map[int][][]*router.Leg{
		0: {nil, {{}}, {failed(0)}, {answered(0)}, {failed(0), answered(1)}, {answered(0), answered(0)}, {answered(0), failed(1)}, {unused(0), failed(0), answered(1)}},
		1: {{answered(0), answered(2)}, {answered(0), answered(1), answered(1)}, {failed(0), answered(1), failed(2), answered(3)}},
		2: {{answered(0), answered(1), answered(2)}},
	} {
		for i, legs := range lists {
			r := router.Report{Legs: legs}
			assert.Equal(t, want, r.Escalated(), "%d: %d", want, i)
		}
	}
}

// A dry run shows every group's plan, with the reason for which it would be asked or
// why it could not be.
func TestADryRunPlansEveryGroup(t *testing.T) {
	t.Parallel()
	type leg struct {
		reason     router.LegReason
		kept       router.KeepReason
		candidates int
		bounds     int
	}
	for _, test := range []struct {
		name, preferences string
		required          bool
		want              []leg
		fails             router.Class
	}{
		{name: "both", want: []leg{{router.LegFirst, "", 1, 1}, {router.LegEscalated, "", 1, 1}}},
		{name: "no second", preferences: `{"only":["ant"]}`, want: []leg{{router.LegFirst, "", 1, 1}, {router.LegEscalated, router.KeptNoEndpoint, 0, 0}}},
		{name: "no first", preferences: `{"only":["bee"]}`, want: []leg{{router.LegFirst, "", 0, 0}, {router.LegFirst, "", 1, 1}}},
		{name: "neither", preferences: `{"only":["cat"]}`, want: []leg{{router.LegFirst, "", 0, 0}, {router.LegFirst, "", 0, 0}}, fails: router.NotFound},
		{name: "required", preferences: `{"only":["ant"]}`, required: true, fails: router.NotFound},
		{name: "alone", preferences: `{"allow_fallbacks":false}`, want: []leg{{router.LegFirst, "", 1, 1}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g := newRig(t, "ant bee:N", nil)
			c := staged(func(q *systemone.Request) {
				q.Models[0].Required = test.required
				if test.preferences != "" {
					q.Provider = decision(test.preferences).Provider
				}
			})
			c.DryRun = true
			_, err := g.router.Decide(t.Context(), c)
			if test.fails != "" {
				assert.Equal(t, test.fails, fault(t, err).Class)
			} else {
				require.NoError(t, err)
			}
			var got []leg
			for _, l := range c.Report.Legs {
				got = append(got, leg{l.Reason, l.Kept, len(l.Plan.Candidates), len(l.Bounds)})
				assert.Equal(t, []string{"refund", "team", "urgency"}, l.Asked())
				assert.Empty(t, l.Attempts)
			}
			assert.Equal(t, test.want, got)
		})
	}
}

// An observer sees every leg, and nothing changes what it saw.
func TestObserversSeeLegs(t *testing.T) {
	t.Parallel()
	var seen router.Outcome
	g := newRig(t, "ant bee:N", intercepted(router.Observe(router.ObserverFunc(func(_ context.Context, o router.Outcome) {
		seen = o
		for _, l := range o.Report.Legs {
			assert.True(t, l.Answered())
			for i := range l.Attempts {
				assert.True(t, l.Attempts[i].Billed, "the call has been settled")
			}
		}
	}))))
	c := staged(nil)
	_, err := g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	c.Report.Rename(func(string) string { return "x" }, func(a systemone.Answers) systemone.Answers { return a })
	require.Len(t, seen.Report.Legs, 2)
	assert.Equal(t, []string{"team"}, seen.Report.Legs[1].Asked())
	assert.Equal(t, 1, seen.Report.Provenance(1).Leg)
	assert.Equal(t, 1, seen.Report.Escalated())
}

// No line names a question, whatever happens to it.
func TestLogsNameNoQuestion(t *testing.T) {
	t.Parallel()
	for what, bee := range map[string]step{
		"an answer": answer, "a failure": fails(t, "500"),
		"a bad answer": reply(func(r *router.Reply) { r.Answers[0].Choice = "nobody" }),
		"a refusal":    reply(func(r *router.Reply) { r.Answers, r.Refused = nil, []router.Refusal{{Question: "team", Text: "team"}} }),
	} {
		var out bytes.Buffer
		g := newRig(t, "ant bee:N", intercepted(router.Log(slog.New(slog.NewTextHandler(&out, nil)))))
		g.upstreams["bee"].will(bee)
		_, err := g.router.Decide(t.Context(), staged(nil))
		require.NoError(t, err)
		assert.Contains(t, out.String(), "legs=2")
		for _, name := range []string{"refund", "team", "urgency"} {
			assert.NotContains(t, out.String(), name, what)
		}
	}
}

func TestReadout(t *testing.T) {
	t.Parallel()
	e := router.Endpoint{}
	assert.Equal(t, router.ReadoutNative, e.Readout())
	e.Tolerance.NoDistribution = true
	assert.Equal(t, router.ReadoutDiscrete, e.Readout())
}
