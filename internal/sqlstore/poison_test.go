package sqlstore_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
)

// What no roll-up can take is refused when it is recorded: left for later it
// would keep everything behind it from being moved, for ever.
func TestRecordRefusesWhatNoRollUpTakes(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		e := used(router.Hold{Event: holdOf([16]byte{1}, someone(), noon(), 1).Event}, 1)
		long := e
		long.ID, long.Model = "long", longText()
		require.Error(t, b.Activity.Record(t.Context(), []router.Event{long}))
		require.NoError(t, b.Activity.Record(t.Context(), []router.Event{e}))
		b.fold(t)
		assert.False(t, b.left(t))
		assert.Len(t, b.items(t, activity.Range{}), 1)
	})
}

// longText is long also when it is compressed.
func longText() string {
	var text strings.Builder
	for state := uint64(1); text.Len() < 1<<14; {
		state = state*6364136223846793005 + 1442695040888963407
		text.WriteByte('a' + byte(state>>59)%26)
	}
	return text.String()
}
