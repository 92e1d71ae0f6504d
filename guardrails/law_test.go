package guardrails_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/openaidecisions"
	"github.com/signalbox/signalbox/router/systemonehttp"
	"github.com/signalbox/signalbox/systemone"
)

// wire records what a client sends, and answers nothing.
type wire struct{ bodies [][]byte }

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	w.bodies = append(w.bodies, append([]byte(r.URL.String()+"\n"), body...))
	return nil, errors.New("no answer")
}

func upstreams(t testing.TB) (*wire, []router.Provider) {
	t.Helper()
	w := &wire{}
	profile, ok := systemonehttp.ProfileByName("systemone")
	require.True(t, ok)
	native, err := systemonehttp.New(systemonehttp.Config{BaseURL: "http://upstream.example/v1", Profile: profile, HTTP: &http.Client{Transport: w}})
	require.NoError(t, err)
	decisions, err := openaidecisions.New(openaidecisions.Config{BaseURL: "http://upstream.example/v1", APIKey: "k", HTTP: &http.Client{Transport: w}})
	require.NoError(t, err)
	return w, []router.Provider{native, decisions}
}

// everyText returns every string, name and number in a JSON text, and those in
// strings that hold JSON themselves.
func everyText(v any) []string {
	switch v := v.(type) {
	case string:
		list := []string{v}
		var inner any
		d := json.NewDecoder(strings.NewReader(v))
		d.UseNumber()
		if d.Decode(&inner) == nil {
			if _, text := inner.(string); !text {
				list = append(list, everyText(inner)...)
			}
		}
		return list
	case json.Number:
		return []string{v.String()}
	case []any:
		var list []string
		for _, e := range v {
			list = append(list, everyText(e)...)
		}
		return list
	case map[string]any:
		var list []string
		for k, e := range v {
			list = append(append(list, k), everyText(e)...)
		}
		return list
	}
	return nil
}

// TestWhatWasFoundIsNotSent holds every byte that goes upstream to what was
// planted: whatever a filter finds is gone, wherever it stood and however it was
// disguised.
func TestWhatWasFoundIsNotSent(t *testing.T) {
	w, providers := upstreams(t)
	rapid.Check(t, func(rt *rapid.T) {
		s := secrets().Draw(rt, "secret")
		req, where := planted(rt, s)
		require.NoError(rt, req.Validate(systemone.Limits{}), where)
		s.filter.Action = guardrails.Action(rapid.IntRange(0, 2).Draw(rt, "action"))
		scanner, err := guardrails.NewScanner([]guardrails.Filter{s.filter}, guardrails.ScanConfig{})
		require.NoError(rt, err)
		before, err := json.Marshal(req)
		require.NoError(rt, err)
		v, err := scanner.Scan(rt.Context(), req)
		require.NoError(rt, err)
		after, err := json.Marshal(req)
		require.NoError(rt, err)
		require.Equal(rt, string(before), string(after), "a request never changes")
		require.NotEmpty(rt, v.Findings, "%s: nothing was found in %s", where, before)
		if s.filter.Action != guardrails.Redact {
			require.Same(rt, req, v.Request)
			require.Equal(rt, s.filter.Action == guardrails.Block, v.Blocked != nil)
			return
		}
		require.NoError(rt, v.Request.Validate(systemone.Limits{}))
		var options json.RawMessage
		if p := v.Request.Provider; p != nil {
			options = p.Options[0].Options
		}
		w.bodies = w.bodies[:0]
		for _, p := range providers {
			for _, state := range []json.RawMessage{v.Request.State, systemone.UnwrapParts(v.Request.State)} {
				_, err := p.Decide(rt.Context(), router.Attempt{
					Model: "m", Request: &systemone.Request{State: state, Questions: v.Request.Questions}, Options: options,
				})
				require.Error(rt, err)
			}
		}
		require.Len(rt, w.bodies, 4)
		for _, body := range w.bodies {
			require.True(rt, utf8.Valid(body))
			_, sent, _ := bytes.Cut(body, []byte("\n"))
			require.NotContains(rt, letters(string(body)), s.core, "%s", body)
			var tree any
			d := json.NewDecoder(bytes.NewReader(sent))
			d.UseNumber()
			require.NoError(rt, d.Decode(&tree))
			for _, text := range everyText(tree) {
				require.NotContains(rt, letters(text), s.core, "%s: %s", where, sent)
			}
		}
	})
}

// TestNamesComeBack asks a router: names that are redacted are in the answer and
// in the report as they came, a legend is as it was sent.
func TestNamesComeBack(t *testing.T) {
	r := newRig(t)
	r.put(t, router.SourceKey, filtering(guardrails.Email, guardrails.Redact))
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	req := &systemone.Request{
		Models: []string{modelM}, State: raw(`{"ann@example.com":{"x":1},"[EMAIL]":2,"bob@example.com":3}`),
		Questions: []systemone.Question{
			{Name: "is ann@example.com right?", Kind: systemone.Noul, Instructions: raw(`"?"`)},
			{Name: "bob@example.com", Kind: systemone.Choice, Instructions: raw(`"?"`), Options: []systemone.Option{{Name: "c@example.com"}, {Name: "[EMAIL]"}, {Name: "d@example.com"}, {Name: "plain"}}},
			{Name: "[EMAIL]", Kind: systemone.Score, Instructions: raw(`"?"`), Levels: []json.RawMessage{raw(`"e@example.com"`), raw(`"none"`)}},
			{Name: "eve@example.com", Kind: systemone.Noul, Instructions: raw(`"?"`)},
		},
	}
	before, err := json.Marshal(req)
	require.NoError(t, err)
	var sent *systemone.Request
	given := systemone.Answers{
		{Name: "[EMAIL_3]", Kind: systemone.Noul, Noul: 0.5},
		{Name: "[EMAIL_2]", Kind: systemone.Choice, Choice: "[EMAIL_3]", Probabilities: []systemone.Probability{{Label: "[EMAIL_2]", P: .1}, {Label: "[EMAIL]", P: .2}, {Label: "[EMAIL_3]", P: .6}, {Label: "plain", P: .1}}},
		{Name: "[EMAIL]", Kind: systemone.Score, Legend: []json.RawMessage{raw(`"[EMAIL]"`), raw(`"none"`)}},
		{Name: "is [EMAIL] right?", Kind: systemone.Noul, Noul: 1},
	}
	catch := func(_ router.Decider) router.Decider {
		return func(_ context.Context, c *router.Call) (*router.Result, error) {
			sent = c.Request
			c.Report.Attempts = []router.AttemptRecord{{}, {Answers: given}}
			return &router.Result{Response: systemone.Response{Answers: given}}, nil
		}
	}
	engine, _ := newRouter(t, catalogs()["K1"], r.Intercept, catch)
	call := &router.Call{Request: req, Principal: key("a")}
	res, err := engine.Decide(t.Context(), call)
	require.NoError(t, err)

	assert.Equal(t, `{"[EMAIL_2]":{"x":1},"[EMAIL]":2,"[EMAIL_3]":3}`, string(sent.State))
	var names []string
	for _, q := range sent.Questions {
		names = append(names, q.Name)
	}
	assert.Equal(t, []string{"is [EMAIL] right?", "[EMAIL_2]", "[EMAIL]", "[EMAIL_3]"}, names)
	after, err := json.Marshal(req)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after), "the caller's request is never changed")

	want := systemone.Answers{
		{Name: "eve@example.com", Kind: systemone.Noul, Noul: 0.5},
		{Name: "bob@example.com", Kind: systemone.Choice, Choice: "d@example.com", Probabilities: []systemone.Probability{{Label: "c@example.com", P: .1}, {Label: "[EMAIL]", P: .2}, {Label: "d@example.com", P: .6}, {Label: "plain", P: .1}}},
		{Name: "[EMAIL]", Kind: systemone.Score, Legend: []json.RawMessage{raw(`"[EMAIL]"`), raw(`"none"`)}},
		{Name: "is ann@example.com right?", Kind: systemone.Noul, Noul: 1},
	}
	assert.Equal(t, want, res.Response.Answers)
	assert.Equal(t, want, call.Report.Attempts[1].Answers)
	assert.Equal(t, "[EMAIL_3]", given[0].Name, "what an observer may have kept stays as it was")
}
