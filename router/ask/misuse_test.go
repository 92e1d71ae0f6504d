package ask_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/ask"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/systemone"
)

func TestNilDeciderIsAnError(t *testing.T) {
	for _, d := range []ask.Decider{nil, (*router.Router)(nil), decider(nil)} {
		_, _, err := ask.Ask[Careful](t.Context(), d, "m", "x")
		require.EqualError(t, err, "ask: the Decider is nil", "defaults do not hide it")
	}
}

func TestNilSetIsSkipped(t *testing.T) {
	_, _, err := ask.Ask[Careful](t.Context(), replies(), "m", "x", nil)
	require.NoError(t, err)
}

// TestSheetThatNewSheetDidNotMake: it would ask nothing and return zero values.
func TestSheetThatNewSheetDidNotMake(t *testing.T) {
	for _, s := range []*ask.Sheet[Verdict]{nil, {}} {
		_, _, err := s.Ask(t.Context(), replies(), "m", "x")
		require.ErrorIs(t, err, ask.ErrSheet)
		require.ErrorContains(t, err, "NewSheet")
	}
}

// TestDefaultsHideNoMistake: a request that the router refuses itself would be
// refused each time.
func TestDefaultsHideNoMistake(t *testing.T) {
	catalog, err := routertest.Catalog(&routertest.Script{})
	require.NoError(t, err)
	rt, err := router.New(router.Config{Catalog: catalog})
	require.NoError(t, err)
	small, err := router.New(router.Config{Catalog: catalog, Limits: systemone.Limits{Options: 1}})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		d    ask.Decider
		set  func(*router.Call)
		want string
	}{
		"unknown model":    {rt, func(c *router.Call) { c.Request.Model = "acme/jugde" }, "acme/jugde is not a valid model ID"},
		"no model":         {rt, func(c *router.Call) { c.Request.Model = "" }, "model: must be given"},
		"no request":       {rt, func(c *router.Call) { c.Request = nil }, "Call.Request is required"},
		"too many options": {small, nil, "must not have more than 1 options"},
		"another decider":  {fails(fmt.Errorf("own: %w", &systemone.InvalidError{})), nil, "own: "},
	} {
		t.Run(name, func(t *testing.T) {
			v, res, err := ask.Ask[Careful](t.Context(), c.d, routertest.Model, "x", c.set)
			require.ErrorContains(t, err, c.want)
			assert.Nil(t, res)
			assert.True(t, v.Desk.Defaulted, "it has its default all the same")
		})
	}
}

// TestUpstreamRefusalHasDefaults: the upstream may answer another state.
func TestUpstreamRefusalHasDefaults(t *testing.T) {
	catalog, err := routertest.Catalog(routertest.NewScript(t, routertest.Step{Err: routertest.Fail(400, 0)}))
	require.NoError(t, err)
	rt, err := router.New(router.Config{Catalog: catalog})
	require.NoError(t, err)
	v, _, err := ask.Ask[Careful](t.Context(), rt, routertest.Model, "x")
	require.NoError(t, err)
	assert.True(t, v.Desk.Defaulted)
	require.ErrorContains(t, v.Desk.Err, "invalid_request")
}

// TestCancelledCallIsAnError: a program that is stopping must not store defaults.
// After a deadline defaults apply.
func TestCancelledCallIsAnError(t *testing.T) {
	ends := decider(func(*router.Call) (*router.Result, error) { return nil, errors.New("ended") })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	v, _, err := ask.Ask[Careful](ctx, ends, "m", "x")
	require.EqualError(t, err, "ended")
	assert.True(t, v.Desk.Defaulted)
	_, _, err = ask.Ask[Verdict](ctx, replies(deskAnswer(), refundAnswer(1), heatAnswer()), "m", "x")
	require.NoError(t, err, "a complete answer counts")

	ctx, cancel = context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, _, err = ask.Ask[Careful](ctx, ends, "m", "x")
	require.NoError(t, err)
}

// TestNumbersThatAreNoProbabilities: Else does not take an infinite confidence for
// certainty, and every answer can be written as JSON.
func TestNumbersThatAreNoProbabilities(t *testing.T) {
	for _, wrong := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -0.5, 1.5} {
		for name, change := range map[string]func(desk, refund, heat *systemone.Answer){
			"confidence":             func(desk, _, _ *systemone.Answer) { desk.Confidence = wrong },
			"confidence of a score":  func(_, _, heat *systemone.Answer) { heat.Confidence = wrong },
			"probability":            func(desk, _, _ *systemone.Answer) { desk.Probabilities[0].P = wrong },
			"probability of a level": func(_, _, heat *systemone.Answer) { heat.Probabilities[2].P = wrong },
			"noul":                   func(_, refund, _ *systemone.Answer) { refund.Noul = wrong },
			"score":                  func(_, _, heat *systemone.Answer) { heat.Score = 2 * wrong },
		} {
			desk, refund, heat := deskAnswer(), refundAnswer(1), heatAnswer()
			change(&desk, &refund, &heat)
			v, _, err := ask.Ask[Verdict](t.Context(), replies(desk, refund, heat), "m", "x")
			require.ErrorIs(t, err, ask.ErrUnanswered, "%s %v", name, wrong)
			_, err = json.Marshal(v)
			require.NoError(t, err)
		}
	}
}

// TestConfidenceCountsOnlyWithProbabilities: in systemone it has no meaning
// without.
func TestConfidenceCountsOnlyWithProbabilities(t *testing.T) {
	desk := deskAnswer()
	desk.Probabilities, desk.Confidence = nil, math.NaN()
	v, _, err := ask.Ask[Verdict](t.Context(), replies(desk, refundAnswer(1), heatAnswer()), "m", "x")
	require.NoError(t, err)
	assert.Zero(t, v.Desk.Confidence)
}

// TestErrorsBesideAnswers: an error of Decide counts, whatever is returned with it.
func TestErrorsBesideAnswers(t *testing.T) {
	away := errors.New("away")
	both := decider(func(*router.Call) (*router.Result, error) {
		return &router.Result{Response: systemone.Response{Answers: systemone.Answers{refundAnswer(0)}}}, away
	})
	v, _, err := ask.Ask[Careful](t.Context(), both, "m", "x")
	require.NoError(t, err)
	assert.True(t, v.Refund.Defaulted)
	_, _, err = ask.Ask[Verdict](t.Context(), both, "m", "x", func(c *router.Call) { c.DryRun = true })
	require.ErrorIs(t, err, away)
}

// TestLowestOfEqualLevels: of several most probable levels.
func TestLowestOfEqualLevels(t *testing.T) {
	heat := heatAnswer()
	heat.Score = 1
	for i, p := range []float64{0.5, 0, 0.5} {
		heat.Probabilities[i].P = p
	}
	v, _, err := ask.Ask[Careful](t.Context(), replies(heat), "m", "x")
	require.NoError(t, err)
	assert.Equal(t, "calm", v.Heat.Level)
	assert.Zero(t, v.Heat.Margin())
}
