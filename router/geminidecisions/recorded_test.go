package geminidecisions_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/geminidecisions"
	"github.com/signalbox/signalbox/systemone"
)

// tripper is a transport in memory that keeps the last request.
type tripper struct {
	answer func(*http.Request) (*http.Response, error)
	last   *http.Request
	body   string
}

func (t *tripper) RoundTrip(r *http.Request) (*http.Response, error) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	t.last, t.body = r, string(data)
	return t.answer(r)
}

// replay answers with a recorded reply.
func replay(t *testing.T, file string) *tripper {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return &tripper{answer: func(r *http.Request) (*http.Response, error) {
		return http.ReadResponse(bufio.NewReader(bytes.NewReader(data)), r)
	}}
}

func client(t testing.TB, trip http.RoundTripper) *geminidecisions.Client {
	t.Helper()
	c, err := geminidecisions.New(geminidecisions.Config{
		BaseURL: "https://api.example.com/v1beta", APIKey: "sk-canary", HTTP: &http.Client{Transport: trip},
	})
	require.NoError(t, err)
	return c
}

// declared is what endpoints of the dialect get.
func declared() router.Endpoint {
	return new(geminidecisions.Client).Endpoint("google", "google/decision", "gemini-decision-1")
}

// request is what every recorded reply answers.
func request() *systemone.Request {
	return &systemone.Request{
		State: systemone.Text("Paid twice for May, please reverse one charge"),
		Questions: []systemone.Question{
			{Name: "refund", Kind: systemone.Noul, Instructions: systemone.Text("Does it ask for money back?")},
			{Name: "desk", Kind: systemone.Choice, Instructions: systemone.Text("Owner?"), Options: []systemone.Option{
				{Name: "tech"}, {Name: "billing", Guidance: systemone.Text("charges")},
			}},
			{Name: "heat", Kind: systemone.Score, Instructions: systemone.Text("Upset?"), Levels: []json.RawMessage{
				systemone.Text("calm"), systemone.Text("annoyed"), systemone.Text("furious"),
			}},
		},
	}
}

func decide(t *testing.T, file string) (router.Reply, error) {
	t.Helper()
	return client(t, replay(t, filepath.Join("testdata", file+".http"))).
		Decide(t.Context(), router.Attempt{Request: request(), Model: "gemini-decision-1"})
}

func TestRecordedAnswers(t *testing.T) {
	for _, file := range []string{"answer", "extremes", "another-order", "no-confidence", "no-usage", "feedback-without-block", "feedback-with-empty-reason"} {
		t.Run(file, func(t *testing.T) {
			got, err := decide(t, file)
			require.NoError(t, err)
			assert.Empty(t, got.Refused)
			assert.Empty(t, got.ID, "a reply has no name")
			assert.Empty(t, got.Model, "a reply does not say what answered")
			want := systemone.Usage{InputTokens: 310, CachedTokens: 256}
			if file == "no-usage" {
				want = systemone.Usage{}
			}
			assert.Equal(t, want, got.Usage)

			answers, err := systemone.Repair(request(), got.Answers, declared().Tolerance)
			require.NoError(t, err)
			noul := 0.97
			if file == "extremes" {
				noul = 0.99
			}
			assert.InDelta(t, noul, answers[0].Noul, 1e-9)
			assert.Equal(t, "billing", answers[1].Choice)
			assert.InDelta(t, 0.72, answers[2].Score, 1e-9)
		})
	}
}

// TestConfidenceIsThePublishedFormula whatever the service calls so: the probability of
// what won.
func TestConfidenceIsThePublishedFormula(t *testing.T) {
	got, err := decide(t, "answer")
	require.NoError(t, err)
	assert.InDelta(t, 0.91, got.Answers[1].Confidence, 1e-9, "the upstream's own figure")
	assert.InDelta(t, 0.68, got.Answers[2].Confidence, 1e-9)
	answers, err := systemone.Repair(request(), got.Answers, declared().Tolerance)
	require.NoError(t, err)
	assert.Zero(t, answers[0].Confidence, "a noul has none")
	assert.InDelta(t, systemone.ChoiceConfidence([]float64{0.09, 0.91}), answers[1].Confidence, 1e-9)
	assert.InDelta(t, systemone.ScoreConfidence([]float64{0.3, 0.68, 0.02}), answers[2].Confidence, 1e-9)
}

// TestABlockedRequestIsRefusedWhole, but for questions that the client answers itself.
func TestABlockedRequestIsRefusedWhole(t *testing.T) {
	for file, said := range map[string]string{"blocked": "The input was blocked by safety filters.", "blocked-empty-answers": ""} {
		got, err := decide(t, file)
		require.NoError(t, err, file)
		assert.Equal(t, []router.Refusal{
			{Question: "refund", Text: said, Safety: true}, {Question: "desk", Text: said, Safety: true}, {Question: "heat", Text: said, Safety: true},
		}, got.Refused, file)
		assert.Empty(t, got.Answers, file)
	}
	got, err := decide(t, "blocked")
	require.NoError(t, err)
	assert.Equal(t, int64(310), got.Usage.InputTokens, "what it read is known")

	r := request()
	r.Questions[1].Options = r.Questions[1].Options[:1]
	got, err = client(t, replay(t, "testdata/blocked.http")).Decide(t.Context(), router.Attempt{Request: r, Model: "m"})
	require.NoError(t, err)
	require.Len(t, got.Refused, 2)
	assert.Equal(t, "refund", got.Refused[0].Question)
	assert.Equal(t, "heat", got.Refused[1].Question)
	require.Len(t, got.Answers, 1)
	assert.Equal(t, "tech", got.Answers[0].Choice)
}

// TestABlockIsForSafety unless its reason says nothing of the kind.
func TestABlockIsForSafety(t *testing.T) {
	for reason, safety := range map[string]bool{
		`"safety"`: true, `"SAFETY"`: true, `"blocklist"`: true, `"prohibited_content"`: true, `"image_safety"`: true,
		`"of the future"`: true, `7`: true, `{}`: true,
		`"other"`: false, `"OTHER"`: false, `"BLOCK_REASON_UNSPECIFIED"`: false, `"blocked_reason_unspecified"`: false,
	} {
		body := `{"prompt_feedback":{"block_reason":` + reason + `,"block_reason_message":["no text"]}}`
		got, err := client(t, memory{[]byte(body)}).Decide(t.Context(), router.Attempt{Request: request(), Model: "m"})
		require.NoError(t, err, reason)
		require.Len(t, got.Refused, 3, reason)
		for _, refused := range got.Refused {
			assert.Equal(t, safety, refused.Safety, reason)
			assert.Empty(t, refused.Text, reason)
		}
	}
}

// TestRecordedBadReplies: whatever is wrong with a reply is found by the client or by
// the check that follows it, and nothing of it stands in the error.
func TestRecordedBadReplies(t *testing.T) {
	files, err := filepath.Glob("testdata/bad-*.http")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".http")
		t.Run(name, func(t *testing.T) {
			got, err := decide(t, name)
			if err == nil {
				require.Error(t, systemone.Check(request(), got.Answers, declared().Tolerance))
				assert.Empty(t, got.Refused)
				return
			}
			failed, ok := errors.AsType[*router.UpstreamError](err)
			require.True(t, ok, "%v", err)
			assert.True(t, failed.BadReply)
			assert.Equal(t, router.ProviderUnavailable, failed.Class)
			assert.Equal(t, http.StatusOK, failed.Status)
			assert.NotContains(t, err.Error(), "canary")
		})
	}
}

func TestRecordedErrors(t *testing.T) {
	for file, want := range map[string]router.UpstreamError{
		"error-wrong-key":     {Status: 400, Class: router.ProviderUnavailable},
		"error-unknown-key":   {Status: 400, Class: router.ProviderUnavailable},
		"error-expired-key":   {Status: 400, Class: router.ProviderUnavailable},
		"error-location":      {Status: 400, Class: router.ProviderUnavailable},
		"error-too-long":      {Status: 400, Class: router.PayloadTooLarge},
		"error-validation":    {Status: 400, Class: router.InvalidRequest},
		"error-permission":    {Status: 403, Class: router.ProviderUnavailable},
		"error-unknown-model": {Status: 404, Class: router.ProviderUnavailable},
		"error-rate-limit":    {Status: 429, Class: router.RateLimitExceeded, RetryAfter: 34400 * time.Millisecond},
		"error-overloaded":    {Status: 503, Class: router.NoCapacity},
		"error-deadline":      {Status: 504, Class: router.Timeout},
	} {
		t.Run(file, func(t *testing.T) {
			_, err := decide(t, file)
			got, ok := errors.AsType[*router.UpstreamError](err)
			require.True(t, ok, "%v", err)
			assert.NotContains(t, err.Error(), "API key")
			got.Err = nil
			assert.Equal(t, want, *got)
		})
	}
}

// TestACallersOwnKeyIsNotTheEndpointsFault: the service answers 400 where others say
// 401, and an endpoint must not lose its place for the key of one caller.
func TestACallersOwnKeyIsNotTheEndpointsFault(t *testing.T) {
	for file, local := range map[string]bool{
		"error-wrong-key": true, "error-unknown-key": true, "error-expired-key": true, "error-location": true,
		"error-validation": false, "error-too-long": false, "error-overloaded": false, "error-unknown-model": false,
	} {
		for own, want := range map[router.Secret]bool{"": false, "AIza-own": local} {
			_, err := client(t, replay(t, "testdata/"+file+".http")).
				Decide(t.Context(), router.Attempt{Request: request(), Model: "m", Credential: own})
			failed, ok := errors.AsType[*router.UpstreamError](err)
			require.True(t, ok, file)
			assert.Equal(t, want, failed.Local, "%s, own key %t", file, own != "")
		}
	}
}

// TestUsage: a count that is not there is told from one that is 0.
func TestUsage(t *testing.T) {
	both := router.Uncounted{Input: true, Output: true}
	ask := func(usage string) (router.Reply, error) {
		body := `{"answers":{"q0":{"type":"noul","noul":0.5,"confidence":0.5}}` + usage + `}`
		r := request()
		r.Questions = r.Questions[:1]
		return client(t, memory{[]byte(body)}).Decide(t.Context(), router.Attempt{Request: r, Model: "m"})
	}
	for usage, want := range map[string]struct {
		usage   systemone.Usage
		missing router.Uncounted
	}{
		"":                                     {systemone.Usage{}, both},
		`,"usage":null`:                        {systemone.Usage{}, both},
		`,"usage":{"total_tokens":5}`:          {systemone.Usage{}, both},
		`,"usage":{"input_tokens":5}`:          {systemone.Usage{}, both},
		`,"usage":{"total_input_tokens":7}`:    {systemone.Usage{InputTokens: 7}, router.Uncounted{Output: true}},
		`,"usage":{"total_output_tokens":9.0}`: {systemone.Usage{OutputTokens: 9}, router.Uncounted{Input: true}},
		`,"usage":{"total_input_tokens":1e2,"total_output_tokens":0,"total_cached_tokens":4.0}`: {
			systemone.Usage{InputTokens: 100, CachedTokens: 4}, router.Uncounted{},
		},
	} {
		got, err := ask(usage)
		require.NoError(t, err, usage)
		assert.Equal(t, want.usage, got.Usage, usage)
		assert.Equal(t, want.missing, got.Uncounted, usage)
	}
	for _, usage := range []string{`{"total_input_tokens":1.5}`, `{"total_output_tokens":-1}`, `{"total_cached_tokens":"x"}`, `[]`} {
		_, err := ask(`,"usage":` + usage)
		failed, ok := errors.AsType[*router.UpstreamError](err)
		require.True(t, ok, usage)
		assert.True(t, failed.BadReply, usage)
	}
}

// FuzzReply: whatever an upstream writes, there is no panic, every failure is
// classed, and every question is answered, refused or the reply is bad.
func FuzzReply(f *testing.F) {
	files, err := filepath.Glob("testdata/*.http")
	require.NoError(f, err)
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		_, body, _ := bytes.Cut(data, []byte("\n\n"))
		f.Add(body, false)
		f.Add([]byte(strings.NewReplacer("billing", "o1", "tech", "o0").Replace(string(body))), true)
	}
	f.Fuzz(func(t *testing.T, body []byte, rename bool) {
		trip := &tripper{answer: func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, ContentLength: -1, Body: io.NopCloser(bytes.NewReader(body))}, nil
		}}
		r := request()
		if rename {
			r.Questions[1].Options[0].Name = " "
		}
		got, err := client(t, trip).Decide(t.Context(), router.Attempt{Request: r, Model: "m"})
		if err != nil {
			if failed, ok := errors.AsType[*router.UpstreamError](err); !ok || !failed.BadReply {
				t.Fatalf("not a bad reply: %v", err)
			}
			return
		}
		if len(got.Refused) > 0 {
			if len(got.Refused) != 3 || len(got.Answers) != 0 {
				t.Fatal("a request is refused in part")
			}
			return
		}
		if fixed, err := systemone.Repair(r, got.Answers, declared().Tolerance); err == nil && len(fixed) != 3 {
			t.Fatal("answers are missing")
		}
	})
}
