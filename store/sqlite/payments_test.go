package sqlite_test

import (
	"context"
	"database/sql"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/sqlstore"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/lease"
	"github.com/signalbox/signalbox/store/sqlite"
)

// looking counts how often holds are looked at.
type looking struct {
	sqlstore.DB

	looks atomic.Int64
}

func (d *looking) RunRows(ctx context.Context, tx sqlstore.Tx, statements ...sqlstore.RowsStatement) error {
	for i := range statements {
		s := &statements[i]
		if len(s.Rows) > 0 && strings.HasPrefix(s.Text, "SELECT") && strings.Contains(s.Text, "FROM holds") {
			d.looks.Add(1)
		}
	}
	return d.DB.RunRows(ctx, tx, statements...)
}

// A settlement of a part waits for the rows of its lines, and looks at the hold
// only when that is not as it should be.
func TestPartsAreSettledWithoutALookAtTheirHold(t *testing.T) {
	t.Parallel()
	pool, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "signalbox.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, pool.Close()) })
	_, err = sqlite.New(t.Context(), pool)
	require.NoError(t, err)
	db := &looking{DB: sqlite.DB(pool)}
	ledger, ok := sqlstore.Set(db).Ledger.(lease.Base)
	require.True(t, ok)

	line := router.Line{Owner: "key:k", Window: "ever"}
	amount := func(of router.USD) router.Amount { return router.Amount{Credit: of, Total: of} }
	hold := func(n byte, of router.USD) router.Hold {
		return router.Hold{ID: uuid.UUID{n}, Lines: []router.Line{line}, Amount: amount(of), Deadline: time.Unix(0, 0)}
	}
	whole := hold(1, 10)
	require.NoError(t, ledger.Reserve(t.Context(), whole))
	for _, step := range []struct {
		part, cost  router.USD
		looks       bool
		spent, held router.USD
	}{
		{4, 3, false, 3, 6},
		{2, 9, false, 12, 4}, // above its hold
		{5, 1, true, 13, 0},  // more than there is
		{0, 1, false, 14, 0},
	} {
		db.looks.Store(0)
		part := hold(byte(2+step.spent), step.part)
		require.NoError(t, ledger.SettlePart(t.Context(), whole.ID, part, amount(step.cost), nil))
		assert.Equal(t, step.looks, db.looks.Load() > 0, step)
		on, err := ledger.Balances(t.Context(), []router.Line{line})
		require.NoError(t, err)
		assert.Equal(t, []router.Balance{{Spent: amount(step.spent), Held: amount(step.held)}}, on)
		db.looks.Store(0)
		require.NoError(t, ledger.SettlePart(t.Context(), whole.ID, part, amount(step.cost), nil))
		assert.Positive(t, db.looks.Load(), "the second time")
	}

	closed := hold(100, 10)
	require.NoError(t, ledger.Reserve(t.Context(), closed))
	other := sqlstore.Set(sqlite.DB(pool)).Ledger // of another process
	n, err := other.Expire(t.Context(), time.Unix(1, 0), 10, router.ExpirePost)
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	db.looks.Store(0)
	require.NoError(t, ledger.SettlePart(t.Context(), closed.ID, hold(101, 4), amount(1), nil))
	assert.Positive(t, db.looks.Load(), "it was closed by another process")
	on, err := ledger.Balances(t.Context(), []router.Line{line})
	require.NoError(t, err)
	assert.Equal(t, []router.Balance{{Spent: amount(14 + 6 + 1)}}, on)

	require.NoError(t, ledger.Reserve(t.Context(), hold(110, 10)))
	db.looks.Store(0)
	require.NoError(t, ledger.SettlePart(t.Context(), uuid.UUID{110}, hold(111, 10), amount(math.MaxInt64), nil))
	assert.Zero(t, db.looks.Load())
	on, err = ledger.Balances(t.Context(), []router.Line{line})
	require.NoError(t, err)
	assert.Equal(t, []router.Balance{{Spent: amount(math.MaxInt64)}}, on, "sums stay at the largest")
}
