package openaidecisions_test

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
	"github.com/signalbox/signalbox/router/openaidecisions"
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

func client(t *testing.T, trip http.RoundTripper) *openaidecisions.Client {
	t.Helper()
	c, err := openaidecisions.New(openaidecisions.Config{
		BaseURL: "https://api.example.com/v1", APIKey: "sk-canary", HTTP: &http.Client{Transport: trip},
	})
	require.NoError(t, err)
	return c
}

// request is the request that every recorded reply answers.
func request() *systemone.Request {
	return &systemone.Request{
		State: systemone.Text("Paid twice for May, please reverse one charge"),
		Questions: []systemone.Question{
			{Name: "refund", Kind: systemone.Noul, Instructions: systemone.Text("Does it ask for money back?")},
			{Name: "desk", Kind: systemone.Choice, Instructions: systemone.Text("Owner?"), Options: []systemone.Option{
				{Name: "billing", Guidance: systemone.Text("charges")}, {Name: "tech"},
			}},
			{Name: "heat", Kind: systemone.Score, Instructions: systemone.Text("Upset?"), Levels: []json.RawMessage{
				systemone.Text("calm"), nil, systemone.Text("calm"),
			}},
		},
	}
}

func decide(t *testing.T, file string) (router.Reply, error) {
	t.Helper()
	return client(t, replay(t, filepath.Join("testdata", file+".http"))).
		Decide(t.Context(), router.Attempt{Request: request(), Model: "gpt-6-luna"})
}

func TestRecordedAnswers(t *testing.T) {
	for _, file := range []string{"answer", "levels-in-another-order", "levels-without-labels", "no-usage"} {
		t.Run(file, func(t *testing.T) {
			got, err := decide(t, file)
			require.NoError(t, err)
			require.NoError(t, systemone.Check(request(), got.Answers, twoDecimals()))
			assert.Empty(t, got.Refused)
			assert.InDelta(t, 0.97, got.Answers[0].Noul, 1e-9)
			assert.Equal(t, "billing", got.Answers[1].Choice)
			assert.InDelta(t, 0.91, got.Answers[1].Confidence, 1e-9, "the upstream's own figure")
			assert.InDelta(t, 0.72, got.Answers[2].Score, 1e-9)
			assert.Equal(t, "req_42", got.ID)
			assert.Equal(t, "gpt-6-luna-2026-10-01", got.Model)
			want := systemone.Usage{InputTokens: 310, OutputTokens: 58, CachedTokens: 256, ReasoningTokens: 12}
			if file == "no-usage" {
				want = systemone.Usage{}
			}
			assert.Equal(t, want, got.Usage)
		})
	}
}

func TestRecordedRefusal(t *testing.T) {
	got, err := decide(t, "refusal")
	require.NoError(t, err)
	assert.Equal(t, []router.Refusal{{Question: "desk"}}, got.Refused)
	require.Len(t, got.Answers, 2)
	assert.Equal(t, "refund", got.Answers[0].Name)
	assert.Equal(t, "heat", got.Answers[1].Name)
}

// TestRecordedBadReplies: every problem of a reply is detected, and the error
// contains nothing of it.
func TestRecordedBadReplies(t *testing.T) {
	files, err := filepath.Glob("testdata/bad-*.http")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".http")
		t.Run(name, func(t *testing.T) {
			_, err := decide(t, name)
			got, ok := errors.AsType[*router.UpstreamError](err)
			require.True(t, ok, "%v", err)
			assert.True(t, got.BadReply)
			assert.Equal(t, router.ProviderUnavailable, got.Class)
			assert.Equal(t, http.StatusOK, got.Status)
			assert.NotContains(t, err.Error(), "sk-canary")
		})
	}
}

func TestRecordedErrors(t *testing.T) {
	for file, want := range map[string]router.UpstreamError{
		"error-unknown-model":     {Status: 404, Class: router.ProviderUnavailable},
		"error-unknown-model-400": {Status: 400, Class: router.ProviderUnavailable},
		"error-too-long":          {Status: 400, Class: router.PayloadTooLarge},
		"error-validation":        {Status: 400, Class: router.InvalidRequest},
		"error-wrong-key":         {Status: 401, Class: router.ProviderUnavailable},
		"error-rate-limit":        {Status: 429, Class: router.RateLimitExceeded, RetryAfter: 861 * time.Millisecond},
		"error-overloaded":        {Status: 503, Class: router.NoCapacity},
	} {
		t.Run(file, func(t *testing.T) {
			_, err := decide(t, file)
			got, ok := errors.AsType[*router.UpstreamError](err)
			require.True(t, ok, "%v", err)
			assert.NotContains(t, err.Error(), "sk-canary")
			got.Err = nil
			assert.Equal(t, want, *got)
		})
	}
}

// FuzzReply: for any reply the client does not panic and every failure has a class.
// Every question is answered or refused, or the reply is bad.
func FuzzReply(f *testing.F) {
	files, err := filepath.Glob("testdata/*.http")
	require.NoError(f, err)
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		_, body, _ := bytes.Cut(data, []byte("\n\n"))
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		trip := &tripper{answer: func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, ContentLength: -1, Body: io.NopCloser(bytes.NewReader(body))}, nil
		}}
		got, err := client(t, trip).Decide(t.Context(), router.Attempt{Request: request(), Model: "gpt-6-luna"})
		if err != nil {
			if failed, ok := errors.AsType[*router.UpstreamError](err); !ok || !failed.BadReply {
				t.Fatalf("not a bad reply: %v", err)
			}
			return
		}
		if len(got.Answers)+len(got.Refused) != 3 {
			t.Fatal("a question is neither answered nor refused")
		}
	})
}
