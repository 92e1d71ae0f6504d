package sqlledger_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
)

// The sums are right before, between and after portions, and an error in the rows that
// are left is still found.
func TestVerifyWhilePruning(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		for day := range 70 {
			require.NoError(t, b.settle(t.Context(), someone(), noon().AddDate(0, 0, -day), 2))
			if day%20 == 0 {
				b.fold(t)
			}
		}
		require.NoError(t, b.Ledger.Reserve(t.Context(), holdOf([16]byte{9}, someone(), noon().AddDate(0, 0, -60), 1)))
		addsUp := func() {
			t.Helper()
			found, err := b.verify(t.Context())
			require.NoError(t, err)
			assert.Empty(t, found.Differences)
		}
		for back := 33; back >= 0; back -= 11 { // each lap cuts a week or a month somewhere
			addsUp()
			for place, first := "", true; first || place != ""; first = false {
				pruned, err := b.Pruner.Prune(t.Context(), noon().AddDate(0, 0, -back), place, 9)
				require.NoError(t, err)
				place = pruned.Next
				addsUp()
			}
		}
		for _, wrong := range []string{
			`UPDATE {carried} SET credit = credit + 1 WHERE win = 'ever'`,
			`UPDATE {lines} SET spent_total = spent_total + 1 WHERE win = '2026-11'`,
		} {
			require.NoError(t, b.exec(t.Context(), wrong))
			found, err := b.verify(t.Context())
			require.NoError(t, err)
			assert.NotEmpty(t, found.Differences, wrong)
		}
	})
}

// A hold that expiry charged may be voided, corrected or settled after its lines were
// pruned: the sums stay right.
func TestVerifyWhatIsClosedAfterItsLinesAreGone(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		addsUp := func() {
			t.Helper()
			found, err := b.verify(t.Context())
			require.NoError(t, err)
			assert.Empty(t, found.Differences)
		}
		lap := func() {
			t.Helper()
			for place, first := "", true; first || place != ""; first = false {
				pruned, err := b.Pruner.Prune(t.Context(), noon().AddDate(0, 2, 0), place, 2)
				require.NoError(t, err)
				place = pruned.Next
				addsUp()
			}
		}
		recorder, ok := b.Ledger.(router.Recorder)
		require.True(t, ok)
		var holds []router.Hold
		for range 4 {
			h := holdOf(uuid.New(), someone(), noon(), 5)
			require.NoError(t, b.Ledger.Reserve(t.Context(), h))
			holds = append(holds, h)
		}
		require.NoError(t, b.Ledger.Void(t.Context(), holds[3].ID))
		n, err := b.Ledger.Expire(t.Context(), holds[0].Deadline.Add(time.Hour), 10, router.ExpirePost)
		require.NoError(t, err)
		require.Equal(t, 3, n)
		lap()
		require.NoError(t, b.Ledger.Void(t.Context(), holds[0].ID))
		addsUp()
		for _, h := range []router.Hold{holds[1], holds[3]} {
			require.NoError(t, recorder.SettleWith(t.Context(), h.ID, router.Amount{Credit: 2, Total: 2}, []router.Event{used(h, 2)}))
			addsUp()
		}
		// One batch with pruned lines and the same lines created again.
		var all sync.WaitGroup
		all.Go(func() { assert.NoError(t, b.Ledger.Void(t.Context(), holds[2].ID)) })
		for range 8 {
			all.Go(func() { assert.NoError(t, b.settle(t.Context(), someone(), noon(), 1)) })
		}
		all.Wait()
		addsUp()
		ever, err := b.Ledger.Balances(t.Context(), []router.Line{router.OwnerAccount.Line(someone(), "ever")})
		require.NoError(t, err)
		assert.Equal(t, router.Balance{Spent: router.Amount{Credit: 2 + 2 + 8, Total: 2 + 2 + 8}}, ever[0])
		lap()
	})
}

// Listed events of a pruned day are not shown, and folding does not bring them back.
func TestListsOfDroppedDays(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		_, err := b.Pruner.Prune(t.Context(), noon().AddDate(0, 0, 1), "", 10)
		require.NoError(t, err)
		require.NoError(t, b.settle(t.Context(), someone(), noon(), 2)) // late
		assert.True(t, b.left(t))
		assert.Empty(t, b.items(t, activity.Range{}))
		b.fold(t)
		assert.Empty(t, b.items(t, activity.Range{}))
		found, err := b.verify(t.Context())
		require.NoError(t, err)
		assert.Empty(t, found.Differences)
	})
}
