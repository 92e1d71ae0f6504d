package openai_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/openai"
	"github.com/signalbox/signalbox/systemone"
)

// answers answers every question, with the last option and the last level.
func answers(questions []systemone.Question) systemone.Answers {
	var list systemone.Answers
	for _, q := range questions {
		a := systemone.Answer{Name: q.Name, Kind: q.Kind}
		switch q.Kind {
		case systemone.Choice:
			for i, o := range q.Options {
				a.Probabilities = append(a.Probabilities, systemone.Probability{Label: o.Name, P: float64(i+1) / 8})
				a.Choice = o.Name
			}
			a.Confidence = 0.5
		case systemone.Score:
			for i := range q.Levels {
				a.Probabilities = append(a.Probabilities, systemone.Probability{Label: strconv.Itoa(i), P: 0.25})
			}
			a.Score, a.Confidence = 1.5, 0.125
		default:
			a.Noul = 0.97
		}
		list = append(list, a)
	}
	return list
}

func TestReply(t *testing.T) {
	req, asked, err := openai.Decode(systemone.Decoder{}, []byte(asking(`[
		{"type":"predicate","instructions":"a"},
		{"type":"predicate","name":"ref\u0075nd","instructions":"a"},
		{"type":"choice","name":"typed","instructions":"a","choices":[{"value":"true"},{"value":false},{"value":true}]},
		{"type":"score","name":"heat","instructions":"a","levels":[{"label":"calm"},{"label":"mad","description":"shouts"}]},
		{"type":"choice","name":"heat","instructions":"a","choices":[{"value":"x"}]},
		{"type":"choice","name":"none","instructions":"a","choices":[{"value":"x"},{"value":"y"}]},
		{"type":"score","instructions":"a","levels":[{"label":"x"}]}]`)))
	require.NoError(t, err)
	given := answers(req.Questions)
	given[4] = systemone.Answer{Name: given[4].Name, Kind: systemone.Choice, Refusal: "a reason of the upstream"}
	given[5].Probabilities, given[5].Confidence = nil, 0
	given[0], given[3] = given[3], given[0] // the order is the body's
	got := asked.AppendReply(nil, &systemone.Response{
		ID: "gen-dec-1", Model: "acme/judge-1", Provider: "Ant", Answers: given[:6],
		Usage: systemone.Usage{InputTokens: 310, OutputTokens: 58, CachedTokens: 256, ReasoningTokens: 12, Cost: "0.000000123"},
	})
	assert.JSONEq(t, `{"id":"gen-dec-1","model":"acme/judge-1","provider":"Ant","answers":[
		{"type":"predicate","name":null,"probability":0.97},
		{"type":"predicate","name":"refund","probability":0.97},
		{"type":"choice","name":"typed","choice":true,"confidence":0.5,"probabilities":[
			{"value":"true","probability":0.125},{"value":false,"probability":0.25},{"value":true,"probability":0.375}]},
		{"type":"score","name":"heat","score":1.5,"confidence":0.125,"probabilities":[
			{"value":0,"label":"calm","probability":0.25},{"value":1,"label":"mad","probability":0.25}]},
		{"type":"refusal","name":"heat"},
		{"type":"choice","name":"none","choice":"y","probabilities":[]},
		{"type":"refusal","name":null}],
		"usage":{"input_tokens":310,"output_tokens":58,"cost":0.000000123,"total_tokens":368,
			"input_tokens_details":{"cached_tokens":256,"cache_write_tokens":0},"output_tokens_details":{"reasoning_tokens":12}}}`, string(got))
	assert.NotContains(t, string(got), "reason of the upstream")
}

// TestValuesSurvive: every value comes back with its type, whatever it is called beside
// the others.
func TestValuesSurvive(t *testing.T) {
	values := []string{`true`, `"true"`, `"true (boolean)"`, `"true (boolean)_"`, `false`, `"false"`, `"TRUE"`, `""`, `"\u0074rue "`}
	choices := `{"value":` + strings.Join(values, `},{"value":`) + `}`
	req, asked, err := openai.Decode(systemone.Decoder{}, []byte(asking(`[{"type":"choice","instructions":"a","choices":[`+choices+`]}]`)))
	require.NoError(t, err)
	for i, o := range req.Questions[0].Options {
		reply := asked.AppendReply(nil, &systemone.Response{Answers: systemone.Answers{{Name: "0", Kind: systemone.Choice, Choice: o.Name}}})
		assert.Contains(t, string(reply), `"choice":`+values[i]+`,`)
	}
}
