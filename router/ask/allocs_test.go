//go:build !race

package ask_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router/ask"
)

// TestSheetAllocatesLessThanByHand: a sheet builds its questions once, so it costs
// no more than the call that it replaces. The race detector adds allocations.
func TestSheetAllocatesLessThanByHand(t *testing.T) {
	d := instant()
	sheet, err := ask.NewSheet(Verdict{})
	require.NoError(t, err)
	ctx := t.Context()
	own := testing.AllocsPerRun(100, func() {
		if _, _, err := sheet.Ask(ctx, d, "acme/judge", ticket); err != nil {
			t.Error(err)
		}
	})
	hand := testing.AllocsPerRun(100, func() { byHand(t, d) })
	assert.LessOrEqual(t, own, hand)
	assert.LessOrEqual(t, own, 10.0)
}
