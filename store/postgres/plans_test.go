package postgres_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/lease"
	"github.com/signalbox/signalbox/store/postgres"
)

// scans is how often the server has gone by an index.
func scans(t *testing.T, pool *pgxpool.Pool, index string) (n int) {
	t.Helper()
	_, err := pool.Exec(t.Context(), "SELECT pg_stat_force_next_flush()")
	require.NoError(t, err)
	require.NoError(t, pool.QueryRow(t.Context(),
		"SELECT idx_scan FROM pg_stat_user_indexes WHERE schemaname = current_schema() AND indexrelname = $1", index).Scan(&n))
	return n
}

// A plan is made once and kept, while the tables are small. The index of open
// holds is the smallest then, but it is full of those that were open once: only
// those that are due are looked for in it.
func TestHoldsAreFoundByTheirIDs(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{Settings: map[string]string{"pool_max_conns": "1"}}) // it flushes its own statistics
	set, err := postgres.New(t.Context(), pool)
	require.NoError(t, err)
	ledger, ok := set.Ledger.(lease.Base)
	require.True(t, ok)
	hold := func(n ...byte) router.Hold {
		h := router.Hold{
			ID: uuid.UUID(append(make([]byte, 16-len(n)), n...)), Lines: []router.Line{{Owner: "key:k", Window: "ever"}},
			Amount: router.Amount{Credit: 2, Total: 2}, Deadline: time.Unix(60, 0),
		}
		h.Event.ID = h.ID.String()
		return h
	}
	for round, prepare := range []string{"SELECT 1", "ANALYZE", "ANALYZE holds"} {
		_, err := pool.Exec(t.Context(), prepare)
		require.NoError(t, err)
		whole := hold(9, byte(round))
		require.NoError(t, ledger.Reserve(t.Context(), whole))
		for i := range byte(10) {
			h := hold(byte(round), i)
			h.Amount = router.Amount{}
			require.NoError(t, ledger.Reserve(t.Context(), h))
			require.NoError(t, ledger.SettleWith(t.Context(), h.ID, router.Amount{}, []router.Event{h.Event}))
			part := hold(8, byte(round), i)
			part.Amount = router.Amount{}
			require.NoError(t, ledger.SettlePart(t.Context(), whole.ID, part, router.Amount{}, nil))
		}
		assert.Zero(t, scans(t, pool, "holds_open"))
	}
	assert.NotZero(t, scans(t, pool, "holds_pkey"), "there are statistics")
}
