package lease_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/lease"
	"github.com/signalbox/signalbox/store/postgres"
)

// newNodes returns the stores of several processes: each has its own connections to the same
// database, and its own memory.
func newNodes(tb testing.TB, cfg pgtest.Config, n int) []store.Set {
	tb.Helper()
	dsn := pgtest.DSN(tb, cfg)
	sets := make([]store.Set, n)
	for i := range sets {
		pool, err := pgxpool.New(tb.Context(), dsn)
		require.NoError(tb, err)
		tb.Cleanup(pool.Close)
		sets[i], err = postgres.New(tb.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
		require.NoError(tb, err)
	}
	return sets
}

// TestNodesAreExactToTheCent has callers of several processes spend one limit until each is
// refused. The sum of what they were told is what the books say.
func TestNodesAreExactToTheCent(t *testing.T) {
	t.Parallel()
	const cent = 10_000_000
	for _, nodes := range []int{2, 4} {
		for _, leases := range []bool{false, true} {
			t.Run(fmt.Sprintf("nodes=%d/leases=%v", nodes, leases), func(t *testing.T) {
				t.Parallel()
				const limit = 10*100*cent + cent/2 // ten dollars and half a cent
				sets := newNodes(t, pgtest.Config{Settings: map[string]string{"pool_max_conns": "2"}}, nodes)
				var acknowledged atomic.Int64
				var wg sync.WaitGroup
				for i := range sets {
					if leases {
						sets[i].Ledger = lease.Eager(node(t, sets[i], lease.Config{Nodes: nodes}))
					}
					for range 16 {
						wg.Go(func() { acknowledged.Add(spend(t, sets[i].Ledger, limit, 2*cent, cent)) })
					}
				}
				wg.Wait()
				for _, set := range sets {
					if l, ok := set.Ledger.(*lease.Ledger); ok {
						require.NoError(t, l.Close(t.Context()))
					}
				}
				on, err := sets[0].Ledger.Balances(t.Context(), lines())
				require.NoError(t, err)
				assert.Equal(t, []router.Balance{{Spent: usd(router.USD(acknowledged.Load()))}}, on)
				assert.LessOrEqual(t, acknowledged.Load(), int64(limit))
				items, err := sets[0].Activity.Items(t.Context(), activity.Range{Account: "acme", From: "2026-11-01", To: "2026-11-30"})
				require.NoError(t, err)
				require.Len(t, items, 1)
				assert.Equal(t, on[0].Spent, items[0].Cost)
				// All slices are given back: the rest is spent to the last cent.
				acknowledged.Add(spend(t, sets[0].Ledger, limit, cent, cent))
				assert.EqualValues(t, 10*100*cent, acknowledged.Load())
			})
		}
	}
}

// spend makes calls with a given hold and cost until one is refused, and returns the cost of
// those that were settled.
func spend(t *testing.T, ledger router.Ledger, limit, hold, cost router.USD) (spent int64) {
	t.Helper()
	recorder, ok := ledger.(router.Recorder)
	if !assert.True(t, ok) {
		return 0
	}
	for {
		h := router.Hold{
			ID: uuid.New(), Lines: lines(), Caps: []router.Cap{{Line: lines()[0], Max: limit}}, Amount: usd(hold), Deadline: noon(),
		}
		err := ledger.Reserve(t.Context(), h)
		if _, refused := errors.AsType[*router.LimitError](err); refused || !assert.NoError(t, err) {
			return spent
		}
		e := router.Event{
			ID: h.ID.String() + "/0", Admitted: noon(), Principal: router.Principal{Account: "acme"}, Requests: 1, Cost: usd(cost),
		}
		if err := recorder.SettleWith(t.Context(), h.ID, e.Cost, []router.Event{e}); err != nil {
			t.Error(err)
			return spent
		}
		spent += int64(cost)
	}
}
