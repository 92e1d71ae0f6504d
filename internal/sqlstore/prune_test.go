package sqlstore_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The books add up before, between any two portions and after; and what is wrong
// with what is left is still found.
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
				did, err := b.Pruner.Prune(t.Context(), noon().AddDate(0, 0, -back), place, 9)
				require.NoError(t, err)
				place = did.Next
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
