package storetest

import (
	"context"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

// testAudit writes records through the Organization store.
func testAudit(t *testing.T, open Open) {
	t.Helper()
	if set := open(t); set.Audit == nil || set.Organization == nil {
		t.Skip("no Audit and Organization")
	}
	t.Run("records are whole, newest first, by page and by account", func(t *testing.T) {
		set := open(t)
		orgSeed(t, set.Organization)
		want := router.Change{
			At: orgNoon, Account: "a", Action: "update", Kind: "member", Object: "ann", Before: []byte(`{"A":1}`),
			Actor: router.Actor{RequestID: "r", Principal: router.Principal{Account: "a", Member: "ann", KeyHash: "h", Management: true}},
		}
		for i := range 3 {
			want.ID, want.After = uuid.New(), []byte(`{"A":`+strconv.Itoa(i)+`}`)
			require.NoError(t, set.Organization.ReplaceMember(t.Context(), "a", organization.Member{ID: "ann", Version: int64(i) + 1}, want))
		}
		list, total, err := set.Audit.Changes(t.Context(), "a", 0, 2)
		require.NoError(t, err)
		assert.Equal(t, 4, total)
		require.Len(t, list, 2)
		assert.Equal(t, want, list[0])
		assert.JSONEq(t, `{"A":1}`, string(list[1].After))
		list, total, err = set.Audit.Changes(t.Context(), "a", 3, 50)
		require.NoError(t, err)
		assert.Equal(t, 4, total)
		require.Len(t, list, 1)
		assert.Equal(t, "create", list[0].Action)
		for account, want := range map[string]int{"b": 1, "nobody": 0} {
			list, total, err = set.Audit.Changes(t.Context(), account, 0, 50)
			require.NoError(t, err)
			assert.Equal(t, want, total)
			assert.Len(t, list, want)
		}
	})
	t.Run("Changes honours ctx", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err := open(t).Audit.Changes(ctx, "a", 0, 1)
		require.ErrorIs(t, err, context.Canceled)
	})
}
