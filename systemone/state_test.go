package systemone_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/systemone"
)

func TestJSONOfAnyValue(t *testing.T) {
	type ticket struct {
		Text string `json:"text"`
		Note any    `json:"note,omitempty"`
	}
	type subject string
	deep := json.RawMessage(strings.Repeat("[", 65) + strings.Repeat("]", 65))
	for _, c := range []struct {
		name string
		v    any
		want string // or, after "!", what the error says
	}{
		{"text", "a \"b\" <c>", `"a \"b\" <c>"`},
		{"text of another type", subject("<&>"), `"<&>"`},
		{"text that is not UTF-8", "a\xff", "\"a\uFFFD\""},
		{"a struct", ticket{Text: "x & y"}, `{"text":"x & y"}`},
		{"a pointer", &ticket{Text: "x"}, `{"text":"x"}`},
		{"a list", []int{1, 2}, `[1,2]`},
		{"a map in the order of its keys", map[string]bool{"b": true, "a": false}, `{"a":false,"b":true}`},
		{"raw JSON", json.RawMessage(` {"a": 1} `), ` {"a": 1} `},
		{"raw JSON within", ticket{Note: json.RawMessage(`{"a":1}`)}, `{"text":"","note":{"a":1}}`},
		{"a number", 5, "!must be a string, an object or an array"},
		{"nil", nil, "!must be a string, an object or an array"},
		{"raw null", json.RawMessage(`null`), "!must be a string, an object or an array"},
		{"no raw JSON", json.RawMessage(nil), "!expected a value"},
		{"broken raw JSON", json.RawMessage(`{`), "!unexpected end"},
		{"raw JSON with a name twice", ticket{Note: json.RawMessage(`{"a":1,"a":2}`)}, "!note.a: is given more than once"},
		{"nested too deep", []any{deep}, "!nested deeper"},
		{"bytes", []byte("text"), "!convert it to a string or a json.RawMessage"},
		{"no JSON for it", []any{math.NaN()}, "!systemone: no JSON: json: unsupported value"},
		{"a channel", make(chan int), "!systemone: no JSON: json: unsupported type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := systemone.JSON(c.v)
			if problem, ok := strings.CutPrefix(c.want, "!"); ok {
				require.ErrorContains(t, err, problem)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
		})
	}
}

// TestJSONIsAState: whatever JSON returns is a valid state that reads back as
// the value.
func TestJSONIsAState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.String())).Draw(t, "v")
		raw, err := systemone.JSON(v)
		require.NoError(t, err)
		r := systemone.Request{Model: "m", State: raw, Questions: []systemone.Question{
			{Name: "q", Kind: systemone.Noul, Instructions: systemone.Text("?")},
		}}
		require.NoError(t, r.Validate(systemone.Limits{}))
		want, err := json.Marshal(v)
		require.NoError(t, err)
		assert.JSONEq(t, string(want), string(raw))
	})
}

func TestAnswersByQuestionAndLabel(t *testing.T) {
	answers := systemone.Answers{
		{Name: "refund", Kind: systemone.Noul, Noul: 0.75},
		{Name: "desk", Kind: systemone.Choice, Choice: "billing", Probabilities: []systemone.Probability{{Label: "billing", P: 0.5}, {Label: "true", P: 0.5}}},
		{Name: "heat", Kind: systemone.Score, Score: 0.25, Probabilities: []systemone.Probability{{Label: "0", P: 0.75}, {Label: "1", P: 0.25}}},
		{Name: "bare", Kind: systemone.Choice, Choice: "billing"},
	}
	for _, c := range []struct {
		question, label string
		want            float64
	}{
		{"refund", "true", 0.75},
		{"refund", "false", 0.25},
		{"refund", "yes", 0},
		{"desk", "billing", 0.5},
		{"desk", "true", 0.5},
		{"desk", "false", 0},
		{"heat", "1", 0.25},
		{"heat", "2", 0},
		{"bare", "billing", 0},
	} {
		a, ok := answers.Get(c.question)
		require.True(t, ok, c.question)
		assert.Equal(t, c.question, a.Name)
		assert.InDelta(t, c.want, a.P(c.label), 0, "P(%s) of %s", c.label, c.question)
	}
	a, ok := answers.Get("none")
	assert.False(t, ok)
	assert.Zero(t, a)
	_, ok = systemone.Answers(nil).Get("refund")
	assert.False(t, ok)
}
