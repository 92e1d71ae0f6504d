package sqlstore_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// However many holds are made between two sweeps, and however few a sweep closes
// at once: those that nobody may ask for any more do not pile up.
func TestExpireForgetsAllThatIsOver(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		made := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		hold := func(until time.Duration) router.Hold {
			h := holdOf(uuid.New(), router.Principal{Account: "a"}, made, 1)
			h.Deadline = made.Add(until)
			require.NoError(t, b.Ledger.Reserve(t.Context(), h))
			return h
		}
		hold(48 * time.Hour) // is open, and older than the others
		var over []router.Hold
		for range 7 {
			h := hold(time.Minute)
			require.NoError(t, b.Ledger.Settle(t.Context(), h.ID, h.Amount))
			over = append(over, h)
		}
		n, err := b.Ledger.Expire(t.Context(), made.Add(25*time.Hour), 2, router.ExpirePost)
		require.NoError(t, err)
		assert.Zero(t, n)
		for i, h := range over {
			assert.ErrorIs(t, b.Ledger.Settle(t.Context(), h.ID, h.Amount), router.ErrNoHold, "hold %d", i)
		}
	})
}

// Of events with one ID, the first is kept, and that is what the rollups count.
func TestOneIDTwiceInABatch(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		h := holdOf(uuid.New(), router.Principal{Account: "a", KeyHash: "k"}, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), 5)
		require.NoError(t, b.Ledger.Reserve(t.Context(), h))
		require.NoError(t, b.Ledger.Settle(t.Context(), h.ID, h.Amount))
		first, second := used(h, 5), used(h, 7)
		require.NoError(t, b.Activity.Record(t.Context(), []router.Event{first, second}))
		found, err := b.verify(t.Context())
		require.NoError(t, err)
		assert.Empty(t, found.Differences)
	})
}

// A machine that slept for days finds its clock far ahead: the calls that were
// under way can still be settled at what they cost.
func TestExpireForgetsNothingThatItCloses(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		h := holdOf(uuid.New(), someone(), noon(), 5)
		require.NoError(t, b.Ledger.Reserve(t.Context(), h))
		n, err := b.Ledger.Expire(t.Context(), noon().AddDate(0, 0, 3), 10, router.ExpirePost)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.NoError(t, b.Ledger.Settle(t.Context(), h.ID, router.Amount{Credit: 2, Total: 2}))
		list, err := b.Ledger.Balances(t.Context(), h.Lines[:1])
		require.NoError(t, err)
		assert.Equal(t, []router.Balance{{Spent: router.Amount{Credit: 2, Total: 2}}}, list)
	})
}
