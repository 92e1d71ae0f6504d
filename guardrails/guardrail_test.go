package guardrails_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/signalbox/signalbox/guardrails"
)

func TestActionsAreReadAsTheyAreWritten(t *testing.T) {
	for _, a := range []guardrails.Action{guardrails.Flag, guardrails.Redact, guardrails.Block} {
		back, ok := guardrails.ParseAction(a.String())
		assert.True(t, ok)
		assert.Equal(t, a, back)
	}
	_, ok := guardrails.ParseAction("Block")
	assert.False(t, ok)
	assert.Equal(t, "block", guardrails.Action(99).String(), "in doubt the stronger one")
}
