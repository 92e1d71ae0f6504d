package postgres_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/internal/sqlstore"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/postgres"
)

// heard records the statements of WriteRows and the lines that they change.
type heard struct {
	sqldb.DB

	last  []string
	lines []int64
}

func (h *heard) WriteRows(ctx context.Context, statements ...sqldb.RowsStatement) error {
	for _, s := range statements {
		if len(s.Rows) > 0 {
			h.last = append(h.last, s.Text)
		}
		if !strings.HasPrefix(s.Text, "UPDATE {lines}") {
			continue
		}
		for _, row := range s.Rows {
			id, _ := row[0].(int64)
			h.lines = append(h.lines, id)
		}
	}
	return h.DB.WriteRows(ctx, statements...)
}

// Lines are changed last and from the highest id to the lowest, so that an account's
// line, which most callers wait for, is locked for the shortest time. Transactions that
// load lines lock them in the same order, so that they do not deadlock.
func TestLinesAreChangedLastAndTheYoungestFirst(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{})
	_, err := postgres.New(t.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
	require.NoError(t, err)
	db := &heard{DB: postgres.DB(pool)}
	ledger := sqlstore.Set(db).Ledger
	p := router.Principal{Account: "a", Workspace: "w", Member: "m", KeyHash: "k"}
	for n := range byte(3) { // the first creates the lines
		h := router.Hold{ID: uuid.UUID{n + 1}, Amount: router.Amount{Credit: 1, Total: 1}, Deadline: time.Unix(60, 0)}
		for _, owner := range []router.Owner{router.OwnerWorkspace, router.OwnerAccount, router.OwnerKey, router.OwnerMember} {
			h.Lines = append(h.Lines, owner.Line(p, "ever"), owner.Line(p, "2026-11"))
		}
		require.NoError(t, ledger.Reserve(t.Context(), h))
		db.last, db.lines = nil, nil
		require.NoError(t, ledger.Settle(t.Context(), h.ID, h.Amount))
		require.Len(t, db.lines, len(h.Lines))
		assert.True(t, slices.IsSortedFunc(db.lines, func(a, b int64) int { return int(b - a) }), db.lines)
		assert.Contains(t, db.last[len(db.last)-1], "UPDATE {lines}")
		var account, key int64
		of := "SELECT min(id) FROM lines WHERE owner = $1"
		require.NoError(t, pool.QueryRow(t.Context(), of, "account:a").Scan(&account))
		require.NoError(t, pool.QueryRow(t.Context(), of, "key:k").Scan(&key))
		assert.Less(t, account, key)
	}
}
