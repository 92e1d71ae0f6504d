package sqlite_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/sqlite"
)

// Several pools, as several processes have them, open a new file at once.
func TestNewManyAtOnce(t *testing.T) {
	t.Parallel()
	for range 20 {
		file := filepath.Join(t.TempDir(), "signalbox.db")
		var all sync.WaitGroup
		for range 8 {
			pool := open(t, file)
			all.Go(func() {
				_, err := sqlite.New(t.Context(), pool, sqlite.Config{})
				assert.NoError(t, err)
			})
		}
		all.Wait()
	}
}

// A pool may close its connections at any time. The last one deletes the log and the next
// one creates it again; transactions that begin meanwhile are not refused.
func TestPoolsThatKeepNoConnection(t *testing.T) {
	t.Parallel()
	pool := open(t, filepath.Join(t.TempDir(), "signalbox.db"))
	pool.SetMaxIdleConns(-1)
	set, err := sqlite.New(t.Context(), pool, sqlite.Config{})
	require.NoError(t, err)
	line := router.Line{Owner: "key:k", Window: "ever"}
	var readers, writers sync.WaitGroup
	over := make(chan struct{})
	for range 4 {
		writers.Go(func() {
			for range 50 {
				h := router.Hold{ID: uuid.New(), Lines: []router.Line{line}}
				assert.NoError(t, set.Ledger.Reserve(t.Context(), h))
				assert.NoError(t, set.Ledger.Void(t.Context(), h.ID))
			}
		})
		readers.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					_, err := set.Ledger.Balances(t.Context(), []router.Line{line})
					assert.NoError(t, err)
				}
			}
		})
	}
	writers.Wait()
	close(over)
	readers.Wait()
}

// Where a write-ahead log is impossible, for example on a file system without shared
// memory, New fails instead of going on without one.
func TestNewWithoutAWriteAheadLog(t *testing.T) {
	t.Parallel()
	_, err := sqlite.New(t.Context(), open(t, "file:"+filepath.Join(t.TempDir(), "signalbox.db")+"?nolock=1"), sqlite.Config{})
	require.ErrorContains(t, err, "write-ahead log")
}
