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

// scans returns how often the server has used an index.
func scans(t *testing.T, pool *pgxpool.Pool, index string) (n int) {
	t.Helper()
	_, err := pool.Exec(t.Context(), "SELECT pg_stat_force_next_flush()")
	require.NoError(t, err)
	require.NoError(t, pool.QueryRow(t.Context(),
		"SELECT idx_scan FROM pg_stat_user_indexes WHERE schemaname = current_schema() AND indexrelname = $1", index).Scan(&n))
	return n
}

// Plans are made once, while the tables are small, and are kept. The index of open holds is
// the smallest then, but it fills with entries of closed holds. Only the search for due
// holds may use it.
func TestHoldsAreFoundByTheirIDs(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{Settings: map[string]string{"pool_max_conns": "1"}}) // a session flushes its own statistics
	set, err := postgres.New(t.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
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

// However many holds there are, and whatever statistics the server has, a step of
// forgetting reads the next holds by ID and no others.
func TestForgettingReadsNoMoreThanItLooksAt(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{Settings: map[string]string{"pool_max_conns": "1"}})
	set, err := postgres.New(t.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
	require.NoError(t, err)
	const limit = 10
	now := time.Unix(60, 0)
	expire := func() {
		n, err := set.Ledger.Expire(t.Context(), now, limit, router.ExpirePost)
		require.NoError(t, err)
		require.Zero(t, n)
	}
	expire() // plans are made while there are no holds
	for _, prepare := range []string{
		`INSERT INTO holds (id, state, lines, credit, total, deadline)
			SELECT CAST(gen_random_uuid() AS text), 3, '', 1, 1, 60000000 FROM generate_series(1, 5000)`,
		"ANALYZE holds",
	} {
		_, err := pool.Exec(t.Context(), prepare)
		require.NoError(t, err)
		before := holdsRead(t, pool)
		for range 7 { // the server makes a new plan for some of the first, unless it is told to keep one
			expire()
		}
		assert.LessOrEqual(t, holdsRead(t, pool)-before, 7*2*limit)
	}
	// Each hold that is dropped is read twice: to count it and to drop it.
	before := holdsRead(t, pool)
	now = now.Add(25 * time.Hour)
	expire()
	assert.LessOrEqual(t, holdsRead(t, pool)-before, 2*5000)
	var left int
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM holds").Scan(&left))
	assert.Zero(t, left)
}

// holdsRead returns how many rows of holds and entries of their indexes the server has
// read.
func holdsRead(t *testing.T, pool *pgxpool.Pool) (n int) {
	t.Helper()
	_, err := pool.Exec(t.Context(), "SELECT pg_stat_force_next_flush()")
	require.NoError(t, err)
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT seq_tup_read + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes AS i WHERE i.relid = t.relid)
		FROM pg_stat_user_tables AS t WHERE schemaname = current_schema() AND relname = 'holds'`).Scan(&n))
	return n
}
