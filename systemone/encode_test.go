package systemone_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/systemone"
)

func TestAppendString(t *testing.T) {
	for s, want := range map[string]string{
		"":                             `""`,
		"plain <b>&\u2028 é 😀 /":       "\"plain <b>&\u2028 é 😀 /\"",
		"\" \\ \b\f\n\r\t\x00\x1f\x7f": `"\" \\ \u0008\u000c\n\r\t\u0000\u001f` + "\x7f\"",
		"a\xffb\xc0\x80":               "\"a\ufffdb\ufffd\ufffd\"",
		"\ufffd":                       "\"\ufffd\"",
	} {
		t.Run(want, func(t *testing.T) {
			assert.Equal(t, "x"+want, string(systemone.AppendString([]byte("x"), s)))
			assert.Equal(t, want, string(systemone.Text(s)))
		})
	}
}

func TestLawAppendString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		if rapid.Bool().Draw(t, "text") {
			s = rapid.String().Draw(t, "s")
		}
		ours := systemone.Text(s)
		require.NoError(t, systemone.CheckSyntax(ours))
		theirs, err := json.Marshal(s)
		require.NoError(t, err)
		var a, b string
		require.NoError(t, json.Unmarshal(ours, &a))
		require.NoError(t, json.Unmarshal(theirs, &b))
		require.Equal(t, b, a)
	})
}

func TestLawRequestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := systemone.Decoder{Dialect: rapid.SampledFrom([]systemone.Dialect{systemone.Strict, systemone.Native}).Draw(t, "dialect")}
		r := requests(d.Dialect).Draw(t, "request")
		require.NoError(t, r.Validate(systemone.Limits{}))
		encoded := r.AppendJSON(nil)
		got, err := d.Decode(encoded)
		require.NoError(t, err)
		require.Equal(t, string(encoded), string(got.AppendJSON(nil)))

		if got.Provider != nil {
			sameDecimals(t, r.Provider.MaxPrice, got.Provider.MaxPrice)
			got.Provider.MaxPrice = r.Provider.MaxPrice
		}
		require.Equal(t, r, got)
	})
}

// sameDecimals compares by value, because 1.50 and 1.5 have different
// representations.
func sameDecimals(t require.TestingT, a, b systemone.MaxPrice) {
	require.Equal(t, a.Prompt == nil, b.Prompt == nil)
	require.Equal(t, a.Audio == nil, b.Audio == nil)
	require.True(t, a.Prompt == nil || a.Prompt.Equal(*b.Prompt))
	require.True(t, a.Audio == nil || a.Audio.Equal(*b.Audio))
}

func TestAppendUpstream(t *testing.T) {
	r, err := systemone.Decoder{}.Decode(corpus(t, "requests")["strict-support"])
	require.NoError(t, err)
	assert.Equal(t, `{"model":"jev \"1\"","state":`+string(r.State)+`,"questions":{`+
		`"refund":{"type":"noul","instructions":"Does `+"`ticket`"+` ask for money back?","criteria":{"true":"an explicit request for a refund or a reversal","false":"no such request"}},`+
		`"desk":{"type":"choice","instructions":"Which desk should handle this?","criteria":{"billing":"charges, invoices and refunds","tech":{"covers": ["faults", "outages"]},"sales":null}},`+
		`"heat":{"type":"score","instructions":"How upset is the customer?","criteria":["calm","annoyed","furious"]}}}`,
		string(systemone.AppendUpstream(nil, `jev "1"`, r)))

	native := systemone.Decoder{Dialect: systemone.Native}
	r, err = native.Decode(corpus(t, "requests")["native-typesafe"])
	require.NoError(t, err)
	body := systemone.AppendUpstream(nil, "m", r)
	assert.JSONEq(t, `{"model":"m","state":null,"questions":{
		"refund":{"type":"noul","criteria":{"true":"explicit ask","false":null}},
		"half":{"type":"noul","criteria":{"true":"explicit ask","false":null}},
		"bare":{"type":"noul"},"empty":{"type":"noul"},
		"desk":{"type":"choice","criteria":{"billing":"charges","tech":null}},
		"heat":{"type":"score","instructions":"Upset?","criteria":["calm",null,"furious",null]}}}`, string(body))
	again, err := native.Decode(body)
	require.NoError(t, err)
	assert.Equal(t, r.Questions, again.Questions)
}

// TestAppendRequestOfAnything: an invalid request is still written as JSON.
func TestAppendRequestOfAnything(t *testing.T) {
	assert.JSONEq(t, `{"state":null,"questions":{}}`, string(systemone.Request{}.AppendJSON(nil)))
	r := systemone.Request{Questions: []systemone.Question{{Kind: "bool"}, {Name: "a"}}, State: []byte{}, Trace: []byte{}}
	assert.JSONEq(t, `{"state":null,"questions":{"":{"type":"bool"},"a":{"type":""}}}`, string(r.AppendJSON(nil)))
}

func TestMarshalRequest(t *testing.T) {
	r := byHand()
	for _, v := range []any{r, &r} {
		data, err := json.Marshal(v)
		require.NoError(t, err)
		var got systemone.Request
		require.NoError(t, json.Unmarshal(data, &got))
		assert.Equal(t, r, got)
	}
}

func reply() systemone.Response {
	return systemone.Response{
		ID: "gen-dec-1", Model: "m", Provider: "Ant <Cloud>",
		Answers: systemone.Answers{
			{Name: "yes", Kind: systemone.Noul, Noul: 1.0 / 3, Confidence: 0.5},
			{
				Name: "which", Kind: systemone.Choice, Choice: "b", Confidence: 0.2,
				Probabilities: []systemone.Probability{{Label: "a", P: 1e-7}, {Label: "b", P: 0.9999999}},
			},
			{
				Name: "how", Kind: systemone.Score, Score: 1, Confidence: 1,
				Probabilities: []systemone.Probability{{Label: "0", P: math.Copysign(0, -1)}, {Label: "1", P: 1}, {Label: "2", P: 0}},
				Legend:        []json.RawMessage{systemone.Text("low"), nil, []byte(" null ")},
			},
			{Name: "bare", Kind: systemone.Score, Score: 1.5, Confidence: 1, Legend: []json.RawMessage{nil}},
		},
		Usage: systemone.Usage{InputTokens: 310, OutputTokens: 58, ReasoningTokens: 1, CachedTokens: 2, Cost: "0.000013020000000000000001"},
	}
}

func TestAppendResponse(t *testing.T) {
	const want = `{"id":"gen-dec-1","model":"m","provider":"Ant <Cloud>","answers":{` +
		`"yes":{"type":"noul","noul":0.3333333333333333},` +
		`"which":{"type":"choice","choice":"b","probabilities":{"a":1e-07,"b":0.9999999},"confidence":0.2},` +
		`"how":{"type":"score","score":1,"legend":{"0":"low"},"probabilities":{"0":0,"1":1,"2":0},"confidence":1},` +
		`"bare":{"type":"score","score":1.5}},` +
		`"usage":{"input_tokens":310,"output_tokens":58,"cost":0.000013020000000000000001}}`
	r := reply()
	requireText(t, want, r.AppendJSON(nil))
	for _, v := range []any{r, &r} {
		data, err := json.Marshal(v)
		require.NoError(t, err)
		assert.JSONEq(t, want, string(data))
	}
	data, err := json.Marshal(r.Answers)
	require.NoError(t, err)
	assert.JSONEq(t, string(r.Answers.AppendJSON(nil)), string(data))
	data, err = json.Marshal(r.Usage)
	require.NoError(t, err)
	assert.JSONEq(t, `{"input_tokens":310,"output_tokens":58,"cost":0.000013020000000000000001}`, string(data))
}

// TestAppendResponseIsAlwaysJSON: NaN, infinities and a cost that is no number
// still give valid JSON.
func TestAppendResponseIsAlwaysJSON(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		r := systemone.Response{
			Answers: systemone.Answers{{Name: "q", Kind: systemone.Noul, Noul: x}, {Name: "x"}},
			Usage:   systemone.Usage{Cost: "free"},
		}
		requireText(t, `{"model":"","answers":{"q":{"type":"noul","noul":0},"x":{}},"usage":{"input_tokens":0,"output_tokens":0}}`,
			r.AppendJSON(nil))
	}
	requireText(t, `{"model":"","answers":{},"usage":{"input_tokens":0,"output_tokens":0}}`, systemone.Response{}.AppendJSON(nil))
}

// requireText compares byte by byte: the order of members and the form of
// numbers are promises.
func requireText(t *testing.T, want string, got []byte) {
	t.Helper()
	require.Equal(t, []byte(want), got, "%s", got)
}

func TestLawNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		a := systemone.Answers{{Name: "q", Kind: systemone.Score, Score: x}}
		r, err := systemone.DecodeResponse((&systemone.Response{Answers: a}).AppendJSON(nil))
		require.NoError(t, err)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			x = 0
		}
		require.InDelta(t, x, r.Answers[0].Score, 0, "exact")
	})
}
