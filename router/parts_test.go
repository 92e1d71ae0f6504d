package router_test

import (
	"context"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// softmax answers every question by fixed logits of the labels that it is shown.
func softmax(logit func(label string) float64) step {
	return func(_ context.Context, a router.Attempt) (router.Reply, error) {
		var r router.Reply
		for _, q := range a.Request.Questions {
			r.Answers = append(r.Answers, softmaxAnswer(q, logit))
		}
		r.Usage = systemone.Usage{InputTokens: 10 * int64(len(r.Answers)), OutputTokens: 1}
		return r, nil
	}
}

func softmaxAnswer(q systemone.Question, logit func(string) float64) systemone.Answer {
	a := systemone.Answer{Name: q.Name, Kind: q.Kind}
	if q.Kind == systemone.Noul {
		a.Noul = 0.5
		return a
	}
	most, sum := math.Inf(-1), 0.0
	for _, o := range q.Options {
		most = max(most, logit(o.Name))
	}
	for _, o := range q.Options {
		sum += math.Exp(logit(o.Name) - most)
	}
	best := 0.0
	for _, o := range q.Options {
		p := math.Exp(logit(o.Name)-most) / sum
		if a.Probabilities = append(a.Probabilities, systemone.Probability{Label: o.Name, P: p}); p > best {
			a.Choice, best = o.Name, p
		}
	}
	return a
}

// limited returns a change of the rig's endpoints to what they take at once.
func limited(questions, options int) func(*router.Endpoint) {
	return func(e *router.Endpoint) { e.Limits.Questions, e.Limits.Options = questions, options }
}

// large returns a request of some nouls and a choice of many options.
func large(nouls, options int) *systemone.Request {
	q := &systemone.Request{Model: "judge", State: systemone.Text("hello")}
	for i := range nouls {
		q.Questions = append(q.Questions, systemone.Question{Name: "n" + strconv.Itoa(i), Kind: systemone.Noul, Instructions: systemone.Text("Yes?")})
	}
	if options > 0 {
		choice := systemone.Question{Name: "desk", Kind: systemone.Choice, Instructions: systemone.Text("Which?")}
		for i := range options {
			choice.Options = append(choice.Options, systemone.Option{Name: "o" + strconv.Itoa(i), Guidance: systemone.Text("g")})
		}
		q.Questions = append(q.Questions, choice)
	}
	return q
}

// TestLawInParts: for any limits, a request that is asked in parts has the answers
// of the request asked whole, every sheet keeps the limits, and all attempts are
// charged.
func TestLawInParts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		questions, options := rapid.IntRange(1, 6).Draw(rt, "questions"), rapid.IntRange(2, 30).Draw(rt, "options")
		q := large(rapid.IntRange(1, 12).Draw(rt, "nouls"), rapid.IntRange(1, 120).Draw(rt, "of choice"))
		logits := map[string]float64{}
		for _, o := range q.Questions[len(q.Questions)-1].Options {
			logits[o.Name] = rapid.Float64Range(-30, 30).Draw(rt, o.Name)
		}
		logit := func(label string) float64 { return logits[label] }
		g := newRig(t, "ant", nil, limited(questions, options))
		for range 300 {
			g.upstreams["ant"].will(softmax(logit))
		}
		c := &router.Call{Request: q, Principal: who()}
		res, err := g.router.Decide(t.Context(), c)
		require.NoError(rt, err)
		require.NoError(rt, systemone.Check(q, res.Response.Answers, systemone.Tolerance{}))
		whole := softmaxAnswer(q.Questions[len(q.Questions)-1], logit)
		for i, p := range res.Response.Answers[len(q.Questions)-1].Probabilities {
			require.InDelta(rt, whole.Probabilities[i].P, p.P, 1e-9)
		}
		var sum router.USD
		for _, e := range c.Events(res) {
			sum += e.Cost.Credit
		}
		require.Equal(rt, res.Cost, sum)
		for _, l := range c.Report.Legs {
			require.LessOrEqual(rt, len(l.Questions), questions)
			for _, asked := range l.Questions {
				require.LessOrEqual(rt, len(asked.Options), options)
			}
		}
	})
}

// A choice that is asked in parts begins again at the next endpoint, and only the
// parts that count are charged.
func TestAChoiceInPartsBeginsAgain(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant bee", nil, limited(1, 4))
	logit := func(label string) float64 { return float64(len(label)) }
	ant, bee := softmax(logit), softmax(logit)
	g.upstreams["ant"].will(ant, ant, ant, fails(t, "500"))
	g.upstreams["bee"].will(bee, bee, bee, bee)
	q := large(0, 12)
	q.Provider = decision(byPrice).Provider
	c := &router.Call{Request: q, Principal: who()}
	res, err := g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, "ant ant ant ant bee bee bee bee", asked(c))
	for a := range c.Report.Attempts() {
		assert.Equal(t, a.Endpoint.Provider == "bee", a.Billed)
		assert.Equal(t, a.Class == "", a.UpstreamCost > 0)
	}
	assert.Len(t, c.Events(res), 4, "three parts and the final")
}

// What the operator forbids or what rounds too coarsely is refused as before.
func TestNotInParts(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*systemone.Request, *router.Endpoint){
		"never": func(q *systemone.Request, _ *router.Endpoint) {
			q.Routing = &systemone.Routing{Split: systemone.SplitNever}
		},
		"rounding":   func(_ *systemone.Request, e *router.Endpoint) { e.Tolerance.Rounding = 0.01 },
		"no figures": func(_ *systemone.Request, e *router.Endpoint) { e.Tolerance.NoDistribution = true },
		"one option": func(_ *systemone.Request, e *router.Endpoint) { e.Limits.Options = 1 },
		"alone": func(q *systemone.Request, _ *router.Endpoint) {
			q.Provider = &systemone.Preferences{AllowFallbacks: new(false)}
		},
	} {
		q := large(1, 30)
		g := newRig(t, "ant", nil, limited(9, 20), func(e *router.Endpoint) { change(q, e) })
		_, err := g.router.Decide(t.Context(), &router.Call{Request: q})
		e := fault(t, err)
		assert.Equal(t, router.NotFound, e.Class, name)
		assert.Equal(t, []string{"limits:options"}, e.ExcludedBy, name)
	}
}

// A body of a megabyte has a quarter of a million comparisons of two options. What
// would take more legs than a call may have is refused as before, also by a dry run,
// and an endpoint that takes it on fewer sheets is asked.
func TestTooManyParts(t *testing.T) {
	t.Parallel()
	q := &systemone.Request{Model: "judge", State: systemone.Text("hello")}
	for i := range 17 { // of 254 comparisons each
		choice := large(0, 255).Questions[0]
		choice.Name += strconv.Itoa(i)
		q.Questions = append(q.Questions, choice)
	}
	for _, dry := range []bool{false, true} {
		g := newRig(t, "ant", nil, limited(1, 2))
		_, err := g.router.Decide(t.Context(), &router.Call{Request: q, DryRun: dry})
		e := fault(t, err)
		assert.Equal(t, router.NotFound, e.Class)
		assert.Equal(t, []string{"limits:questions"}, e.ExcludedBy)
		assert.Empty(t, g.upstreams["ant"].attempts())
	}
	g := newRig(t, "ant bee", nil, limited(1, 2), func(e *router.Endpoint) {
		if e.Provider == "bee" {
			e.Limits.Questions, e.Limits.Options = 100, 200
		}
	})
	for range 2 {
		g.upstreams["bee"].will(softmax(func(string) float64 { return 0 }))
	}
	c := &router.Call{Request: q, Principal: who()}
	_, err := g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, "bee bee", asked(c))
	excluded := c.Report.Legs[0].Plan.Excluded
	require.Len(t, excluded, 1)
	assert.Equal(t, "ant", excluded[0].Endpoint.Provider)
	assert.Equal(t, router.FilterQuestions, excluded[0].Reason)
}

// A caller that hangs up while the most that all parts may cost is held is no failure
// of the ledger.
func TestHangUpBeforeParts(t *testing.T) {
	t.Parallel()
	ctx, hangUp := context.WithCancel(t.Context())
	g := newRig(t, "ant", func(cfg *router.Config) {
		cfg.Ledger = &leavingLedger{Ledger: memory.New().Ledger, hangUp: hangUp}
	}, limited(2, 9), fee(cent))
	c := &router.Call{Request: large(5, 0), Principal: who()}
	_, err := g.router.Decide(ctx, c)
	assert.Equal(t, router.Timeout, fault(t, err).Class)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, router.StopCaller, c.Report.Stopped)
}

// leavingLedger is one whose caller hangs up during a reservation.
type leavingLedger struct {
	router.Ledger

	hangUp context.CancelFunc
}

func (l *leavingLedger) Reserve(ctx context.Context, _ router.Hold) error {
	l.hangUp()
	return ctx.Err()
}
