package split_test

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/split"
	"github.com/signalbox/signalbox/systemone"
)

// upstream answers a choice with the softmax of fixed logits over the options that it
// is shown, rounded to a unit; 0 is full precision.
type upstream struct {
	logits map[string]float64
	unit   float64
}

func (u upstream) distribution(options []systemone.Option) []float64 {
	most := math.Inf(-1)
	for _, o := range options {
		most = max(most, u.logits[o.Name])
	}
	p := make([]float64, len(options))
	sum := 0.0
	for i, o := range options {
		if l := u.logits[o.Name]; l == most { // also where all are -Inf
			p[i] = 1
		} else {
			p[i] = math.Exp(l - most)
		}
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// answer returns what the router makes of the upstream's answer.
func (u upstream) answer(t require.TestingT, q systemone.Question) systemone.Answer {
	if q.Kind != systemone.Choice {
		return systemone.Answer{Name: q.Name, Kind: q.Kind, Noul: 0.5}
	}
	p := u.distribution(q.Options)
	a := systemone.Answer{Name: q.Name, Kind: q.Kind, Choice: q.Options[systemone.Argmax(p, -1)].Name}
	for i, x := range p {
		if u.unit > 0 {
			x = math.Round(x/u.unit) * u.unit
		}
		a.Probabilities = append(a.Probabilities, systemone.Probability{Label: q.Options[i].Name, P: min(x, 1)})
	}
	repaired, err := systemone.Repair(&systemone.Request{Questions: []systemone.Question{q}}, systemone.Answers{a}, systemone.Tolerance{Rounding: u.unit})
	require.NoError(t, err)
	return repaired[0]
}

// ask asks until every question has its answer, and returns how many rounds that took.
func (u upstream) ask(t require.TestingT, s *split.Sheets) (rounds int) {
	for sheets := s.Next(); sheets != nil; sheets = s.Next() {
		rounds++
		for _, sheet := range sheets {
			for _, q := range sheet {
				require.NoError(t, s.Take(systemone.Answers{u.answer(t, q)}))
			}
		}
	}
	return rounds
}

func choiceOf(name string, options int) systemone.Question {
	q := systemone.Question{Name: name, Kind: systemone.Choice, Instructions: systemone.Text("Which?")}
	for i := range options {
		q.Options = append(q.Options, systemone.Option{Name: "option " + strconv.Itoa(i)})
	}
	return q
}

// splitWhole asks a choice under a limit of options.
func (u upstream) splitWhole(t require.TestingT, q systemone.Question, most int) (a systemone.Answer, rounds int) {
	questions := []systemone.Question{q}
	s, ok := split.New(questions, questions, split.Limits{Options: most})
	require.True(t, ok)
	rounds = u.ask(t, s)
	answers := s.Answers()
	require.Len(t, answers, 1)
	return answers[0], rounds
}

// logits draws logits for the options of a question: moderate, extreme, equal, and of
// options that are impossible.
func logits(q systemone.Question) *rapid.Generator[map[string]float64] {
	return rapid.Custom(func(t *rapid.T) map[string]float64 {
		each := rapid.SampledFrom([]*rapid.Generator[float64]{
			rapid.Float64Range(-5, 5),
			rapid.Float64Range(-40, 40),
			rapid.Float64Range(-700, 700),
			rapid.SampledFrom([]float64{-700, 0, 700}),
			rapid.SampledFrom([]float64{1, 1 + 1e-12, 2}),
			rapid.SampledFrom([]float64{math.Inf(-1), -700, 0, 1}),
			rapid.Just(0.0),
			rapid.Just(math.Inf(-1)),
		}).Draw(t, "kind of logits")
		out := map[string]float64{}
		for _, o := range q.Options {
			out[o.Name] = each.Draw(t, "logit")
		}
		return out
	})
}

// TestLawSplitChoice: where an answer is the softmax of fixed logits over the options
// that are shown, a split choice has the answer of the choice asked whole.
func TestLawSplitChoice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(2, 254).Draw(t, "limit")
		q := choiceOf("desk", rapid.OneOf(rapid.IntRange(most+1, 255), rapid.Just(255)).Draw(t, "options"))
		q.Options = rapid.Permutation(q.Options).Draw(t, "order")
		u := upstream{logits: logits(q).Draw(t, "logits")}
		requireWhole(t, u, q, most)
	})
}

func requireWhole(t require.TestingT, u upstream, q systemone.Question, most int) {
	got, _ := u.splitWhole(t, q, most)
	want := u.answer(t, q)
	require.Equal(t, "desk", got.Name)
	require.Equal(t, systemone.Choice, got.Kind)
	sum := 0.0
	p := make([]float64, 0, len(q.Options))
	for i, o := range q.Options {
		require.Equal(t, o.Name, got.Probabilities[i].Label, "in the order of the request")
		require.InDelta(t, want.Probabilities[i].P, got.Probabilities[i].P, 1e-9)
		sum += got.Probabilities[i].P
		p = append(p, got.Probabilities[i].P)
	}
	require.InDelta(t, 1, sum, 1e-9)
	require.InDelta(t, want.Confidence, got.Confidence, 1e-9)
	require.InDelta(t, systemone.ChoiceConfidence(p), got.Confidence, 0)
	require.InDelta(t, slices.Max(p), got.P(got.Choice), 0, "the most probable")
	require.InDelta(t, want.P(want.Choice), want.P(got.Choice), 1e-9, "as when asked whole")

	r := systemone.Request{Questions: []systemone.Question{q}}
	again, err := systemone.Repair(&r, systemone.Answers{got}, systemone.Tolerance{})
	require.NoError(t, err)
	require.Equal(t, systemone.Answers{got}, again, "nothing is left to repair")
}

// TestSplitChoiceAtTheEdges checks logits that underflow and tie at every place of a
// few small shapes.
func TestSplitChoiceAtTheEdges(t *testing.T) {
	for _, shape := range [][2]int{{3, 2}, {5, 2}, {9, 2}, {255, 2}, {255, 3}, {255, 26}, {255, 254}, {52, 26}, {53, 26}, {27, 26}} {
		for name, logit := range map[string]func(i int) float64{
			"equal":              func(int) float64 { return 0 },
			"ascending":          func(i int) float64 { return float64(i) },
			"descending":         func(i int) float64 { return -float64(i) },
			"the first certain":  func(i int) float64 { return pick(i == 0, 700, -700) },
			"the last certain":   func(i int) float64 { return pick(i == shape[0]-1, 700, -700) },
			"two tie":            func(i int) float64 { return pick(i == 1 || i == shape[0]-1, 700, -700) },
			"one possible":       func(i int) float64 { return pick(i == shape[0]/2, 0, math.Inf(-1)) },
			"none possible":      func(int) float64 { return math.Inf(-1) },
			"steps that vanish":  func(i int) float64 { return -700 * float64(i) },
			"chunks that vanish": func(i int) float64 { return pick(i < 2, 0, -1e6-float64(i)) },
		} {
			t.Run(name+" "+strconv.Itoa(shape[0])+" at "+strconv.Itoa(shape[1]), func(t *testing.T) {
				q := choiceOf("desk", shape[0])
				u := upstream{logits: map[string]float64{}}
				for i, o := range q.Options {
					u.logits[o.Name] = logit(i)
				}
				requireWhole(t, u, q, shape[1])
				got, _ := u.splitWhole(t, q, shape[1])
				require.Equal(t, u.answer(t, q).Choice, got.Choice, "the first of the most probable")
			})
		}
	}
}

func pick(cond bool, yes, no float64) float64 {
	if cond {
		return yes
	}
	return no
}

// TestSplitChoiceIsWrongWithTwoDecimals: of 230 options one has a probability of 0.47.
// In its chunk the others are rounded to 0, and so are the other winners in the last
// round. That is why options are not split at such an endpoint.
func TestSplitChoiceIsWrongWithTwoDecimals(t *testing.T) {
	q := choiceOf("desk", 230)
	u := upstream{logits: map[string]float64{"option 100": math.Log(203)}}
	exact, _ := u.splitWhole(t, q, 26)
	require.InDelta(t, 0.47, exact.P("option 100"), 0.001)

	u.unit = 0.01
	rounded, _ := u.splitWhole(t, q, 26)
	require.InDelta(t, 1, rounded.P("option 100"), 0)
}

// TestLawRoundedSplitChoice: with answers that are rounded to a unit of at most
// 0.0001, no probability is off by more than options · rounds · unit.
func TestLawRoundedSplitChoice(t *testing.T) {
	worst := 0.0
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(2, 254).Draw(t, "limit")
		q := choiceOf("desk", rapid.OneOf(rapid.IntRange(most+1, 255), rapid.Just(255)).Draw(t, "options"))
		u := upstream{logits: logits(q).Draw(t, "logits"), unit: rapid.SampledFrom([]float64{1e-4, 1e-5, 1e-6}).Draw(t, "unit")}
		requireNear(t, u, q, most, &worst)
	})
	t.Logf("largest error: %.3f of the bound", worst)
}

// TestRoundedSplitChoiceOfOneFavourite is the case that comes close to the bound.
func TestRoundedSplitChoiceOfOneFavourite(t *testing.T) {
	worst := 0.0
	for _, most := range []int{2, 3, 16, 26, 128, 254} {
		for n := most + 1; n <= 255; n += 12 {
			for favourite := -2.0; favourite < 20; favourite += 0.5 {
				u := upstream{logits: map[string]float64{"option 1": favourite}, unit: 1e-4}
				requireNear(t, u, choiceOf("desk", n), most, &worst)
			}
		}
	}
	t.Logf("largest error: %.3f of the bound", worst)
	require.Greater(t, worst, 0.1, "the bound is not idle")
}

func requireNear(t require.TestingT, u upstream, q systemone.Question, most int, worst *float64) {
	got, rounds := u.splitWhole(t, q, most)
	bound := float64(len(q.Options)*rounds) * u.unit
	for i, p := range u.distribution(q.Options) {
		off := math.Abs(got.Probabilities[i].P - p)
		*worst = max(*worst, off/bound)
		require.LessOrEqual(t, off, bound)
	}
}
