package systemonehttp_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/systemonehttp"
	"github.com/signalbox/signalbox/systemone"
)

// counted asks an upstream that answers with usage, the text of a member or "".
func counted(t *testing.T, p systemonehttp.Profile, usage string) (router.Reply, error) {
	t.Helper()
	body := `{"answers":{"refund":{"type":"noul","noul":0.5}}`
	if usage != "" {
		body += `,"usage":` + usage
	}
	body += "}"
	if p.Envelope.Result != "" {
		body = `{"success":true,"result":` + body + "}"
	}
	r := &systemone.Request{State: systemone.Text("x"), Questions: []systemone.Question{{Name: "refund", Kind: systemone.Noul}}}
	return client(t, p, memory{[]byte(body)}).Decide(t.Context(), router.Attempt{Request: r, Model: "judge-1"})
}

// TestUsage: a missing count is distinguished from 0, for every profile.
func TestUsage(t *testing.T) {
	both := router.Uncounted{Input: true, Output: true}
	for usage, want := range map[string]struct {
		in, out int64
		missing router.Uncounted
	}{
		"":     {0, 0, both},
		"null": {0, 0, both},
		"{}":   {0, 0, both},
		`{"input_tokens":null,"output_tokens":null}`: {0, 0, both},
		`{"input_tokens":7}`:                         {7, 0, router.Uncounted{Output: true}},
		`{"output_tokens":9,"input_tokens":null}`:    {0, 9, router.Uncounted{Input: true}},
		`{"input_tokens":7,"output_tokens":0}`:       {7, 0, router.Uncounted{}},
		`{"input_tokens":0,"output_tokens":0}`:       {0, 0, router.Uncounted{}},
		`{"input_tokens":10.0,"output_tokens":1e2}`:  {10, 100, router.Uncounted{}},
		`{"input\u005ftokens":7}`:                    {7, 0, router.Uncounted{Output: true}},
	} {
		for _, p := range systemonehttp.Profiles() {
			got, err := counted(t, p, usage)
			require.NoError(t, err, usage)
			assert.Equal(t, want.in, got.Usage.InputTokens, usage)
			assert.Equal(t, want.out, got.Usage.OutputTokens, usage)
			assert.Equal(t, want.missing, got.Uncounted, usage)
		}
	}
	for _, usage := range []string{`{"input_tokens":1.5}`, `{"output_tokens":-1}`, `{"input_tokens":"7"}`, `{"output_tokens":1e30}`, `[]`, `7`} {
		_, err := counted(t, profile(t, "typesafe"), usage)
		failed, ok := errors.AsType[*router.UpstreamError](err)
		require.True(t, ok, usage)
		assert.True(t, failed.BadReply, usage)
	}
}

// TestNamesOfCounts: another dialect's names count where the profile lists them.
func TestNamesOfCounts(t *testing.T) {
	const chat = `{"prompt_tokens":7,"completion_tokens":9}`
	got, err := counted(t, profile(t, "typesafe"), chat)
	require.NoError(t, err)
	assert.Equal(t, router.Uncounted{Input: true, Output: true}, got.Uncounted)

	p := profile(t, "systemone")
	got, err = counted(t, p, chat)
	require.NoError(t, err)
	assert.Equal(t, systemone.Usage{InputTokens: 7, OutputTokens: 9}, got.Usage)
	assert.Zero(t, got.Uncounted)
	got, err = counted(t, p, `{"prompt_tokens":7,"input_tokens":5,"completion_tokens":9,"output_tokens":null}`)
	require.NoError(t, err)
	assert.Equal(t, systemone.Usage{InputTokens: 5, OutputTokens: 9}, got.Usage, "its own names go first")
	_, err = counted(t, p, `{"prompt_tokens":1.5}`)
	failed, ok := errors.AsType[*router.UpstreamError](err)
	require.True(t, ok, "%v", err)
	assert.True(t, failed.BadReply)
}

// FuzzUsage: for any usage, a count is the value of its first name that is not
// null, and missing where there is none.
func FuzzUsage(f *testing.F) {
	for _, s := range []string{
		`null`, `{}`, `{"input_tokens":7,"output_tokens":9}`, `{"prompt_tokens":7.0,"completion_tokens":1e1}`, `{"input_tokens":0}`,
		`{"input_tokens":null,"prompt_tokens":3}`, `{"input_tokens":1.5}`, `{"input_tokens":1,"output_tokens":0,"completion_tokens":2}`, `[1]`, `"x"`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, usage string) {
		if usage == "" || systemone.CheckSyntax([]byte(usage)) != nil || strings.Contains(usage, "\\") || len(usage) > 1000 {
			return // the names of counts are taken as they are written
		}
		p, _ := systemonehttp.ProfileByName("systemone")
		got, err := counted(t, p, usage)
		if err != nil {
			_, ok := errors.AsType[*router.UpstreamError](err)
			require.True(t, ok)
			return
		}
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(usage), &members))
		check := func(n int64, missing bool, names ...string) {
			for _, name := range names {
				if value := members[name]; value != nil && string(value) != "null" {
					want, ok := systemone.ParseCount(value)
					require.True(t, ok)
					require.Equal(t, want, n)
					require.False(t, missing)
					return
				}
			}
			require.Zero(t, n)
			require.True(t, missing)
		}
		check(got.Usage.InputTokens, got.Uncounted.Input, "input_tokens", "prompt_tokens")
		check(got.Usage.OutputTokens, got.Uncounted.Output, "output_tokens", "completion_tokens")
	})
}
