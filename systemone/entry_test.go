package systemone_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/systemone"
)

// about returns a body with a noul "yes", a choice "desk" and a score "heat", and
// with members added.
func about(members string) string {
	return `{"model":"m","state":"s","questions":{"yes":{"type":"noul","instructions":"?"},` +
		`"desk":{"type":"choice","instructions":"?","criteria":{"a":null,"b":null}},` +
		`"heat":{"type":"score","instructions":"?","criteria":["x","y"]}},` + members + `}`
}

// when returns a body whose second model has a condition.
func when(condition string) string {
	return about(`"models":["a",{"model":"b","when":` + condition + `}]`)
}

func TestDecodeEntries(t *testing.T) {
	r := decode(t, about(`"models":[
		"a",
		{"model":"b"},
		{"model":"c","when":{"question":"desk","confidenceBelow":0.6,"calibration":"c-1"},"scope":"all","required":true,"shop_refusals":true},
		{"model":"d","when":{"any":[{"probabilityBetween":[0.4,6e-1]},{"all":[{"confidenceBelow":0}]},{"atLeast":{"count":2,"conditions":[{"confidenceBelow":1},{"question":"yes","probabilityBetween":[0,0]}]}}]},"scope":"matched"},
		{"model":"e","shop_refusals":true},
		{"model":"f","when":null,"scope":null,"required":null,"shop_refusals":null}
	]`))
	assert.Equal(t, []systemone.Entry{
		{Model: "a"},
		{Model: "b"},
		{
			Model: "c", When: &systemone.Condition{Question: "desk", ConfidenceBelow: new(0.6)}, Calibration: "c-1",
			Scope: systemone.ScopeAll, Required: true, ShopRefusals: true,
		},
		{Model: "d", Scope: systemone.ScopeMatched, When: &systemone.Condition{Any: []systemone.Condition{
			{ProbabilityBetween: &[2]float64{0.4, 0.6}},
			{All: []systemone.Condition{{ConfidenceBelow: new(0.0)}}},
			{AtLeast: &systemone.AtLeast{Count: 2, Conditions: []systemone.Condition{
				{ConfidenceBelow: new(1.0)}, {Question: "yes", ProbabilityBetween: &[2]float64{0, 0}},
			}}},
		}}},
		{Model: "e", ShopRefusals: true},
		{Model: "f"},
	}, r.Models)
	assert.Contains(t, string(r.AppendJSON(nil)), `"models":["a","b",{"model":"c","when":{"calibration":"c-1","question":"desk","confidenceBelow":0.6},`+
		`"scope":"all","required":true,"shop_refusals":true},{"model":"d",`, "what a text says is written as a text")
}

// nested returns a condition of that depth, the leaf counted.
func nested(depth int) string {
	return strings.Repeat(`{"any":[`, depth-1) + `{"confidenceBelow":0.5}` + strings.Repeat(`]}`, depth-1)
}

// leaves returns n leaves, separated by commas.
func leaves(n int) string {
	return strings.TrimSuffix(strings.Repeat(`{"confidenceBelow":0.5},`, n), ",")
}

func TestDecodeAcceptsConditions(t *testing.T) {
	for _, text := range []string{
		nested(5), `{"all":[` + leaves(20) + `]}`, `{"atLeast":{"count":20,"conditions":[` + leaves(20) + `]}}`, `{"any":[` + leaves(1) + `]}`,
		`{"confidenceBelow":0}`, `{"confidenceBelow":1}`, `{"probabilityBetween":[0,1]}`, `{"probabilityBetween":[0.5,0.5]}`,
		`{"question":"heat","confidenceBelow":0.5}`, `{"question":"desk","confidenceBelow":0.5}`, `{"question":"yes","probabilityBetween":[0,1]}`,
		`{"question":null,"confidenceBelow":1e-1,"any":null,"all":null,"atLeast":null,"probabilityBetween":null,"calibration":null}`,
		`{"atLeast":{"count":1.0,"conditions":[` + leaves(2) + `]}}`, `{"confidenceBelow":0.5,"calibration":"` + strings.Repeat("é", 256) + `"}`,
	} {
		r := decode(t, when(text))
		require.NotNil(t, r.Models[1].When, text)
	}
}

func TestDecodeRefusesConditions(t *testing.T) {
	const (
		at       = "models.1.when"
		oneForm  = ": must have exactly one of confidenceBelow, probabilityBetween, any, all and atLeast"
		bound    = "confidenceBelow: must be a number from 0 to 1"
		bounds   = "probabilityBetween: must be two numbers from 0 to 1, the lower one first"
		lists    = ": must have 1 to 20 conditions"
		unknown  = ": is not a known member"
		tooDeep  = ": must not be nested deeper than 5 conditions"
		oneToLen = "count: must be a whole number from 1 to the number of conditions"
	)
	for _, c := range []struct {
		when string
		want []string
	}{
		{`1`, []string{": must be an object"}},
		{`{}`, []string{oneForm}},
		{`{"question":"desk"}`, []string{oneForm, ".question: must be given only with confidenceBelow or probabilityBetween"}},
		{`{"confidenceBelow":0.5,"probabilityBetween":[0,1]}`, []string{oneForm}},
		{`{"any":[{"confidenceBelow":0.5}],"all":[{"confidenceBelow":0.5}]}`, []string{oneForm}},
		{`{"question":"desk","any":[{"confidenceBelow":0.5}]}`, []string{".question: must be given only with confidenceBelow or probabilityBetween"}},
		{`{"confidenceBelow":0.5,"confidence_below":0.5}`, []string{".confidence_below" + unknown}},
		{`{"any":[{"confidenceBelow":0.5,"calibration":"x"}]}`, []string{".any.0.calibration" + unknown}},
		{`{"atLeast":{"count":1,"conditions":[{"confidenceBelow":0.5}],"of":1}}`, []string{".atLeast.of" + unknown}},
		{`{"confidenceBelow":1.01}`, []string{"." + bound}},
		{`{"confidenceBelow":-0.01}`, []string{"." + bound}},
		{`{"confidenceBelow":"0.5"}`, []string{"." + bound}},
		{`{"confidenceBelow":1e999}`, []string{"." + bound}},
		{`{"probabilityBetween":[0.6,0.5]}`, []string{"." + bounds}},
		{`{"probabilityBetween":[0,1.01]}`, []string{"." + bounds}},
		{`{"probabilityBetween":[-1,1]}`, []string{"." + bounds}},
		{`{"probabilityBetween":[0.5]}`, []string{"." + bounds}},
		{`{"probabilityBetween":[0,0.5,1]}`, []string{"." + bounds}},
		{`{"probabilityBetween":[0,null]}`, []string{"." + bounds}},
		{`{"probabilityBetween":{"0":0,"1":1}}`, []string{"." + bounds}},
		{`{"any":[]}`, []string{".any" + lists}},
		{`{"all":[` + leaves(21) + `]}`, []string{".all" + lists}},
		{`{"any":{}}`, []string{".any: must be an array of conditions"}},
		{`{"any":[1]}`, []string{".any.0: must be an object"}},
		{`{"any":[{"all":[{}]}]}`, []string{".any.0.all.0" + oneForm}},
		{`{"atLeast":[]}`, []string{".atLeast: must be an object", ".atLeast.conditions" + lists}},
		{`{"atLeast":{"count":1}}`, []string{".atLeast.conditions" + lists}},
		{`{"atLeast":{"conditions":[` + leaves(2) + `]}}`, []string{".atLeast." + oneToLen}},
		{`{"atLeast":{"count":0,"conditions":[` + leaves(2) + `]}}`, []string{".atLeast." + oneToLen}},
		{`{"atLeast":{"count":3,"conditions":[` + leaves(2) + `]}}`, []string{".atLeast." + oneToLen}},
		{`{"atLeast":{"count":1e30,"conditions":[` + leaves(2) + `]}}`, []string{".atLeast.count: must be a whole number that is not negative"}},
		{`{"atLeast":{"count":9007199254740993,"conditions":[` + leaves(2) + `]}}`, []string{".atLeast." + oneToLen}},
		{`{"atLeast":{"count":1.5,"conditions":[` + leaves(2) + `]}}`, []string{".atLeast.count: must be a whole number that is not negative"}},
		{nested(6), []string{".any.0.any.0.any.0.any.0.any.0" + tooDeep}},
		{nested(20), []string{".any.0.any.0.any.0.any.0.any.0" + tooDeep}},
		{`{"question":"","confidenceBelow":0.5}`, []string{".question: must not be empty"}},
		{`{"question":1,"confidenceBelow":0.5}`, []string{".question: must be a string"}},
		{`{"question":"` + strings.Repeat("é", 257) + `","confidenceBelow":0.5}`, []string{".question: must not be longer than 256 characters"}},
		{`{"question":"gone","confidenceBelow":0.5}`, []string{".question: is not a question of the request"}},
		{`{"question":"yes","confidenceBelow":0.5}`, []string{".question: must be a choice or a score"}},
		{`{"question":"desk","probabilityBetween":[0,1]}`, []string{".question: must be a noul"}},
		{`{"question":"heat","probabilityBetween":[0,1]}`, []string{".question: must be a noul"}},
		{`{"any":[{"confidenceBelow":0.5},{"question":"gone","probabilityBetween":[0,1]}]}`, []string{".any.1.question: is not a question of the request"}},
		{`{"confidenceBelow":0.5,"calibration":""}`, []string{".calibration: must not be empty"}},
		{`{"confidenceBelow":0.5,"calibration":"` + strings.Repeat("x", 257) + `"}`, []string{".calibration: must not be longer than 256 characters"}},
	} {
		_, err := systemone.Decoder{}.Decode([]byte(when(c.when)))
		require.Error(t, err, c.when)
		for i := range c.want {
			c.want[i] = at + c.want[i]
		}
		assert.ElementsMatch(t, c.want, issues(t, err), c.when)
	}
}

func TestDecodeRefusesEntries(t *testing.T) {
	for _, c := range []struct {
		entry string
		want  []string
	}{
		{`{"when":{"confidenceBelow":0.5}}`, []string{"model: must be given"}},
		{`{"model":null}`, []string{"model: must be given"}},
		{`{"model":"","when":{"confidenceBelow":0.5}}`, []string{"model: must not be empty"}},
		{`{"model":1}`, []string{"model: must be a string"}},
		{`{"model":"` + strings.Repeat("m", 257) + `","when":{"confidenceBelow":0.5}}`, []string{"model: must not be longer than 256 characters"}},
		{`{"model":"m","own":1}`, []string{"own: is not a known member"}},
		{`{"model":"m","calibration":"x","when":{"confidenceBelow":0.5}}`, []string{"calibration: is not a known member"}},
		{`{"model":"m","scope":"all"}`, []string{"scope: must not be given without when"}},
		{`{"model":"m","required":true}`, []string{"required: must not be given without when"}},
		{`{"model":"m","scope":"some","when":{"confidenceBelow":0.5}}`, []string{"scope: must be one of matched, all"}},
		{`{"model":"m","required":"yes","when":{"confidenceBelow":0.5}}`, []string{"required: must be true or false"}},
		{`{"model":"m","shop_refusals":1}`, []string{"shop_refusals: must be true or false"}},
	} {
		_, err := systemone.Decoder{}.Decode([]byte(about(`"models":["a",` + c.entry + `]`)))
		require.Error(t, err, c.entry)
		for i := range c.want {
			c.want[i] = "models.1." + c.want[i]
		}
		assert.Equal(t, c.want, issues(t, err), c.entry)
	}
	// 64 models may be objects, too; a list is not read beyond the first that is too much.
	object := `{"model":"b","when":` + nested(5) + `},`
	decode(t, about(`"models":[`+strings.TrimSuffix(strings.Repeat(object, 64), ",")+`]`))
	_, err := systemone.Decoder{}.Decode([]byte(about(`"models":[` + strings.Repeat(object, 10_000) + `{}]`)))
	assert.Equal(t, []string{"models: must not have more than 64 models"}, issues(t, err))
}

// TestConditionsAboutBrokenQuestions: where questions are refused, the names in
// conditions are not compared with those that are left.
func TestConditionsAboutBrokenQuestions(t *testing.T) {
	body := `{"model":"m","state":"s","models":[{"model":"b","when":{"question":"q","confidenceBelow":0.5}}],"questions":{"q":1,"r":{"type":"noul","instructions":"?"}}}`
	_, err := systemone.Decoder{}.Decode([]byte(body))
	assert.Equal(t, []string{"questions.q: must be an object"}, issues(t, err))
}

func TestValidateEntries(t *testing.T) {
	leaf := func() *systemone.Condition { return &systemone.Condition{ConfidenceBelow: new(0.5)} }
	require.NoError(t, systemone.ValidateEntries(nil))
	require.NoError(t, systemone.ValidateEntries([]systemone.Entry{{Model: "a"}, {Model: "b", When: &systemone.Condition{Question: "any", ConfidenceBelow: new(0.5)}}}))
	cyclic := systemone.Condition{Any: make([]systemone.Condition, 1)}
	cyclic.Any[0].Any = cyclic.Any
	for _, c := range []struct {
		entry systemone.Entry
		want  string
	}{
		{systemone.Entry{}, "1: must not be empty"},
		{systemone.Entry{When: leaf()}, "1.model: must not be empty"},
		{systemone.Entry{Model: "m", Scope: "all"}, "1.scope: must not be given without when"},
		{systemone.Entry{Model: "m", Calibration: "c"}, "1.when: must be given"},
		{systemone.Entry{Model: "m", When: leaf(), Scope: "none"}, "1.scope: must be one of matched, all"},
		{systemone.Entry{Model: "m", When: &systemone.Condition{}}, "1.when: must have exactly one of confidenceBelow, probabilityBetween, any, all and atLeast"},
		{systemone.Entry{Model: "m", When: &systemone.Condition{Any: []systemone.Condition{}}}, "1.when.any: must have 1 to 20 conditions"},
		{systemone.Entry{Model: "m", When: &cyclic}, "1.when.any.0.any.0.any.0.any.0.any.0: must not be nested deeper than 5 conditions"},
	} {
		err := systemone.ValidateEntries([]systemone.Entry{{Model: "a"}, c.entry})
		require.ErrorIs(t, err, systemone.ErrInvalid)
		assert.Equal(t, []string{c.want}, issues(t, err))
	}
}

func TestCheckConditions(t *testing.T) {
	entries := []systemone.Entry{
		{Model: "a"},
		{Model: "b", When: condition(t, `{"any":[{"question":"desk","confidenceBelow":0.5},{"question":"yes","probabilityBetween":[0,1]}]}`)},
	}
	r := decode(t, about(`"user":"u"`))
	require.NoError(t, systemone.CheckConditions("model", entries, r.Questions))
	require.NoError(t, systemone.CheckConditions("model", entries[:1], nil))
	err := systemone.CheckConditions("model", entries, r.Questions[1:])
	assert.Equal(t, []string{"model.1.when.any.1.question: is not a question of the request"}, issues(t, err))
}

func TestEntryJSON(t *testing.T) {
	var list []systemone.Entry
	require.NoError(t, json.Unmarshal([]byte(`[ "a" , {"model":"b","when":{"question":"anything","confidenceBelow":0.5}} ]`), &list))
	assert.Equal(t, []systemone.Entry{{Model: "a"}, {Model: "b", When: &systemone.Condition{Question: "anything", ConfidenceBelow: new(0.5)}}}, list)
	text, err := json.Marshal(list)
	require.NoError(t, err)
	assert.JSONEq(t, `["a",{"model":"b","when":{"question":"anything","confidenceBelow":0.5}}]`, string(text))

	e := systemone.Entry{Model: "kept"}
	for text, want := range map[string]string{
		`1`:                                  ": must be a string or an object",
		`""`:                                 ": must not be empty",
		`{"model":"m","when":{"any":[{}]}}`:  "when.any.0: must have exactly one of confidenceBelow, probabilityBetween, any, all and atLeast",
		`{"model":"m","model":"m"}`:          "model: is given more than once",
		`{`:                                  ": invalid JSON at byte 1: unexpected end, expected a member name",
		`{"model":"m","when":[]}`:            "when: must be an object",
		`"` + strings.Repeat("m", 257) + `"`: ": must not be longer than 256 characters",
	} {
		assert.Equal(t, []string{want}, issues(t, e.UnmarshalJSON([]byte(text))), text)
	}
	assert.Equal(t, "kept", e.Model, "unchanged")
}

// entries draws valid entries about some of the questions.
func entries(questions []systemone.Question) *rapid.Generator[[]systemone.Entry] {
	one := rapid.Custom(func(t *rapid.T) systemone.Entry {
		e := systemone.Entry{Model: rapid.StringN(1, 20, -1).Draw(t, "model"), ShopRefusals: rapid.Bool().Draw(t, "shop")}
		if rapid.Bool().Draw(t, "conditional") {
			e.When = new(conditions(questions, 1).Draw(t, "when"))
			e.Scope = rapid.SampledFrom([]systemone.Scope{"", "matched", "all"}).Draw(t, "scope")
			e.Required = rapid.Bool().Draw(t, "required")
			e.Calibration = rapid.StringN(0, 10, -1).Draw(t, "calibration")
		}
		return e
	})
	return rapid.SliceOfN(one, 1, 4)
}

// TestEntriesRoundTrip: decoding what was encoded gives equal entries.
func TestEntriesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := entries(nil).Draw(t, "entries")
		require.NoError(t, systemone.ValidateEntries(list))
		text, err := json.Marshal(list)
		require.NoError(t, err)
		var again []systemone.Entry
		require.NoError(t, json.Unmarshal(text, &again))
		require.Equal(t, list, again)
	})
}

func TestTextsOfNoModels(t *testing.T) {
	t.Parallel()
	assert.Nil(t, systemone.Texts())
}
