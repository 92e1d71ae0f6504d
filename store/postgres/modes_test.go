package postgres_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/lease"
)

// The stores work in every query mode of a pool. A proxy in front of the database may not
// support prepared statements.
func TestWaysToSendQueries(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			set := newSet(t, pgtest.Config{Settings: map[string]string{"default_query_exec_mode": mode}})
			ledger, ok := set.Ledger.(lease.Base)
			require.True(t, ok)
			lines := []router.Line{{Owner: `key:{"',\`, Window: "ever"}}
			for n := range byte(2) { // with rows loaded, then on the fast path
				h := router.Hold{ID: uuid.UUID{n + 1}, Lines: lines, Amount: router.Amount{Credit: 2, Total: 2}, Deadline: time.Now().Add(time.Hour)}
				require.NoError(t, ledger.Reserve(t.Context(), h))
				e := router.Event{ID: `{"',\` + h.ID.String(), Principal: router.Principal{Account: "acme"}, Admitted: time.Unix(0, 0), Requests: 1}
				require.NoError(t, ledger.SettleWith(t.Context(), h.ID, router.Amount{Credit: 1, Total: 2}, []router.Event{e}))
			}
			found, err := ledger.Balances(t.Context(), lines)
			require.NoError(t, err)
			assert.Equal(t, []router.Balance{{Spent: router.Amount{Credit: 2, Total: 4}}}, found)
			for range 2 {
				items, err := set.Activity.Items(t.Context(), activity.Range{Account: "acme", From: "1970-01-01", To: "1970-01-01"})
				require.NoError(t, err)
				require.Len(t, items, 1)
				assert.Equal(t, int64(2), items[0].Requests)
				_, err = ledger.Expire(t.Context(), time.Unix(0, 0), 1, router.ExpireVoid)
				require.NoError(t, err)
			}
		})
	}
}
