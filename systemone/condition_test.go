package systemone_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/systemone"
)

// The answers that the table of TestConditionMatch looks at, in another order than
// the questions:
//
//	yes   noul    0.5
//	no    noul    0.9
//	desk  choice  confidence 0.6
//	team  choice  without a distribution
//	heat  score   confidence 0.2
//	late  choice  no answer
//	mute  noul    a refusal
func conditionFixture() ([]systemone.Question, systemone.Answers) {
	questions := []systemone.Question{
		{Name: "yes", Kind: systemone.Noul},
		{Name: "no", Kind: systemone.Noul},
		{Name: "desk", Kind: systemone.Choice},
		{Name: "team", Kind: systemone.Choice},
		{Name: "heat", Kind: systemone.Score},
		{Name: "late", Kind: systemone.Choice},
		{Name: "mute", Kind: systemone.Noul},
	}
	some := []systemone.Probability{{Label: "a", P: 1}}
	return questions, systemone.Answers{
		{Name: "heat", Kind: systemone.Score, Confidence: 0.2, Probabilities: some},
		{Name: "yes", Kind: systemone.Noul, Noul: 0.5},
		{Name: "no", Kind: systemone.Noul, Noul: 0.9},
		{Name: "team", Kind: systemone.Choice, Choice: "a"},
		{Name: "desk", Kind: systemone.Choice, Confidence: 0.6, Probabilities: some},
		{Name: "mute", Kind: systemone.Noul, Refusal: "I cannot say."},
	}
}

// condition reads the condition of an entry.
func condition(tb testing.TB, text string) *systemone.Condition {
	tb.Helper()
	var e systemone.Entry
	require.NoError(tb, e.UnmarshalJSON([]byte(`{"model":"m","when":`+text+`}`)))
	return e.When
}

func TestConditionMatch(t *testing.T) {
	questions, answers := conditionFixture()
	for _, c := range []struct {
		name, when string
		want       []string
	}{
		{"below is strict", `{"question":"desk","confidenceBelow":0.6}`, nil},
		{"below", `{"question":"desk","confidenceBelow":0.61}`, []string{"desk"}},
		{"a score", `{"question":"heat","confidenceBelow":0.3}`, []string{"heat"}},
		{"without a distribution there is no confidence", `{"question":"team","confidenceBelow":0}`, []string{"team"}},
		{"without a question every hit is named", `{"confidenceBelow":0.3}`, []string{"team", "heat"}},
		{"nothing is below zero but what has none", `{"confidenceBelow":0}`, []string{"team"}},
		{"both bounds are included", `{"question":"yes","probabilityBetween":[0.5,0.5]}`, []string{"yes"}},
		{"lower bound", `{"question":"no","probabilityBetween":[0.9,1]}`, []string{"no"}},
		{"upper bound", `{"question":"no","probabilityBetween":[0,0.9]}`, []string{"no"}},
		{"outside", `{"question":"no","probabilityBetween":[0,0.8]}`, nil},
		{"every noul", `{"probabilityBetween":[0,1]}`, []string{"yes", "no"}},
		{"no answer never matches", `{"question":"late","confidenceBelow":1}`, nil},
		{"a refusal never matches", `{"question":"mute","probabilityBetween":[0,1]}`, nil},
		{"a question that is not there", `{"question":"gone","confidenceBelow":1}`, nil},
		{"a question of another kind", `{"question":"yes","confidenceBelow":1}`, nil},
		{"a question of another kind, noul", `{"question":"desk","probabilityBetween":[0,1]}`, nil},
		{"any, one true", `{"any":[{"question":"yes","probabilityBetween":[0.4,0.6]},{"question":"no","probabilityBetween":[0.4,0.6]}]}`, []string{"yes"}},
		{"any, both true", `{"any":[{"question":"heat","confidenceBelow":1},{"question":"yes","probabilityBetween":[0,1]}]}`, []string{"yes", "heat"}},
		{"any, none true", `{"any":[{"question":"no","probabilityBetween":[0,0.1]}]}`, nil},
		{"all, both true", `{"all":[{"question":"heat","confidenceBelow":1},{"question":"yes","probabilityBetween":[0,1]}]}`, []string{"yes", "heat"}},
		{"all, one false", `{"all":[{"question":"heat","confidenceBelow":1},{"question":"late","confidenceBelow":1}]}`, nil},
		{"one name twice", `{"any":[{"question":"heat","confidenceBelow":1},{"confidenceBelow":0.3}]}`, []string{"team", "heat"}},
		{"atLeast, too few", `{"atLeast":{"count":2,"conditions":[{"question":"heat","confidenceBelow":1},{"question":"late","confidenceBelow":1}]}}`, nil},
		{"atLeast, enough", `{"atLeast":{"count":1,"conditions":[{"question":"heat","confidenceBelow":1},{"question":"late","confidenceBelow":1}]}}`, []string{"heat"}},
		{"atLeast counts conditions, not questions", `{"atLeast":{"count":2,"conditions":[{"probabilityBetween":[0,1]},{"question":"late","confidenceBelow":1}]}}`, nil},
		{
			"atLeast names all that is true", `{"atLeast":{"count":1,"conditions":[{"question":"heat","confidenceBelow":1},{"question":"yes","probabilityBetween":[0,1]}]}}`,
			[]string{"yes", "heat"},
		},
		{
			"leaves below a false all do not count", `{"any":[{"all":[{"question":"yes","probabilityBetween":[0,1]},{"question":"late","confidenceBelow":1}]},{"question":"heat","confidenceBelow":1}]}`,
			[]string{"heat"},
		},
		{
			"leaves below a false atLeast do not count", `{"any":[{"atLeast":{"count":2,"conditions":[{"question":"yes","probabilityBetween":[0,1]},{"question":"late","confidenceBelow":1}]}},{"question":"heat","confidenceBelow":1}]}`,
			[]string{"heat"},
		},
		{
			"leaves below a false all, deeper", `{"any":[{"question":"heat","confidenceBelow":1},{"all":[{"any":[{"question":"no","probabilityBetween":[0,1]}]},{"any":[{"question":"late","confidenceBelow":1}]}]}]}`,
			[]string{"heat"},
		},
		{"five deep", `{"any":[{"all":[{"any":[{"all":[{"confidenceBelow":0.3}]}]}]}]}`, []string{"team", "heat"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, condition(t, c.when).Match(questions, answers))
		})
	}
	nouls := questions[:2]
	assert.Nil(t, condition(t, `{"confidenceBelow":1}`).Match(nouls, answers), "a kind that the request lacks")
	assert.Nil(t, condition(t, `{"probabilityBetween":[0,1]}`).Match(nil, nil))
}

// conditions draws valid conditions about some of the questions.
func conditions(questions []systemone.Question, depth int) *rapid.Generator[systemone.Condition] {
	names := map[bool][]string{false: {""}, true: {""}} // by whether it is a noul
	for _, q := range questions {
		names[q.Kind == systemone.Noul] = append(names[q.Kind == systemone.Noul], q.Name)
	}
	share := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 0.5, 1}))
	return rapid.Custom(func(t *rapid.T) systemone.Condition {
		form := 0
		if depth < 5 {
			form = rapid.IntRange(0, 4).Draw(t, "form")
		}
		list := func() []systemone.Condition {
			return rapid.SliceOfN(conditions(questions, depth+1), 1, 3).Draw(t, "list")
		}
		switch form {
		case 0:
			return systemone.Condition{Question: rapid.SampledFrom(names[false]).Draw(t, "question"), ConfidenceBelow: new(share.Draw(t, "below"))}
		case 1:
			b := [2]float64{share.Draw(t, "from"), share.Draw(t, "to")}
			slices.Sort(b[:])
			return systemone.Condition{Question: rapid.SampledFrom(names[true]).Draw(t, "question"), ProbabilityBetween: &b}
		case 2:
			return systemone.Condition{Any: list()}
		case 3:
			return systemone.Condition{All: list()}
		default:
			l := list()
			return systemone.Condition{AtLeast: &systemone.AtLeast{Count: rapid.IntRange(1, len(l)).Draw(t, "count"), Conditions: l}}
		}
	})
}

// truth is another evaluation of a condition, which asks about one question at a
// time: whether the condition is true, and the questions for which a leaf of it is
// true whose ancestors are all true.
func truth(c *systemone.Condition, r *systemone.Request, answers systemone.Answers) (bool, map[string]bool) {
	list, count := c.Any, 1
	switch {
	case c.All != nil:
		list, count = c.All, len(c.All)
	case c.AtLeast != nil:
		list, count = c.AtLeast.Conditions, c.AtLeast.Count
	}
	named := map[string]bool{}
	if list == nil {
		for _, q := range r.Questions {
			a, ok := answers.Get(q.Name)
			if !ok || c.Question != "" && c.Question != q.Name {
				continue
			}
			if c.ConfidenceBelow != nil && q.Kind != systemone.Noul && (a.Probabilities == nil || a.Confidence < *c.ConfidenceBelow) {
				named[q.Name] = true
			}
			if c.ProbabilityBetween != nil && q.Kind == systemone.Noul && a.Noul >= c.ProbabilityBetween[0] && a.Noul <= c.ProbabilityBetween[1] {
				named[q.Name] = true
			}
		}
		return len(named) > 0, named
	}
	for i := range list {
		if is, names := truth(&list[i], r, answers); is {
			count--
			for name := range names {
				named[name] = true
			}
		}
	}
	if count > 0 {
		return false, nil
	}
	return true, named
}

// TestConditionMatchNamesWhatTrueLeavesHit compares Match with a plain evaluation:
// it never names a question that no true leaf hit, and names all that one did.
func TestConditionMatchNamesWhatTrueLeavesHit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := requests(systemone.Strict).Draw(t, "request")
		answers, err := systemone.Repair(r, honest(r, 0, true).Draw(t, "answers"), systemone.Tolerance{NoDistribution: true})
		require.NoError(t, err)
		answers = permutation(t, answers)[:rapid.IntRange(0, len(answers)).Draw(t, "answered")]
		c := conditions(r.Questions, 1).Draw(t, "condition")
		is, named := truth(&c, r, answers)
		var want []string
		for _, q := range r.Questions {
			if is && named[q.Name] {
				want = append(want, q.Name)
			}
		}
		require.Equal(t, want, c.Match(r.Questions, answers))
		many := systemone.Condition{Any: slices.Repeat([]systemone.Condition{c}, 20)}
		require.Equal(t, want, many.Match(r.Questions, answers), "often enough for ranks")
	})
}

// TestConditionMatchTimeIsNotLeavesTimesQuestions: a request of 4 MiB has 160,000
// leaves that look at every question. A thousand questions then take a few times as
// long as one; looking at each for each leaf would take hundreds of times as long.
func TestConditionMatchTimeIsNotLeavesTimesQuestions(t *testing.T) {
	for name, leaf := range map[string]systemone.Condition{
		"nowhere true": {ConfidenceBelow: new(0.5)},
		"true at last": {ConfidenceBelow: new(0.9)},
		"no noul":      {ProbabilityBetween: &[2]float64{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			c := leaf
			for range 4 {
				c = systemone.Condition{Any: slices.Repeat([]systemone.Condition{c}, 20)}
			}
			best := func(questions int) time.Duration {
				q, a := manyAnswers(questions)
				a[questions-1].Confidence = 0.8
				least := time.Hour
				for range 3 {
					began := time.Now()
					c.Match(q, a)
					least = min(least, time.Since(began))
				}
				return least
			}
			assert.Less(t, best(1000), 60*best(1))
		})
	}
}

// manyAnswers is a request of n choices, each with the confidence 0.9.
func manyAnswers(n int) ([]systemone.Question, systemone.Answers) {
	questions, answers := make([]systemone.Question, n), make(systemone.Answers, n)
	for i := range questions {
		name := "q" + strconv.Itoa(i)
		questions[i] = systemone.Question{Name: name, Kind: systemone.Choice}
		answers[i] = systemone.Answer{Name: name, Kind: systemone.Choice, Confidence: 0.9, Probabilities: []systemone.Probability{{Label: "a", P: 1}}}
	}
	return questions, answers
}

// BenchmarkConditionMatch is a condition that is false, which most of a cascade's
// requests evaluate and no more.
func BenchmarkConditionMatch(b *testing.B) {
	c := condition(b, `{"any":[{"question":"q7","confidenceBelow":0.6},{"confidenceBelow":0.5},{"probabilityBetween":[0.4,0.6]}]}`)
	for _, n := range []int{8, 100, 1000} {
		questions, answers := manyAnswers(n)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if c.Match(questions, answers) != nil {
					b.Fatal("true")
				}
			}
		})
	}
}
