package split_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/split"
	"github.com/signalbox/signalbox/systemone"
)

// longest is no smaller than any of the options: the longest name, and guidance as
// long as the longest.
func longest(options []systemone.Option) systemone.Option {
	var out systemone.Option
	for _, o := range options {
		if len(o.Name) > len(out.Name) {
			out.Name = o.Name
		}
		if len(o.Guidance) > len(out.Guidance) {
			out.Guidance = o.Guidance
		}
	}
	return out
}

func bytesOf(q systemone.Question) int {
	n := len(q.Name) + len(q.Instructions)
	for _, o := range q.Options {
		n += len(o.Name) + len(o.Guidance)
	}
	return n
}

// TestLawBounds: whatever wins, there are as many sheets as Bounds says, and none has
// a larger question or more options.
func TestLawBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := split.Limits{Questions: rapid.IntRange(0, 9).Draw(t, "questions"), Options: rapid.IntRange(2, 9).Draw(t, "options")}
		var questions []systemone.Question
		u := upstream{logits: map[string]float64{}}
		for i, n := range rapid.SliceOfN(rapid.IntRange(1, 60), 1, 5).Draw(t, "sizes") {
			q := systemone.Question{Name: "desk " + strconv.Itoa(i), Kind: systemone.Choice, Instructions: systemone.Text("Which?")}
			for j := range n {
				name := strings.Repeat("x", rapid.IntRange(0, 12).Draw(t, "length")) + strconv.Itoa(j)
				u.logits[name] = rapid.Float64Range(-3, 3).Draw(t, "logit")
				q.Options = append(q.Options, systemone.Option{Name: name, Guidance: systemone.Text(strings.Repeat("g", rapid.IntRange(0, 12).Draw(t, "guidance")))})
			}
			questions = append(questions, q)
		}
		s := start(t, most, questions...)
		bounds := s.Bounds(longest)
		require.Equal(t, bounds, s.Bounds(longest), "nothing has changed")
		require.Len(t, bounds, split.Count(questions, most))
		for sheets := s.Next(); sheets != nil; sheets = s.Next() {
			require.Equal(t, sheets, bounds[:len(sheets)], "what is asked now is known")
			var answers systemone.Answers
			for _, sheet := range sheets {
				for _, q := range sheet {
					answers = append(answers, u.answer(t, q))
				}
			}
			require.NoError(t, s.Take(rapid.Permutation(answers).Draw(t, "order of answers")))
			later := s.Bounds(longest)
			require.Len(t, later, len(bounds)-len(sheets), "as many sheets as foreseen")
			for i, sheet := range later {
				foreseen := bounds[len(sheets)+i]
				require.Len(t, sheet, len(foreseen))
				for j, q := range sheet {
					require.Equal(t, foreseen[j].Name, q.Name)
					require.Len(t, q.Options, len(foreseen[j].Options))
					require.LessOrEqual(t, bytesOf(q), bytesOf(foreseen[j]))
				}
			}
			bounds = later
		}
		require.Empty(t, bounds)
	})
}

// TestBoundsOfAChoice: 255 options at 26 are ten chunks and one more question of ten.
func TestBoundsOfAChoice(t *testing.T) {
	s := start(t, split.Limits{Questions: 4, Options: 26}, choiceOf("desk", 255), noul("a"))
	assert.Equal(t, []string{
		"desk_1:26 desk_2:26 desk_3:26 desk_4:26", "desk_5:26 desk_6:25 desk_7:25 desk_8:25", "desk_9:25 desk_10:25 a", "desk_11:10",
	}, shown(s.Bounds(longest)))
}
