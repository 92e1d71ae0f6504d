package openaidecisions_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/openaidecisions"
	"github.com/signalbox/signalbox/systemone"
)

// sent returns the request body of an attempt.
func sent(t *testing.T, a router.Attempt) string {
	t.Helper()
	trip := &tripper{answer: func(*http.Request) (*http.Response, error) { return nil, errors.New("enough") }}
	_, err := client(t, trip).Decide(t.Context(), a)
	require.Error(t, err)
	require.True(t, json.Valid([]byte(trip.body)), trip.body)
	return trip.body
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func TestRequest(t *testing.T) {
	trip := &tripper{answer: func(*http.Request) (*http.Response, error) { return nil, errors.New("enough") }}
	_, err := client(t, trip).Decide(t.Context(), router.Attempt{
		Request: request(), Model: "gpt-6-luna", User: "u-1", RequestID: "req-1",
		Options: raw(`{"prompt_cache_options":{"mode":"explicit"},"model":"x","safety_identifier":"y","prompt_cache_key":"k","zzz":1}`),
	})
	require.Error(t, err)
	want := `{"model":"gpt-6-luna","input":"Paid twice for May, please reverse one charge","questions":[` +
		`{"type":"predicate","instructions":"Does it ask for money back?"},` +
		`{"type":"choice","instructions":"Owner?","choices":[{"value":"billing","description":"charges"},{"value":"tech"}]},` +
		`{"type":"score","instructions":"Upset?","levels":[{"label":"0","description":"calm"},{"label":"1"},{"label":"2","description":"calm"}]}` +
		`],"safety_identifier":"u-1","prompt_cache_key":"k","prompt_cache_options":{"mode":"explicit"}}`
	assert.Equal(t, want, trip.body)
	assert.Equal(t, "https://api.example.com/v1/decisions", trip.last.URL.String())
	assert.Equal(t, "Bearer sk-canary", trip.last.Header.Get("Authorization"))
	assert.Equal(t, "req-1", trip.last.Header.Get("X-Client-Request-Id"))
}

// TestState: text is sent unchanged, objects and arrays of objects as input_json,
// anything else as JSON text.
func TestState(t *testing.T) {
	asJSON := func(s string) string {
		return `[{"role":"user","content":[{"type":"input_json","data":` + s + `}]}]`
	}
	asText := func(s string) string {
		b, err := json.Marshal(s)
		require.NoError(t, err)
		return string(b)
	}
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	many := func(n int) string { return `{"a":[` + strings.Repeat("1,", n-3) + `1]}` }
	long := func(n int) string { return `{"a":"` + strings.Repeat("x", n-8) + `"}` }
	for state, want := range map[string]string{
		`"text \"with\" \u00e9scapes\n"`: `"text \"with\" \u00e9scapes\n"`,
		`""`:                             `""`,
		`{}`:                             asJSON(`{}`),
		`{"n":1.50,"s":"a:b,c"}`:         asJSON(`{"n":1.50,"s":"a:b,c"}`),
		`[{"a":1},{"b":[1,null]}]`:       asJSON(`[{"a":1},{"b":[1,null]}]`),
		`[]`:                             asText(`[]`),
		`[1,"a"]`:                        asText(`[1,"a"]`),
		`[{"a":1},2]`:                    asText(`[{"a":1},2]`),
		`null`:                           asText(`null`),
		`[` + strings.Repeat(`{"a":{}},`, 99) + `{}]`: asJSON(`[` + strings.Repeat(`{"a":{}},`, 99) + `{}]`),
		deep(32):          asJSON(deep(32)),
		deep(33):          asText(deep(33)),
		many(10_000):      asJSON(many(10_000)),
		many(10_001):      asText(many(10_001)),
		long(256 << 10):   asJSON(long(256 << 10)),
		long(256<<10 + 1): asText(long(256<<10 + 1)),
		`{"a" : "x"` + strings.Repeat(" ", 300<<10) + `}`: asJSON(`{"a" : "x"` + strings.Repeat(" ", 300<<10) + `}`),
	} {
		r := request()
		r.State = raw(state)
		body := sent(t, router.Attempt{Request: r, Model: "m"})
		_, rest, _ := strings.Cut(body, `"input":`)
		got, _, _ := strings.Cut(rest, `,"questions":[{"type":"predicate"`)
		assert.Equal(t, want, got, "state %.60s", state)
	}
}

// TestGuidance: criteria follow the instructions, structured guidance becomes
// text or input_json, missing instructions become a sentence.
func TestGuidance(t *testing.T) {
	for want, q := range map[string]systemone.Question{
		`{"type":"predicate","instructions":"Is it?\n\nCriteria for true:\na \"wish\"\n\nCriteria for false:\nno"}`: {
			Kind: systemone.Noul, Instructions: raw(`"Is it?"`), True: raw(`"a \"wish\""`), False: raw(`"no"`),
		},
		`{"type":"predicate","instructions":"Is it?\n\nCriteria for false:\n{\"say\":[\"no\"]}"}`: {
			Kind: systemone.Noul, Instructions: raw(`"Is it?"`), False: raw(`{"say":["no"]}`),
		},
		`{"type":"predicate","instructions":[{"type":"input_json","data":{"ask":"it"}}]}`: {
			Kind: systemone.Noul, Instructions: raw(`{"ask":"it"}`),
		},
		`{"type":"predicate","instructions":[{"type":"input_json","data":{"ask":"it"}},{"type":"input_text","text":"Criteria for true:\nyes\n\nCriteria for false:\nno"}]}`: {
			Kind: systemone.Noul, Instructions: raw(`{"ask":"it"}`), True: raw(`"yes"`), False: raw(`"no"`),
		},
		`{"type":"predicate","instructions":"[\"Is it?\",\"Judge.\"]\n\nCriteria for true:\nyes"}`: {
			Kind: systemone.Noul, Instructions: raw(`["Is it?","Judge."]`), True: raw(`"yes"`),
		},
		`{"type":"predicate","instructions":"Is this true of the input?\n\nCriteria for true:\nyes"}`: {
			Kind: systemone.Noul, True: raw(`"yes"`),
		},
		`{"type":"choice","instructions":"Choose the value that fits best.","choices":[{"value":"true","description":"{\"a\":1}"},{"value":"a\"b"},{"value":"c"}]}`: {
			Kind: systemone.Choice, Options: []systemone.Option{{Name: "true", Guidance: raw(`{"a":1}`)}, {Name: `a"b`, Guidance: raw(`""`)}, {Name: "c"}},
		},
		`{"type":"score","instructions":"Choose the level that fits best.","levels":[{"label":"0","description":"x"},{"label":"1","description":"[1]"}]}`: {
			Kind: systemone.Score, Levels: []json.RawMessage{raw(`"x"`), raw(`[1]`)},
		},
	} {
		q.Name = "secret-name"
		body := sent(t, router.Attempt{Request: &systemone.Request{State: raw(`"x"`), Questions: []systemone.Question{q}}, Model: "m"})
		assert.Equal(t, `{"model":"m","input":"x","questions":[`+want+`]}`, body)
	}
}

func TestUserThatIsTooLong(t *testing.T) {
	for n, ok := range map[int]bool{0: false, 1: true, 128: true, 129: false} {
		body := sent(t, router.Attempt{Request: request(), Model: "m", User: strings.Repeat("u", n)})
		assert.Equal(t, ok, strings.Contains(body, "safety_identifier"), n)
	}
}

// TestSoleOption: a question with one possible answer is not sent, wherever it
// stands.
func TestSoleOption(t *testing.T) {
	r := request()
	r.Questions[1].Options = r.Questions[1].Options[:1]
	r.Questions[2].Levels = r.Questions[2].Levels[:1]
	body := sent(t, router.Attempt{Request: r, Model: "m"})
	assert.Equal(t, 1, strings.Count(body, `"instructions"`))

	r.Questions = r.Questions[1:]
	trip := replay(t, "testdata/answer.http")
	got, err := client(t, trip).Decide(t.Context(), router.Attempt{Request: r, Model: "m"})
	require.NoError(t, err)
	require.NoError(t, systemone.Check(r, got.Answers, systemone.Tolerance{}))
	assert.Nil(t, trip.last, "nothing is left to ask")

	r = request()
	r.Questions[0], r.Questions[1] = r.Questions[1], r.Questions[0]
	r.Questions[0].Options = r.Questions[0].Options[:1]
	body = sent(t, router.Attempt{Request: r, Model: "m"})
	assert.Less(t, strings.Index(body, "money back"), strings.Index(body, "Upset?"))
	assert.NotContains(t, body, "Owner?")
	assert.Len(t, r.Questions, 3, "the attempt is not changed")
}

func TestNewRefuses(t *testing.T) {
	for name, cfg := range map[string]openaidecisions.Config{
		"no address": {APIKey: "sk-canary"},
		"userinfo":   {BaseURL: "https://ann:sk-canary@example.com/v1", APIKey: "sk-canary"},
		"query":      {BaseURL: "https://example.com/v1?key=sk-canary", APIKey: "sk-canary"},
		"no key":     {BaseURL: "https://example.com/v1"},
		"broken key": {BaseURL: "https://example.com/v1", APIKey: "sk-canary\n"},
	} {
		_, err := openaidecisions.New(cfg)
		require.ErrorIs(t, err, router.ErrConfig, name)
		assert.NotContains(t, err.Error(), "sk-canary", name)
	}
	_, err := openaidecisions.New(openaidecisions.Config{BaseURL: "http://127.0.0.1:8000/v1", KeyOptional: true})
	require.NoError(t, err)
}

// twoDecimals is the tolerance that endpoints of the dialect get.
func twoDecimals() systemone.Tolerance {
	return new(openaidecisions.Client).Endpoint("openai", "openai/luna", "").Tolerance
}

// TestEndpoint: endpoints have the limits of the dialect.
func TestEndpoint(t *testing.T) {
	c, err := openaidecisions.New(openaidecisions.Config{BaseURL: "https://api.openai.com/v1", APIKey: "sk-1"})
	require.NoError(t, err)
	catalog, err := router.Single(c, c.Endpoint("openai", "openai/luna", "gpt-6-luna"))
	require.NoError(t, err)
	e := catalog.Endpoints()[0]
	assert.Equal(t, "gpt-6-luna", e.UpstreamModel)
	assert.Equal(t, []string{"user"}, e.Parameters)
	assert.Equal(t, router.EndpointLimits{Questions: 400, Options: 255, Levels: 10}, e.Limits)
	assert.InDelta(t, 0.01, e.Tolerance.Rounding, 0)
}
