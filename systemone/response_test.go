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

// TestRepliesOfRealDialects reads replies of several upstreams, checks them with
// the right tolerance, repairs and writes them.
func TestRepliesOfRealDialects(t *testing.T) {
	r, err := systemone.Decoder{}.Decode(corpus(t, "requests")["strict-support"])
	require.NoError(t, err)
	tolerances := map[string]systemone.Tolerance{
		"typesafe":   {Rounding: 0.01},
		"openrouter": {Rounding: 0.01},
		"ollama":     {},
		"laya":       {Rounding: 0.001},
		"bare":       {NoDistribution: true},
		"details":    {},
	}
	files := corpus(t, "replies")
	require.Len(t, files, len(tolerances))
	for name, tolerance := range tolerances {
		t.Run(name, func(t *testing.T) {
			reply, err := systemone.DecodeResponse(files[name])
			require.NoError(t, err)
			require.NoError(t, systemone.Check(r, reply.Answers, tolerance))
			reply.Answers, err = systemone.Repair(r, reply.Answers, tolerance)
			require.NoError(t, err)

			encoded := reply.AppendJSON(nil)
			assert.NotContains(t, string(encoded), "null")
			again, err := systemone.DecodeResponse(encoded)
			require.NoError(t, err)
			assert.Equal(t, encoded, again.AppendJSON(nil))
			for _, a := range reply.Answers {
				requireLaws(t, a)
			}
		})
	}
}

func TestDecodeResponse(t *testing.T) {
	files := corpus(t, "replies")
	r, err := systemone.DecodeResponse(files["typesafe"])
	require.NoError(t, err)
	assert.Equal(t, &systemone.Response{
		Model: "jev-1.13.0",
		Answers: systemone.Answers{
			{
				Name: "heat", Kind: systemone.Score, Score: 0.72, Confidence: 0.52,
				Probabilities: []systemone.Probability{{Label: "2", P: 0.02}, {Label: "0", P: 0.3}, {Label: "1", P: 0.68}},
				Legend:        []json.RawMessage{systemone.Text("calm"), systemone.Text("annoyed"), systemone.Text("furious")},
			},
			{Name: "refund", Kind: systemone.Noul, Noul: 0.97},
			{
				Name: "desk", Kind: systemone.Choice, Choice: "billing", Confidence: 0.9,
				Probabilities: []systemone.Probability{{Label: "tech", P: 0.05}, {Label: "billing", P: 0.95}, {Label: "sales", P: 0.01}},
			},
		},
		Usage: systemone.Usage{InputTokens: 310, OutputTokens: 58},
	}, r)

	r, err = systemone.DecodeResponse(files["openrouter"])
	require.NoError(t, err)
	assert.Equal(t, "gen-dec-01", r.ID)
	assert.Equal(t, "Ant Cloud", r.Provider)
	assert.Equal(t, json.Number("0.00001302"), r.Usage.Cost, "exact")

	r, err = systemone.DecodeResponse(files["details"])
	require.NoError(t, err)
	assert.Equal(t, systemone.Usage{InputTokens: 9, OutputTokens: 4, ReasoningTokens: 2, CachedTokens: 3, Cost: "0"}, r.Usage)
	assert.Equal(t, []json.RawMessage{[]byte(`{"a":1}`), []byte(`["b"]`), nil}, r.Answers[2].Legend, "what belongs to no level is dropped")

	r, err = systemone.DecodeResponse(files["bare"])
	require.NoError(t, err)
	assert.Equal(t, systemone.Usage{}, r.Usage)
	assert.Nil(t, r.Answers[2].Probabilities)
	assert.Equal(t, []json.RawMessage{systemone.Text("calm")}, r.Answers[2].Legend)
}

func TestDecodeResponseRefuses(t *testing.T) {
	answer := func(members string) string { return `{"answers":{"q":{` + members + `}}}` }
	usage := func(members string) string { return `{"answers":{},"usage":{` + members + `}}` }
	const count = "a token count is not a whole number, or negative"
	const cost = "usage.cost is not a number, or negative"
	long := strings.Repeat("1", 65)
	for _, c := range []struct{ data, want string }{
		{``, "invalid JSON at byte 0: unexpected end, expected a value"},
		{`<html>`, "invalid JSON at byte 0: expected a value"},
		{`{"answers":{`, "invalid JSON at byte 12: unexpected end, expected a member name"},
		{`{"answers":{},"secret-1":1,"secret-1":2}`, "a member is given more than once"},
		{`[]`, "the reply is not an object"},
		{`null`, "the reply is not an object"},
		{`{}`, "answers are missing"},
		{`{"answers":null}`, "answers are missing"},
		{`{"answers":[]}`, "answers is not an object"},
		{`{"answers":{},"id":1}`, "id is not a string"},
		{`{"answers":{},"model":[]}`, "model is not a string"},
		{`{"answers":{},"provider":{}}`, "provider is not a string"},
		{`{"answers":{},"usage":[]}`, "usage is not an object"},
		{usage(`"input_tokens":-1`), count},
		{usage(`"input_tokens":1.5`), count},
		{usage(`"input_tokens":"1"`), count},
		{usage(`"output_tokens":1e-3`), count},
		{usage(`"output_tokens":1e19`), count},
		{usage(`"output_tokens":1e1000000000`), count},
		{usage(`"output_tokens":9223372036854775808`), count},
		{usage(`"input_tokens_details":{"cached_tokens":-1}`), count},
		{usage(`"cost":"0.1"`), cost},
		{usage(`"cost":-0.1`), cost},
		{usage(`"cost":1e1000000000`), cost},
		{usage(`"cost":` + long), cost},
		{`{"answers":{"q":1}}`, "q: the answer is not an object"},
		{`{"answers":{"q":null}}`, "q: the answer is not an object"},
		{answer(``), "q: type is not known"},
		{answer(`"type":1`), "q: type is not known"},
		{answer(`"type":"Noul","noul":1`), "q: type is not known"},
		{answer(`"type":"noul"`), "q: noul is missing"},
		{answer(`"type":"noul","noul":null`), "q: noul is missing"},
		{answer(`"type":"noul","choice":"a"`), "q: noul is missing"},
		{answer(`"type":"noul","noul":"1"`), "q: noul is not a number"},
		{answer(`"type":"noul","noul":1e400`), "q: noul is not a number"},
		{answer(`"type":"noul","noul":` + long), "q: noul is not a number"},
		{answer(`"type":"choice","choice":true`), "q: choice is not a string"},
		{answer(`"type":"score","score":{}`), "q: score is not a number"},
		{answer(`"type":"score","score":1,"confidence":"high","probabilities":{}`), "q: confidence is not a number"},
		{answer(`"type":"score","score":1,"probabilities":[]`), "q: probabilities is not an object"},
		{answer(`"type":"score","score":1,"probabilities":{"0":null}`), "q: a probability is not a number"},
		{answer(`"type":"score","score":1,"legend":[]`), "q: legend is not an object"},
		{`{"answers":{"\u001b[31m":{}}}`, `"\x1b[31m": type is not known`},
	} {
		t.Run(c.data[:min(60, len(c.data))], func(t *testing.T) {
			r, err := systemone.DecodeResponse([]byte(c.data))
			require.ErrorIs(t, err, systemone.ErrAnswer)
			require.EqualError(t, err, "systemone: bad answer: "+c.want)
			assert.Nil(t, r)
		})
	}
}

// TestDecodeResponseIgnores unknown members, even where they look like known ones.
func TestDecodeResponseIgnores(t *testing.T) {
	r, err := systemone.DecodeResponse([]byte(`{"answers":{"q":{"type":"noul","noul":0.5,"confidence":"high","legend":1,"probabilities":"none"}},
		"usage":{"input_tokens_details":7,"output_tokens_details":{"x":1,"reasoning_tokens":null},"cost":null},"error":{"x":null}}`))
	require.NoError(t, err)
	assert.Equal(t, &systemone.Response{Answers: systemone.Answers{{Name: "q", Kind: systemone.Noul, Noul: 0.5}}}, r)

	r, err = systemone.DecodeResponse([]byte(`{"answers":{"q":{"type":"choice","choice":"a","confidence":0.9,"legend":{"0":"x"}}}}`))
	require.NoError(t, err)
	assert.Equal(t, systemone.Answers{{Name: "q", Kind: systemone.Choice, Choice: "a"}}, r.Answers, "confidence belongs to probabilities")
}

func TestHostileReplies(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"brackets":         {strings.Repeat("[", 1_000_000), "systemone: bad answer: invalid JSON at byte 64: nested deeper than 64 levels"},
		"a legend's index": {`{"answers":{"q":{"type":"score","score":1,"legend":{"99999999999":"x","999999":"y"}}}}`, ""},
		"many answers":     {`{"answers":{"q":{"type":"score","score":1,"x":[` + strings.Repeat("{},", 1_000_000) + `1]}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := systemone.DecodeResponse([]byte(c.data))
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.want)
		})
	}
}

func TestUnmarshalResponse(t *testing.T) {
	data := corpus(t, "replies")["details"]
	want, err := systemone.DecodeResponse(data)
	require.NoError(t, err)
	body := []byte(string(data))
	var got systemone.Response
	require.NoError(t, got.UnmarshalJSON(body))
	clear(body)
	assert.Equal(t, want, &got, "a copy")
	require.ErrorIs(t, got.UnmarshalJSON([]byte(`{}`)), systemone.ErrAnswer)
}

func TestLawResponseRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := requests(systemone.Strict).Draw(t, "request")
		given := honest(r, units().Draw(t, "unit"), false).Draw(t, "answers")
		for i := range given {
			if len(given[i].Probabilities) == 0 || math.IsInf(given[i].Confidence, 0) {
				given[i].Confidence = 0
			}
		}
		want := &systemone.Response{
			ID: rapid.String().Draw(t, "id"), Model: rapid.String().Draw(t, "model"), Provider: rapid.String().Draw(t, "provider"),
			Answers: given,
			Usage: systemone.Usage{
				InputTokens:  rapid.Int64Range(0, 1e12).Draw(t, "input"),
				OutputTokens: rapid.Int64Range(0, 1e12).Draw(t, "output"),
				Cost:         rapid.SampledFrom([]json.Number{"", "0", "0.10", "1e-9", "12345678901234567890.000000001"}).Draw(t, "cost"),
			},
		}
		got, err := systemone.DecodeResponse(want.AppendJSON(nil))
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}
