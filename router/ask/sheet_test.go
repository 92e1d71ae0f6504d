package ask_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/ask"
	"github.com/signalbox/signalbox/systemone"
)

// asked returns the questions that a sheet sends.
func asked[T any](t *testing.T, template T) []systemone.Question {
	t.Helper()
	sheet, err := ask.NewSheet(template)
	require.NoError(t, err)
	var questions []systemone.Question
	d := decider(func(c *router.Call) (*router.Result, error) {
		questions = c.Request.Questions
		return nil, context.Canceled
	})
	_, _, err = sheet.Ask(t.Context(), d, "m", "x")
	if err != nil {
		require.ErrorIs(t, err, context.Canceled)
	}
	return questions
}

func TestTagsBecomeQuestions(t *testing.T) {
	assert.Equal(t, []systemone.Question{
		{
			Name: "desk", Kind: systemone.Choice, Instructions: systemone.Text("Which team should take this?"),
			Options: []systemone.Option{
				{Name: "billing", Guidance: systemone.Text("charges and refunds")},
				{Name: "technical", Guidance: systemone.Text("something is broken")},
			},
		},
		{
			Name: "refund", Kind: systemone.Noul, Instructions: systemone.Text("Does the customer want money back?"),
			True: systemone.Text("asks for a refund"), False: systemone.Text("does not"),
		},
		{
			Name: "heat", Kind: systemone.Score, Instructions: systemone.Text("How upset?"),
			Levels: texts("calm", "annoyed", "furious"),
		},
	}, asked(t, Verdict{}))
}

func TestBuiltQuestions(t *testing.T) {
	type sheet struct {
		Desk  ask.Choice[Desk]
		Safe  ask.Noul
		Heat  ask.Score
		Fixed ask.Noul `ask:"fixed" q:"Is it fixed?"`
	}
	questions := asked(t, sheet{
		Desk: ask.NewChoice[Desk](ask.Question{
			Name: "desk", Instructions: []string{"Which team?", "Judge the wish."},
			Options: []ask.Option{{Name: "billing", Guidance: []string{"charges", "refunds"}}, {Name: "technical"}},
			Default: "technical",
		}),
		Safe: ask.NewNoul(ask.Question{Name: "safe", Instructions: "Is it safe?", Yes: []string{"reads"}, No: "deletes"}),
		Heat: ask.NewScore(ask.Question{Name: "heat", Instructions: "How upset?", Levels: []ask.Option{
			{Name: "calm"}, {Name: "annoyed", Guidance: "short, cold"}, {Name: "furious", Guidance: map[string]string{"tone": "shouts"}},
		}}),
	})
	require.Len(t, questions, 4)
	assert.JSONEq(t, `["Which team?","Judge the wish."]`, string(questions[0].Instructions))
	assert.Equal(t, []systemone.Option{{Name: "billing", Guidance: []byte(`["charges","refunds"]`)}, {Name: "technical"}}, questions[0].Options)
	assert.JSONEq(t, `["reads"]`, string(questions[1].True))
	assert.Equal(t, append(texts("calm", "annoyed: short, cold"), []byte(`{"tone":"shouts"}`)), questions[2].Levels)
	assert.Equal(t, "fixed", questions[3].Name)
}

// TestOneQuestionIsASheet: a single question needs no struct.
func TestOneQuestionIsASheet(t *testing.T) {
	sheet, err := ask.NewSheet(ask.NewChoice[string](ask.Question{
		Name: "desk", Instructions: "Which team?", Options: []ask.Option{{Name: "billing"}, {Name: "technical"}},
	}))
	require.NoError(t, err)
	desk, _, err := sheet.Ask(t.Context(), replies(deskAnswer()), "m", "x")
	require.NoError(t, err)
	assert.Equal(t, "technical", desk.Value)
}

type node struct {
	Next *node
	ask.Answer
}

type private = ask.Noul

type common struct {
	Safe ask.Noul `ask:"safe" q:"Is it safe?"`
}

type Shared struct {
	Heat ask.Score `ask:"heat" q:"How upset?" levels:"calm|furious"`
}

// TestStructsWithinTheStruct: embedded or named, they belong to the sheet. Other
// fields are ignored.
func TestStructsWithinTheStruct(t *testing.T) {
	type sheet struct {
		common
		Shared

		Ticket string    `default:"T-0"`
		At     time.Time `json:"at"`
		Next   *node
		First  ask.Answer
		lock   *sync.Mutex
		Team   struct {
			Desk ask.Choice[Desk] `ask:"desk" q:"Which team?" options:"billing|technical"`
		}
	}
	template := sheet{Ticket: "T-1", lock: &sync.Mutex{}}
	names := []string{}
	for _, q := range asked(t, template) {
		names = append(names, q.Name)
	}
	assert.Equal(t, []string{"safe", "heat", "desk"}, names)

	s, err := ask.NewSheet(template)
	require.NoError(t, err)
	safe := systemone.Answer{Name: "safe", Kind: systemone.Noul, Noul: 1}
	v, _, err := s.Ask(t.Context(), replies(safe, deskAnswer()), "m", "x")
	require.ErrorContains(t, err, "sheet.Shared.Heat")
	assert.True(t, v.Safe.Value)
	assert.Equal(t, Technical, v.Team.Desk.Value)
	assert.Equal(t, "T-1", v.Ticket, "an answer begins as a copy of the template")
	assert.Same(t, template.lock, v.lock)
}

func TestMistakesNameTheField(t *testing.T) {
	noul := func(q ask.Question) error { return mistake(ask.NewNoul(q)) }
	for _, c := range []struct {
		err  error
		want string
	}{
		{mistake(struct{ A int }{}), "struct: there is no field that is a Choice, a Noul or a Score"},
		{mistake(5), "int: there is no field"},
		{mistake[any](nil), "interface: there is no field"},
		{mistake(&Verdict{}), "ptr: questions must be fields of a struct, by value; this is of kind ptr"},
		{mistake([]ask.Noul{}), "slice: questions must be fields of a struct, by value; this is of kind slice"},
		{mistake(struct {
			A ask.Noul
		}{}), "struct.A: the field has no tag ask with the name of the question, and no question built by NewNoul"},
		{mistake(struct {
			A ask.Choice[Desk] `q:"?" options:"a|b"`
		}{}), "struct.A: the field has no tag ask"},
		{mistake(struct {
			A ask.Noul `ask:"a"`
		}{}), "struct.A: the question has no instructions"},
		{mistake(struct {
			A ask.Noul `ask:"" q:"?"`
		}{}), "struct.A: the tag ask is empty"},
		{mistake(struct {
			A ask.Noul `ask:"a" q:"?" yes:"x"`
		}{}), "struct.A: yes and no are given together or not at all"},
		{mistake(struct {
			A ask.Noul `ask:"a" q:"?" options:"x|y"`
		}{}), "struct.A: only a Choice has options; a Noul has yes and no"},
		{mistake(struct {
			A ask.Score `ask:"a" q:"?" options:"x|y"`
		}{}), "struct.A: only a Choice has options; a Score has levels"},
		{mistake(struct {
			A ask.Choice[Desk] `ask:"a" q:"?" options:"x|y" levels:"x|y"`
		}{}), "struct.A: only a Score has levels"},
		{mistake(struct {
			A ask.Choice[Desk] `ask:"a" q:"?" options:"x|y" yes:"x" no:"y"`
		}{}), "struct.A: only a Noul has yes and no"},
		{mistake(struct {
			A ask.Choice[Desk] `ask:"a" q:"?"`
		}{}), "struct.A: a Choice needs options"},
		{mistake(struct {
			A ask.Score `ask:"a" q:"?"`
		}{}), "struct.A: a Score needs levels"},
		{mistake(struct {
			A ask.Choice[Desk] `ask:"a" q:"?" options:"x|y|x"`
		}{}), `struct.A: the option "x" is given more than once`},
		{mistake(struct {
			A ask.Score `ask:"a" q:"?" levels:"x|y|x"`
		}{}), `struct.A: the level "x" is given more than once`},
		{mistake(struct {
			A ask.Score `ask:"a" q:"?" levels:"x|y|"`
		}{}), "struct.A: level 3 has no name"},
		{mistake(struct {
			A ask.Choice[Desk] `ask:"a" q:"?" options:"x=|y"`
		}{}), `struct.A: the guidance of the option "x" is empty`},
		{mistake(struct {
			A ask.Choice[Desk] `ask:"a" q:"?" options:"x\\y"`
		}{}), `struct.A: the tag options: a backslash is followed by none of`},
		{mistake(struct {
			A ask.Choice[Desk] `ask:"a" q:"?" options:"x,y"`
		}{}), "struct.A: the tag options: there is one entry only; entries are separated by |"},
		{mistake(struct {
			A ask.Choice[Desk] `ask:"a" q:"?" option:"x|y"`
		}{}), "struct.A: the tag option: there is no such tag: use options, levels, yes, no or q"},
		{mistake(struct {
			A ask.Noul `ask:"a" q:"?" true:"x" false:"y"`
		}{}), "struct.A: the tag true: there is no such tag: use options, levels, yes, no or q"},
		{mistake(struct {
			A ask.Noul `ask:"a" q:"?" default:"true"`
		}{}), `struct.A: the default "true" is none of yes, no`},
		{mistake(struct {
			A ask.Score `ask:"a" q:"?" levels:"x|y" default:"z"`
		}{}), `struct.A: the default "z" is none of x, y`},
		{mistake(struct {
			A string `ask:"a" q:"?"`
		}{}), "struct.A: string is no Choice, Noul or Score"},
		{mistake(struct {
			A common `ask:"a"`
		}{}), "struct.A: ask_test.common is no Choice, Noul or Score"},
		{mistake(struct {
			a ask.Noul `ask:"a" q:"?"`
		}{}), "struct.a: the field of a question must be exported"},
		{mistake(struct {
			a common
		}{}), "struct.a: the field of a question must be exported"},
		{mistake(struct {
			private `ask:"a" q:"?"`
		}{}), "struct.private: the field of a question must be exported"},
		{mistake(struct {
			A [2]ask.Noul
		}{}), "this is of kind array"},
		{mistake(struct {
			A *ask.Noul `q:"?"`
		}{}), "struct.A: questions must be fields of a struct, by value; this is of kind ptr"},
		{mistake(struct {
			*Shared
		}{}), "struct.Shared: questions must be fields of a struct, by value; this is of kind ptr"},
		{mistake(struct {
			A map[string]ask.Noul
		}{}), "struct.A: questions must be fields of a struct, by value; this is of kind map"},
		{mistake(struct {
			A ask.Noul `ask:"a" q:"?"`
			B struct {
				C ask.Noul `ask:"a" q:"?"`
			}
		}{}), `struct.B.C: "a" is the name of struct.A too`},
		{mistake(struct {
			A ask.Noul `ask:"a" q:"?"`
		}{A: ask.NewNoul(ask.Question{Name: "a", Instructions: "?"})}), "struct.A: the question has tags and is built by NewNoul"},
		{mistake(ask.NewChoice[Desk](ask.Question{})), "Choice: the question has no name"},
		{mistake(ask.NewScore(ask.Question{Name: "a"})), "Score: the question has no instructions"},
		{mistake(ask.Noul{}), "Noul: the field has no tag ask"},
		{noul(ask.Question{Name: "a", Instructions: ""}), "Noul: the question has no instructions"},
		{noul(ask.Question{Name: "a", Instructions: "?", Yes: "", No: "n"}), "neither is empty"},
		{noul(ask.Question{Name: "a", Instructions: "?", Yes: "y", No: ""}), "neither is empty"},
		{noul(ask.Question{Name: "a", Instructions: 5}), "Noul: instructions: systemone: invalid request: a state or guidance must be"},
		{noul(ask.Question{Name: "a", Instructions: "?", Yes: 5, No: "n"}), "Noul: yes: systemone: "},
		{noul(ask.Question{Name: "a", Instructions: "?", Yes: "y", No: 5}), "Noul: no: systemone: "},
		{mistake(ask.NewScore(ask.Question{Name: "a", Instructions: "?", Levels: []ask.Option{{Name: "x", Guidance: 5}}})), `Score: the guidance of the level "x": systemone: `},
		{noul(ask.Question{Name: "a\xff", Instructions: "?"}), "must have a name in valid UTF-8"},
	} {
		require.ErrorIs(t, c.err, ask.ErrSheet, c.want)
		require.ErrorContains(t, c.err, "ask: invalid questions: ")
		assert.ErrorContains(t, c.err, c.want)
	}
}

func mistake[T any](template T) error {
	_, err := ask.NewSheet(template)
	return err
}

func TestAllMistakesAtOnce(t *testing.T) {
	type Bad struct {
		A ask.Noul   `ask:"a"`
		B ask.Score  `ask:"b" q:"?"`
		C *ask.Score `ask:"c" q:"?"`
	}
	_, _, err := ask.Ask[Bad](t.Context(), replies(), "m", "x")
	for _, want := range []string{"Bad.A: ", "Bad.B: ", "Bad.C: "} {
		require.ErrorContains(t, err, want)
	}
	require.ErrorIs(t, err, ask.ErrSheet)
}

// wide has two paths to each level below it, so 2¹⁶ paths lead through sixteen
// levels.
type wide[T any] struct{ L, R *T }

type wide4[T any] = wide[wide[wide[wide[T]]]]

// TestTypesWithManyPaths: each type is visited once, however many fields lead to
// it.
func TestTypesWithManyPaths(t *testing.T) {
	type sheet struct {
		Other *wide4[wide4[wide4[wide4[wide4[wide4[int]]]]]]
		Safe  ask.Noul `ask:"safe" q:"Is it safe?"`
	}
	require.Len(t, asked(t, sheet{}), 1)
	type hidden struct {
		Other *wide4[wide4[wide4[ask.Noul]]]
	}
	require.ErrorContains(t, mistake(hidden{}), "hidden.Other: questions must be fields of a struct")
}

// TestMoreOptionsThanTheUsual: the router's limits bound the number of options, not
// the sheet.
func TestMoreOptionsThanTheUsual(t *testing.T) {
	q := ask.Question{Name: "desk", Instructions: "Which team?"}
	for i := range 10_000 {
		q.Options = append(q.Options, ask.Option{Name: time.Duration(i).String()})
	}
	require.Len(t, asked(t, ask.NewChoice[string](q))[0].Options, 10_000)
}

// TestSetCannotReachTheSheet: a set that appends questions to its call must not write
// into the array that concurrent calls share.
func TestSetCannotReachTheSheet(t *testing.T) {
	sheet, err := ask.NewSheet(Careful{})
	require.NoError(t, err)
	var calls []*router.Call
	for _, name := range []string{"first", "second"} {
		_, _, err := sheet.Ask(t.Context(), replies(), "m", "x", func(c *router.Call) {
			c.Request.Questions = append(c.Request.Questions, systemone.Question{Name: name})
			calls = append(calls, c)
		})
		require.NoError(t, err)
	}
	assert.Equal(t, "first", calls[0].Request.Questions[3].Name)
}
