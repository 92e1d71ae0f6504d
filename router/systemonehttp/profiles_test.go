package systemonehttp_test

import (
	"bufio"
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
	"github.com/signalbox/signalbox/router/systemonehttp"
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
	data, err := os.ReadFile(filepath.Join("testdata", file+".http"))
	require.NoError(t, err)
	return &tripper{answer: func(r *http.Request) (*http.Response, error) {
		return http.ReadResponse(bufio.NewReader(strings.NewReader(string(data))), r)
	}}
}

func client(t *testing.T, p systemonehttp.Profile, trip http.RoundTripper) *systemonehttp.Client {
	t.Helper()
	c, err := systemonehttp.New(systemonehttp.Config{
		BaseURL: "https://api.example.com/v1", APIKey: "sk-canary", Profile: p, HTTP: &http.Client{Transport: trip},
	})
	require.NoError(t, err)
	return c
}

func profile(t *testing.T, name string) systemonehttp.Profile {
	t.Helper()
	p, ok := systemonehttp.ProfileByName(name)
	require.True(t, ok, name)
	return p
}

// request is the request that every recorded reply answers.
func request() *systemone.Request {
	return &systemone.Request{
		State: json.RawMessage(`{"ticket":"Paid twice for May, please reverse one charge"}`),
		Questions: []systemone.Question{
			{Name: "refund", Kind: systemone.Noul, Instructions: systemone.Text("Does `ticket` ask for money back?")},
			{Name: "desk", Kind: systemone.Choice, Instructions: systemone.Text("Owner?"), Options: []systemone.Option{
				{Name: "billing", Guidance: systemone.Text("charges")}, {Name: "tech"},
			}},
			{Name: "heat", Kind: systemone.Score, Instructions: systemone.Text("Upset?"), Levels: []json.RawMessage{
				systemone.Text("calm"), systemone.Text("annoyed"), systemone.Text("furious"),
			}},
		},
	}
}

// TestRecordedAnswers: the replies of every upstream are read and pass the check
// with the profile's tolerance.
func TestRecordedAnswers(t *testing.T) {
	for file, want := range map[string]router.Reply{
		"typesafe/answer":        {ID: "req_0123456789abcdef0123456789abcdef", Model: "jev-1.13.0", Usage: systemone.Usage{InputTokens: 310, OutputTokens: 58}},
		"openrouter/answer":      {ID: "gen-dec-1763719200-AbCdEf", Model: "typesafe/jev-1.13-20260901", Usage: systemone.Usage{InputTokens: 310, OutputTokens: 58, Cost: "0.00001302"}},
		"openrouter/silence":     {ID: "gen-dec-2", Model: "typesafe/jev-1.13-20260901", Refused: []router.Refusal{{Question: "desk"}}, Usage: systemone.Usage{InputTokens: 310, OutputTokens: 40, Cost: "0.00001302"}},
		"fireworks/answer":       {Model: "accounts/acme/models/rune", Usage: systemone.Usage{InputTokens: 300, OutputTokens: 3}},
		"perplexity/answer":      {ID: "7d0c1a52-6d1c-4b8e-9a51-2b7a0f6f3c11", Model: "pplx-decider-v1-27b", Usage: systemone.Usage{InputTokens: 290, OutputTokens: 3}},
		"upstage/answer":         {Model: "solar-decide-260922", Usage: systemone.Usage{InputTokens: 305}},
		"cloudflare-clef/answer": {ID: "f0e1d2c3-b4a5-9687-7869-5a4b3c2d1e0f", Model: "clef", Usage: systemone.Usage{InputTokens: 280}},
		"ollama/answer":          {Model: "tev:2b", Usage: systemone.Usage{InputTokens: 421, OutputTokens: 7}},
		"signalbox/answer":       {ID: "gen-dec-019aa0000000700080000000000000ab", Model: "acme/judge-20260901", Usage: systemone.Usage{InputTokens: 310, OutputTokens: 3, Cost: "0.000013"}},
		"systemone/colibri":      {ID: "dec-1", Model: "anything", Usage: systemone.Usage{InputTokens: 310, OutputTokens: 3, Cost: "0"}},
		"systemone/sglang":       {Model: "m"},
	} {
		t.Run(file, func(t *testing.T) {
			p := profile(t, filepath.Dir(file))
			r := request()
			got, err := client(t, p, replay(t, file)).Decide(t.Context(), router.Attempt{Request: r, Model: "judge-1"})
			require.NoError(t, err)
			assert.Equal(t, want.ID, got.ID)
			assert.Equal(t, want.Model, got.Model)
			assert.Equal(t, want.Usage, got.Usage)
			assert.Equal(t, want.Refused, got.Refused)
			if want.Refused == nil {
				require.NoError(t, systemone.Check(r, got.Answers, p.Tolerance))
				assert.InDelta(t, 0.97, got.Answers[0].Noul, 0.005)
				assert.Equal(t, "billing", got.Answers[1].Choice)
				assert.InDelta(t, 0.72, got.Answers[2].Score, 0.005)
			}
			for _, a := range got.Answers {
				assert.Nil(t, a.Legend)
			}
		})
	}
}

// TestRecordedFailures: the classes of the upstreams' errors.
func TestRecordedFailures(t *testing.T) {
	for file, want := range map[string]router.UpstreamError{
		"typesafe/missing-key":             {Status: 403, Class: router.ProviderUnavailable},
		"typesafe/wrong-key":               {Status: 401, Class: router.ProviderUnavailable},
		"typesafe/validation":              {Status: 422, Class: router.InvalidRequest},
		"typesafe/unknown-model":           {Status: 400, Class: router.ProviderUnavailable},
		"typesafe/too-many-tokens":         {Status: 400, Class: router.PayloadTooLarge},
		"typesafe/too-many-tokens-older":   {Status: 400, Class: router.PayloadTooLarge},
		"typesafe/rate-limit":              {Status: 429, Class: router.RateLimitExceeded, RetryAfter: 12 * time.Second},
		"typesafe/overloaded":              {Status: 529, Class: router.ProviderOverloaded, RetryAfter: 350 * time.Millisecond},
		"openrouter/no-credits":            {Status: 402, Class: router.ProviderUnavailable},
		"openrouter/unknown-model":         {Status: 400, Class: router.ProviderUnavailable},
		"openrouter/provider-error":        {Status: 502, Class: router.ProviderUnavailable},
		"openrouter/edge-timeout":          {Status: 504, Class: router.Timeout},
		"fireworks/unsupported-model":      {Status: 400, Class: router.ProviderUnavailable},
		"fireworks/image":                  {Status: 400, Class: router.InvalidRequest},
		"perplexity/too-long":              {Status: 400, Class: router.PayloadTooLarge},
		"perplexity/unknown-field":         {Status: 400, Class: router.InvalidRequest},
		"perplexity/stalled-image":         {Status: 504, Class: router.Timeout},
		"upstage/wrong-key":                {Status: 401, Class: router.ProviderUnavailable},
		"cloudflare-clef/failed":           {Status: 200, Class: router.ProviderUnavailable, BadReply: true},
		"cloudflare-clef/failed-too-large": {Status: 200, Class: router.PayloadTooLarge},
		"cloudflare-clef/too-large":        {Status: 413, Class: router.PayloadTooLarge},
		"cloudflare-clef/too-large-400":    {Status: 400, Class: router.PayloadTooLarge},
		"cloudflare-clef/validation":       {Status: 422, Class: router.InvalidRequest},
		"cloudflare-clef/no-envelope":      {Status: 200, Class: router.ProviderUnavailable, BadReply: true},
		"cloudflare-clef/empty-envelope":   {Status: 200, Class: router.ProviderUnavailable, BadReply: true},
		"ollama/not-pulled":                {Status: 404, Class: router.ProviderUnavailable},
		"ollama/cannot-decide":             {Status: 400, Class: router.ProviderUnavailable},
		"ollama/bad-json":                  {Status: 400, Class: router.InvalidRequest},
		"ollama/too-large":                 {Status: 413, Class: router.PayloadTooLarge},
		"ollama/runner":                    {Status: 500, Class: router.ProviderUnavailable},
		"signalbox/unknown-model":          {Status: 400, Class: router.ProviderUnavailable},
		"signalbox/validation":             {Status: 400, Class: router.InvalidRequest},
		"signalbox/no-capacity":            {Status: 503, Class: router.NoCapacity, RetryAfter: 30 * time.Second},
		"systemone/both-envelopes":         {Status: 422, Class: router.InvalidRequest},
		"systemone/cut":                    {Status: 200, Class: router.ProviderUnavailable, BadReply: true},
		"systemone/page":                   {Status: 200, Class: router.ProviderUnavailable, BadReply: true},
		"systemone/negative-usage":         {Status: 200, Class: router.ProviderUnavailable, BadReply: true},
		"systemone/string-numbers":         {Status: 200, Class: router.ProviderUnavailable, BadReply: true, Checked: true},
		"systemone/answers-twice":          {Status: 200, Class: router.ProviderUnavailable, BadReply: true},
	} {
		t.Run(file, func(t *testing.T) {
			p := profile(t, filepath.Dir(file))
			_, err := client(t, p, replay(t, file)).Decide(t.Context(), router.Attempt{Request: request(), Model: "judge-1"})
			got, ok := errors.AsType[*router.UpstreamError](err)
			require.True(t, ok, "%v", err)
			assert.NotContains(t, err.Error(), "sk-canary")
			assert.Equal(t, want, router.UpstreamError{
				Status: got.Status, Class: got.Class, RetryAfter: got.RetryAfter, BadReply: got.BadReply, Checked: got.Checked,
			})
		})
	}
}

// TestEveryRecordIsReplayed: every recorded file is read by some test.
func TestEveryRecordIsReplayed(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.http")
	require.NoError(t, err)
	source, err := os.ReadFile("profiles_test.go")
	require.NoError(t, err)
	for _, f := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(f), "testdata/"), ".http")
		assert.Contains(t, string(source), `"`+name+`"`)
	}
}

// TestUnusableNames: names and costs that are not plain text are dropped, the
// answers are kept.
func TestUnusableNames(t *testing.T) {
	got, err := client(t, profile(t, "openrouter"), replay(t, "openrouter/no-distribution")).
		Decide(t.Context(), router.Attempt{Request: request()})
	require.NoError(t, err)
	require.Error(t, systemone.Check(request(), got.Answers, systemone.Tolerance{}))
	require.NoError(t, systemone.Check(request(), got.Answers, systemone.Tolerance{NoDistribution: true}))

	got, err = client(t, profile(t, "systemone"), replay(t, "systemone/terminal-codes")).
		Decide(t.Context(), router.Attempt{Request: request()})
	require.NoError(t, err)
	assert.Empty(t, got.ID)
	assert.Empty(t, got.Model)
	assert.NoError(t, systemone.Check(request(), got.Answers, systemone.Tolerance{Rounding: 0.01}))
}
