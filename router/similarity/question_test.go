package similarity

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/systemone"
)

func unbounded() *reader { return &reader{most: math.MaxInt} }

func TestPhrasesOfAnswers(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	option := func(name, guidance string) systemone.Option {
		o := systemone.Option{Name: name}
		if guidance != "" {
			o.Guidance = raw(guidance)
		}
		return o
	}
	for _, c := range []struct {
		name    string
		q       systemone.Question
		want    [][]string
		against bool
	}{
		{"guidance is a phrase", systemone.Question{Kind: systemone.Choice, Options: []systemone.Option{option("x", `"a late parcel"`)}}, [][]string{{"a late parcel"}}, false},
		{"an array is several phrases", systemone.Question{Kind: systemone.Choice, Options: []systemone.Option{option("x", `["one", "two", ["three"]]`)}}, [][]string{{"one", "two", "three"}}, false},
		{"an object gives its string values in order", systemone.Question{Kind: systemone.Choice, Options: []systemone.Option{option("x", `{"z": "one", "a": {"k": "two"}, "n": 3, "b": true, "e": null, "l": ["three"]}`)}}, [][]string{{"one", "two", "three"}}, false},
		{"null means the name", systemone.Question{Kind: systemone.Choice, Options: []systemone.Option{option("billing_issue", "null"), option("sign-up", "")}}, [][]string{{"billing issue"}, {"sign up"}}, false},
		{"so does guidance without a text", systemone.Question{Kind: systemone.Choice, Options: []systemone.Option{option("refund", `{"weight": 3}`), option("spare", `" "`)}}, [][]string{{"refund"}, {"spare"}}, false},
		{"white space is folded", systemone.Question{Kind: systemone.Choice, Options: []systemone.Option{option("x", `" a\n\tb  c "`)}}, [][]string{{"a b c"}}, false},
		{"levels", systemone.Question{Kind: systemone.Score, Levels: []json.RawMessage{raw(`"low"`), raw(`["high", "very high"]`), raw(`null`), nil}}, [][]string{{"low"}, {"high", "very high"}, nil, nil}, false},
		{"a noul's criteria: yes first", systemone.Question{Kind: systemone.Noul, Instructions: raw(`"Is it about tax?"`), True: raw(`"angry"`), False: raw(`["calm", "glad"]`)}, [][]string{{"angry"}, {"calm", "glad"}}, false},
		{"only yes", systemone.Question{Kind: systemone.Noul, True: raw(`"angry"`), False: raw(`{}`)}, [][]string{{"angry"}}, false},
		{"only no", systemone.Question{Kind: systemone.Noul, False: raw(`"calm"`)}, [][]string{{"calm"}}, true},
		{"a topic", systemone.Question{Kind: systemone.Noul, Instructions: raw(`"Is this about a late parcel?"`)}, [][]string{{"a late parcel"}}, false},
		{"a topic in structured instructions", systemone.Question{Kind: systemone.Noul, Instructions: raw(`{"task": "Does the customer want a refund?"}`)}, [][]string{{"a refund"}}, false},
		{"a property", systemone.Question{Kind: systemone.Noul, Instructions: raw(`"Is this spam?"`)}, nil, false},
		{"nothing", systemone.Question{Kind: systemone.Noul}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := inquire(t.Context(), &c.q, unbounded())
			require.NoError(t, err)
			assert.Equal(t, c.want, got.answers)
			assert.Equal(t, c.against, got.against)
		})
	}
}

func TestInquireRefuses(t *testing.T) {
	broken := json.RawMessage(`{"a": `)
	for name, q := range map[string]systemone.Question{
		"unknown kind":        {Kind: "essay"},
		"broken guidance":     {Kind: systemone.Choice, Options: []systemone.Option{{Name: "x", Guidance: broken}}},
		"broken level":        {Kind: systemone.Score, Levels: []json.RawMessage{broken}},
		"broken yes":          {Kind: systemone.Noul, True: broken},
		"broken no":           {Kind: systemone.Noul, False: broken},
		"broken instructions": {Kind: systemone.Noul, Instructions: broken},
	} {
		_, err := inquire(t.Context(), &q, unbounded())
		require.ErrorIs(t, err, errRequest, name)
	}
}

func TestTopic(t *testing.T) {
	for question, want := range map[string]string{
		"Is it about a lost card?":             "a lost card",
		"is this ABOUT Taxes in Spain":         "Taxes in Spain",
		"Does the text mention the weather?":   "the weather",
		"Does the user want to book a flight?": "book a flight",
		"Does the customer want money back?":   "money back",
		"Is she asking for a discount?":        "a discount",
		"Is it related to shipping costs?":     "shipping costs",
		"Is this not about a lost card?":       "",
		"Isn't it about a lost card?":          "",
		"Is it about nothing but no refund?":   "",
		"Is the review positive?":              "",
		"Is it about ?":                        "",
		"":                                     "",
		"İs it about İstanbul?":                "", // its lower case has another length
	} {
		got, ok := topic(question)
		assert.Equal(t, want, got, "%q", question)
		assert.Equal(t, want != "", ok, "%q", question)
	}
}

func FuzzTexts(f *testing.F) {
	for _, seed := range []string{`"a"`, `{"a":["b",{"c":"d"}],"e":1}`, `[null,true,"x"]`, `[1e1000,"x"]`, `{"a":"b"`, `"\ud800"`, `""`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := unbounded().texts(t.Context(), raw)
		if err != nil || !json.Valid(raw) {
			return
		}
		var want []string
		var walk func(v any)
		walk = func(v any) {
			switch v := v.(type) {
			case string:
				if v = fold(v); v != "" {
					want = append(want, v)
				}
			case []any:
				for _, e := range v {
					walk(e)
				}
			case map[string]any:
				for _, e := range v {
					walk(e)
				}
			}
		}
		var v any
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		require.NoError(t, d.Decode(&v))
		walk(v)
		if len(got) != len(want) { // of duplicate names, texts returns every value and the decoder keeps one
			require.Greater(t, len(got), len(want))
			return
		}
		require.ElementsMatch(t, want, got)
	})
}
