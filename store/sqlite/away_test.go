package sqlite_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/sqlite"
)

// A locked, full or missing file is unavailable; a missing table is not.
func TestAFileThatIsAway(t *testing.T) {
	t.Parallel()
	pool := open(t, filepath.Join(t.TempDir(), "signalbox.db"))
	pool.SetMaxOpenConns(1)
	set, err := sqlite.New(t.Context(), pool, sqlite.Config{})
	require.NoError(t, err)
	_, err = set.Keys.Get(t.Context(), "none")
	require.ErrorIs(t, err, keys.ErrNotFound)
	require.NotErrorIs(t, err, router.ErrUnavailable)

	_, err = pool.ExecContext(t.Context(), "PRAGMA max_page_count = 1") // as if the disk were full
	require.NoError(t, err)
	for n := 0; err == nil; n++ {
		k := keys.Key{Hash: strconv.Itoa(n), Name: strings.Repeat("long", 1000), Account: "acme", Version: 1}
		err = set.Keys.Create(t.Context(), k, router.Change{ID: uuid.New(), Account: "acme"})
	}
	require.ErrorIs(t, err, router.ErrUnavailable)
	for err = nil; err == nil; {
		id := uuid.New()
		err = set.Ledger.Reserve(t.Context(), router.Hold{
			ID: id, Lines: []router.Line{{Owner: "key:" + strings.Repeat(id.String(), 10), Window: "ever"}},
		})
	}
	require.ErrorIs(t, err, router.ErrUnavailable)

	require.NoError(t, pool.Close())
	_, err = set.Keys.Get(t.Context(), "none")
	assert.ErrorIs(t, err, router.ErrUnavailable)
}
