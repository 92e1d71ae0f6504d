package openaidecisions_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// TestUsage: a missing count is distinguished from 0.
func TestUsage(t *testing.T) {
	both := router.Uncounted{Input: true, Output: true}
	ask := func(usage string) (router.Reply, error) {
		body := `{"answers":[{"type":"predicate","name":null,"probability":0.5}]` + usage + `}`
		r := &systemone.Request{State: systemone.Text("x"), Questions: []systemone.Question{{Name: "refund", Kind: systemone.Noul}}}
		return client(t, memory{[]byte(body)}).Decide(t.Context(), router.Attempt{Request: r, Model: "gpt-6-luna"})
	}
	for usage, want := range map[string]struct {
		usage   systemone.Usage
		missing router.Uncounted
	}{
		"":                               {systemone.Usage{}, both},
		`,"usage":null`:                  {systemone.Usage{}, both},
		`,"usage":{}`:                    {systemone.Usage{}, both},
		`,"usage":{"total_tokens":5}`:    {systemone.Usage{}, both},
		`,"usage":{"input_tokens":7}`:    {systemone.Usage{InputTokens: 7}, router.Uncounted{Output: true}},
		`,"usage":{"output_tokens":9.0}`: {systemone.Usage{OutputTokens: 9}, router.Uncounted{Input: true}},
		`,"usage":{"input_tokens":0,"output_tokens":0}`: {systemone.Usage{}, router.Uncounted{}},
		`,"usage":{"input_tokens":1e2,"output_tokens":1,"input_tokens_details":{"cached_tokens":4.0}}`: {
			systemone.Usage{InputTokens: 100, OutputTokens: 1, CachedTokens: 4}, router.Uncounted{},
		},
	} {
		got, err := ask(usage)
		require.NoError(t, err, usage)
		assert.Equal(t, want.usage, got.Usage, usage)
		assert.Equal(t, want.missing, got.Uncounted, usage)
	}
	for _, usage := range []string{`{"input_tokens":1.5}`, `{"output_tokens":-1}`, `{"output_tokens_details":{"reasoning_tokens":"x"}}`} {
		_, err := ask(`,"usage":` + usage)
		failed, ok := errors.AsType[*router.UpstreamError](err)
		require.True(t, ok, usage)
		assert.True(t, failed.BadReply, usage)
	}
}
