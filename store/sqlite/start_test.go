package sqlite_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/store/sqlite"
)

// Pools of their own, as processes have them, open a new file at once.
func TestNewManyAtOnce(t *testing.T) {
	t.Parallel()
	for range 20 {
		file := filepath.Join(t.TempDir(), "signalbox.db")
		var all sync.WaitGroup
		for range 8 {
			pool := open(t, file)
			all.Go(func() {
				_, err := sqlite.New(t.Context(), pool)
				assert.NoError(t, err)
			})
		}
		all.Wait()
	}
}

// Where there can be no write-ahead log (a file system without shared memory,
// for example), New says so, and does not go on with less.
func TestNewWithoutAWriteAheadLog(t *testing.T) {
	t.Parallel()
	_, err := sqlite.New(t.Context(), open(t, "file:"+filepath.Join(t.TempDir(), "signalbox.db")+"?nolock=1"))
	require.ErrorContains(t, err, "write-ahead log")
}
