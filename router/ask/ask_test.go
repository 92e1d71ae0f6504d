package ask_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/ask"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/systemone"
)

type Desk string

const (
	Billing   Desk = "billing"
	Technical Desk = "technical"
)

type Verdict struct {
	Desk   ask.Choice[Desk] `ask:"desk" q:"Which team should take this?" options:"billing=charges and refunds|technical=something is broken"`
	Refund ask.Noul         `ask:"refund" q:"Does the customer want money back?" yes:"asks for a refund" no:"does not"`
	Heat   ask.Score        `ask:"heat" q:"How upset?" levels:"calm|annoyed|furious"`
}

// Careful has a default for each of its questions.
type Careful struct {
	Desk   ask.Choice[Desk] `ask:"desk" q:"Which team?" options:"billing|technical" default:"technical"`
	Refund ask.Noul         `ask:"refund" q:"Money back?" default:"yes"`
	Heat   ask.Score        `ask:"heat" q:"How upset?" levels:"calm|annoyed|furious" default:"annoyed"`
}

// decider is a Decider by a function.
type decider func(c *router.Call) (*router.Result, error)

func (d decider) Decide(_ context.Context, c *router.Call) (*router.Result, error) { return d(c) }

// replies decides every call with these answers.
func replies(answers ...systemone.Answer) decider {
	return func(*router.Call) (*router.Result, error) {
		return &router.Result{Response: systemone.Response{ID: "gen-dec-1", Answers: answers}}, nil
	}
}

func fails(err error) decider {
	return func(*router.Call) (*router.Result, error) { return nil, err }
}

func deskAnswer() systemone.Answer {
	return systemone.Answer{
		Name: "desk", Kind: systemone.Choice, Choice: "technical", Confidence: 0.5,
		Probabilities: []systemone.Probability{{Label: "billing", P: 0.25}, {Label: "technical", P: 0.75}},
	}
}

func refundAnswer(p float64) systemone.Answer {
	return systemone.Answer{Name: "refund", Kind: systemone.Noul, Noul: p}
}

func heatAnswer() systemone.Answer {
	return systemone.Answer{
		Name: "heat", Kind: systemone.Score, Score: 1.25, Confidence: 0.25,
		Probabilities: []systemone.Probability{{Label: "0", P: 0.25}, {Label: "1", P: 0.25}, {Label: "2", P: 0.5}},
	}
}

func TestAskThroughARouter(t *testing.T) {
	catalog, err := routertest.Catalog(&routertest.Script{})
	require.NoError(t, err)
	rt, err := router.New(router.Config{Catalog: catalog})
	require.NoError(t, err)
	v, res, err := ask.Ask[Verdict](t.Context(), rt, routertest.Model, "I was charged twice.")
	require.NoError(t, err)
	assert.Equal(t, routertest.Provider, res.Response.Provider)
	assert.Equal(t, Billing, v.Desk.Value)
	assert.InDelta(t, 2.0/3, v.Desk.P(Billing), 1e-9)
	assert.InDelta(t, 1.0/3, v.Desk.Margin(), 1e-9)
	assert.True(t, v.Refund.Value)
	assert.InDelta(t, 0.75, v.Refund.P(true), 1e-9)
	assert.Equal(t, "calm", v.Heat.Level)
	assert.InDelta(t, 4.0/7, v.Heat.P("calm"), 1e-9)
}

func TestAnswersOfEachKind(t *testing.T) {
	v, res, err := ask.Ask[Verdict](t.Context(), replies(deskAnswer(), refundAnswer(0.125), heatAnswer()), "m", "x")
	require.NoError(t, err)
	assert.Equal(t, "gen-dec-1", res.Response.ID)

	assert.Equal(t, Technical, v.Desk.Value)
	assert.InDelta(t, 0.75, v.Desk.P(Technical), 0)
	assert.Zero(t, v.Desk.P("sales"))
	assert.InDelta(t, 0.5, v.Desk.Confidence, 0)
	assert.InDelta(t, 0.5, v.Desk.Margin(), 0)
	assert.Equal(t, Technical, v.Desk.Else(0.5, Billing))
	assert.Equal(t, Billing, v.Desk.Else(0.51, Billing))

	assert.False(t, v.Refund.Value)
	assert.InDelta(t, 0.125, v.Refund.P(true), 0)
	assert.InDelta(t, 0.875, v.Refund.P(false), 0)
	assert.InDelta(t, 0.75, v.Refund.Confidence, 0)
	assert.InDelta(t, 0.75, v.Refund.Margin(), 0)
	assert.False(t, v.Refund.Else(0.75, true))
	assert.True(t, v.Refund.Else(0.8, true))

	assert.InDelta(t, 1.25, v.Heat.Value, 0)
	assert.Equal(t, "furious", v.Heat.Level)
	assert.InDelta(t, 0.25, v.Heat.P("annoyed"), 0)
	assert.Zero(t, v.Heat.P("1"))
	assert.InDelta(t, 0.25, v.Heat.Confidence, 0)
	assert.InDelta(t, 0.25, v.Heat.Margin(), 0)
	assert.InDelta(t, 1.25, v.Heat.Else(0.25, 2), 0)
	assert.InDelta(t, 2, v.Heat.Else(0.3, 2), 0)
	for _, a := range []ask.Answer{v.Desk.Answer, v.Refund.Answer, v.Heat.Answer} {
		require.NoError(t, a.Err)
		assert.False(t, a.Defaulted)
		assert.NotEmpty(t, a.Probabilities)
	}
}

// TestOneHalfIsNotYes: a noul of one half is not yes.
func TestOneHalfIsNotYes(t *testing.T) {
	v, _, err := ask.Ask[Careful](t.Context(), replies(refundAnswer(0.5)), "m", "x")
	require.NoError(t, err)
	assert.False(t, v.Refund.Value)
	assert.Zero(t, v.Refund.Confidence)
}

func TestAnswersInAnotherOrder(t *testing.T) {
	v, _, err := ask.Ask[Verdict](t.Context(), replies(heatAnswer(), deskAnswer(), refundAnswer(1)), "m", "x")
	require.NoError(t, err)
	assert.Equal(t, Technical, v.Desk.Value)
	assert.True(t, v.Refund.Value)
	assert.Equal(t, "furious", v.Heat.Level)
}

// TestWithoutProbabilities: an answer without probabilities is an answer with
// unknown confidence.
func TestWithoutProbabilities(t *testing.T) {
	desk, heat := deskAnswer(), heatAnswer()
	desk.Probabilities, heat.Probabilities = nil, nil
	v, _, err := ask.Ask[Verdict](t.Context(), replies(desk, refundAnswer(1), heat), "m", "x")
	require.NoError(t, err)
	assert.Equal(t, Technical, v.Desk.Value)
	assert.Zero(t, v.Desk.Confidence)
	assert.Zero(t, v.Desk.P(Technical))
	assert.Zero(t, v.Desk.Margin())
	assert.Equal(t, Billing, v.Desk.Else(0.1, Billing))
	assert.Equal(t, Technical, v.Desk.Else(0, Billing))
	assert.InDelta(t, 1.25, v.Heat.Value, 0)
	assert.Equal(t, "annoyed", v.Heat.Level, "the nearest")
	assert.Zero(t, v.Heat.Confidence)
	assert.Nil(t, v.Heat.Probabilities)
}

func TestNoAnswerIsAnError(t *testing.T) {
	away := &router.Error{Class: router.NoCapacity}
	v, res, err := ask.Ask[Verdict](t.Context(), fails(away), "m", "x")
	require.ErrorIs(t, err, away)
	assert.Nil(t, res)
	assert.Equal(t, away, v.Desk.Err)
	assert.False(t, v.Desk.Defaulted)
	assert.Equal(t, Billing, v.Desk.Else(0, Billing))
}

func TestDefaultsStandInForAnswers(t *testing.T) {
	away := &router.Error{Class: router.NoCapacity}
	v, res, err := ask.Ask[Careful](t.Context(), fails(away), "m", "x")
	require.NoError(t, err)
	require.NotNil(t, res)
	assert.Zero(t, *res)
	assert.Equal(t, Technical, v.Desk.Value)
	assert.True(t, v.Refund.Value)
	assert.InDelta(t, 1, v.Heat.Value, 0)
	assert.Equal(t, "annoyed", v.Heat.Level)
	for _, a := range []ask.Answer{v.Desk.Answer, v.Refund.Answer, v.Heat.Answer} {
		assert.True(t, a.Defaulted)
		require.ErrorIs(t, a.Err, away)
		assert.Zero(t, a.Confidence)
		assert.Nil(t, a.Probabilities)
	}
	assert.Equal(t, Billing, v.Desk.Else(0, Billing), "a default is not an answer")
}

// TestOneDefaultMissingIsAnError: the questions that have a default still get it.
func TestOneDefaultMissingIsAnError(t *testing.T) {
	away := errors.New("away")
	type mixed struct {
		Safe   ask.Noul `ask:"safe" q:"Is it safe?" default:"no"`
		Honest ask.Noul `ask:"honest" q:"Is it honest?"`
	}
	v, _, err := ask.Ask[mixed](t.Context(), fails(away), "m", "x")
	require.ErrorIs(t, err, away)
	assert.True(t, v.Safe.Defaulted)
	assert.False(t, v.Honest.Defaulted)
}

// TestPartialReply: answers are kept; each other question has its default or is
// named in the error.
func TestPartialReply(t *testing.T) {
	v, res, err := ask.Ask[Verdict](t.Context(), replies(refundAnswer(1)), "m", "x")
	require.ErrorIs(t, err, ask.ErrUnanswered)
	require.ErrorContains(t, err, "Verdict.Desk")
	require.ErrorContains(t, err, "Verdict.Heat")
	assert.NotContains(t, err.Error(), "Verdict.Refund")
	assert.Equal(t, "gen-dec-1", res.Response.ID, "it may have cost something")
	assert.True(t, v.Refund.Value)
	require.NoError(t, v.Refund.Err)
	require.ErrorIs(t, v.Heat.Err, ask.ErrUnanswered)

	c, _, err := ask.Ask[Careful](t.Context(), replies(refundAnswer(0)), "m", "x")
	require.NoError(t, err)
	assert.False(t, c.Refund.Value)
	assert.False(t, c.Refund.Defaulted)
	assert.True(t, c.Desk.Defaulted)
	require.ErrorIs(t, c.Desk.Err, ask.ErrUnanswered)
}

// TestAnswersThatDoNotFit: a decider that is no router may answer anything.
func TestAnswersThatDoNotFit(t *testing.T) {
	for name, change := range map[string]func(desk, refund, heat *systemone.Answer){
		"another kind":           func(desk, _, _ *systemone.Answer) { desk.Kind = systemone.Noul },
		"no option":              func(desk, _, _ *systemone.Answer) { desk.Choice = "sales" },
		"a probability missing":  func(desk, _, _ *systemone.Answer) { desk.Probabilities = desk.Probabilities[:1] },
		"a label of another":     func(desk, _, _ *systemone.Answer) { desk.Probabilities[0].Label = "sales" },
		"a noul above 1":         func(_, refund, _ *systemone.Answer) { refund.Noul = 1.5 },
		"a score off the scale":  func(_, _, heat *systemone.Answer) { heat.Score = 2.5 },
		"levels by another name": func(_, _, heat *systemone.Answer) { heat.Probabilities[2].Label = "furious" },
	} {
		t.Run(name, func(t *testing.T) {
			desk, refund, heat := deskAnswer(), refundAnswer(1), heatAnswer()
			change(&desk, &refund, &heat)
			_, _, err := ask.Ask[Verdict](t.Context(), replies(desk, refund, heat), "m", "x")
			require.ErrorIs(t, err, ask.ErrUnanswered)
		})
	}
	_, res, err := ask.Ask[Verdict](t.Context(), fails(nil), "m", "x")
	require.ErrorIs(t, err, ask.ErrUnanswered)
	assert.NotNil(t, res)
}

func TestStateOfAnyValue(t *testing.T) {
	var sent json.RawMessage
	d := decider(func(c *router.Call) (*router.Result, error) {
		sent = c.Request.State
		return nil, errors.New("away")
	})
	for want, state := range map[string]any{
		`"I was charged twice."`: "I was charged twice.",
		`{"text":"x"}`:           map[string]string{"text": "x"},
		`["raw"]`:                json.RawMessage(`["raw"]`),
	} {
		_, _, err := ask.Ask[Careful](t.Context(), d, "m", state)
		require.NoError(t, err)
		assert.Equal(t, want, string(sent))
	}
	sent = nil
	_, _, err := ask.Ask[Careful](t.Context(), d, "m", 5)
	require.ErrorIs(t, err, systemone.ErrInvalid, "defaults do not hide a mistake of the program")
	require.ErrorContains(t, err, "ask: the state: ")
	assert.Nil(t, sent)
}

// TestJSONOfAnAnswerHasNoCause: the cause is for the operator's log.
func TestJSONOfAnAnswerHasNoCause(t *testing.T) {
	v, _, err := ask.Ask[Careful](t.Context(), fails(&router.Error{Class: router.NoCapacity, Message: "hunter2"}), "m", "x")
	require.NoError(t, err)
	text, err := json.Marshal(v)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "hunter2")
	assert.Contains(t, string(text), `"Defaulted":true`)
}

func TestCallIsAdjusted(t *testing.T) {
	sheet, err := ask.NewSheet(Careful{})
	require.NoError(t, err)
	var call *router.Call
	prefer := func(c *router.Call) { c.Request.Provider = &systemone.Preferences{Only: []string{"ant"}} }
	keep := func(c *router.Call) { call = c }
	d := decider(func(c *router.Call) (*router.Result, error) {
		c.Report.Requested = c.Request.Model
		return nil, errors.New("away")
	})
	_, _, err = sheet.Ask(t.Context(), d, "acme/judge", "x", prefer, keep)
	require.NoError(t, err)
	assert.Equal(t, []string{"ant"}, call.Request.Provider.Only)
	assert.Equal(t, "acme/judge", call.Report.Requested)

	_, _, err = sheet.Ask(t.Context(), d, "acme/judge", "x", keep)
	require.NoError(t, err)
	assert.Nil(t, call.Request.Provider, "nothing stays in the sheet")
}

func TestDryRunIsNoError(t *testing.T) {
	v, res, err := ask.Ask[Verdict](t.Context(), replies(), "m", "x", func(c *router.Call) { c.DryRun = true })
	require.NoError(t, err)
	assert.NotNil(t, res)
	require.ErrorIs(t, v.Desk.Err, ask.ErrUnanswered)
}

func TestSheetSideBySide(t *testing.T) {
	sheet, err := ask.NewSheet(Verdict{})
	require.NoError(t, err)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			p := float64(i) / 8
			v, _, err := sheet.Ask(t.Context(), replies(deskAnswer(), refundAnswer(p), heatAnswer()), "m", "x")
			if assert.NoError(t, err) {
				assert.InDelta(t, p, v.Refund.P(true), 0)
			}
		})
	}
	all.Wait()
}
