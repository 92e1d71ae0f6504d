package sqlledger_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/postgres"
	"github.com/signalbox/signalbox/store/sqlite"
)

// books are the stores in a database that tests may tamper with.
type books struct {
	store.Set

	exec   func(ctx context.Context, statement string) error
	verify func(ctx context.Context) (store.Verified, error)
	open   func(ctx context.Context) (store.Set, error)
}

// empty deletes all rows and opens the stores again, so that nothing is remembered.
func (b *books) empty(t *testing.T) {
	t.Helper()
	for _, table := range []string{"events", "events_new", "usage_by_key", "usage_by_account", "lines", "holds"} {
		require.NoError(t, b.exec(t.Context(), "DELETE FROM {"+table+"}"))
	}
	var err error
	b.Set, err = b.open(t.Context())
	require.NoError(t, err)
}

func onSQLite(t testing.TB) books {
	t.Helper()
	pool, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "signalbox.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, pool.Close()) })
	tables := sqldb.NewNames(`"`+sqlite.DefaultPrefix, `"`)
	set, err := sqlite.New(t.Context(), pool, sqlite.Config{})
	require.NoError(t, err)
	return books{
		Set: set,
		exec: func(ctx context.Context, statement string) error {
			_, err := pool.ExecContext(ctx, tables.In(statement))
			return err
		},
		verify: func(ctx context.Context) (store.Verified, error) { return sqlite.Verify(ctx, pool, sqlite.Config{}) },
		open:   func(ctx context.Context) (store.Set, error) { return sqlite.New(ctx, pool, sqlite.Config{}) },
	}
}

func onPostgres(t testing.TB) books {
	t.Helper()
	pool := pgtest.Pool(t, pgtest.Config{})
	tables := sqldb.NewNames(`"`+pgtest.Schema(pool)+`"."`, `"`)
	set, err := postgres.New(t.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
	require.NoError(t, err)
	return books{
		Set: set,
		exec: func(ctx context.Context, statement string) error {
			_, err := pool.Exec(ctx, tables.In(statement))
			return err
		},
		verify: func(ctx context.Context) (store.Verified, error) {
			return postgres.Verify(ctx, pool, postgres.Config{Schema: pgtest.Schema(pool)})
		},
		open: func(ctx context.Context) (store.Set, error) {
			return postgres.New(ctx, pool, postgres.Config{Schema: pgtest.Schema(pool)})
		},
	}
}

// fold adds the listed events to the roll-ups.
func (b *books) fold(t *testing.T) {
	t.Helper()
	_, err := b.Ledger.Expire(t.Context(), time.Time{}, 0, router.ExpireVoid)
	require.NoError(t, err)
}

// onBoth runs a test on each engine.
func onBoth(t *testing.T, test func(t *testing.T, b books)) {
	t.Helper()
	for name, open := range map[string]func(testing.TB) books{"SQLite": onSQLite, "PostgreSQL": onPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// settle makes a hold for a principal at an instant and settles it at a cost.
func (b *books) settle(ctx context.Context, p router.Principal, at time.Time, cost router.USD) error {
	h := holdOf(uuid.New(), p, at, cost)
	if err := b.Ledger.Reserve(ctx, h); err != nil {
		return err
	}
	recorder, ok := b.Ledger.(router.Recorder)
	if !ok {
		return assert.AnError
	}
	return recorder.SettleWith(ctx, h.ID, router.Amount{Credit: cost, Total: cost}, []router.Event{used(h, cost)})
}

// holdOf returns a hold as the router makes it: on every line of a principal.
func holdOf(id uuid.UUID, p router.Principal, at time.Time, amount router.USD) router.Hold {
	h := router.Hold{
		ID: id, Amount: router.Amount{Credit: amount, Total: amount}, Deadline: at.Add(time.Minute),
		Event: router.Event{
			ID: "gen-dec-" + id.String() + "/held", Admitted: at, Principal: p,
			Model: "acme/judge", Permaslug: "acme/judge-1", Endpoint: uuid.UUID{1}, Provider: "Ant", Reason: router.LegFirst, Requests: 1,
		},
	}
	for owner := router.OwnerAccount; owner <= router.OwnerKey; owner++ {
		for interval := router.Lifetime; interval <= router.Daily; interval++ {
			if line := owner.Line(p, interval.Window(at)); line != (router.Line{}) {
				h.Lines = append(h.Lines, line)
			}
		}
	}
	return h
}

// used returns the event of the call of a hold.
func used(h router.Hold, cost router.USD) router.Event {
	e := h.Event
	e.ID = "gen-dec-" + h.ID.String() + "/0"
	e.Prompt, e.Completion, e.Cost = 100, 10, router.Amount{Credit: cost, Total: cost}
	return e
}

func someone() router.Principal {
	return router.Principal{Account: "acme", Workspace: "home", Member: "ada", KeyHash: "k1"}
}

func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func TestVerifyNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		found, err := b.verify(t.Context())
		require.NoError(t, err)
		assert.Zero(t, found)
	})
}

// The books know the owners' lines by the names that the router gives them.
func TestVerifyNamesOwnersAsTheRouterDoes(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		for _, account := range []string{"a", "a/b", "a%2Fb"} {
			p := router.Principal{Account: account, Workspace: "home of " + account, Member: "b/c%", KeyHash: "key of " + account}
			require.NoError(t, b.settle(t.Context(), p, noon(), router.Dollar))
		}
		b.fold(t)
		found, err := b.verify(t.Context())
		require.NoError(t, err)
		assert.Empty(t, found.Differences)
	})
}

// history spends a dollar on each of two days around a turn of the year, and leaves a
// hold of two dollars open.
func (b *books) history(t *testing.T) {
	t.Helper()
	require.NoError(t, b.settle(t.Context(), someone(), noon(), router.Dollar))
	require.NoError(t, b.settle(t.Context(), someone(), noon().AddDate(0, 0, 45), router.Dollar))
	require.NoError(t, b.Ledger.Reserve(t.Context(), holdOf(uuid.New(), someone(), noon(), 2*router.Dollar)))
}

// Rows that are changed, deleted or inserted behind the stores' back, in each table.
func TestVerifyFinds(t *testing.T) {
	t.Parallel()
	const (
		first   = ` WHERE id = (SELECT min(id) FROM {events_new})`
		line    = ` WHERE owner = 'key:k1' AND win = '2026-11-21'`
		dayKey  = `account="acme" key_hash="k1" day="2026-11-21" member="ada" workspace="home" model="acme/judge" permaslug="acme/judge-1" endpoint="01000000-0000-0000-0000-000000000000" provider="Ant" reason="first"`
		dayAll  = `account="acme" day="2026-11-21" workspace="home" model="acme/judge" permaslug="acme/judge-1" endpoint="01000000-0000-0000-0000-000000000000" provider="Ant" reason="first"`
		ofKey   = `held of owner="key:k1" window="2026-11-21": `
		figures = `requests=1 prompt=100 completion=10 reasoning=0 cached=0 credit=1 total=1`
		event   = `id, admitted, day, account, workspace, member, key_hash, model, permaslug, endpoint, provider, reason, requests, prompt, completion, reasoning, cached, credit, total`
		usage   = `account, workspace, model, permaslug, endpoint, provider, reason, requests, prompt, completion, reasoning, cached, credit, total`
	)
	cases := map[string]struct {
		statement string
		want      []string // the differences, or their beginnings
		spent     int      // and that many lines whose spending differs
		held      int      // or what is held on them
		unfolded  bool     // whether events are listed that the roll-ups do not count yet
	}{
		"nothing":            {statement: `UPDATE {lines} SET spent_credit = spent_credit`},
		"line, spent credit": {statement: `UPDATE {lines} SET spent_credit = spent_credit + 1` + line, want: []string{`spent of owner="key:k1" window="2026-11-21": stored is credit=1.000000001 total=1, computed is credit=1 total=1`}},
		"line, spent total":  {statement: `UPDATE {lines} SET spent_total = 0` + line, want: []string{`spent of owner="key:k1" window="2026-11-21": stored is credit=1 total=0, computed is credit=1 total=1`}},
		"line, held credit":  {statement: `UPDATE {lines} SET held_credit = 0` + line, want: []string{ofKey + `stored is credit=0 total=2, computed is credit=2 total=2`}},
		"line, held total":   {statement: `UPDATE {lines} SET held_total = -1` + line, want: []string{ofKey + `stored is credit=2 total=-0.000000001, computed is credit=2 total=2`}},
		"line, name":         {statement: `UPDATE {lines} SET win = 'x'` + line, spent: 2},
		"line, lost":         {statement: `DELETE FROM {lines}` + line, spent: 1, held: 1},
		"line, added":        {statement: `INSERT INTO {lines} (owner, win, spent_total) VALUES ('key:k2', 'ever', 5)`, want: []string{`spent of owner="key:k2" window="ever": stored is credit=0 total=0.000000005, computed is credit=0 total=0`}},

		"by key, changed": {statement: `UPDATE {usage_by_key} SET requests = 7, credit = 0 WHERE day = '2026-11-21'`, want: []string{`usage_by_key of ` + dayKey + `: stored is requests=7 credit=0, computed is requests=1 credit=1`}},
		"by key, lost":    {statement: `DELETE FROM {usage_by_key} WHERE day = '2026-11-21'`, want: []string{`usage_by_key of ` + dayKey + `: stored is nothing, computed is ` + figures}},
		"by key, added": {
			statement: `INSERT INTO {usage_by_key} (day, member, key_hash, ` + usage + `) SELECT '2026-11-30', '', 'k', ` + usage + ` FROM {usage_by_account} WHERE day = '2026-11-21'`,
			want:      []string{`usage_by_key of account="acme" key_hash="k" day="2026-11-30" member=""`},
		},
		"by account, changed": {statement: `UPDATE {usage_by_account} SET cached = 7 WHERE day = '2026-11-21'`, want: []string{`usage_by_account of ` + dayAll + `: stored is cached=7, computed is cached=0`}},
		"by account, lost":    {statement: `DELETE FROM {usage_by_account} WHERE day = '2026-11-21'`, want: []string{`usage_by_account of ` + dayAll + `: stored is nothing, computed is ` + figures}},
		"by account, added, of zeros": {
			statement: `INSERT INTO {usage_by_account} (day, ` + usage + `) VALUES ('2026-11-30', 'a', '', '', '', '', '', '', 0, 0, 0, 0, 0, 0, 0)`,
			want:      []string{`usage_by_account of account="a" day="2026-11-30"`},
		},

		"event, figure": {statement: `UPDATE {events} SET prompt = 99 WHERE day = '2026-11-21'`, want: []string{
			`usage_by_key of ` + dayKey + `: stored is prompt=100, computed is prompt=99`,
			`usage_by_account of ` + dayAll + `: stored is prompt=100, computed is prompt=99`,
		}},
		"event, reason": {statement: `UPDATE {events} SET reason = 'escalated' WHERE day = '2026-11-21'`, want: []string{
			`usage_by_key`, `usage_by_key of ` + dayKey + `: stored is ` + figures + `, computed is nothing`,
			`usage_by_account`, `usage_by_account of ` + dayAll + `: stored is ` + figures + `, computed is nothing`,
		}},
		"event, cost": {statement: `UPDATE {events} SET credit = 0 WHERE day = '2026-11-21'`, want: []string{`usage_by_key`, `usage_by_account`}, spent: 16},
		"list, lost":  {unfolded: true, statement: `DELETE FROM {events_new}` + first, want: []string{`usage_by_key of ` + dayKey + `: stored is nothing, computed is ` + figures, `usage_by_account of ` + dayAll}},
		"list, size":  {unfolded: true, statement: `UPDATE {events_new} SET size = 7` + first, want: []string{`events_new of id=`}},
		"list, account": {unfolded: true, statement: `UPDATE {events_new} SET account = 'x'` + first, want: []string{
			`usage_by_key of ` + dayKey + `: stored is nothing, computed is ` + figures, `usage_by_key, to be added of account="x"`,
			`usage_by_account of ` + dayAll + `: stored is nothing, computed is ` + figures, `usage_by_account, to be added of account="x"`,
		}},
		"list, figure": {unfolded: true, statement: `UPDATE {events_new} SET events = replace(events, ',100,10,', ',100,11,')` + first, want: []string{
			`usage_by_key of ` + dayKey + `: stored is completion=11, computed is completion=10`,
			`usage_by_account of ` + dayAll + `: stored is completion=11, computed is completion=10`,
		}},
		"list, no such key": {unfolded: true, statement: `UPDATE {events_new} SET events = replace(events, 'k1', 'k2')` + first, want: []string{
			`usage_by_key of ` + dayKey, `usage_by_key, to be added of account="acme" key_hash="k2"`,
		}},
		"list, events": {unfolded: true, statement: `UPDATE {events_new} SET events = replace(events, '"events":1,', '"events":2,')` + first, want: []string{`events_new of id=`}},
		"list, twice": {unfolded: true, statement: `INSERT INTO {events_new} (account, size, events) SELECT account, size, events FROM {events_new}` + first, want: []string{
			`usage_by_key of ` + dayKey + `: stored is requests=2 prompt=200`, `usage_by_account of ` + dayAll,
		}},

		"event, lost":    {statement: `DELETE FROM {events} WHERE day = '2026-11-21'`, want: []string{`usage_by_key`, `usage_by_account`}, spent: 16},
		"event, instant": {statement: `UPDATE {events} SET admitted = 0 WHERE day = '2026-11-21'`, want: []string{`day of events admitted=0: stored is 2026-11-21, computed is 1970-01-01`}},
		"event, instant of the latest": {
			statement: `INSERT INTO {events} (` + event + `) SELECT 'x', admitted + 86400000000, day, account, workspace, member, key_hash, model, permaslug, endpoint, provider, reason,
				0, 0, 0, 0, 0, 0, 0 FROM {events} WHERE day = '2026-11-21'`,
			want: []string{`day of events admitted=1795348800000000: stored is 2026-11-21, computed is 2026-11-22`},
		},
		"event, added, of zeros": {
			statement: `INSERT INTO {events} (` + event + `) SELECT 'x', admitted, day, account, workspace, member, 'k2', 'other', permaslug, endpoint, provider, reason,
				0, 0, 0, 0, 0, 0, 0 FROM {events} WHERE day = '2026-11-21'`,
			want: []string{`usage_by_key`, `usage_by_account`},
		},
		"event, day": {
			statement: `UPDATE {events} SET day = 'x' WHERE day = '2026-11-21'`,
			want:      []string{`day of events admitted=1795262400000000: stored is x, computed is 2026-11-21`, `usage_by_key`, `usage_by_key`, `usage_by_account`, `usage_by_account`},
		},
		"event, added": {
			statement: `INSERT INTO {events} (` + event + `) SELECT 'x', admitted, day, account, workspace, member, 'k2', model, permaslug, endpoint, provider, reason,
				requests, prompt, completion, reasoning, cached, credit, total FROM {events} WHERE day = '2026-11-21'`,
			want: []string{`usage_by_key`, `usage_by_account`}, spent: 16,
		},

		"hold, credit": {statement: `UPDATE {holds} SET credit = 1 WHERE state = 0`, held: 16},
		"hold, lines":  {statement: `UPDATE {holds} SET lines = '7777777' WHERE state = 0`, want: []string{`held of line id=7777777: stored is nothing, computed is credit=2 total=2`}, held: 16},
		"hold, state":  {statement: `UPDATE {holds} SET state = 1 WHERE state = 0`, held: 16},
		"hold, lost":   {statement: `DELETE FROM {holds} WHERE state = 0`, held: 16},
		"hold, added":  {statement: `INSERT INTO {holds} (id, state, lines, credit, total, deadline) SELECT 'ffffffff-ffff-ffff-ffff-ffffffffffff', 0, lines, 1, 1, 0 FROM {holds} WHERE state = 0`, held: 16},
	}
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		for name, tt := range cases {
			b.empty(t)
			b.history(t)
			if !tt.unfolded {
				b.fold(t)
			}
			require.NoError(t, b.exec(t.Context(), tt.statement), name)
			found, err := b.verify(t.Context())
			require.NoError(t, err, name)
			var others []string
			spent, held := 0, 0
			for _, d := range found.Differences {
				switch {
				case tt.spent > 0 && d.What == "spent":
					spent++
				case tt.held > 0 && d.What == "held" && !strings.Contains(d.Where, "id=7777777"):
					held++
				default:
					others = append(others, d.String())
				}
			}
			assert.Equal(t, tt.spent, spent, name)
			assert.Equal(t, tt.held, held, name)
			if assert.Len(t, others, len(tt.want), "%s: %q", name, others) {
				for i, want := range tt.want {
					assert.True(t, strings.HasPrefix(others[i], want), "%s: %s\nis not\n%s", name, others[i], want)
				}
			}
		}
	})
}

func TestVerifyCounts(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		b.history(t)
		found, err := b.verify(t.Context())
		require.NoError(t, err)
		assert.Equal(t, store.Verified{Events: 2, Lines: 28, OpenHolds: 1}, found)
	})
}

// Of a database in which everything is wrong only mostDifferences rows are listed.
func TestVerifyListsOnlySoMany(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		require.NoError(t, b.exec(t.Context(), `INSERT INTO {lines} (owner, win, spent_total)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10010) SELECT 'key:' || i, 'ever', 1 FROM n`))
		found, err := b.verify(t.Context())
		require.NoError(t, err)
		assert.Len(t, found.Differences, 10_000)
		assert.Equal(t, 10_010, found.Lines)
	})
}

// A schema of another version is not verified.
func TestVerifyRefusesOtherSchemas(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]string{
		`INSERT INTO {migrations} (version, name) VALUES (9999, 'later')`: "newer",
		`DELETE FROM {migrations} WHERE version > 0`:                      "older",
		`DROP TABLE {migrations}`:                                         "missing",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, b books) {
				t.Helper()
				require.NoError(t, b.exec(t.Context(), statement))
				_, err := b.verify(t.Context())
				require.ErrorContains(t, err, want)
				assert.Equal(t, want == "newer", errors.Is(err, sqldb.ErrNewer))
			})
		})
	}
}
