package content_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/systemone"
)

// about returns a condition on a noul.
func about(question string) systemone.Condition {
	return systemone.Condition{Question: question, ProbabilityBetween: &[2]float64{0.4, 0.6}}
}

// TestConditionsNameQuestionsAsSent: a condition in any form looks at the redacted name
// of its question. The caller's request does not change.
func TestConditionsNameQuestionsAsSent(t *testing.T) {
	const name, plain = "x@example.com", "plain"
	deep := systemone.Condition{Any: []systemone.Condition{
		about(plain),
		{All: []systemone.Condition{about(name), {ConfidenceBelow: new(0.5)}}},
		{AtLeast: &systemone.AtLeast{Count: 1, Conditions: []systemone.Condition{about(name)}}},
	}}
	single := about(name)
	req := &systemone.Request{
		Model: "a", Models: []systemone.Entry{{Model: "b"}, {Model: "c", When: &deep, Scope: systemone.ScopeAll}, {Model: "d", When: &single, Required: true}},
		State: json.RawMessage(`"s"`),
		Questions: []systemone.Question{
			{Name: plain, Kind: systemone.Noul, Instructions: json.RawMessage(`"?"`)},
			{Name: name, Kind: systemone.Noul, Instructions: json.RawMessage(`"?"`)},
			{Name: "choice", Kind: systemone.Choice, Instructions: json.RawMessage(`"?"`), Options: []systemone.Option{{Name: "a"}}},
		},
	}
	before, err := json.Marshal(req)
	require.NoError(t, err)
	v, err := scanner(t, builtin(content.Email, content.Redact)).Scan(t.Context(), "", req)
	require.NoError(t, err)
	require.NoError(t, v.Request.Validate(systemone.Limits{}), "every condition names a question of the request")

	sent := v.Request.Models
	assert.Equal(t, req.Models[0], sent[0])
	assert.Equal(t, plain, sent[1].When.Any[0].Question)
	assert.Equal(t, "[EMAIL]", sent[1].When.Any[1].All[0].Question)
	assert.Empty(t, sent[1].When.Any[1].All[1].Question)
	assert.Equal(t, "[EMAIL]", sent[1].When.Any[2].AtLeast.Conditions[0].Question)
	assert.Equal(t, systemone.ScopeAll, sent[1].Scope)
	assert.Equal(t, "[EMAIL]", sent[2].When.Question)
	assert.True(t, sent[2].Required)

	after, err := json.Marshal(req)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
}
