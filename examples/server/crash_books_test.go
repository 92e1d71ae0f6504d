package main

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/postgres"
	"github.com/signalbox/signalbox/store/sqlite"
)

// books reads the tables of a storage whose processes are dead.
type books struct {
	*sql.DB
	prefix string // of the tables' names
	verify func() (store.Verified, error)
	closed func()
}

// entry is an event.
type entry struct {
	key  string
	cost router.USD
}

// openBooks opens the storage of dead processes. The caller must close it.
func openBooks(t *testing.T, o options) books {
	t.Helper()
	if o.data != "" {
		db, err := openDatabase(filepath.Join(o.data, databaseFile))
		require.NoError(t, err)
		return books{db, sqlite.DefaultPrefix, func() (store.Verified, error) { return sqlite.Verify(t.Context(), db, sqlite.Config{}) }, func() {}}
	}
	pool, err := pgxpool.New(t.Context(), o.postgres)
	require.NoError(t, err)
	// The database may still execute the last statements of the dead processes.
	require.Eventually(t, func() bool {
		var sessions int
		err := pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()`).Scan(&sessions)
		return err == nil && sessions == 0
	}, patience, 5*time.Millisecond, "the sessions of a dead process do not end")
	return books{stdlib.OpenDBFromPool(pool), postgres.DefaultSchema + ".", func() (store.Verified, error) { return postgres.Verify(t.Context(), pool, postgres.Config{}) }, pool.Close}
}

func (b books) close(t *testing.T) {
	t.Helper()
	err := b.Close()
	b.closed()
	require.NoError(t, err)
}

// events returns all events by id.
func (b books) events(t *testing.T) map[string]entry {
	t.Helper()
	events := map[string]entry{}
	b.each(t, "SELECT id, key_hash, total FROM "+b.prefix+"events", func(scan func(...any) error) error {
		var id string
		var e entry
		err := scan(&id, &e.key, &e.cost)
		events[id] = e
		return err
	})
	return events
}

// ofKey returns the balance of a key's line for all time.
func (b books) ofKey(t *testing.T, hash string) (a router.Balance) {
	t.Helper()
	b.each(t, "SELECT owner, spent_total, held_total FROM "+b.prefix+"lines WHERE win = 'ever'", func(scan func(...any) error) error {
		var owner string
		var spent, held router.USD
		err := scan(&owner, &spent, &held)
		if owner == "key:"+hash {
			a.Spent.Total, a.Held.Total = spent, held
		}
		return err
	})
	return a
}

func (b books) each(t *testing.T, query string, row func(scan func(...any) error) error) {
	t.Helper()
	found, err := b.QueryContext(t.Context(), query)
	require.NoError(t, err)
	defer func() { assert.NoError(t, found.Close()) }()
	for found.Next() {
		require.NoError(t, row(found.Scan))
	}
	require.NoError(t, found.Err())
}

// addUp requires that the sums equal those of the events and holds, and returns the
// number of open holds.
func (b books) addUp(t *testing.T) (open int) {
	t.Helper()
	found, err := b.verify()
	require.NoError(t, err)
	assert.Empty(t, found.Differences)
	return found.OpenHolds
}

// expireAll closes every hold, as a server does after their deadlines.
func expireAll(t *testing.T, o options, env func(string) string) (expired int) {
	t.Helper()
	return expireAfter(t, o, env, 2*time.Minute)
}

func expireAfter(t *testing.T, o options, env func(string) string, later time.Duration) (expired int) {
	t.Helper()
	kept, err := openStorage(t.Context(), o, env)
	require.NoError(t, err)
	defer func() { assert.NoError(t, kept.close()) }()
	const batch = 1000
	for {
		n, err := kept.set.Ledger.Expire(t.Context(), time.Now().Add(later), batch, router.ExpirePost)
		require.NoError(t, err)
		if expired += n; n < batch {
			return expired
		}
	}
}
