package sqlstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/postgres"
	"github.com/signalbox/signalbox/store/sqlite"
)

// What each version of the schema has added, as its programs left it: an account
// that has paid in, an event that is summed up, a line with the event's cost and
// an open hold, and sums or a list of ids that are to be added.
const (
	leftPayment = `INSERT INTO accounts (id, name, personal, default_workspace, filtered_catalog, allowed, ignored, zdr, prepaid,
			credits_nano, created_at, updated_at, version) VALUES ('acme', 'Acme', %[1]s, 'home', %[1]s, '[]', '[]', %[2]s, %[1]s, 7, 1, 1, 1);
		INSERT INTO payments (account, id, amount_nano, paid_at) VALUES ('acme', 'p', 7, 1)`
	leftNames = `'2026-11-21', 'acme', 'home', 'ada', 'k1', 'acme/judge', 'acme/judge-1', '01000000-0000-0000-0000-000000000000', 'Ant', 1, 100, 10, 0, 0`
	leftAll   = `'2026-11-21', 'acme', 'home', 'acme/judge', 'acme/judge-1', '01000000-0000-0000-0000-000000000000', 'Ant', 1, 100, 10, 0, 0`
	leftSums  = `INSERT INTO usage_by_key (` + usageColumns + `) VALUES (` + leftNames + `, %[1]d, %[1]d);
		INSERT INTO usage_by_account (day, account, workspace, model, permaslug, endpoint, provider, requests, prompt, completion, reasoning, cached, credit, total)
			VALUES (` + leftAll + `, %[1]d, %[1]d)`
	leftEvent = `INSERT INTO events (id, admitted, ` + usageColumns + `) VALUES ('%[2]s', 1795262400000000, ` + leftNames + `, %[1]d, %[1]d)`
	leftList  = `INSERT INTO events_new (account, size, events) VALUES ('acme', 1, '["%s"]')`
	leftNews  = `INSERT INTO usage_new (` + usageColumns + `) VALUES (` + leftNames + `, %[1]d, %[1]d)`
)

// leavesNews says whether a version leaves something to be added to the roll-ups.
func leavesNews(version int) bool { return version == 9 || version == 10 }

// left are the statements of a version's programs. What an event costs is on
// lines from the version on that has them.
func left(version int, held router.Hold) (statements []string) {
	cost := 0
	if version >= 7 {
		cost = 5
	}
	if version >= 3 {
		statements = append(statements, leftPayment)
	}
	if version >= 6 {
		statements = append(statements, fmt.Sprintf(leftEvent, cost, "a"), fmt.Sprintf(leftSums, cost))
	}
	spent := cost
	if leavesNews(version) {
		spent += cost
		statements = append(statements, fmt.Sprintf(leftEvent, cost, "b"))
	}
	switch version {
	case 9:
		statements = append(statements, fmt.Sprintf(leftNews, cost))
	case 10:
		statements = append(statements, fmt.Sprintf(leftList, "b"))
	}
	if version < 7 {
		return statements
	}
	var ids []string
	for i, line := range held.Lines {
		statements = append(statements, fmt.Sprintf(`INSERT INTO lines (owner, win, spent_credit, spent_total, held_credit, held_total)
			VALUES ('%s', '%s', %d, %d, 3, 3)`, line.Owner, line.Window, spent, spent))
		ids = append(ids, strconv.Itoa(i+1))
	}
	return append(statements, fmt.Sprintf(`INSERT INTO holds (id, state, lines, credit, total, deadline) VALUES ('%s', 0, '%s', 3, 3, 1795262460000000)`,
		held.ID, strings.Join(ids, ",")))
}

// earlier are empty books of an engine, and what a version of the schema is made
// with there.
type earlier struct {
	books

	folder   string
	boolText [2]string // false and true
}

func earlierOnSQLite(t *testing.T) earlier {
	t.Helper()
	pool, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "signalbox.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, pool.Close()) })
	return earlier{folder: "../../store/sqlite/migrations", boolText: [2]string{"0", "1"}, books: books{
		exec: func(ctx context.Context, statement string) error {
			_, err := pool.ExecContext(ctx, statement)
			return err
		},
		verify: func(ctx context.Context) (store.Verified, error) { return sqlite.Verify(ctx, pool) },
		open:   func(ctx context.Context) (store.Set, error) { return sqlite.New(ctx, pool) },
	}}
}

func earlierOnPostgres(t *testing.T) earlier {
	t.Helper()
	pool := pgtest.Pool(t, pgtest.Config{})
	return earlier{folder: "../../store/postgres/migrations", boolText: [2]string{"false", "true"}, books: books{
		exec: func(ctx context.Context, statement string) error {
			_, err := pool.Exec(ctx, statement)
			return err
		},
		verify: func(ctx context.Context) (store.Verified, error) { return postgres.Verify(ctx, pool) },
		open:   func(ctx context.Context) (store.Set, error) { return postgres.New(ctx, pool) },
	}}
}

// make makes the schema of a version, and returns how many versions there are.
func (e *earlier) make(t *testing.T, version int) (versions int) {
	t.Helper()
	files, err := fs.Glob(os.DirFS(e.folder), "*.sql")
	require.NoError(t, err)
	require.NoError(t, e.exec(t.Context(), `CREATE TABLE migrations (version bigint PRIMARY KEY, name text NOT NULL)`))
	require.NoError(t, e.exec(t.Context(), `INSERT INTO migrations (version, name) VALUES (0, 'none')`))
	for i, file := range files[:version] {
		text, err := os.ReadFile(filepath.Join(e.folder, file))
		require.NoError(t, err)
		require.NoError(t, e.exec(t.Context(), string(text)), file)
		require.NoError(t, e.exec(t.Context(), fmt.Sprintf(`INSERT INTO migrations (version, name) VALUES (%d, '%s')`, i+1, file)))
	}
	return len(files)
}

// Whatever version has written a database, today's stores take it over: the books
// add up, a hold that was open is settled, and a day's activity is all there.
func TestDatabasesOfEveryVersion(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) earlier{"SQLite": earlierOnSQLite, "PostgreSQL": earlierOnPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for version, versions := 0, 1; version < versions; version++ {
				e := open(t)
				versions = e.make(t, version)
				held := holdOf(uuid.New(), someone(), noon(), 3)
				for _, statement := range left(version, held) {
					if statement == leftPayment {
						statement = fmt.Sprintf(statement, e.boolText[0], e.boolText[1])
					}
					require.NoError(t, e.exec(t.Context(), statement), "version %d", version)
				}
				e.adopted(t, version, held)
			}
		})
	}
}

// adopted opens books of an earlier version and goes on with them.
func (e *earlier) adopted(t *testing.T, version int, held router.Hold) {
	t.Helper()
	var err error
	e.Set, err = e.open(t.Context())
	require.NoError(t, err, "version %d", version)
	e.addUp(t, version)
	var total router.USD
	if version >= 7 {
		recorder, ok := e.Ledger.(router.Recorder)
		require.True(t, ok)
		require.NoError(t, recorder.SettleWith(t.Context(), held.ID, router.Amount{Credit: 2, Total: 2}, []router.Event{used(held, 2)}))
		total = 7
		if leavesNews(version) {
			total = 12
		}
	}
	e.addUp(t, version)
	e.fold(t)
	e.addUp(t, version)
	items := e.items(t, activity.Range{})
	if version < 6 {
		assert.Empty(t, items)
		return
	}
	require.Len(t, items, 1, "version %d", version)
	assert.Equal(t, router.Amount{Credit: total, Total: total}, items[0].Cost, "version %d", version)
}

func (e *earlier) addUp(t *testing.T, version int) {
	t.Helper()
	found, err := e.verify(t.Context())
	require.NoError(t, err)
	assert.Empty(t, found.Differences, "version %d", version)
}
