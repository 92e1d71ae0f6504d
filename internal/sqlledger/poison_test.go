package sqlledger_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/lease"
)

// An event that a roll-up cannot store is refused when it is recorded. In a list it
// would block folding for ever.
func TestRecordRefusesWhatNoRollUpTakes(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		e := used(router.Hold{Event: holdOf([16]byte{1}, someone(), noon(), 1).Event}, 1)
		model, reason := e, e
		model.ID, model.Model = "model", longText()
		reason.ID, reason.Reason = "reason", router.LegReason(longText())
		for _, long := range []router.Event{model, reason} {
			require.Error(t, b.Activity.Record(t.Context(), []router.Event{long}), long.ID)
		}
		require.NoError(t, b.Activity.Record(t.Context(), []router.Event{e}))
		b.fold(t)
		assert.False(t, b.left(t))
		assert.Len(t, b.items(t, activity.Range{}), 1)
	})
}

// What cannot be stored is refused with an error that forbids a retry.
func TestWhatCannotBeStoredIsRefusedForGood(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		base, ok := b.Ledger.(lease.Base)
		require.True(t, ok)
		h := holdOf(uuid.New(), someone(), noon(), 1)
		require.NoError(t, base.Reserve(t.Context(), h))
		e := used(h, 1)
		e.Model = "a\x00b"
		require.ErrorIs(t, base.SettleWith(t.Context(), h.ID, h.Amount, []router.Event{e}), router.ErrFinal)
		part := router.Hold{ID: uuid.New(), Amount: router.Amount{Credit: 2, Total: 1}, Deadline: h.Deadline}
		require.ErrorIs(t, base.SettlePart(t.Context(), h.ID, part, h.Amount, nil), router.ErrFinal)
		require.NoError(t, base.SettleWith(t.Context(), h.ID, h.Amount, []router.Event{used(h, 1)}))
	})
}

// longText returns a text that stays long when it is compressed.
func longText() string {
	var text strings.Builder
	for state := uint64(1); text.Len() < 1<<14; {
		state = state*6364136223846793005 + 1442695040888963407
		text.WriteByte('a' + byte(state>>59)%26)
	}
	return text.String()
}
