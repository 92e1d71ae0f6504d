package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/postgres"
)

// circle is a hold of one process that another process knows, and a transaction that has
// locked it.
type circle struct {
	one, other store.Set
	hold       router.Hold
	rival      pgx.Tx
}

func newCircle(t *testing.T) circle {
	t.Helper()
	pool := pgtest.Pool(t, pgtest.Config{})
	open := func() store.Set {
		set, err := postgres.New(t.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
		require.NoError(t, err)
		return set
	}
	c := circle{one: open(), other: open(), hold: router.Hold{
		ID: uuid.New(), Lines: []router.Line{{Owner: "account:a", Window: "ever"}},
		Amount: router.Amount{Credit: 2, Total: 2}, Deadline: time.Unix(60, 0),
	}}
	require.NoError(t, c.one.Ledger.Reserve(t.Context(), c.hold))
	rival, err := pool.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = rival.Rollback(context.WithoutCancel(t.Context())) })
	_, err = rival.Exec(t.Context(), "UPDATE holds SET state = state WHERE id = $1", c.hold.ID.String())
	require.NoError(t, err)
	c.rival = rival
	return c
}

// waits returns when a transaction waits for the lock.
func (c circle) waits(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() (waits bool) {
		err := c.rival.QueryRow(t.Context(),
			"SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid)))").Scan(&waits)
		return err == nil && waits
	}, 10*time.Second, time.Millisecond)
}

// A transaction that closes a hold of another process locks the hold first and then its
// lines. The process that made the hold locks in the same order, so they do not deadlock.
func TestRivalsThatCloseAHoldWaitForItFirst(t *testing.T) {
	t.Parallel()
	c := newCircle(t)
	voided := make(chan error, 1)
	go func() { voided <- c.other.Ledger.Void(t.Context(), c.hold.ID) }()
	c.waits(t)
	_, err := c.rival.Exec(t.Context(), "SELECT id FROM lines FOR UPDATE NOWAIT")
	require.NoError(t, err)
	require.NoError(t, c.rival.Commit(t.Context()))
	require.NoError(t, <-voided)
}

// A transaction that waits for a hold does not keep others from recording its events.
func TestRivalsThatCloseAHoldRecordAfterThat(t *testing.T) {
	t.Parallel()
	c := newCircle(t)
	recorder, ok := c.one.Ledger.(router.Recorder)
	require.True(t, ok)
	events := []router.Event{{ID: "e", Admitted: time.Unix(0, 0), Principal: router.Principal{Account: "a"}, Cost: c.hold.Amount}}
	settled := make(chan error, 1)
	go func() { settled <- recorder.SettleWith(t.Context(), c.hold.ID, c.hold.Amount, events) }()
	c.waits(t)
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, c.other.Activity.Record(soon, events))
	require.NoError(t, c.rival.Commit(t.Context()))
	require.NoError(t, <-settled)
	on, err := c.other.Ledger.Balances(t.Context(), c.hold.Lines)
	require.NoError(t, err)
	require.Equal(t, []router.Balance{{Spent: c.hold.Amount}}, on)
}
