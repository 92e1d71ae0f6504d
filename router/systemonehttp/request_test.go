package systemonehttp_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/router/systemonehttp"
	"github.com/signalbox/signalbox/systemone"
)

const canonicalBody = `{"model":"judge-1","state":{"ticket":"Paid twice for May, please reverse one charge"},"questions":{` +
	`"refund":{"type":"noul","instructions":"Does ` + "`ticket`" + ` ask for money back?"},` +
	`"desk":{"type":"choice","instructions":"Owner?","criteria":{"billing":"charges","tech":null}},` +
	`"heat":{"type":"score","instructions":"Upset?","criteria":["calm","annoyed","furious"]}}`

// echo answers every request as asked, in the canonical form.
func echo(r *systemone.Request) *tripper {
	return &tripper{answer: func(*http.Request) (*http.Response, error) {
		body := (&systemone.Response{Model: "m", Answers: routertest.Answers(r)}).AppendJSON(nil)
		return &http.Response{StatusCode: http.StatusOK, ContentLength: -1, Body: io.NopCloser(strings.NewReader(string(body)))}, nil
	}}
}

// TestRequest: what each upstream is sent, byte for byte.
func TestRequest(t *testing.T) {
	for _, c := range []struct {
		profile, options, url, id, extra string
	}{
		{profile: "systemone", options: `{"keep_alive":1,"zzz":1}`, url: "/v1/systemone"},
		{profile: "typesafe", url: "/v1/systemone"},
		{profile: "openrouter", options: `{"zzz":1,"provider":{"zdr":true},"session_id":"x"}`, url: "/v1/systemone", extra: `,"user":"u-1","provider":{"zdr":true}`},
		{profile: "fireworks", options: `{"safety_identifier":"x"}`, url: "/v1/systemone"},
		{profile: "perplexity", url: "/v1/decisions"},
		{profile: "upstage", url: "/v1/systemone"},
		{profile: "cloudflare-clef", options: `{"images":["x"]}`, url: "/v1/ai/run/judge-1"},
		{profile: "ollama", options: `{"model":"x","state":"y","zzz":1,"keep_alive":"5m"}`, url: "/v1/systemone", extra: `,"keep_alive":"5m"`},
		{profile: "signalbox", url: "/v1/systemone", id: "req-1", extra: `,"user":"u-1"`},
	} {
		t.Run(c.profile, func(t *testing.T) {
			r := request()
			trip := &tripper{answer: func(*http.Request) (*http.Response, error) { return nil, errors.New("enough") }}
			_, err := client(t, profile(t, c.profile), trip).Decide(t.Context(), router.Attempt{
				Request: r, Model: "judge-1", User: "u-1", RequestID: "req-1", Options: json.RawMessage(c.options),
			})
			require.Error(t, err)
			assert.Equal(t, canonicalBody+c.extra+"}", trip.body)
			assert.Equal(t, http.MethodPost, trip.last.Method)
			assert.Equal(t, "https://api.example.com"+c.url, trip.last.URL.String())
			assert.Equal(t, "Bearer sk-canary", trip.last.Header.Get("Authorization"))
			assert.Equal(t, c.id, trip.last.Header.Get("X-Request-Id"))
		})
	}
}

// TestR24c: options reach the upstream only where its profile names them, and never
// replace a member of the request.
func TestR24c(t *testing.T) {
	p := systemonehttp.Profile{Options: []string{"zzz"}}
	trip := echo(request())
	_, err := client(t, p, trip).Decide(t.Context(), router.Attempt{
		Request: request(), Model: "judge-1", Options: json.RawMessage(`{"model":"x","state":"y","zzz":1,"other":2}`),
	})
	require.NoError(t, err)
	assert.Equal(t, canonicalBody+`,"zzz":1}`, trip.body)

	for _, name := range []string{"model", "models", "state", "questions", "user", "session_id", "trace", "preset", "me"} {
		_, err := systemonehttp.New(systemonehttp.Config{
			BaseURL: "https://api.example.com/v1", APIKey: "sk-canary", Profile: systemonehttp.Profile{User: "me", Options: []string{name}},
		})
		require.ErrorIs(t, err, router.ErrConfig, name)
	}
}

// TestModelInPath: a model's name cannot change any other part of the address.
func TestModelInPath(t *testing.T) {
	p := profile(t, "cloudflare-clef")
	for model, ok := range map[string]bool{
		"@cf/cloudflare/clef": true, "clef-flash": true,
		"": false, "../../../user/tokens": false, "a/../b": false, "a?b": false, "a#b": false, "a%2f..": false, "a b": false, "\u00e9": false,
	} {
		trip := replay(t, "cloudflare-clef/answer")
		_, err := client(t, p, trip).Decide(t.Context(), router.Attempt{Request: request(), Model: model})
		if ok {
			require.NoError(t, err, model)
			assert.Equal(t, "/v1/ai/run/"+model, trip.last.URL.Path)
			continue
		}
		got, is := errors.AsType[*router.UpstreamError](err)
		require.True(t, is, model)
		assert.Equal(t, router.ProviderUnavailable, got.Class)
		assert.Nil(t, trip.last, "nothing is sent")
	}
}

// TestPlainNames: names that the upstream refuses are replaced in the request and
// restored in the reply, even where one looks like a replacement.
func TestPlainNames(t *testing.T) {
	r := request()
	r.Questions[0].Name = "q2"
	r.Questions[1].Name = "is it billing?"
	p := systemonehttp.Profile{PlainNames: 5, SilenceRefuses: true}
	trip := &tripper{answer: func(*http.Request) (*http.Response, error) {
		sent := *r
		sent.Questions = append([]systemone.Question(nil), r.Questions[:2]...)
		answers := routertest.Answers(&sent)
		answers[0].Name, answers[1].Name = "q0", "q1"
		body := (&systemone.Response{Answers: answers}).AppendJSON(nil)
		return &http.Response{StatusCode: http.StatusOK, ContentLength: -1, Body: io.NopCloser(strings.NewReader(string(body)))}, nil
	}}
	got, err := client(t, p, trip).Decide(t.Context(), router.Attempt{Request: r, Model: "judge-1"})
	require.NoError(t, err)
	assert.Contains(t, trip.body, `"questions":{"q0":{"type":"noul"`)
	assert.NotContains(t, trip.body, "billing?")
	require.Len(t, got.Answers, 2)
	assert.Equal(t, "q2", got.Answers[0].Name)
	assert.Equal(t, "is it billing?", got.Answers[1].Name)
	assert.Equal(t, []router.Refusal{{Question: "heat"}}, got.Refused)
	assert.Equal(t, "is it billing?", r.Questions[1].Name, "the attempt is not changed")

	for _, plain := range []string{"q", "a.b-_", "AZ09z"} {
		r := request()
		r.Questions = r.Questions[:1]
		r.Questions[0].Name = plain
		trip := echo(r)
		_, err := client(t, p, trip).Decide(t.Context(), router.Attempt{Request: r, Model: "judge-1"})
		require.NoError(t, err)
		assert.Contains(t, trip.body, `{"`+plain+`":`, "a plain name goes as it is")
	}
}

// TestNoSoleOption: a question with one possible answer is not sent.
func TestNoSoleOption(t *testing.T) {
	p := systemonehttp.Profile{NoSoleOption: true}
	r := request()
	r.Questions[1].Options = r.Questions[1].Options[:1]
	r.Questions[2].Levels = r.Questions[2].Levels[:1]
	first := *r
	first.Questions = r.Questions[:1]
	trip := echo(&first)
	got, err := client(t, p, trip).Decide(t.Context(), router.Attempt{Request: r, Model: "judge-1"})
	require.NoError(t, err)
	require.NoError(t, systemone.Check(r, got.Answers, systemone.Tolerance{}))
	assert.NotContains(t, trip.body, "desk")
	assert.NotContains(t, trip.body, "heat")

	r.Questions = r.Questions[1:]
	trip = echo(r)
	got, err = client(t, p, trip).Decide(t.Context(), router.Attempt{Request: r, Model: "judge-1"})
	require.NoError(t, err)
	require.NoError(t, systemone.Check(r, got.Answers, systemone.Tolerance{}))
	assert.Nil(t, trip.last, "nothing is left to ask")
}

func TestNewRefuses(t *testing.T) {
	for name, cfg := range map[string]systemonehttp.Config{
		"no address":    {APIKey: "sk-canary"},
		"userinfo":      {BaseURL: "https://ann:sk-canary@example.com/v1", APIKey: "sk-canary"},
		"query":         {BaseURL: "https://example.com/v1?key=sk-canary", APIKey: "sk-canary"},
		"no key":        {BaseURL: "https://example.com/v1"},
		"broken key":    {BaseURL: "https://example.com/v1", APIKey: "sk-canary\n"},
		"key for none":  {BaseURL: "https://example.com/v1", APIKey: "sk-canary", Profile: systemonehttp.Profile{Auth: systemonehttp.NoAuth}},
		"unnamed":       {BaseURL: "https://example.com/v1", APIKey: "sk-canary", Profile: systemonehttp.Profile{Auth: systemonehttp.KeyInHeader}},
		"unknown auth":  {BaseURL: "https://example.com/v1", APIKey: "sk-canary", Profile: systemonehttp.Profile{Auth: "digest"}},
		"unusual path":  {BaseURL: "https://example.com/v1", APIKey: "sk-canary", Profile: systemonehttp.Profile{Path: "/a?k=v"}},
		"relative path": {BaseURL: "https://example.com/v1", APIKey: "sk-canary", Profile: systemonehttp.Profile{Path: "systemone"}},
	} {
		_, err := systemonehttp.New(cfg)
		require.ErrorIs(t, err, router.ErrConfig, name)
		assert.NotContains(t, err.Error(), "sk-canary", name)
	}
}

// TestProfiles: names are unique, limits are plausible, and changing a returned
// profile does not change the ready ones.
func TestProfiles(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range systemonehttp.Profiles() {
		assert.False(t, seen[p.Name], p.Name)
		seen[p.Name] = true
		assert.Equal(t, p.Name == "cloudflare-clef" || p.Name == "ollama", p.NoOwnKeys, p.Name)
	}
	for _, want := range []string{
		"systemone", "typesafe", "openrouter", "fireworks", "perplexity", "upstage", "cloudflare-clef", "ollama", "signalbox",
	} {
		assert.True(t, seen[want], want)
	}
	_, ok := systemonehttp.ProfileByName("nobody")
	assert.False(t, ok)
	p, _ := systemonehttp.ProfileByName("openrouter")
	p.Options[0] = "model"
	again, _ := systemonehttp.ProfileByName("openrouter")
	assert.Equal(t, "provider", again.Options[0])
}
