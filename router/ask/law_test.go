package ask_test

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/ask"
	"github.com/signalbox/signalbox/systemone"
)

func texts(list ...string) []json.RawMessage {
	var all []json.RawMessage
	for _, s := range list {
		all = append(all, systemone.Text(s))
	}
	return all
}

// sheet has one question of each kind.
type sheet struct {
	Desk   ask.Choice[string]
	Refund ask.Noul
	Heat   ask.Score
}

// drawSheet draws a valid sheet.
func drawSheet(t *rapid.T) sheet {
	names := rapid.SliceOfNDistinct(rapid.StringN(1, 20, 200), 3, 3, rapid.ID).Draw(t, "names")
	text := rapid.StringN(1, 20, 200)
	guidance := rapid.OneOf(rapid.Just[any](nil), text.AsAny(), rapid.SliceOf(text).AsAny())
	options := func(label string) (list []ask.Option) {
		for _, name := range rapid.SliceOfNDistinct(text, 1, 6, rapid.ID).Draw(t, label) {
			list = append(list, ask.Option{Name: name, Guidance: guidance.Draw(t, "guidance")})
		}
		return list
	}
	desk := ask.Question{Name: names[0], Instructions: text.Draw(t, "q"), Options: options("options")}
	refund := ask.Question{Name: names[1], Instructions: text.Draw(t, "q")}
	if rapid.Bool().Draw(t, "sides") {
		refund.Yes, refund.No = text.Draw(t, "yes"), text.Draw(t, "no")
	}
	heat := ask.Question{Name: names[2], Instructions: text.Draw(t, "q"), Levels: options("levels")}
	return sheet{Desk: ask.NewChoice[string](desk), Refund: ask.NewNoul(refund), Heat: ask.NewScore(heat)}
}

// drawAnswers draws answers to a request, in the form that a router returns.
func drawAnswers(t *rapid.T, r *systemone.Request) systemone.Answers {
	distribution := func(n int) []float64 {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, "p")
		p[rapid.IntRange(0, n-1).Draw(t, "sure")] += 0.5
		systemone.Renormalise(p)
		return p
	}
	var list systemone.Answers
	for _, q := range r.Questions {
		a := systemone.Answer{Name: q.Name, Kind: q.Kind}
		switch q.Kind {
		case systemone.Choice:
			p := distribution(len(q.Options))
			a.Choice = q.Options[systemone.Argmax(p, -1)].Name
			for i, o := range q.Options {
				a.Probabilities = append(a.Probabilities, systemone.Probability{Label: o.Name, P: p[i]})
			}
		case systemone.Score:
			p := distribution(len(q.Levels))
			a.Score = systemone.Mean(p)
			for i := range q.Levels {
				a.Probabilities = append(a.Probabilities, systemone.Probability{Label: strconv.Itoa(i), P: p[i]})
			}
		default:
			a.Noul = rapid.Float64Range(0, 1).Draw(t, "noul")
		}
		list = append(list, a)
	}
	repaired, err := systemone.Repair(r, list, systemone.Tolerance{})
	require.NoError(t, err)
	return repaired
}

// TestSheetRequestRoundTrips: a sheet's request is valid, and can be written and
// read again.
func TestSheetRequestRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := ask.NewSheet(drawSheet(t))
		require.NoError(t, err)
		state := rapid.String().Draw(t, "state")
		_, _, err = s.Ask(t.Context(), decider(func(c *router.Call) (*router.Result, error) {
			require.NoError(t, c.Request.Validate(systemone.Limits{}))
			again, err := systemone.Decoder{}.Decode(c.Request.AppendJSON(nil))
			require.NoError(t, err)
			assert.Equal(t, c.Request, again)
			return &router.Result{Response: systemone.Response{Answers: drawAnswers(t, c.Request)}}, nil
		}), "m", state)
		require.NoError(t, err)
	})
}

// TestAnswerLaws: probabilities sum to one, are found by their names, and determine
// the value, the margin and what Else returns.
func TestAnswerLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := ask.NewSheet(drawSheet(t))
		require.NoError(t, err)
		v, _, err := s.Ask(t.Context(), decider(func(c *router.Call) (*router.Result, error) {
			return &router.Result{Response: systemone.Response{Answers: drawAnswers(t, c.Request)}}, nil
		}), "m", "x")
		require.NoError(t, err)
		for _, a := range []ask.Answer{v.Desk.Answer, v.Refund.Answer, v.Heat.Answer} {
			sum := 0.0
			for _, p := range a.Probabilities {
				sum += p.P
				assert.LessOrEqual(t, a.Margin(), 1.0)
			}
			assert.InDelta(t, 1, sum, 1e-9)
			assert.True(t, a.Confidence >= 0 && a.Confidence <= 1)
			assert.GreaterOrEqual(t, a.Margin(), 0.0)
		}
		for _, p := range v.Desk.Probabilities {
			assert.InDelta(t, p.P, v.Desk.P(p.Label), 0)
			assert.LessOrEqual(t, p.P, v.Desk.P(v.Desk.Value))
		}
		mean := 0.0
		for i, p := range v.Heat.Probabilities {
			assert.InDelta(t, p.P, v.Heat.P(p.Label), 0)
			assert.LessOrEqual(t, p.P, v.Heat.P(v.Heat.Level))
			mean += float64(i) * p.P
		}
		assert.InDelta(t, mean, v.Heat.Value, 1e-9)
		assert.InDelta(t, 1, v.Refund.P(true)+v.Refund.P(false), 1e-9)
		assert.Equal(t, v.Refund.P(true) > v.Refund.P(false), v.Refund.Value)

		threshold := rapid.Float64Range(-1, 2).Draw(t, "threshold")
		sure := func(a ask.Answer) bool { return a.Confidence >= threshold }
		assert.Equal(t, sure(v.Desk.Answer), v.Desk.Else(threshold, v.Desk.Value+"!") == v.Desk.Value)
		assert.Equal(t, sure(v.Refund.Answer), v.Refund.Else(threshold, !v.Refund.Value) == v.Refund.Value)
		assert.Equal(t, sure(v.Heat.Answer), v.Heat.Else(threshold, -1) == v.Heat.Value)
		assert.Equal(t, "!", v.Desk.Else(math.NaN(), "!"))
	})
}
