package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/sqlite"
)

// With a large bound, only now and then a claim drops the replies beyond it, because that
// reads all of the key's replies. The bound is exceeded by some dozens at most.
func TestManyRepliesAreBoundNowAndThen(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	set, err := sqlite.New(t.Context(), db, sqlite.Config{})
	require.NoError(t, err)
	ledger, ok := set.Ledger.(router.Replies)
	require.True(t, ok)
	began := time.Unix(1_700_000_000, 0)
	for i := range 1100 {
		at := began.Add(time.Duration(i) * time.Minute)
		c := router.Claim{
			Key: router.ReplyKey{Account: "a", KeyHash: "k", Key: strconv.Itoa(i)}, Hold: uuid.UUID{0, byte(i >> 8), 15: byte(i)},
			Now: at, Deadline: at.Add(time.Second), Most: 1000,
		}
		_, err := ledger.Claim(t.Context(), c)
		require.NoError(t, err)
		require.NoError(t, ledger.Keep(t.Context(), router.Kept{Key: c.Key, Hold: c.Hold, Reply: []byte("kept")}))
	}
	var left int
	require.NoError(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM signalbox_replies").Scan(&left))
	assert.Equal(t, 1000+1099%32, left)
}
