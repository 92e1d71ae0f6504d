package geminidecisions_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/geminidecisions"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/systemone"
)

func silent() *tripper {
	return &tripper{answer: func(*http.Request) (*http.Response, error) { return nil, errors.New("enough") }}
}

// sent returns the body that an attempt becomes.
func sent(t *testing.T, a router.Attempt) string {
	t.Helper()
	trip := silent()
	_, err := client(t, trip).Decide(t.Context(), a)
	require.Error(t, err)
	require.True(t, json.Valid([]byte(trip.body)), trip.body)
	return trip.body
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// TestRequest: the whole body, and that neither the user nor any option is in it.
func TestRequest(t *testing.T) {
	trip := silent()
	_, err := client(t, trip).Decide(t.Context(), router.Attempt{
		Request: request(), Model: "gemini-decision-1", User: "u-1", RequestID: "req-1",
		Options: raw(`{"thinkingConfig":{"thinkingLevel":"high"},"model":"x","safetySettings":[]}`),
	})
	require.Error(t, err)
	want := `{"model":"gemini-decision-1","input":[{"type":"text","text":"Paid twice for May, please reverse one charge"}],"questions":{` +
		`"q0":{"type":"noul","instructions":"Does it ask for money back?"},` +
		`"q1":{"type":"choice","instructions":"Owner?","criteria":{"tech":null,"billing":"charges"}},` +
		`"q2":{"type":"score","instructions":"Upset?","criteria":["calm","annoyed","furious"]}}}`
	assert.Equal(t, want, trip.body)
	assert.Equal(t, "https://api.example.com/v1beta/decisions", trip.last.URL.String())
	assert.Equal(t, "sk-canary", trip.last.Header.Get("X-Goog-Api-Key"))
	assert.Empty(t, trip.last.Header.Get("Authorization"))
	for name, values := range trip.last.Header {
		assert.NotContains(t, values, "req-1", name)
	}
}

// TestState: one text part, whatever the state is.
func TestState(t *testing.T) {
	for state, want := range map[string]string{
		`"text \"with\" \u00e9scapes\n"`:  `"text \"with\" \u00e9scapes\n"`,
		`""`:                              `""`,
		`{"n":1.50,"s":"a:b"}`:            `"{\"n\":1.50,\"s\":\"a:b\"}"`,
		`[1,null,{"a":"b"}]`:              `"[1,null,{\"a\":\"b\"}]"`,
		`[{"type":"image","data":"aGk"}]`: `"[{\"type\":\"image\",\"data\":\"aGk\"}]"`,
	} {
		r := request()
		r.State, r.Questions = raw(state), r.Questions[:1]
		assert.Equal(t, `{"model":"m","input":[{"type":"text","text":`+want+
			`}],"questions":{"q0":{"type":"noul","instructions":"Does it ask for money back?"}}}`,
			sent(t, router.Attempt{Request: r, Model: "m"}), state)
	}
}

// TestGuidance: it is text, each in its place.
func TestGuidance(t *testing.T) {
	ask := raw(`"Is it?"`)
	for want, q := range map[string]systemone.Question{
		`{"type":"noul","instructions":"Is it?","criteria":{"true_description":"a \"wish\"","false_description":"no"}}`: {
			Kind: systemone.Noul, Instructions: ask, True: raw(`"a \"wish\""`), False: raw(`"no"`),
		},
		`{"type":"noul","instructions":"Is it?","criteria":{"true_description":"yes"}}`: {
			Kind: systemone.Noul, Instructions: ask, True: raw(`"yes"`),
		},
		`{"type":"noul","instructions":"Is it?","criteria":{"false_description":"{\"say\":[\"no\"]}"}}`: {
			Kind: systemone.Noul, Instructions: ask, True: raw(`null`), False: raw(`{"say":["no"]}`),
		},
		`{"type":"noul","instructions":"{\"ask\":\"it\"}"}`: {Kind: systemone.Noul, Instructions: raw(`{"ask":"it"}`)},
		`{"type":"choice","instructions":"Is it?","criteria":{"true":"{\"a\":1}","a\"b":"","c":null}}`: {
			Kind: systemone.Choice, Instructions: ask,
			Options: []systemone.Option{{Name: "true", Guidance: raw(`{"a":1}`)}, {Name: `a"b`, Guidance: raw(`""`)}, {Name: "c", Guidance: raw(`null`)}},
		},
		`{"type":"score","instructions":"Is it?","criteria":["x","[1]","x"]}`: {
			Kind: systemone.Score, Instructions: ask, Levels: []json.RawMessage{raw(`"x"`), raw(`[1]`), raw(`"x"`)},
		},
	} {
		q.Name = "secret-name"
		body := sent(t, router.Attempt{Request: &systemone.Request{State: raw(`"x"`), Questions: []systemone.Question{q}}, Model: "m"})
		assert.Equal(t, `{"model":"m","input":[{"type":"text","text":"x"}],"questions":{"q0":`+want+`}}`, body)
	}
}

// TestOptionNames: where the dialect does not take one, all options of the choice go by
// their positions, and what they are called is said in words.
func TestOptionNames(t *testing.T) {
	long := strings.Repeat("\u00e9", 128)
	for _, c := range []struct{ name, criteria string }{
		{"billing desk", `{"billing desk":"charges","o0":null}`},
		{long, `{"` + long + `":"charges","o0":null}`},
		{long + "e", `{"o0":"` + long + `e\n\ncharges","o1":"o0"}`},
		{" billing", `{"o0":" billing\n\ncharges","o1":"o0"}`},
		{"billing\n", `{"o0":"billing\n\n\ncharges","o1":"o0"}`},
		{"", `{"o0":"\n\ncharges","o1":"o0"}`},
		{" ", `{"o0":" \n\ncharges","o1":"o0"}`},
	} {
		r := request()
		r.Questions = r.Questions[1:2]
		r.Questions[0].Options = []systemone.Option{{Name: c.name, Guidance: raw(`"charges"`)}, {Name: "o0"}}
		body := sent(t, router.Attempt{Request: r, Model: "m"})
		_, criteria, _ := strings.Cut(body, `"criteria":`)
		assert.Equal(t, c.criteria+`}}}`, criteria, "%q", c.name)
	}
}

// TestRenamedOptionsComeBack under the caller's names, and no other label does.
func TestRenamedOptionsComeBack(t *testing.T) {
	ask := func(answer string) (router.Reply, error) {
		r := request()
		r.Questions = r.Questions[1:2]
		r.Questions[0].Options = []systemone.Option{{Name: "o1"}, {Name: " "}}
		return client(t, memory{[]byte(`{"answers":{"q0":` + answer + `}}`)}).Decide(t.Context(), router.Attempt{Request: r, Model: "m"})
	}
	got, err := ask(`{"type":"choice","choice":"o1","probabilities":{"o0":0.2,"o1":0.8}}`)
	require.NoError(t, err)
	assert.Equal(t, " ", got.Answers[0].Choice)
	assert.Equal(t, []systemone.Probability{{Label: "o1", P: 0.2}, {Label: " ", P: 0.8}}, got.Answers[0].Probabilities)
	for _, answer := range []string{
		`{"type":"choice","choice":" ","probabilities":{"o0":0.2,"o1":0.8}}`,
		`{"type":"choice","choice":"o2","probabilities":{"o0":0.2,"o1":0.8}}`,
		`{"type":"choice","choice":"o1","probabilities":{"o0":0.2," ":0.8}}`,
		`{"type":"choice","choice":"o01","probabilities":{"o0":0.2,"o1":0.8}}`,
	} {
		_, err := ask(answer)
		failed, ok := errors.AsType[*router.UpstreamError](err)
		require.True(t, ok, answer)
		assert.True(t, failed.BadReply && failed.Checked, answer)
	}
}

// TestSoleOption: what has one possible answer is not asked, wherever it stands.
func TestSoleOption(t *testing.T) {
	r := request()
	r.Questions[1].Options = r.Questions[1].Options[:1]
	r.Questions[2].Levels = []json.RawMessage{nil}
	body := sent(t, router.Attempt{Request: r, Model: "m"})
	assert.Equal(t, 1, strings.Count(body, `"instructions"`))

	r.Questions = r.Questions[1:]
	trip := silent()
	got, err := client(t, trip).Decide(t.Context(), router.Attempt{Request: r, Model: "m"})
	require.NoError(t, err)
	require.NoError(t, systemone.Check(r, got.Answers, systemone.Tolerance{}))
	assert.Nil(t, trip.last, "nothing is left to ask")
}

// TestWhatCannotBeExpressedIsNotSent, and does not count against the endpoint.
func TestWhatCannotBeExpressedIsNotSent(t *testing.T) {
	for name, change := range map[string]func(*systemone.Request){
		"no state":        func(r *systemone.Request) { r.State = nil },
		"null state":      func(r *systemone.Request) { r.State = raw(`null`) },
		"no instructions": func(r *systemone.Request) { r.Questions[0].Instructions = nil },
		"no level":        func(r *systemone.Request) { r.Questions[2].Levels[1] = nil },
		"null level":      func(r *systemone.Request) { r.Questions[2].Levels[1] = raw(` null`) },
		"empty level":     func(r *systemone.Request) { r.Questions[2].Levels[1] = raw(` ""`) },
	} {
		r := request()
		change(r)
		trip := silent()
		_, err := client(t, trip).Decide(t.Context(), router.Attempt{Request: r, Model: "m"})
		failed, ok := errors.AsType[*router.UpstreamError](err)
		require.True(t, ok, name)
		assert.Nil(t, trip.last, name)
		assert.True(t, failed.Local, name)
		assert.Equal(t, router.ProviderUnavailable, failed.Class, name)
	}
}

// TestWhatCannotBeExpressedGoesElsewhere: the plan excludes what limits can
// express, and anything else is asked of the next endpoint.
func TestWhatCannotBeExpressedGoesElsewhere(t *testing.T) {
	good := replay(t, "testdata/answer.http")
	gemini := client(t, good).Endpoint("google", "acme/judge", "gemini-decision-1")
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-20260901"}},
		[]router.ProviderInfo{{Slug: "google", Client: client(t, good)}, {Slug: "other", Client: &routertest.Script{}}},
		[]router.Endpoint{gemini, {Provider: "other", Model: "acme/judge", Pricing: router.Pricing{Prompt: router.Dollars("1")}}},
	)
	require.NoError(t, err)
	rt, err := router.New(router.Config{Catalog: catalog})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		change func(*systemone.Request)
		asked  []string
	}{
		"nothing missing":    {func(*systemone.Request) {}, []string{"google"}},
		"no instructions":    {func(r *systemone.Request) { r.Questions[0].Instructions = nil }, []string{"other"}},
		"null level":         {func(r *systemone.Request) { r.Questions[2].Levels[1] = nil }, []string{"other"}},
		"one-sided criteria": {func(r *systemone.Request) { r.Questions[0].True = raw(`"yes"`) }, []string{"other"}},
		"empty level":        {func(r *systemone.Request) { r.Questions[2].Levels[1] = raw(`""`) }, []string{"google", "other"}},
		"long state":         {func(r *systemone.Request) { r.State = systemone.Text(strings.Repeat("word ", 262_144)) }, []string{"other"}},
	} {
		q := request()
		c.change(q)
		q.Dialect, q.Model = systemone.Native, "acme/judge"
		q.Provider = &systemone.Preferences{Sort: systemone.Sort{By: systemone.SortPrice}}
		call := &router.Call{Request: q}
		_, err := rt.Decide(t.Context(), call)
		require.NoError(t, err, name)
		var asked []string
		for _, a := range call.Report.Legs[0].Attempts {
			asked = append(asked, a.Endpoint.Provider)
		}
		assert.Equal(t, c.asked, asked, name)
	}
}

func TestNewRefuses(t *testing.T) {
	for name, cfg := range map[string]geminidecisions.Config{
		"no address": {APIKey: "sk-canary"},
		"userinfo":   {BaseURL: "https://ann:sk-canary@example.com/v1beta", APIKey: "sk-canary"},
		"query":      {BaseURL: "https://example.com/v1beta?key=sk-canary", APIKey: "sk-canary"},
		"no key":     {BaseURL: "https://example.com/v1beta"},
		"broken key": {BaseURL: "https://example.com/v1beta", APIKey: "sk-canary\n"},
	} {
		_, err := geminidecisions.New(cfg)
		require.ErrorIs(t, err, router.ErrConfig, name)
		assert.NotContains(t, err.Error(), "sk-canary", name)
	}
	_, err := geminidecisions.New(geminidecisions.Config{BaseURL: "http://127.0.0.1:8000/v1beta", KeyOptional: true})
	require.NoError(t, err)
}

// TestEndpoint: what the dialect takes is in its endpoints, and what it lacks is not.
func TestEndpoint(t *testing.T) {
	c := client(t, nil)
	catalog, err := router.Single(c, c.Endpoint("google", "google/decision", "gemini-decision-1"))
	require.NoError(t, err)
	e := catalog.Endpoints()[0]
	assert.Equal(t, "gemini-decision-1", e.UpstreamModel)
	assert.Equal(t, router.EndpointLimits{Questions: 1000, Options: 255, Levels: 255, OptionNullsOnly: true}, e.Limits)
	assert.Equal(t, 262_144, e.ContextLength)
	assert.Equal(t, router.Counting{}, e.Counting, "what is counted is the whole context, and states are JSON in JSON")
	assert.Equal(t, systemone.Tolerance{Rounding: 0.01}, e.Tolerance)
	assert.Empty(t, e.Parameters)
	assert.Zero(t, e.Pricing)
}
