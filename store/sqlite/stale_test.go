package sqlite_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// Once a hold is forgotten its ID may be used for a hold on other lines. What a process
// remembers of the first hold must not count.
func TestAnotherHoldUnderTheSameID(t *testing.T) {
	t.Parallel()
	ledger, other, _ := newLooking(t)
	lines := []router.Line{{Owner: "key:a", Window: "ever"}, {Owner: "key:b", Window: "ever"}}
	hold := func(n byte, on router.Line) router.Hold {
		return router.Hold{ID: uuid.UUID{n}, Lines: []router.Line{on}, Amount: amount(4), Deadline: time.Unix(0, 0)}
	}
	ctx := t.Context()
	for n := range byte(3) {
		require.NoError(t, ledger.Reserve(ctx, hold(n, lines[0])))
		require.NoError(t, other.Void(ctx, uuid.UUID{n}))
	}
	_, err := other.Expire(ctx, time.Unix(0, 0).Add(25*time.Hour), 10, router.ExpirePost)
	require.NoError(t, err)
	for n := range byte(3) {
		require.NoError(t, other.Reserve(ctx, hold(n, lines[1])))
	}

	require.NoError(t, ledger.Settle(ctx, uuid.UUID{0}, amount(3)))
	require.NoError(t, ledger.Void(ctx, uuid.UUID{1}))
	require.NoError(t, ledger.SettlePart(ctx, uuid.UUID{2}, hold(9, router.Line{}), amount(2), nil))
	require.NoError(t, ledger.Void(ctx, uuid.UUID{2}))
	on, err := ledger.Balances(ctx, lines)
	require.NoError(t, err)
	assert.Equal(t, []router.Balance{{}, {Spent: amount(3 + 2)}}, on)
}
