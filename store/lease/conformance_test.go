package lease_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/lease"
	"github.com/signalbox/signalbox/store/postgres"
	"github.com/signalbox/signalbox/store/sqlite"
	"github.com/signalbox/signalbox/store/storetest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func onSQLite(tb testing.TB) store.Set {
	tb.Helper()
	pool, err := sql.Open("sqlite", filepath.Join(tb.TempDir(), "signalbox.db"))
	require.NoError(tb, err)
	tb.Cleanup(func() { assert.NoError(tb, pool.Close()) })
	set, err := sqlite.New(tb.Context(), pool, sqlite.Config{})
	require.NoError(tb, err)
	return set
}

func onPostgres(tb testing.TB) store.Set {
	tb.Helper()
	pool := pgtest.Pool(tb, pgtest.Config{})
	set, err := postgres.New(tb.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
	require.NoError(tb, err)
	return set
}

// node returns a ledger that draws slices from that of a set.
func node(tb testing.TB, set store.Set, cfg lease.Config) *lease.Ledger {
	tb.Helper()
	cfg.Ledger = set.Ledger
	l, err := lease.New(cfg)
	require.NoError(tb, err)
	return l
}

// quiet gives the free part of all slices back before it returns balances, so that these are
// the balances of the calls alone.
type quiet struct{ *lease.Ledger }

func (q quiet) Balances(ctx context.Context, lines []router.Line) ([]router.Balance, error) {
	if err := q.GiveAllBack(ctx); err != nil {
		return nil, err
	}
	return q.Ledger.Balances(ctx, lines)
}

// TestConformance runs on SQLite, and on PostgreSQL where SIGNALBOX_TEST_FULL is 1: the
// leases are the same code on both.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) store.Set{"sqlite": onSQLite, "postgres": onPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "postgres" && os.Getenv("SIGNALBOX_TEST_FULL") != "1" {
				t.Skip("SIGNALBOX_TEST_FULL is not 1")
			}
			storetest.Run(t, func(t *testing.T) store.Set {
				t.Helper()
				set := open(t)
				ledger := quiet{lease.Eager(node(t, set, lease.Config{Nodes: 1}))}
				return store.Set{Ledger: ledger, Activity: set.Activity}
			})
		})
	}
}
