package upstream_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/systemone"
)

func TestCost(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "0.000012": "0.000012", "12": "12", "1.2e-05": "0.000012", "1E2": "100", "3e+1": "30",
		"": "", "-1": "", "-1e3": "", "1e-999": "", "1e100": "", "1e+-1": "", "1e": "", ".5": "", "1.": "", "NaN": "", "1,5": "",
		strings.Repeat("9", 33): "",
	} {
		assert.Equal(t, json.Number(want), upstream.Cost(json.Number(text)), text)
	}
}

func TestName(t *testing.T) {
	for text, want := range map[string]string{
		"gen-dec-1": "gen-dec-1", "": "", "a b": "", "a\nb": "", "\x1b[31m": "", "\u00e9": "", "\xff": "",
		strings.Repeat("a", 256): strings.Repeat("a", 256), strings.Repeat("a", 257): "",
	} {
		assert.Equal(t, want, upstream.Name(text), text)
	}
}

func TestSole(t *testing.T) {
	choice := systemone.Question{Name: "a", Kind: systemone.Choice, Options: []systemone.Option{{Name: "x"}}}
	score := systemone.Question{Name: "b", Kind: systemone.Score, Levels: []json.RawMessage{nil}}
	r := &systemone.Request{Questions: []systemone.Question{choice, score}}
	for _, q := range r.Questions {
		assert.True(t, upstream.Sole(q))
	}
	require.NoError(t, systemone.Check(r, systemone.Answers{upstream.SoleAnswer(choice), upstream.SoleAnswer(score)}, systemone.Tolerance{}))
	assert.False(t, upstream.Sole(systemone.Question{Kind: systemone.Noul}))
	choice.Options = append(choice.Options, systemone.Option{Name: "y"})
	assert.False(t, upstream.Sole(choice))
}

func TestAppendOptions(t *testing.T) {
	known := []string{"b", "a"}
	for options, want := range map[string]string{
		`{"a":1,"zzz":2,"b":{"c":[1, 2]}}`: `{"m":1,"b":{"c":[1, 2]},"a":1}`,
		`{"a":null}`:                       `{"m":1}`,
		`{"A":1}`:                          `{"m":1}`,
		`{"a":1,"a":2}`:                    `{"m":1}`,
		`{"a":1}}`:                         `{"m":1}`,
		`[{"a":1}]`:                        `{"m":1}`,
		``:                                 `{"m":1}`,
	} {
		got := append(upstream.AppendOptions([]byte(`{"m":1`), json.RawMessage(options), known), '}')
		assert.Equal(t, want, string(got))
	}
}

func TestSplitSole(t *testing.T) {
	noul := systemone.Question{Name: "a", Kind: systemone.Noul}
	sole := systemone.Question{Name: "b", Kind: systemone.Score, Levels: []json.RawMessage{nil}}
	for _, c := range []struct{ questions, asked []systemone.Question }{
		{[]systemone.Question{noul}, []systemone.Question{noul}},
		{[]systemone.Question{noul, sole, noul}, []systemone.Question{noul, noul}},
		{[]systemone.Question{sole, noul}, []systemone.Question{noul}},
		{[]systemone.Question{sole}, nil},
		{nil, nil},
	} {
		asked, answers := upstream.SplitSole(c.questions)
		assert.Equal(t, c.asked, asked)
		assert.Len(t, answers, len(c.questions)-len(c.asked))
	}
}

func TestAppendText(t *testing.T) {
	for value, want := range map[string]string{
		`"a \"b\" \u00e9"`: `"a \"b\" \u00e9"`,
		`""`:               `""`,
		` {"a": "b\n"} `:   `"{\"a\": \"b\\n\"}"`,
		`[1]`:              `"[1]"`,
		`null`:             `"null"`,
		``:                 `"null"`,
	} {
		got := upstream.AppendText([]byte(`x`), json.RawMessage(value))
		assert.Equal(t, "x"+want, string(got), value)
	}
}

// A refusal's text is kept up to 4 KiB, in whole characters.
func TestRefusal(t *testing.T) {
	const most = 4 << 10
	quoted := func(text string) []byte { return systemone.AppendString(nil, text) }
	for text, want := range map[string]string{
		"":                                         "",
		"I cannot \"judge\"\nthat. \u4e16":         "I cannot \"judge\"\nthat. \u4e16",
		strings.Repeat("x", most):                  strings.Repeat("x", most),
		strings.Repeat("x", most+1):                strings.Repeat("x", most),
		strings.Repeat("x", most-2) + "\u4e16":     strings.Repeat("x", most-2),
		strings.Repeat("x", most-3) + "\u4e16":     strings.Repeat("x", most-3) + "\u4e16",
		strings.Repeat("x", most-3) + "\U0001F600": strings.Repeat("x", most-3),
	} {
		assert.Equal(t, want, upstream.Refusal(quoted(text)))
	}
	for _, value := range []string{"", "null", "1", "true", `{"a":"b"}`, `["a"]`} {
		assert.Empty(t, upstream.Refusal([]byte(value)), value)
	}
	half := upstream.Refusal([]byte(`"a\ud83d"`))
	assert.True(t, utf8.ValidString(half), "%q", half)
}
