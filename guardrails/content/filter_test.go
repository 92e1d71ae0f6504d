package content_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/signalbox/signalbox/guardrails/content"
)

func TestActionsAreReadAsTheyAreWritten(t *testing.T) {
	for _, a := range []content.Action{content.Flag, content.Redact, content.Block} {
		back, ok := content.ParseAction(a.String())
		assert.True(t, ok)
		assert.Equal(t, a, back)
	}
	_, ok := content.ParseAction("Block")
	assert.False(t, ok)
	assert.Equal(t, "block", content.Action(99).String(), "in doubt the stronger one")
}
