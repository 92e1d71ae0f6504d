package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/postgres"
)

// Expire does not drop a claim that replaced an old one meanwhile. The server checks a
// locked row again after the wait, but not against the subquery that selected it.
func TestExpiryLeavesClaimsThatWereJustTaken(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{})
	set, err := postgres.New(t.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
	require.NoError(t, err)
	ledger, ok := set.Ledger.(router.Replies)
	require.True(t, ok)
	was := time.Unix(1_700_000_000, 0)
	now := was.Add(2 * router.RepliesKept)
	claim := router.Claim{
		Key: router.ReplyKey{Account: "a", KeyHash: "k", Key: "key"}, Hold: uuid.UUID{1},
		Now: was, Deadline: was.Add(time.Minute), Most: 5,
	}
	_, err = ledger.Claim(t.Context(), claim)
	require.NoError(t, err)

	rival, err := pool.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = rival.Rollback(context.Background()) })
	_, err = rival.Exec(t.Context(), "UPDATE replies SET hold = $1, made = $2, deadline = $3",
		uuid.UUID{2}.String(), now.UnixMicro(), now.Add(time.Minute).UnixMicro())
	require.NoError(t, err)
	expired := make(chan error, 1)
	go func() {
		_, err := set.Ledger.Expire(context.Background(), now, 10, router.ExpirePost)
		expired <- err
	}()
	require.Eventually(t, func() (waits bool) {
		err := pool.QueryRow(t.Context(), "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"+
			" AND wait_event_type = 'Lock' AND query LIKE 'DELETE FROM %replies%')").Scan(&waits)
		return err == nil && waits || len(expired) > 0
	}, 10*time.Second, time.Millisecond)
	require.NoError(t, rival.Commit(t.Context()))
	require.NoError(t, <-expired)

	claim.Now, claim.Deadline, claim.Hold = now, now.Add(time.Minute), uuid.UUID{3}
	got, err := ledger.Claim(t.Context(), claim)
	require.NoError(t, err)
	assert.Equal(t, router.Claimed{Hold: uuid.UUID{2}}, got)
}
