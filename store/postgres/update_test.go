package postgres

import (
	"context"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/internal/sqlstore"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

// earlierVersion makes the schema of a version, and returns the database as a
// program has it that was there before this one.
func earlierVersion(t *testing.T, pool *pgxpool.Pool, version int) *db {
	t.Helper()
	d := newDB(pool)
	require.NoError(t, d.prepareSchema(t.Context()))
	files, err := fs.Glob(migrations, "migrations/*.sql")
	require.NoError(t, err)
	earlier := fstest.MapFS{}
	for _, file := range files[:version] {
		text, err := migrations.ReadFile(file)
		require.NoError(t, err)
		earlier[file[len("migrations/"):]] = &fstest.MapFile{Data: text}
	}
	require.NoError(t, sqlstore.Migrate(t.Context(), d, earlier))
	return d
}

// oid is the identity of a table, whatever its name will be.
func oid(t *testing.T, pool *pgxpool.Pool, name string) (table uint32) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT CAST(CAST(CAST($1 AS text) AS regclass) AS oid)", name).Scan(&table))
	return table
}

// waitForTable waits until somebody waits for a table.
func waitForTable(t *testing.T, pool *pgxpool.Pool, table uint32) {
	t.Helper()
	require.Eventually(t, func() (waits bool) {
		err := pool.QueryRow(t.Context(), "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE relation = $1 AND NOT granted)", table).Scan(&waits)
		return err == nil && waits
	}, 10*time.Second, time.Millisecond)
}

// A program of an earlier version, which leaves sums for the roll-ups, is at work
// while this one brings the schema up to date: nothing that it commits is lost.
func TestUpdateBesideAnEarlierVersion(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{})
	earlierVersion(t, pool, 9)
	table := oid(t, pool, "usage_new")

	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `INSERT INTO usage_new (day, account, workspace, member, key_hash, model, permaslug, endpoint, provider,
		requests, prompt, completion, reasoning, cached, credit, total) VALUES ('2026-11-21', 'acme', '', '', 'k', 'm', 'm', $1, 'p', 1, 2, 3, 4, 5, 6, 7)`,
		uuid.UUID{}.String())
	require.NoError(t, err)
	updated := make(chan error)
	var items func(r activity.Range) []activity.Item
	go func() {
		set, err := New(t.Context(), pool)
		items = func(r activity.Range) []activity.Item {
			r.Account, r.From, r.To = "acme", "2026-11-21", "2026-11-21"
			found, err := set.Activity.Items(t.Context(), r)
			assert.NoError(t, err)
			return found
		}
		updated <- err
	}()
	waitForTable(t, pool, table)
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-updated)
	for _, r := range []activity.Range{{}, {KeyHash: "k"}} {
		found := items(r)
		require.Len(t, found, 1)
		assert.Equal(t, int64(2), found[0].Prompt)
	}
}

// Holds that a program of an earlier version makes, while this one drops the order
// of their making and after that, are there for both. That program cannot forget
// any more, and says so.
func TestUpdateBesideHoldsOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{})
	earlier := sqlstore.Set(earlierVersion(t, pool, 11)) // its statements, but for those that forget
	_, err := pool.Exec(t.Context(), `ALTER TABLE lines ADD COLUMN version bigint NOT NULL DEFAULT 0, ADD COLUMN guards bigint NOT NULL DEFAULT 0`)
	require.NoError(t, err) // and for the columns that they name
	table := oid(t, pool, "holds")
	hold := func(n byte) router.Hold {
		return router.Hold{ID: uuid.UUID{n}, Lines: []router.Line{{Owner: "key:k", Window: "ever"}}, Deadline: time.Unix(60, 0)}
	}
	require.NoError(t, earlier.Ledger.Reserve(t.Context(), hold(1)))
	require.NoError(t, earlier.Ledger.Reserve(t.Context(), hold(2)))
	require.NoError(t, earlier.Ledger.Settle(t.Context(), hold(2).ID, router.Amount{}))

	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.Background()) }() // or the pool would wait for it
	_, err = tx.Exec(t.Context(), `INSERT INTO holds (id, state, lines, credit, total, deadline, event)
		SELECT $1, state, lines, credit, total, deadline, event FROM holds WHERE state = 0`, hold(3).ID.String())
	require.NoError(t, err)
	updated := make(chan error, 1)
	var set store.Set
	go func() {
		var err error
		set, err = New(t.Context(), pool)
		updated <- err
	}()
	waitForTable(t, pool, table)
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-updated)

	require.NoError(t, earlier.Ledger.Reserve(t.Context(), hold(4)))
	require.NoError(t, earlier.Ledger.Settle(t.Context(), hold(1).ID, router.Amount{}))
	_, err = pool.Exec(t.Context(), `DELETE FROM holds WHERE id IN (
		SELECT id FROM (SELECT id, state, deadline FROM holds ORDER BY seq LIMIT 10) AS oldest WHERE state <> 0)`)
	require.ErrorContains(t, err, "42703") // no such column
	for n := byte(1); n <= 4; n++ {
		require.NoError(t, set.Ledger.Settle(t.Context(), hold(n).ID, router.Amount{}), n)
	}
	_, err = set.Ledger.Expire(t.Context(), time.Unix(60, 0).Add(25*time.Hour), 10, router.ExpirePost)
	require.NoError(t, err)
	for n := byte(1); n <= 4; n++ {
		require.ErrorIs(t, set.Ledger.Settle(t.Context(), hold(n).ID, router.Amount{}), router.ErrNoHold, n)
	}
}
