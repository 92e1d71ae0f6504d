package proofs

import (
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// Each engine implements every store. The suite would skip a nil field.
func TestEnginesKeepEverything(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, e engine) {
		t.Helper()
		set := reflect.ValueOf(e.one)
		for i := range set.NumField() {
			assert.False(t, set.Field(i).IsNil(), set.Type().Field(i).Name)
		}
	})
}

// Two programs reserve the same hold at once, under a limit with room for one. Both
// succeed, because a hold does not count against itself.
func TestAHoldIsNotInItsOwnWay(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, e engine) {
		t.Helper()
		line := router.Line{Owner: "key:k", Window: "ever"}
		h := router.Hold{
			Lines: []router.Line{line}, Caps: []router.Cap{{Line: line, Max: 1}},
			Amount: router.Amount{Credit: 1, Total: 1}, Deadline: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
		}
		for range 50 {
			h.ID = uuid.New()
			var rivals sync.WaitGroup
			for _, ledger := range []router.Ledger{e.one.Ledger, e.other.Ledger, e.one.Ledger, e.other.Ledger} {
				rivals.Go(func() { assert.NoError(t, ledger.Reserve(t.Context(), h)) })
			}
			rivals.Wait()
			require.NoError(t, e.one.Ledger.Void(t.Context(), h.ID))
		}
	})
}
