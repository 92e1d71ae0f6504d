package guardrails_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// TestAConditionOnARedactedNameTriggers: the stage is asked by the redacted name, and
// legs, triggers and replaced answers have the original one.
func TestAConditionOnARedactedNameTriggers(t *testing.T) {
	const name = "is ann@example.com right?"
	r := newRig(t)
	r.put(t, router.SourceKey, filtering(content.Email, content.Redact))
	engine, _ := newRouter(t, catalogs()["K2"], r.Intercept)
	call := &router.Call{Principal: key("a"), Request: &systemone.Request{
		Model:  modelM,
		Models: []systemone.Entry{{Model: modelN, When: &systemone.Condition{Question: name, ProbabilityBetween: &[2]float64{0.9, 1}}}},
		State:  json.RawMessage(`"s"`),
		Questions: []systemone.Question{
			{Name: name, Kind: systemone.Noul, Instructions: json.RawMessage(`"?"`)},
			{Name: "other", Kind: systemone.Noul, Instructions: json.RawMessage(`"?"`)},
		},
	}}
	res, err := engine.Decide(t.Context(), call)
	require.NoError(t, err)
	assert.Equal(t, name, res.Response.Answers[0].Name)

	require.Len(t, call.Report.Legs, 2)
	second := call.Report.Legs[1]
	assert.Equal(t, []string{name}, second.TriggeredBy)
	assert.Equal(t, []string{name}, second.Asked())
	assert.Equal(t, name, second.Questions[0].Name)
	assert.Equal(t, name, second.Attempts[0].Answers[0].Name)
	from := call.Report.Provenance(0)
	require.NotNil(t, from.Replaced)
	assert.Equal(t, name, from.Replaced.Answer.Name)
	assert.Equal(t, 1, from.Leg)
	assert.Nil(t, call.Report.Provenance(1).Replaced)
}
