package split_test

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/split"
	"github.com/signalbox/signalbox/systemone"
)

func noul(name string) systemone.Question {
	return systemone.Question{Name: name, Kind: systemone.Noul, Instructions: systemone.Text("Is it?")}
}

func start(t require.TestingT, most split.Limits, questions ...systemone.Question) *split.Sheets {
	s, ok := split.New(questions, questions, most)
	require.True(t, ok)
	return s
}

// shown writes sheets as the names of their questions, with the number of options.
func shown(sheets [][]systemone.Question) []string {
	var out []string
	for _, sheet := range sheets {
		var line []string
		for _, q := range sheet {
			if q.Kind == systemone.Choice {
				line = append(line, q.Name+":"+strconv.Itoa(len(q.Options)))
			} else {
				line = append(line, q.Name)
			}
		}
		out = append(out, strings.Join(line, " "))
	}
	return out
}

// TestSheets: questions in order, on the fewest sheets and of even sizes; options in
// the fewest even chunks, which share the sheets; then round by round.
func TestSheets(t *testing.T) {
	a, b, c := noul("a"), noul("b"), noul("c")
	for _, test := range []struct {
		name      string
		questions []systemone.Question
		most      split.Limits
		want      [][]string // by round
	}{
		{"no limits", []systemone.Question{a, choiceOf("desk", 255), b}, split.Limits{}, [][]string{{"a desk:255 b"}}},
		{"nothing too large", []systemone.Question{a, choiceOf("desk", 3)}, split.Limits{Questions: 2, Options: 3}, [][]string{{"a desk:3"}}},
		{"questions", []systemone.Question{a, b, c}, split.Limits{Questions: 2}, [][]string{{"a b", "c"}}},
		{"questions, one by one", []systemone.Question{a, b, c}, split.Limits{Questions: 1}, [][]string{{"a", "b", "c"}}},
		{"even sheets", []systemone.Question{a, b, c, noul("d"), noul("e")}, split.Limits{Questions: 4}, [][]string{{"a b c", "d e"}}},
		{"options", []systemone.Question{choiceOf("desk", 30)}, split.Limits{Options: 26}, [][]string{{"desk_1:15 desk_2:15"}, {"desk_3:2"}}},
		{"even chunks", []systemone.Question{choiceOf("desk", 10)}, split.Limits{Options: 3}, [][]string{{"desk_1:3 desk_2:3 desk_3:2 desk_4:2"}, {"desk_5:2 desk_6:2"}, {"desk_7:2"}}},
		{"a chunk of one is no question", []systemone.Question{choiceOf("desk", 3)}, split.Limits{Options: 2}, [][]string{{"desk_1:2"}, {"desk_2:2"}}},
		{"a choice of one option", []systemone.Question{choiceOf("desk", 1)}, split.Limits{Options: 1}, [][]string{{"desk:1"}}},
		{
			"chunks share sheets",
			[]systemone.Question{a, choiceOf("desk", 7), b, choiceOf("team", 3), c},
			split.Limits{Questions: 4, Options: 3},
			[][]string{{"a desk_1:3 desk_2:2 desk_3:2", "b team:3 c"}, {"desk_4:3"}},
		},
		{
			"two choices",
			[]systemone.Question{choiceOf("desk", 4), choiceOf("team", 3)},
			split.Limits{Options: 2},
			[][]string{{"desk_1:2 desk_2:2 team_3:2"}, {"desk_4:2 team_5:2"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, test.most, test.questions...)
			var got [][]string
			for sheets := s.Next(); sheets != nil; sheets = s.Next() {
				got = append(got, shown(sheets))
				for _, sheet := range sheets {
					for _, q := range sheet {
						require.NoError(t, s.Take(systemone.Answers{upstream{}.answer(t, q)}))
					}
				}
			}
			assert.Equal(t, test.want, got)
			answers := s.Answers()
			require.Len(t, answers, len(test.questions))
			require.NoError(t, systemone.Check(&systemone.Request{Questions: test.questions}, answers, systemone.Tolerance{}))
			for i, q := range test.questions {
				assert.Equal(t, q.Name, answers[i].Name, "in the order of the request")
			}
		})
	}
}

// TestLawSheets: every question is asked once, in order, on the fewest sheets, whose
// sizes differ by one at most; so do the sizes of a choice's chunks in a round.
func TestLawSheets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := split.Limits{Questions: rapid.IntRange(1, 40).Draw(t, "questions"), Options: rapid.IntRange(2, 30).Draw(t, "options")}
		var questions []systemone.Question
		fewest := 0 // questions in the first round
		for i, n := range rapid.SliceOfN(rapid.IntRange(0, 60), 1, 60).Draw(t, "sizes") {
			if n == 0 {
				questions = append(questions, noul(strconv.Itoa(i)))
				fewest++
				continue
			}
			questions = append(questions, choiceOf(strconv.Itoa(i), n))
			fewest += (n + most.Options - 1) / most.Options
			if n > 1 && n%most.Options == 1 && most.Options == 2 {
				fewest-- // a chunk of one
			}
		}
		s := start(t, most, questions...)
		sheets := s.Next()
		require.Len(t, sheets, (fewest+most.Questions-1)/most.Questions)
		require.Equal(t, sheets, s.Next(), "repeated while there are no answers")

		var sizes []int
		at, options := 0, 0 // of the request's questions, and of the options of one
		for _, sheet := range sheets {
			sizes = append(sizes, len(sheet))
			for _, q := range sheet {
				require.Equal(t, questions[at].Name, s.Source(q.Name))
				require.LessOrEqual(t, len(q.Options), most.Options)
				whole := questions[at].Options
				require.Equal(t, whole[options:options+len(q.Options)], slices.Clip(q.Options))
				options += len(q.Options)
				if options == len(whole) || most.Options == 2 && options == len(whole)-1 {
					at, options = at+1, 0
				}
			}
		}
		require.Equal(t, len(questions), at)
		require.LessOrEqual(t, slices.Max(sizes)-slices.Min(sizes), 1)
		require.LessOrEqual(t, slices.Max(sizes), most.Questions)
	})
}

func TestAChoiceIsNotSplitUnderALimitOfOne(t *testing.T) {
	questions := []systemone.Question{choiceOf("desk", 2)}
	s, ok := split.New(questions, questions, split.Limits{Options: 1})
	assert.False(t, ok)
	assert.Nil(t, s)

	s = start(t, split.Limits{Options: 2}, choiceOf("desk", 4))
	before := s.Next()
	assert.False(t, s.Restart(split.Limits{Options: 1}))
	assert.Equal(t, before, s.Next(), "nothing has changed")
}

// TestLevelsAreNeverSplit: a limit of options is none of levels.
func TestLevelsAreNeverSplit(t *testing.T) {
	q := systemone.Question{Name: "heat", Kind: systemone.Score, Levels: slices.Repeat([]json.RawMessage{[]byte(`"x"`)}, 9)}
	assert.Equal(t, [][]systemone.Question{{q}}, start(t, split.Limits{Options: 2}, q).Next())
}

// TestNamesOfChunks: a name differs from those of the whole request, is new in each
// round and at each endpoint, and is no longer than a name may be.
func TestNamesOfChunks(t *testing.T) {
	desk := choiceOf("desk", 4)
	request := []systemone.Question{noul("desk_1"), noul("desk_3"), desk}
	s, ok := split.New(request, request[2:], split.Limits{Options: 2})
	require.True(t, ok)
	assert.Equal(t, []string{"desk_2:2 desk_4:2"}, shown(s.Next()))
	require.True(t, s.Restart(split.Limits{Options: 3}))
	assert.Equal(t, []string{"desk_5:2 desk_6:2"}, shown(s.Next()))
	assert.Equal(t, "desk", s.Source("desk_2"))
	assert.Equal(t, "desk", s.Source("desk"))
	assert.Empty(t, s.Source("desk_1"), "is another question")

	for _, long := range []string{strings.Repeat("n", 256), strings.Repeat("é", 256), strings.Repeat("n", 254)} {
		a, b := choiceOf(long, 250), choiceOf(long[:len(long)-2]+"zz", 250)
		seen := map[string]bool{}
		s := start(t, split.Limits{Options: 2}, a, b)
		for _, q := range s.Next()[0] {
			assert.False(t, seen[q.Name])
			seen[q.Name] = true
			assert.LessOrEqual(t, utf8.RuneCountInString(q.Name), 256)
			assert.True(t, utf8.ValidString(q.Name))
			assert.Equal(t, long[:200], q.Name[:200])
		}
		assert.Len(t, seen, 250)
	}
}

// TestChunksAreAskedLikeTheChoice: with its instructions and the options' guidance.
func TestChunksAreAskedLikeTheChoice(t *testing.T) {
	desk := choiceOf("desk", 4)
	for i := range desk.Options {
		desk.Options[i].Guidance = systemone.Text("guidance " + strconv.Itoa(i))
	}
	u := upstream{logits: map[string]float64{"option 1": 1, "option 2": 1}}
	s := start(t, split.Limits{Options: 2}, desk)
	var asked []systemone.Question
	for sheets := s.Next(); sheets != nil; sheets = s.Next() {
		asked = append(asked, sheets[0]...)
		for _, q := range sheets[0] {
			require.NoError(t, s.Take(systemone.Answers{u.answer(t, q)}))
		}
	}
	want := func(name string, options ...systemone.Option) systemone.Question {
		return systemone.Question{Name: name, Kind: systemone.Choice, Instructions: desk.Instructions, Options: options}
	}
	o := desk.Options
	assert.Equal(t, []systemone.Question{want("desk_1", o[0], o[1]), want("desk_2", o[2], o[3]), want("desk_3", o[1], o[2])}, asked)
}

// TestTheEndpointsChoiceDecidesATie, as in systemone.Repair.
func TestTheEndpointsChoiceDecidesATie(t *testing.T) {
	s := start(t, split.Limits{Options: 2}, choiceOf("desk", 4))
	for sheets := s.Next(); sheets != nil; sheets = s.Next() {
		for _, q := range sheets[0] {
			a := upstream{}.answer(t, q)
			a.Choice = q.Options[1].Name
			require.NoError(t, s.Take(systemone.Answers{a}))
		}
	}
	got := s.Answers()[0]
	assert.Equal(t, "option 3", got.Choice)
	assert.InDelta(t, 0.25, got.P("option 0"), 1e-15)
}

// TestRestart: at the next endpoint a choice begins again, under that endpoint's
// limits; what was answered stays.
func TestRestart(t *testing.T) {
	questions := []systemone.Question{noul("a"), choiceOf("desk", 4), choiceOf("team", 3), noul("b")}
	s := start(t, split.Limits{Options: 2}, questions...)
	first := s.Next()[0]
	require.Equal(t, []string{"a desk_1:2 desk_2:2 team_3:2 b"}, shown([][]systemone.Question{first}))
	wrong := upstream{logits: map[string]float64{"option 0": 3}}
	require.NoError(t, s.Take(systemone.Answers{wrong.answer(t, first[0]), wrong.answer(t, first[1]), wrong.answer(t, first[2]), wrong.answer(t, first[3])}))

	require.True(t, s.Restart(split.Limits{Options: 3, Questions: 2}))
	assert.Equal(t, []string{"desk_4:2 desk_5:2", "team:3 b"}, shown(s.Next()))
	require.ErrorIs(t, s.Take(systemone.Answers{wrong.answer(t, first[1])}), systemone.ErrAnswer, "a late answer of the endpoint before")
	require.ErrorIs(t, s.Take(systemone.Answers{wrong.answer(t, first[3])}), systemone.ErrAnswer, "also where the choice is asked whole now")

	u := upstream{logits: map[string]float64{"option 1": 2}}
	assert.Equal(t, 2, u.ask(t, s))
	want := systemone.Answers{u.answer(t, questions[0]), u.answer(t, questions[1]), u.answer(t, questions[2]), u.answer(t, questions[3])}
	got := s.Answers()
	require.Len(t, got, 4)
	for i, a := range got {
		assert.Equal(t, want[i].Name, a.Name)
		assert.Equal(t, want[i].Choice, a.Choice)
		for j, p := range a.Probabilities {
			assert.InDelta(t, want[i].Probabilities[j].P, p.P, 1e-12, "nothing is left of the endpoint before")
		}
	}
	require.True(t, s.Restart(split.Limits{}))
	assert.Nil(t, s.Next())
	assert.Equal(t, got, s.Answers())
}

// TestARefusedChunkRefusesTheChoice, and no round follows.
func TestARefusedChunkRefusesTheChoice(t *testing.T) {
	s := start(t, split.Limits{Options: 2}, choiceOf("desk", 4), noul("a"))
	sheet := s.Next()[0]
	require.NoError(t, s.Take(systemone.Answers{
		{Name: sheet[0].Name, Kind: systemone.Choice, Refusal: "No."},
		upstream{}.answer(t, sheet[1]),
		upstream{}.answer(t, sheet[2]),
	}))
	assert.Nil(t, s.Next())
	assert.Equal(t, systemone.Answer{Name: "desk", Kind: systemone.Choice, Refusal: "No."}, s.Answers()[0])
}

// TestTakeRefusesBadAnswers: with an error that names the question, and as if the
// answer had not come.
func TestTakeRefusesBadAnswers(t *testing.T) {
	p := func(label string, p float64) systemone.Probability { return systemone.Probability{Label: label, P: p} }
	good := systemone.Answer{Name: "desk_1", Kind: systemone.Choice, Choice: "option 0", Probabilities: []systemone.Probability{p("option 1", 0.25), p("option 0", 0.75)}}
	for name, spoil := range map[string]func(a *systemone.Answer){
		"never asked":            func(a *systemone.Answer) { a.Name = "desk_9" },
		"without a name":         func(a *systemone.Answer) { a.Name = "" },
		"the whole choice":       func(a *systemone.Answer) { a.Name = "desk" },
		"another kind":           func(a *systemone.Answer) { a.Kind = systemone.Noul },
		"no kind":                func(a *systemone.Answer) { a.Kind = "" },
		"without a distribution": func(a *systemone.Answer) { a.Probabilities = nil },
		"too few labels":         func(a *systemone.Answer) { a.Probabilities = a.Probabilities[:1] },
		"a label twice":          func(a *systemone.Answer) { a.Probabilities[0].Label = "option 0" },
		"an option of another":   func(a *systemone.Answer) { a.Probabilities[0].Label = "option 2" },
		"the choice of another":  func(a *systemone.Answer) { a.Choice = "option 3" },
		"not the most probable":  func(a *systemone.Answer) { a.Choice = "option 1" },
		"not a number":           func(a *systemone.Answer) { a.Probabilities[0].P = math.NaN() },
		"infinite":               func(a *systemone.Answer) { a.Probabilities[0].P = math.Inf(1) },
		"negative":               func(a *systemone.Answer) { a.Probabilities[0].P = -0.25 },
		"all zero":               func(a *systemone.Answer) { a.Probabilities[0].P, a.Probabilities[1].P = 0, 0 },
		"another sum":            func(a *systemone.Answer) { a.Probabilities[0].P = 0.2 },
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, split.Limits{Options: 2}, choiceOf("desk", 4))
			before := s.Next()
			bad := good
			bad.Probabilities = slices.Clone(good.Probabilities)
			spoil(&bad)
			err := s.Take(systemone.Answers{bad})
			var answer *systemone.AnswerError
			require.ErrorAs(t, err, &answer)
			assert.Equal(t, bad.Name, answer.Question)
			assert.Equal(t, before, s.Next(), "it is still to be asked")

			require.NoError(t, s.Take(systemone.Answers{good}))
			require.ErrorAs(t, s.Take(systemone.Answers{good}), &answer, "twice")
			assert.Equal(t, []string{"desk_2:2"}, shown(s.Next()))
			assert.Empty(t, s.Answers())
		})
	}
	s := start(t, split.Limits{}, noul("a"))
	require.NoError(t, s.Take(systemone.Answers{{Name: "a", Kind: systemone.Noul, Noul: 0.5}}))
	require.ErrorIs(t, s.Take(systemone.Answers{{Name: "a", Kind: systemone.Noul, Noul: 0.5}}), systemone.ErrAnswer, "a whole question, twice")
}
