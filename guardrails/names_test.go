package guardrails_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// TestNamesComeBack sends a request through a router. Redacted names have their original
// form in the answers and in the report, and a legend is as it was sent upstream.
func TestNamesComeBack(t *testing.T) {
	r := newRig(t)
	r.put(t, router.SourceKey, filtering(content.Email, content.Redact))
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	req := &systemone.Request{
		Models: systemone.Texts(modelM), State: raw(`{"ann@example.com":{"x":1},"[EMAIL]":2,"bob@example.com":3}`),
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
			c.Report.Legs = []*router.Leg{{Attempts: []router.AttemptRecord{{}, {Answers: given}}}}
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
	assert.Equal(t, want, call.Report.Legs[0].Attempts[1].Answers)
	assert.Equal(t, "[EMAIL_3]", given[0].Name, "what an observer may have kept stays as it was")
}
