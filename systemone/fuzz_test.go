package systemone_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/systemone"
)

func addCorpus(f *testing.F, dir string) {
	f.Helper()
	for _, body := range corpus(f, dir) {
		f.Add(body)
	}
}

// FuzzCheckSyntax: what CheckSyntax accepts, encoding/json accepts. What only
// encoding/json accepts has one of the documented faults.
func FuzzCheckSyntax(f *testing.F) {
	addCorpus(f, "requests")
	for _, s := range []string{`{"a":1,"\u0061":2}`, `"\ud800"`, `[1e400,-0.0E-1]`, "\"\xff\"", strings.Repeat("[", 65) + strings.Repeat("]", 65)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		err := systemone.CheckSyntax(data)
		require.Equal(t, before, data, "unchanged")
		if err == nil {
			require.True(t, json.Valid(data))
			return
		}
		if !json.Valid(data) {
			return
		}
		list := issues(t, err)
		require.NotEmpty(t, list)
		for _, is := range list {
			require.Regexp(t, `given more than once|nested deeper|invalid UTF-8|surrogate pair|more problems`, is)
		}
		if strings.Contains(list[0], "invalid UTF-8") {
			require.False(t, utf8.Valid(data))
		}
	})
}

// FuzzDecode: decoding never panics and is deterministic, and an accepted body
// means the same to encoding/json.
func FuzzDecode(f *testing.F) {
	addCorpus(f, "requests")
	f.Add([]byte(with(`"provider":{"only":[],"sort":"cheap"},"models":[1,"x"],"trace":{"trace_id":1}`)))
	f.Add([]byte(with(`"routing":{"max_cost":-0.0,"deadline_ms":0,"split":"odd","more":null},"models":[{"when":{"any":[{}]}}]`)))
	f.Add([]byte(with(`"providerOptions":{"gateway":{"models":["x"],"only":[""],"zeroDataRetention":true,"has":[]}}`)))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, d := range []systemone.Decoder{{}, {Dialect: systemone.Native, Limits: systemone.Limits{Questions: 3, Options: 2, Levels: 2}, SessionID: "s"}} {
			r, err := d.Decode(body)
			again, err2 := d.Decode(body)
			require.Equal(t, err, err2, "issues are stable")
			require.Equal(t, r == nil, err != nil)
			if err != nil {
				for _, is := range issues(t, err) {
					require.True(t, utf8.ValidString(is))
				}
				continue
			}
			require.Equal(t, r.AppendJSON(nil), again.AppendJSON(nil))
			require.NoError(t, r.Validate(d.Limits))
			requireSameMeaning(t, body, r)

			encoded := r.AppendJSON(nil)
			decoded, err := d.Decode(encoded)
			require.NoError(t, err)
			require.Equal(t, encoded, decoded.AppendJSON(nil))
			require.NoError(t, systemone.CheckSyntax(systemone.AppendUpstream(nil, "m", r)))
		}
	})
}

// requireSameMeaning compares a request with what encoding/json reads.
func requireSameMeaning(t *testing.T, body []byte, r *systemone.Request) {
	t.Helper()
	text := func(raw json.RawMessage) (s string) {
		if raw != nil {
			require.NoError(t, json.Unmarshal(raw, &s))
		}
		return s
	}
	same := func(want, got json.RawMessage) {
		if got == nil {
			require.True(t, want == nil || string(want) == "null", "%s", want)
			return
		}
		require.Equal(t, string(want), string(got))
	}
	members := func(raw json.RawMessage) (m map[string]json.RawMessage) {
		require.NoError(t, json.Unmarshal(raw, &m))
		return m
	}
	want := members(body)
	require.Equal(t, text(want["model"]), r.Model)
	require.Equal(t, text(want["preset"]), r.Preset)
	if want["user"] != nil {
		require.Equal(t, text(want["user"]), r.User)
	}
	if want["session_id"] != nil {
		require.Equal(t, text(want["session_id"]), r.SessionID)
	}
	same(want["state"], r.State)
	same(want["trace"], r.Trace)
	questions := members(want["questions"])
	require.Len(t, questions, len(r.Questions))
	for _, q := range r.Questions {
		question := members(questions[q.Name])
		require.Equal(t, text(question["type"]), string(q.Kind))
		same(question["instructions"], q.Instructions)
		switch q.Kind {
		case systemone.Noul:
			if question["criteria"] != nil {
				criteria := members(question["criteria"])
				same(criteria["true"], q.True)
				same(criteria["false"], q.False)
			}
		case systemone.Choice:
			criteria := members(question["criteria"])
			require.Len(t, criteria, len(q.Options))
			for _, o := range q.Options {
				same(criteria[o.Name], o.Guidance)
			}
		case systemone.Score:
			var levels []json.RawMessage
			require.NoError(t, json.Unmarshal(question["criteria"], &levels))
			require.Len(t, levels, len(q.Levels))
			for i := range levels {
				same(levels[i], q.Levels[i])
			}
		}
	}
}

// FuzzDecodeEntry: decoding never panics. An accepted entry is valid, is written so
// that it can be read again, and matches no answer where there is none.
func FuzzDecodeEntry(f *testing.F) {
	for _, s := range []string{
		`"m"`, `{"model":"m"}`, `{"model":"m","when":` + nested(5) + `,"scope":"all","required":true,"shop_refusals":true}`, nested(6),
		`{"model":"m","when":{"question":"q","probabilityBetween":[-0.0,1e-1],"calibration":"c"}}`,
		`{"model":"m","when":{"atLeast":{"count":2.0,"conditions":[{"confidenceBelow":1},{"all":[{"confidenceBelow":0}]}]}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var e, again systemone.Entry
		if err := e.UnmarshalJSON(data); err != nil {
			require.NotEmpty(t, issues(t, err))
			require.Zero(t, e)
			return
		}
		require.NoError(t, systemone.ValidateEntries([]systemone.Entry{e}))
		encoded := e.AppendJSON(nil)
		require.NoError(t, again.UnmarshalJSON(encoded))
		require.Equal(t, e, again)
		require.Equal(t, encoded, again.AppendJSON(nil))
		if e.When != nil {
			require.Nil(t, e.When.Match([]systemone.Question{{Name: "q", Kind: systemone.Noul}, {Name: "r", Kind: systemone.Score}}, nil))
		}
	})
}

// FuzzDecodePreferences: decoding never panics. Accepted preferences are written so
// that they can be read again, with numbers that are small enough to compute with.
func FuzzDecodePreferences(f *testing.F) {
	for _, s := range []string{
		`{}`, `null`, `{"order":["ant"],"only":["a"],"ignore":[],"zdr":true,"sort":{"by":"price","partition":"none"}}`,
		`{"max_price":{"prompt":"1e-30","audio":1.5e10},"preferred_max_latency":-0.0,"preferred_min_throughput":{"p50":1e308,"p99":null}}`,
		`{"options":{"a":{"x":1},"A":{}},"quantizations":["fp8","x"],"data_collection":"deny"}`, `{"max_price":{"prompt":"1e1000000000"}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := systemone.DecodePreferences(data)
		if err != nil {
			require.NotEmpty(t, issues(t, err))
			return
		}
		if p == nil {
			require.Equal(t, "null", string(bytes.TrimSpace(data)))
			return
		}
		encoded := p.AppendJSON(nil)
		require.True(t, json.Valid(encoded))
		again, err := systemone.DecodePreferences(encoded)
		require.NoError(t, err)
		require.Equal(t, encoded, again.AppendJSON(nil))
		if price := p.MaxPrice.Prompt; price != nil {
			require.False(t, price.IsNegative())
			require.LessOrEqual(t, len(price.String()), 64)
		}
	})
}

// FuzzDecodeResponse: decoding never panics, and an accepted reply is written as
// equal JSON.
func FuzzDecodeResponse(f *testing.F) {
	addCorpus(f, "replies")
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := systemone.DecodeResponse(data)
		if err != nil {
			require.ErrorIs(t, err, systemone.ErrAnswer)
			require.Nil(t, r)
			return
		}
		require.True(t, r.Usage.InputTokens >= 0 && r.Usage.OutputTokens >= 0)
		encoded := r.AppendJSON(nil)
		require.True(t, json.Valid(encoded))
		again, err := systemone.DecodeResponse(encoded)
		require.NoError(t, err)
		require.Equal(t, encoded, again.AppendJSON(nil))
	})
}

// FuzzRepair: any reply is refused or becomes exact.
func FuzzRepair(f *testing.F) {
	addCorpus(f, "replies")
	request, err := systemone.Decoder{}.Decode(corpus(f, "requests")["strict-support"])
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, data []byte) {
		reply, err := systemone.DecodeResponse(data)
		if err != nil {
			return
		}
		for _, tolerance := range []systemone.Tolerance{{}, {Rounding: 0.01}, {Rounding: 0.5, NoDistribution: true}, {Rounding: math.Inf(1)}} {
			checked := systemone.Check(request, reply.Answers, tolerance)
			got, err := systemone.Repair(request, reply.Answers, tolerance)
			require.Equal(t, checked, err)
			if err != nil {
				require.True(t, errors.Is(err, systemone.ErrAnswer) && got == nil)
				continue
			}
			exact := systemone.Tolerance{NoDistribution: tolerance.NoDistribution}
			again, err := systemone.Repair(request, got, exact)
			require.NoError(t, err)
			require.Equal(t, got, again)
			for _, a := range got {
				requireLaws(t, a)
			}
		}
	})
}

// FuzzUnwrapParts: a valid state stays valid.
func FuzzUnwrapParts(f *testing.F) {
	f.Add([]byte(`[{"type":"text","text":"a"},{"type":"json","value":{"b":2}}]`))
	f.Add([]byte(`[{"type":"json","value":null}]`))
	f.Fuzz(func(t *testing.T, state []byte) {
		got := systemone.UnwrapParts(state)
		if systemone.CheckSyntax(state) != nil {
			require.Equal(t, string(state), string(got))
			return
		}
		require.NoError(t, systemone.CheckSyntax(got))
		first := func(b []byte) byte { return bytes.TrimSpace(b)[0] }
		if first(state) == '[' {
			require.Contains(t, `"{[`, string(first(got)))
		}
	})
}

// FuzzParseCount: exactly the whole numbers from 0 to the largest int64 are read,
// in whatever form.
func FuzzParseCount(f *testing.F) {
	for _, s := range []string{
		"0", "-0", "-0.0", "7", "10.0", "1e2", "1E+2", "100e-2", "1.5", "15e-1", "-1", "9223372036854775807", "9223372036854775808",
		"9223372036854775807.0", "9.223372036854775808e18", "1e1000000000", "1e-1000000000", "+1", "01", "1.", ".5", "1_0", "0x1", "", "null", `"1"`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, ok := systemone.ParseCount([]byte(text))
		if !ok {
			require.Zero(t, n)
		}
		var number json.Number
		if json.Unmarshal([]byte(text), &number) != nil || number.String() != text || text == "" {
			require.False(t, ok, "not a JSON number")
			return
		}
		if i := strings.IndexAny(text, "eE"); i >= 0 {
			if exponent, err := strconv.Atoi(text[i+1:]); err != nil || exponent < -64 || exponent > 64 {
				return // no count is written like that, and big.Rat would be slow
			}
		}
		if len(text) > 64 {
			return
		}
		exact, isNumber := new(big.Rat).SetString(text)
		require.True(t, isNumber)
		want := exact.IsInt() && exact.Num().IsInt64() && exact.Sign() >= 0
		require.Equal(t, want, ok)
		if ok {
			require.Equal(t, exact.Num().Int64(), n)
		}
	})
}
