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

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/internal/sqlstore"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/lease"
	"github.com/signalbox/signalbox/store/sqlite"
)

// looking counts the statements that read holds.
type looking struct {
	sqldb.DB

	looks atomic.Int64
}

func (d *looking) RunRows(ctx context.Context, tx sqldb.Tx, statements ...sqldb.RowsStatement) error {
	for i := range statements {
		s := &statements[i]
		if len(s.Rows) > 0 && strings.HasPrefix(s.Text, "SELECT") && strings.Contains(s.Text, "FROM {holds}") {
			d.looks.Add(1)
		}
	}
	return d.DB.RunRows(ctx, tx, statements...)
}

// newLooking returns a ledger whose reads are counted, and the ledger of another process
// on the same file.
func newLooking(t *testing.T) (ledger, other lease.Base, db *looking) {
	t.Helper()
	pool, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "signalbox.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, pool.Close()) })
	_, err = sqlite.New(t.Context(), pool, sqlite.Config{})
	require.NoError(t, err)
	db = &looking{DB: sqlite.DB(pool)}
	ledger, ok := sqlstore.Set(db).Ledger.(lease.Base)
	require.True(t, ok)
	other, ok = sqlstore.Set(sqlite.DB(pool)).Ledger.(lease.Base)
	require.True(t, ok)
	return ledger, other, db
}

func amount(of router.USD) router.Amount { return router.Amount{Credit: of, Total: of} }

// The fast path reads no hold. It is left when a hold is not as this process wrote it,
// or a line has no room.
func TestFastPathReadsNoHolds(t *testing.T) {
	t.Parallel()
	ledger, other, db := newLooking(t)
	line := router.Line{Owner: "key:k", Window: "ever"}
	limit := router.USD(10)
	hold := func(n byte, of router.USD) router.Hold {
		return router.Hold{
			ID: uuid.UUID{n}, Lines: []router.Line{line}, Caps: []router.Cap{{Line: line, Max: limit}},
			Amount: amount(of), Deadline: time.Unix(0, 0),
		}
	}
	ctx := t.Context()
	full := func(err error) {
		t.Helper()
		var refusal *router.LimitError
		require.ErrorAs(t, err, &refusal)
	}
	require.NoError(t, ledger.Reserve(ctx, hold(1, 1))) // creates the line
	for _, step := range []struct {
		what  string
		do    func()
		looks bool
	}{
		{"a hold", func() { require.NoError(t, ledger.Reserve(ctx, hold(2, 4))) }, false},
		{"the same once more", func() { require.NoError(t, ledger.Reserve(ctx, hold(2, 4))) }, true},
		{"what has room to the cent", func() { require.NoError(t, ledger.Reserve(ctx, hold(3, 5))) }, false},
		{"what has none", func() { full(ledger.Reserve(ctx, hold(4, 1))) }, true},
		{"a settlement", func() { require.NoError(t, ledger.Settle(ctx, uuid.UUID{3}, amount(2))) }, false},
		{"the same settlement", func() { require.NoError(t, ledger.Settle(ctx, uuid.UUID{3}, amount(2))) }, true},
		{"another one", func() { require.ErrorIs(t, ledger.Settle(ctx, uuid.UUID{3}, amount(1)), router.ErrConflict) }, true},
		{"a line that had no room", func() { require.NoError(t, ledger.Reserve(ctx, hold(5, 1))) }, true},
		{"a line that has some again", func() { require.NoError(t, ledger.Reserve(ctx, hold(6, 1))) }, false},
		{"what is given back", func() { require.NoError(t, ledger.Void(ctx, uuid.UUID{6})) }, false},
		{"a call above its hold", func() { require.NoError(t, ledger.Settle(ctx, uuid.UUID{5}, amount(3))) }, false},
		{"a hold that another process made", func() {
			require.NoError(t, other.Reserve(ctx, hold(7, 0)))
			require.NoError(t, ledger.Void(ctx, uuid.UUID{7}))
		}, true},
		{"a hold that another process closed", func() {
			require.NoError(t, other.Void(ctx, uuid.UUID{2}))
			require.NoError(t, ledger.Settle(ctx, uuid.UUID{2}, amount(1)))
		}, true},
		{"room that another process took", func() {
			require.NoError(t, other.Reserve(ctx, hold(8, 3)))
			full(ledger.Reserve(ctx, hold(9, 1)))
		}, true},
		{"a limit that is another one", func() {
			limit = 20
			require.NoError(t, ledger.Reserve(ctx, hold(10, 1)))
			require.NoError(t, ledger.Reserve(ctx, hold(11, 1)))
			limit = 12
			full(ledger.Reserve(ctx, hold(12, 1)))
		}, true},
	} {
		db.looks.Store(0)
		step.do()
		assert.Equal(t, step.looks, db.looks.Load() > 0, step.what)
	}
	on, err := ledger.Balances(ctx, []router.Line{line})
	require.NoError(t, err)
	assert.Equal(t, []router.Balance{{Spent: amount(2 + 3 + 1), Held: amount(1 + 3 + 1 + 1)}}, on)
}

// Settling a part takes the fast path unless the whole hold is not as this process wrote
// it.
func TestPartsAreSettledOnTheFastPath(t *testing.T) {
	t.Parallel()
	ledger, other, db := newLooking(t)
	line := router.Line{Owner: "key:k", Window: "ever"}
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
		{2, 9, false, 12, 4}, // costs more than the part
		{5, 1, true, 13, 0},  // the part is more than what is left
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
	require.NoError(t, ledger.SettlePart(t.Context(), uuid.UUID{110}, hold(111, 10), amount(math.MaxInt64), nil))
	on, err = ledger.Balances(t.Context(), []router.Line{line})
	require.NoError(t, err)
	assert.Equal(t, []router.Balance{{Spent: amount(math.MaxInt64)}}, on, "sums stay at the largest")
}
