package content

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGateSharesPlaces holds that no account takes all places while others wait, that no
// scan waits while a place is free for it, and that a scan whose context ends while it
// waits takes none.
func TestGateSharesPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(3)
		ctx, cancel := context.WithCancel(t.Context())
		errs := make(chan error, 100)
		for range 50 {
			go func() { errs <- g.enter(ctx, "greedy") }()
		}
		synctest.Wait()
		require.Len(t, errs, 2, "half of the places")
		require.NoError(t, g.enter(ctx, "other"), "a place is left")
		go func() { errs <- g.enter(ctx, "third") }()
		synctest.Wait()
		require.Len(t, errs, 2, "all are taken")

		g.leave("greedy")
		synctest.Wait()
		require.Len(t, errs, 3, "the place goes to who waited for it first")
		g.leave("other")
		synctest.Wait()
		require.Len(t, errs, 4)

		cancel()
		synctest.Wait()
		failed := 0
		for range 51 {
			if <-errs != nil {
				failed++
			}
		}
		assert.Equal(t, 47, failed)
		g.leave("third")
		g.leave("greedy")
		g.leave("greedy")
		assert.Empty(t, g.queues)
		assert.Empty(t, g.places)
	})
}

// TestMeterGivesItsPlaceBack holds that only a long scan takes a place, that it gives the
// place to others now and then, and that it holds none afterwards.
func TestMeterGivesItsPlaceBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1)
		turns := []string(nil)
		scan := func(account string) {
			m := newMeter(t.Context(), g, account)
			defer m.stop()
			for range freeChecks - 1 {
				_ = m.charge(checkEvery)
			}
			assert.False(t, m.inside, "little work needs no place")
			for range 3 * turnChecks {
				if m.charge(checkEvery) != nil {
					t.Error(m.err)
				}
				if n := len(turns); n == 0 || turns[n-1] != account {
					turns = append(turns, account)
				}
			}
		}
		require.NoError(t, g.enter(t.Context(), "first"))
		for _, account := range []string{"a", "b"} {
			go scan(account)
			synctest.Wait()
		}
		g.leave("first")
		synctest.Wait()
		assert.Equal(t, []string{"a", "b", "a", "b", "a", "b"}, turns[:6])
		assert.Empty(t, g.queues)
		assert.Empty(t, g.places)
	})
}
