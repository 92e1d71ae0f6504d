package systemone_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/systemone"
)

// corpus returns the files of a directory below testdata by name.
func corpus(tb testing.TB, dir string) map[string][]byte {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", dir, "*.json"))
	require.NoError(tb, err)
	require.NotEmpty(tb, names)
	files := make(map[string][]byte, len(names))
	for _, name := range names {
		body, err := os.ReadFile(name)
		require.NoError(tb, err)
		files[strings.TrimSuffix(filepath.Base(name), ".json")] = body
	}
	return files
}

func dialectOf(name string) systemone.Dialect {
	if strings.HasPrefix(name, "native-") {
		return systemone.Native
	}
	return systemone.Strict
}

func decode(tb testing.TB, body string) *systemone.Request {
	tb.Helper()
	r, err := systemone.Decoder{}.Decode([]byte(body))
	require.NoError(tb, err)
	return r
}

// issues returns the issues of an invalid request as "path: message".
func issues(tb testing.TB, err error) []string {
	tb.Helper()
	var invalid *systemone.InvalidError
	require.ErrorAs(tb, err, &invalid)
	require.ErrorIs(tb, err, systemone.ErrInvalid)
	list := make([]string, len(invalid.Issues))
	for i, is := range invalid.Issues {
		list[i] = is.Path + ": " + is.Message
	}
	return list
}

// paths returns the paths of an invalid request's issues.
func paths(tb testing.TB, err error) []string {
	tb.Helper()
	list := issues(tb, err)
	for i := range list {
		list[i], _, _ = strings.Cut(list[i], ": ")
	}
	return list
}

// with returns a valid body with members added.
func with(members string) string {
	return `{"model":"m","state":"s","questions":{"q":{"type":"noul","instructions":"?"}},` + members + `}`
}

// asking returns a body that asks these questions.
func asking(questions string) string {
	return `{"model":"m","state":"s","questions":` + questions + `}`
}

func TestDecodeCorpus(t *testing.T) {
	for name, body := range corpus(t, "requests") {
		t.Run(name, func(t *testing.T) {
			d := systemone.Decoder{Dialect: dialectOf(name)}
			r, err := d.Decode(body)
			require.NoError(t, err)
			require.NoError(t, r.Validate(systemone.Limits{}), "what decodes is valid")

			encoded := r.AppendJSON(nil)
			again, err := d.Decode(encoded)
			require.NoError(t, err)
			assert.Equal(t, string(encoded), string(again.AppendJSON(nil)), "encoding is stable")
			assert.Equal(t, r.Questions, again.Questions)

			if d.Dialect == systemone.Native {
				_, err := systemone.Decoder{}.Decode(body)
				assert.NotEmpty(t, paths(t, err), "the documented dialect refuses it")
			}
		})
	}
}

func TestDecodeKeepsEverything(t *testing.T) {
	r, err := systemone.Decoder{}.Decode(corpus(t, "requests")["strict-support"])
	require.NoError(t, err)

	assert.Equal(t, "acme/judge", r.Model)
	assert.Equal(t, systemone.Texts("acme/judge-mini", "zeta/arbiter-20260601"), r.Models)
	assert.Contains(t, string(r.State), `"seats": 14`, "as it was sent")
	require.Len(t, r.Questions, 3)
	assert.Equal(t, systemone.Question{
		Name: "refund", Kind: systemone.Noul,
		Instructions: systemone.Text("Does `ticket` ask for money back?"),
		True:         systemone.Text("an explicit request for a refund or a reversal"),
		False:        systemone.Text("no such request"),
	}, r.Questions[0])
	assert.Equal(t, []systemone.Option{
		{Name: "billing", Guidance: systemone.Text("charges, invoices and refunds")},
		{Name: "tech", Guidance: []byte(`{"covers": ["faults", "outages"]}`)},
		{Name: "sales"},
	}, r.Questions[1].Options)
	assert.Equal(t, systemone.Score, r.Questions[2].Kind)
	assert.Len(t, r.Questions[2].Levels, 3)
	assert.Equal(t, "ticket-20931", r.SessionID)
	assert.Equal(t, "u-1", r.User)
	assert.JSONEq(t, `{"trace_id": "4bf92f3577b34da6", "span_name": "triage", "team": {"id": 7}}`, string(r.Trace))

	p := r.Provider
	require.NotNil(t, p)
	assert.Equal(t, []string{"ant", "bee/eu"}, p.Order)
	assert.Equal(t, []string{"Cat Labs"}, p.Ignore)
	assert.Equal(t, []string{"ant", "bee", "dog"}, p.Only)
	require.NotNil(t, p.AllowFallbacks)
	assert.False(t, *p.AllowFallbacks)
	assert.Equal(t, systemone.DataCollectionDeny, p.DataCollection)
	assert.True(t, p.EnforceDistillableText && p.RequireParameters && p.ZDR)
	for text, price := range map[string]string{
		"0.25": p.MaxPrice.Prompt.String(), "1.5": p.MaxPrice.Completion.String(),
		"0.001": p.MaxPrice.Request.String(), "0": p.MaxPrice.Image.String(), "2": p.MaxPrice.Audio.String(),
	} {
		assert.Equal(t, text, price)
	}
	assert.Equal(t, []systemone.ProviderOptions{
		{Provider: "ant", Options: []byte(`{"a": 1}`)},
		{Provider: "bee/eu", Options: []byte(`{"nested": {"b": [1, 2]}}`)},
	}, p.Options)
	assert.Equal(t, systemone.Cutoffs{P50: new(1.5)}, p.PreferredMaxLatency)
	assert.Equal(t, systemone.Cutoffs{P50: new(100.0), P75: new(80.5), P99: new(10.0)}, p.PreferredMinThroughput)
	assert.Equal(t, []string{"fp8", "bf16", "unknown"}, p.Quantizations)
	assert.Equal(t, systemone.Sort{By: systemone.SortLatency, Partition: systemone.PartitionNone}, p.Sort)
}

func TestDecodeUnicode(t *testing.T) {
	r, err := systemone.Decoder{}.Decode(corpus(t, "requests")["strict-unicode"])
	require.NoError(t, err)
	assert.Equal(t, "café/😀", r.Model)
	assert.Equal(t, `eins.zwei "drei"`, r.Questions[0].Name)
	assert.Empty(t, r.Questions[0].Options[0].Name)
	assert.Equal(t, "\x00", r.Questions[0].Options[1].Name)
	assert.Equal(t, "ja\\nein \"\\/\b\f\n\r\t", r.Questions[0].Options[2].Name)
	assert.Nil(t, r.Provider)
	assert.Nil(t, r.Trace)
}

// TestDecodeLongestName counts characters, not bytes.
func TestDecodeLongestName(t *testing.T) {
	name := strings.Repeat("😀", 256)
	r := decode(t, asking(`{"`+name+`":{"type":"noul","instructions":"?"}}`))
	assert.Equal(t, name, r.Questions[0].Name)
}

// TestDecodeAppends: appending to a part of the request does not change the body.
func TestDecodeAppends(t *testing.T) {
	body := []byte(with(`"x":1`))
	r, err := systemone.Decoder{}.Decode(body)
	require.NoError(t, err)
	_ = append(r.State, "!!!"...)
	_ = append(r.Questions[0].Instructions, "!!!"...)
	assert.Equal(t, with(`"x":1`), string(body))
}

func TestDecodeNative(t *testing.T) {
	r, err := systemone.Decoder{Dialect: systemone.Native}.Decode(corpus(t, "requests")["native-typesafe"])
	require.NoError(t, err)
	assert.Equal(t, systemone.Native, r.Dialect)
	assert.Nil(t, r.State)
	for _, q := range r.Questions[:5] {
		assert.Nil(t, q.Instructions, q.Name)
	}
	assert.Equal(t, systemone.Text("explicit ask"), r.Questions[1].True)
	assert.Nil(t, r.Questions[1].False)
	assert.Nil(t, r.Questions[3].True)
	assert.Nil(t, r.Questions[5].Levels[1])

	_, err = systemone.Decoder{Dialect: systemone.Native}.Decode([]byte(`{"model":"m","questions":{"q":{"type":"noul"}}}`))
	assert.Equal(t, []string{"state: must be given"}, issues(t, err), "null is not absent")
}

// TestDecodeSession covers the rows R53e to R53h of the routing cases.
func TestDecodeSession(t *testing.T) {
	long := strings.Repeat("é", 257)
	for _, c := range []struct{ name, header, member, want string }{
		{"R53e header alone", "s", ``, "s"},
		{"R53f body wins", "s", `"session_id":"t"`, "t"},
		{"R53g empty body is no session", "s", `"session_id":""`, ""},
		{"256 characters", strings.Repeat("é", 256), `"x":1`, strings.Repeat("é", 256)},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := with(c.member)
			if c.member == "" {
				body = with(`"x":1`)
			}
			r, err := systemone.Decoder{SessionID: c.header}.Decode([]byte(body))
			require.NoError(t, err)
			assert.Equal(t, c.want, r.SessionID)
		})
	}
	for name, d := range map[string]struct{ header, body string }{
		"R53h body":            {"", with(`"session_id":"` + long + `"`)},
		"R53h header":          {long, with(`"x":1`)},
		"R53h header not used": {long, with(`"session_id":"t"`)},
		"both":                 {long, with(`"session_id":"` + long + `"`)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := systemone.Decoder{SessionID: d.header}.Decode([]byte(d.body))
			assert.Equal(t, []string{"session_id: must not be longer than 256 characters"}, issues(t, err))
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	const mustBeGuidance = ": must be a string, an object or an array"
	trace := `"trace":{"x":"` + strings.Repeat("x", 64<<10) + `"}`
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"no object", `["model"]`, []string{": must be an object"}},
		{"nothing", `{}`, []string{"state: must be given", "model: must be given", "questions: must be an object with at least one question"}},
		{"null members", `{"model":null,"state":null,"questions":null}`, []string{
			"model: must be a string", "questions: must be an object", "state" + mustBeGuidance,
		}},
		{"R49e", `{"models":[],"state":"s","questions":{"q":{"type":"noul","instructions":"?"}}}`, []string{"model: must be given"}},
		{"empty model", strings.Replace(with(`"x":1`), `"m"`, `""`, 1), []string{"model: must not be empty"}},
		{"models of other types", with(`"models":["a","",null,{}]`), []string{
			"models.1: must not be empty", "models.2: must be a string or an object", "models.3.model: must be given",
		}},
		{"models no array", with(`"models":"a"`), []string{"models: must be an array of models"}},
		{"empty preset", with(`"preset":""`), []string{"preset: must not be empty"}},
		{"user", with(`"user":"` + strings.Repeat("a", 257) + `"`), []string{"user: must not be longer than 256 characters"}},
		{"types", with(`"user":1,"session_id":null,"preset":true,"provider":[],"trace":"t"`), []string{
			"user: must be a string", "session_id: must be a string", "preset: must be a string",
			"provider: must be an object", "trace: must be an object",
		}},
		{"trace", with(`"trace":{"trace_id":1,"trace_name":null,"span_name":[],"generation_name":{},"parent_span_id":true,"other":1}`), []string{
			"trace.trace_id: must be a string", "trace.trace_name: must be a string", "trace.span_name: must be a string",
			"trace.generation_name: must be a string", "trace.parent_span_id: must be a string",
		}},
		{"long trace", with(trace), []string{"trace: must not be longer than 65536 bytes"}},
		{"state number", strings.Replace(with(`"x":1`), `"s"`, `5`, 1), []string{"state" + mustBeGuidance}},
		{"no questions", asking(`{}`), []string{"questions: must be an object with at least one question"}},
		{"no questions, and something else is wrong", `{"model":"m","state":"s","questions":{},"questions2":1,"questions2":2}`, []string{
			"questions2: is given more than once", "questions: must be an object with at least one question",
		}},
		{"questions no object", asking(`[]`), []string{"questions: must be an object"}},
		{"question no object", asking(`{"a":[],"b":null}`), []string{"questions.a: must be an object", "questions.b: must be an object"}},
		{"question names", asking(`{"":{"type":"noul","instructions":"?"},"` + strings.Repeat("ü", 257) + `":{"type":"noul","instructions":"?"}}`), []string{
			`questions."": must have a name of 1 to 256 characters`,
			`questions.` + strings.Repeat("ü", 64) + `…: must have a name of 1 to 256 characters`,
		}},
		{"kinds", asking(`{"a":{},"b":{"type":"bool","instructions":""},"c":{"type":1,"instructions":[],"criteria":5}}`), []string{
			"questions.a.instructions" + mustBeGuidance,
			`questions.a.type: must be "noul", "choice" or "score"`,
			`questions.b.type: must be "noul", "choice" or "score"`,
			`questions.c.type: must be "noul", "choice" or "score"`,
		}},
		{"instructions", asking(`{"a":{"type":"noul","instructions":null},"b":{"type":"noul","instructions":1}}`), []string{
			"questions.a.instructions" + mustBeGuidance, "questions.b.instructions" + mustBeGuidance,
		}},
		{"noul criteria", asking(`{"a":{"type":"noul","instructions":"","criteria":{"true":"x"}},
			"b":{"type":"noul","instructions":"","criteria":{"false":null,"true":1}},
			"c":{"type":"noul","instructions":"","criteria":{}},
			"d":{"type":"noul","instructions":"","criteria":null},
			"e":{"type":"noul","instructions":"","criteria":["a","b"]}}`), []string{
			"questions.a.criteria.false" + mustBeGuidance,
			"questions.b.criteria.false" + mustBeGuidance,
			"questions.c.criteria.true" + mustBeGuidance, "questions.c.criteria.false" + mustBeGuidance,
			"questions.d.criteria: must be an object", "questions.e.criteria: must be an object",
			"questions.b.criteria.true" + mustBeGuidance,
		}},
		{"choice criteria", asking(`{"a":{"type":"choice","instructions":""},"b":{"type":"choice","instructions":"","criteria":["x"]},
			"c":{"type":"choice","instructions":"","criteria":{}},"d":{"type":"choice","instructions":"","criteria":{"x":1,"y":null}}}`), []string{
			"questions.a.criteria: must be an object with at least one option",
			"questions.b.criteria: must be an object with at least one option",
			"questions.c.criteria: must have at least one option",
			"questions.d.criteria.x" + mustBeGuidance,
		}},
		{"score criteria", asking(`{"a":{"type":"score","instructions":""},"b":{"type":"score","instructions":"","criteria":{"x":""}},
			"c":{"type":"score","instructions":"","criteria":[]},"d":{"type":"score","instructions":"","criteria":["x",null,2]}}`), []string{
			"questions.a.criteria: must be an array with at least one level",
			"questions.b.criteria: must be an array with at least one level",
			"questions.c.criteria: must have at least one level",
			"questions.d.criteria.1" + mustBeGuidance, "questions.d.criteria.2" + mustBeGuidance,
		}},
		{"duplicates at every level", `{"model":"m","model":"n","state":{"a":{"b":1,"\u0062":2}},"questions":{
			"q":{"type":"noul","instructions":[{"x":1},{"y":[{"z":1,"z":2}]}]},"q":{"type":"noul","type":"noul","instructions":"?"}}}`, []string{
			"state.a.b: is given more than once",
			"questions.q.instructions.1.y.0.z: is given more than once",
			"questions.q.type: is given more than once",
			"questions.q: is given more than once",
			"model: is given more than once",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := systemone.Decoder{}.Decode([]byte(c.body))
			assert.Equal(t, c.want, issues(t, err))
		})
	}
}

func TestDecodeLimits(t *testing.T) {
	many := func(n int, item func(i int) string, open, closing string) string {
		var b strings.Builder
		b.WriteString(open)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(item(i))
		}
		return b.String() + closing
	}
	questions := func(n int) string {
		return many(n, func(i int) string { return `"q` + label(i) + `":{"type":"noul","instructions":""}` }, `{`, `}`)
	}
	options := func(n int) string {
		return many(n, func(i int) string { return `"o` + label(i) + `":null` }, `{"q":{"type":"choice","instructions":"","criteria":{`, `}}}`)
	}
	levels := func(n int) string {
		return many(n, func(int) string { return `""` }, `{"q":{"type":"score","instructions":"","criteria":[`, `]}}`)
	}
	small := systemone.Limits{Questions: 2, Options: 3, Levels: 4}
	for _, c := range []struct {
		name   string
		limits systemone.Limits
		body   func(int) string
		most   int
		want   string
	}{
		{"questions", systemone.Limits{}, questions, 1000, "questions: must not have more than 1000 questions"},
		{"options", systemone.Limits{}, options, 255, "questions.q.criteria: must not have more than 255 options"},
		{"levels", systemone.Limits{Levels: -1}, levels, 255, "questions.q.criteria: must not have more than 255 levels"},
		{"2 questions", small, questions, 2, "questions: must not have more than 2 questions"},
		{"3 options", small, options, 3, "questions.q.criteria: must not have more than 3 options"},
		{"4 levels", small, levels, 4, "questions.q.criteria: must not have more than 4 levels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := systemone.Decoder{Limits: c.limits}
			r, err := d.Decode([]byte(asking(c.body(c.most))))
			require.NoError(t, err)
			require.NoError(t, r.Validate(c.limits))
			for _, more := range []int{1, 2, 500} {
				_, err = d.Decode([]byte(asking(c.body(c.most + more))))
				assert.Equal(t, []string{c.want}, issues(t, err))
			}
		})
	}
}

func TestDecodeStopsListing(t *testing.T) {
	const more = ": there are more problems than the 100 listed"
	body := with(`"provider":{"order":[` + strings.Repeat("1,", 200_000) + `1]}`)
	_, err := systemone.Decoder{}.Decode([]byte(body))
	list := issues(t, err)
	require.Len(t, list, 101)
	assert.Equal(t, "provider.order.99: must be a string", list[99])
	assert.Equal(t, more, list[100])

	_, err = systemone.Decoder{}.Decode([]byte(with(`"x":[` + strings.Repeat(`{"a":1,"a":2},`, 200_000) + `1]`)))
	list = issues(t, err)
	require.Len(t, list, 101)
	assert.Equal(t, []string{"x.99.a: is given more than once", more}, list[99:])

	r := byHand()
	r.Questions[2].Levels = slices.Repeat([]json.RawMessage{[]byte("x")}, 200)
	list = issues(t, r.Validate(systemone.Limits{}))
	require.Len(t, list, 101)
	assert.Equal(t, []string{"questions.how.criteria.99: invalid JSON at byte 0: expected a value", more}, list[99:])
}

func TestUnmarshalRequest(t *testing.T) {
	body := []byte(with(`"user":"u"`))
	var r systemone.Request
	require.NoError(t, r.UnmarshalJSON(body))
	clear(body)
	assert.Equal(t, `"s"`, string(r.State), "a copy")
	assert.Equal(t, "u", r.User)

	err := r.UnmarshalJSON([]byte(`{}`))
	require.ErrorIs(t, err, systemone.ErrInvalid)
	assert.Equal(t, "u", r.User, "unchanged")
}

func TestInvalidErrorText(t *testing.T) {
	_, err := systemone.Decoder{}.Decode([]byte(`[]`))
	require.EqualError(t, err, "systemone: invalid request: must be an object")
	_, err = systemone.Decoder{}.Decode([]byte(with(`"user":1,"preset":2`)))
	require.EqualError(t, err, "systemone: invalid request: user: must be a string; preset: must be a string")
}

// TestDecodeBoundsModels: the cost of a list of models and the size of its refusal
// are bounded.
func TestDecodeBoundsModels(t *testing.T) {
	list := func(n int, name string) string {
		return `"models":[` + strings.TrimSuffix(strings.Repeat(`"`+name+`",`, n), ",") + `]`
	}
	r := decode(t, with(list(64, "m")))
	assert.Len(t, r.Models, 64)
	for _, name := range []string{"a", "", strings.Repeat("a", 257)} {
		_, err := systemone.Decoder{}.Decode([]byte(with(list(100_000, name))))
		assert.Contains(t, issues(t, err), "models: must not have more than 64 models")
		assert.LessOrEqual(t, len(paths(t, err)), 66)
	}
	_, err := systemone.Decoder{}.Decode([]byte(`{"model":"` + strings.Repeat("m", 257) + `","state":"s","questions":{"q":{"type":"noul","instructions":"?"}}}`))
	assert.Equal(t, []string{"model: must not be longer than 256 characters"}, issues(t, err))
}
