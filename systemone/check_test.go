package systemone_test

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/systemone"
)

// sound returns valid answers to byHand's questions.
func sound() systemone.Answers {
	return systemone.Answers{
		{Name: "yes", Kind: systemone.Noul, Noul: 0.97},
		{Name: "which", Kind: systemone.Choice, Choice: "b", Probabilities: []systemone.Probability{{Label: "a", P: 0.4}, {Label: "b", P: 0.6}}},
		{Name: "how", Kind: systemone.Score, Score: 0.75, Probabilities: []systemone.Probability{{Label: "0", P: 0.25}, {Label: "1", P: 0.75}}},
	}
}

// passes returns the hint of a problem that another tolerance would avoid.
func passes(unit, stated string) string {
	return ", but would pass as rounded to " + unit + ": the endpoint's Tolerance.Rounding states " + stated
}

// TestCheckRefuses covers the replies that row R70 of the routing cases says fail
// the check, and their edges.
func TestCheckRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	two := systemone.Tolerance{Rounding: 0.01}
	none := systemone.Tolerance{NoDistribution: true}
	probabilities := func(i int, p ...float64) func(a systemone.Answers) systemone.Answers {
		return func(a systemone.Answers) systemone.Answers {
			for j := range p {
				a[i].Probabilities[j].P = p[j]
			}
			return a
		}
	}
	for _, c := range []struct {
		name      string
		tolerance systemone.Tolerance
		change    func(a systemone.Answers) systemone.Answers
		question  string
		problem   string // "": sound
	}{
		{"sound", systemone.Tolerance{}, func(a systemone.Answers) systemone.Answers { return a }, "", ""},
		{"another order", systemone.Tolerance{}, func(a systemone.Answers) systemone.Answers {
			slices.Reverse(a)
			slices.Reverse(a[0].Probabilities)
			slices.Reverse(a[1].Probabilities)
			return a
		}, "", ""},
		{"no answers", systemone.Tolerance{}, func(systemone.Answers) systemone.Answers { return nil }, "yes", "has no answer"},
		{"missing", systemone.Tolerance{}, func(a systemone.Answers) systemone.Answers { return append(a[:1], a[2]) }, "which", "has no answer"},
		{"invented", systemone.Tolerance{}, func(a systemone.Answers) systemone.Answers {
			return append(a, systemone.Answer{Name: "x", Kind: systemone.Noul})
		}, "", "there are more answers than questions"},
		{"invented for another", systemone.Tolerance{}, func(a systemone.Answers) systemone.Answers { a[1].Name = "Which"; return a }, "which", "has no answer"},
		{"twice", systemone.Tolerance{}, func(a systemone.Answers) systemone.Answers { a[1] = a[0]; return a }, "which", "has no answer"},
		{"another type", systemone.Tolerance{}, func(a systemone.Answers) systemone.Answers { a[0].Kind = systemone.Score; return a }, "yes", "is of another type than the question"},

		{"noul 0", systemone.Tolerance{}, func(a systemone.Answers) systemone.Answers { a[0].Noul = 0; return a }, "", ""},
		{"noul below", two, func(a systemone.Answers) systemone.Answers { a[0].Noul = -0.001; return a }, "yes", "noul is not in [0, 1]"},
		{"noul above", two, func(a systemone.Answers) systemone.Answers { a[0].Noul = 1.001; return a }, "yes", "noul is not in [0, 1]"},
		{"noul no number", two, func(a systemone.Answers) systemone.Answers { a[0].Noul = nan; return a }, "yes", "noul is not in [0, 1]"},

		{"choice of nothing", none, func(a systemone.Answers) systemone.Answers { a[1].Choice = "B"; return a }, "which", "choice is not an option"},
		{"choice not the most probable", two, func(a systemone.Answers) systemone.Answers { a[1].Choice = "a"; return a }, "which", "choice is not the most probable option"},
		{"choice within rounding", two, probabilities(1, 0.51, 0.5), "", ""},
		{"choice beyond rounding", two, probabilities(1, 0.51, 0.499), "which", "choice is not the most probable option"},
		{"choice within no rounding", systemone.Tolerance{}, probabilities(1, 0.500001, 0.499999), "which", "choice is not the most probable option"},
		{"probability below", two, probabilities(1, -0.001, 1), "which", "a probability is not in [0, 1]"},
		{"probability above", two, probabilities(1, 0, 1.001), "which", "a probability is not in [0, 1]"},
		{"probability no number", two, probabilities(2, nan, 1), "how", "a probability is not in [0, 1]"},
		{"probability infinite", two, probabilities(2, inf, 1), "how", "a probability is not in [0, 1]"},
		{"nothing", systemone.Tolerance{Rounding: 0.99}, probabilities(1, 0, 0), "which", "all probabilities are zero"},
		{"sum within rounding", two, probabilities(1, 0.4, 0.61), "", ""},
		{"sum beyond rounding", two, probabilities(1, 0.4, 0.611), "which", "probabilities do not sum to 1"},
		{"sum below", two, probabilities(1, 0.4, 0.589), "which", "probabilities do not sum to 1"},
		{"sum within no rounding", systemone.Tolerance{}, probabilities(1, 0.4, 0.6000009), "", ""},
		{"sum beyond no rounding", systemone.Tolerance{}, probabilities(1, 0.4, 0.600002), "which", "probabilities do not sum to 1"},
		{"a rounding that is none", systemone.Tolerance{Rounding: nan}, probabilities(1, 0.4, 0.601), "which", "probabilities do not sum to 1" + passes("0.001", "full precision")},
		{"a rounding of more than everything", systemone.Tolerance{Rounding: 1}, probabilities(1, 0.4, 0.601), "which", "probabilities do not sum to 1" + passes("0.001", "full precision")},
		{"a negative rounding", systemone.Tolerance{Rounding: -1}, probabilities(1, 0.4, 0.601), "which", "probabilities do not sum to 1" + passes("0.001", "full precision")},
		{"two decimals of full precision", systemone.Tolerance{}, probabilities(1, 0.4, 0.59), "which", "probabilities do not sum to 1" + passes("0.01", "full precision")},
		{"two decimals of three", systemone.Tolerance{Rounding: 0.001}, probabilities(1, 0.4, 0.59), "which", "probabilities do not sum to 1" + passes("0.01", "0.001")},
		{"two decimals of a choice", systemone.Tolerance{}, probabilities(1, 0.5, 0.49), "which", "probabilities do not sum to 1" + passes("0.01", "full precision")},
		{"a choice behind by a unit", systemone.Tolerance{}, probabilities(1, 0.505, 0.495), "which", "choice is not the most probable option"},
		{"one decimal", two, probabilities(1, 0.4, 0.7), "which", "probabilities do not sum to 1" + passes("0.1", "0.01")},
		{"two decimals, and wrong", systemone.Tolerance{}, probabilities(1, 0.4, 0.55), "which", "probabilities do not sum to 1"},
		{"two decimals of a score", systemone.Tolerance{}, func(a systemone.Answers) systemone.Answers {
			a = probabilities(2, 1.0/3, 2.0/3)(a)
			a[2].Score = 0.67
			return a
		}, "how", "score is not the mean of its probabilities" + passes("0.01", "full precision")},
		{"unknown label", two, func(a systemone.Answers) systemone.Answers { a[1].Probabilities[0].Label = "c"; return a }, "which", "probabilities lack an option or level"},
		{"label twice", two, func(a systemone.Answers) systemone.Answers { a[1].Probabilities[0].Label = "b"; return a }, "which", "probabilities lack an option or level"},
		{"label missing", two, func(a systemone.Answers) systemone.Answers {
			a[1].Probabilities = a[1].Probabilities[1:]
			return a
		}, "which", "probabilities do not have one label for each option or level"},
		{"level too many", two, func(a systemone.Answers) systemone.Answers {
			a[2].Probabilities = append(a[2].Probabilities, systemone.Probability{Label: "2"})
			return a
		}, "how", "probabilities do not have one label for each option or level"},
		{"level in another form", two, func(a systemone.Answers) systemone.Answers { a[2].Probabilities[1].Label = "01"; return a }, "how", "probabilities lack an option or level"},

		{"score off", systemone.Tolerance{}, func(a systemone.Answers) systemone.Answers { a[2].Score = 0.7501; return a }, "how", "score is not the mean of its probabilities" + passes("0.0001", "full precision")},
		{"score no number", two, func(a systemone.Answers) systemone.Answers { a[2].Score = nan; return a }, "how", "score is not the mean of its probabilities"},
		{"score rounded", two, func(a systemone.Answers) systemone.Answers { a[2].Score = 0.76; return a }, "", ""},
		{"score beyond rounding", two, func(a systemone.Answers) systemone.Answers { a[2].Score = 0.761; return a }, "how", "score is not the mean of its probabilities"},
		{"score of the rounded", systemone.Tolerance{Rounding: 0.1}, func(a systemone.Answers) systemone.Answers {
			a = probabilities(2, 0, 1)(a)
			a[2].Score = 1
			return a
		}, "", ""},

		{"choice without distribution", two, func(a systemone.Answers) systemone.Answers { a[1].Probabilities = nil; return a }, "which", "has no probabilities"},
		{"score without distribution", two, func(a systemone.Answers) systemone.Answers { a[2].Probabilities = []systemone.Probability{}; return a }, "how", "has no probabilities"},
		{"no distribution declared", none, func(a systemone.Answers) systemone.Answers {
			a[1].Probabilities, a[2].Probabilities, a[2].Score = nil, nil, 1
			return a
		}, "", ""},
		{"score off the scale", none, func(a systemone.Answers) systemone.Answers { a[2].Probabilities, a[2].Score = nil, 1.01; return a }, "how", "score is not on the scale"},
		{"score below the scale", none, func(a systemone.Answers) systemone.Answers { a[2].Probabilities, a[2].Score = nil, -0.01; return a }, "how", "score is not on the scale"},
		{"no distribution declared, a bad one given", none, probabilities(1, 0, 0), "which", "all probabilities are zero"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := byHand()
			answers := c.change(sound())
			err := systemone.Check(&r, answers, c.tolerance)
			repaired, repairErr := systemone.Repair(&r, answers, c.tolerance)
			if c.problem == "" {
				require.NoError(t, err)
				require.NoError(t, repairErr)
				return
			}
			var bad *systemone.AnswerError
			require.ErrorAs(t, err, &bad)
			require.ErrorIs(t, err, systemone.ErrAnswer)
			assert.Equal(t, systemone.AnswerError{Question: c.question, Problem: c.problem}, *bad)
			assert.Equal(t, err, repairErr, "what is bad is not repaired")
			assert.Nil(t, repaired)
		})
	}
}

func TestCheckUnknownKind(t *testing.T) {
	r := byHand()
	r.Questions = r.Questions[:1]
	r.Questions[0].Kind = "bool"
	err := systemone.Check(&r, systemone.Answers{{Name: "yes", Kind: "bool"}}, systemone.Tolerance{})
	require.EqualError(t, err, "systemone: bad answer: yes: is of no known type")
}

// TestManyLabels: labels in any order, and too many for linear search.
func TestManyLabels(t *testing.T) {
	r := systemone.Request{Questions: []systemone.Question{{Name: "q", Kind: systemone.Score, Levels: make([]json.RawMessage, 200)}}}
	a := systemone.Answers{{Name: "q", Kind: systemone.Score, Score: 99.5}}
	for i := range 200 {
		a[0].Probabilities = append(a[0].Probabilities, systemone.Probability{Label: strconv.Itoa(199 - i), P: 0.005})
	}
	got, err := systemone.Repair(&r, a, systemone.Tolerance{})
	require.NoError(t, err)
	assert.Equal(t, "199", got[0].Probabilities[199].Label)

	for _, label := range []string{"200", "01", "198", ""} {
		a[0].Probabilities[0].Label = label
		require.EqualError(t, systemone.Check(&r, a, systemone.Tolerance{}),
			"systemone: bad answer: q: probabilities lack an option or level", label)
	}
}

func TestRepair(t *testing.T) {
	r := byHand()
	r.Questions[1].Options = append(r.Questions[1].Options, systemone.Option{Name: "c"})
	given := systemone.Answers{
		{Name: "how", Kind: systemone.Score, Score: 0.68, Confidence: 0.1, Probabilities: []systemone.Probability{{Label: "1", P: 0.68}, {Label: "0", P: 0.33}}},
		{Name: "which", Kind: systemone.Choice, Choice: "c", Confidence: 0.1, Probabilities: []systemone.Probability{{Label: "c", P: 0.33}, {Label: "b", P: 0.33}, {Label: "a", P: 0.33}}},
		{Name: "yes", Kind: systemone.Noul, Noul: 0.5, Confidence: 0.75},
	}
	got, err := systemone.Repair(&r, given, systemone.Tolerance{Rounding: 0.01})
	require.NoError(t, err)

	assert.Equal(t, systemone.Answer{Name: "yes", Kind: systemone.Noul, Noul: 0.5}, got[0])

	assert.Equal(t, "c", got[1].Choice, "of three that are equal, the one that was given")
	third := 1.0 / 3
	assert.Equal(t, []string{"a", "b", "c"}, labels(got[1]))
	for _, p := range got[1].Probabilities {
		assert.InDelta(t, third, p.P, 1e-15)
	}
	assert.InDelta(t, 0, got[1].Confidence, 1e-12)

	assert.Equal(t, []string{"0", "1"}, labels(got[2]))
	assert.InDelta(t, 0.68/1.01, got[2].Score, 1e-12)
	assert.InDelta(t, 0.33/1.01, got[2].Probabilities[0].P, 1e-12)
	assert.InDelta(t, 1-2*0.33/1.01, got[2].Confidence, 1e-12)
	assert.Equal(t, r.Questions[2].Levels, got[2].Legend)

	assert.InDelta(t, 0.33, given[0].Probabilities[1].P, 0, "the input is as it was")
}

func labels(a systemone.Answer) []string {
	list := make([]string, len(a.Probabilities))
	for i, p := range a.Probabilities {
		list[i] = p.Label
	}
	return list
}

func TestRepairChoice(t *testing.T) {
	r := byHand()
	r.Questions = r.Questions[1:2]
	for _, c := range []struct {
		name, choice string
		a, b         float64
		want         string
	}{
		{"the most probable", "b", 0.4, 0.6, "b"},
		{"within rounding of it", "b", 0.5, 0.49, "a"},
		{"a tie, the first given", "a", 0.5, 0.5, "a"},
		{"a tie, the second given", "b", 0.5, 0.5, "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := systemone.Repair(&r, systemone.Answers{{
				Name: "which", Kind: systemone.Choice, Choice: c.choice,
				Probabilities: []systemone.Probability{{Label: "a", P: c.a}, {Label: "b", P: c.b}},
			}}, systemone.Tolerance{Rounding: 0.01})
			require.NoError(t, err)
			assert.Equal(t, c.want, got[0].Choice)
		})
	}
}

func TestRepairWithoutDistribution(t *testing.T) {
	r := byHand()
	given := sound()
	given[1].Probabilities, given[1].Confidence = nil, 0.5
	given[2].Probabilities, given[2].Confidence = nil, 0.5
	got, err := systemone.Repair(&r, given, systemone.Tolerance{NoDistribution: true})
	require.NoError(t, err)
	assert.Equal(t, systemone.Answer{Name: "which", Kind: systemone.Choice, Choice: "b"}, got[1])
	assert.Equal(t, systemone.Answer{Name: "how", Kind: systemone.Score, Score: 0.75, Legend: r.Questions[2].Levels}, got[2])
}

func TestLawRepair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := requests(rapid.SampledFrom([]systemone.Dialect{systemone.Strict, systemone.Native}).Draw(t, "dialect")).Draw(t, "request")
		tolerance := systemone.Tolerance{Rounding: units().Draw(t, "unit"), NoDistribution: rapid.Bool().Draw(t, "none")}
		given := honest(r, tolerance.Rounding, tolerance.NoDistribution).Draw(t, "answers")
		before := (&systemone.Response{Answers: given}).AppendJSON(nil)

		require.NoError(t, systemone.Check(r, given, tolerance), "an honest endpoint is believed")
		got, err := systemone.Repair(r, given, tolerance)
		require.NoError(t, err)
		require.Equal(t, before, (&systemone.Response{Answers: given}).AppendJSON(nil), "the input is as it was")

		exact := systemone.Tolerance{NoDistribution: tolerance.NoDistribution}
		require.NoError(t, systemone.Check(r, got, exact), "what is repaired is exact")
		again, err := systemone.Repair(r, got, exact)
		require.NoError(t, err)
		require.Equal(t, got, again, "twice is once")

		for i, a := range got {
			require.Equal(t, r.Questions[i].Name, a.Name)
			requireLaws(t, a)
		}
	})
}

// requireLaws checks what the interface promises of an answer.
func requireLaws(t require.TestingT, a systemone.Answer) {
	if len(a.Probabilities) == 0 {
		require.Zero(t, a.Confidence)
		return
	}
	sum, most, mean := 0.0, 0.0, 0.0
	for i, p := range a.Probabilities {
		sum += p.P
		most = max(most, p.P)
		mean += float64(i) * p.P
	}
	require.InDelta(t, 1, sum, 1e-9)
	p := make([]float64, len(a.Probabilities))
	for i := range p {
		p[i] = a.Probabilities[i].P
	}
	if a.Kind == systemone.Score {
		require.InDelta(t, systemone.ScoreConfidence(p), a.Confidence, 0)
		require.InDelta(t, mean, a.Score, 1e-7)
		return
	}
	require.InDelta(t, systemone.ChoiceConfidence(p), a.Confidence, 0)
	for _, p := range a.Probabilities {
		if p.Label == a.Choice {
			require.InDelta(t, most, p.P, 0)
		}
	}
}
