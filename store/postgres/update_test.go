package postgres

import (
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/internal/sqlstore"
)

// A program of an earlier version, which leaves sums for the roll-ups, is at work
// while this one brings the schema up to date: nothing that it commits is lost.
func TestUpdateBesideAnEarlierVersion(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{})
	d := newDB(pool)
	require.NoError(t, d.prepareSchema(t.Context()))
	files, err := fs.Glob(migrations, "migrations/000*.sql")
	require.NoError(t, err)
	require.Len(t, files, 9)
	earlier := fstest.MapFS{}
	for _, file := range files {
		text, err := migrations.ReadFile(file)
		require.NoError(t, err)
		earlier[file[len("migrations/"):]] = &fstest.MapFile{Data: text}
	}
	require.NoError(t, sqlstore.Migrate(t.Context(), d, earlier))
	table := uint32(0)
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT CAST(CAST('usage_new' AS regclass) AS oid)").Scan(&table))

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
	require.Eventually(t, func() (waits bool) {
		err := pool.QueryRow(t.Context(), "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE relation = $1 AND NOT granted)", table).Scan(&waits)
		return err == nil && waits
	}, 10*time.Second, time.Millisecond)
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-updated)
	for _, r := range []activity.Range{{}, {KeyHash: "k"}} {
		found := items(r)
		require.Len(t, found, 1)
		assert.Equal(t, int64(2), found[0].Prompt)
	}
}
