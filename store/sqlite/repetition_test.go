package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/internal/sqlstore"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/storetest"
)

// fickle is a database that runs transactions again and often reports an unknown outcome.
type fickle struct {
	sqldb.DB
	writes atomic.Uint64
}

var errUndone = errors.New("undone")

// Read implements [sqldb.DB].
func (d *fickle) Read(ctx context.Context, f func(sqldb.Tx) error) error {
	if err := d.DB.Read(ctx, f); err != nil {
		return err
	}
	return d.DB.Read(ctx, f)
}

// ReadOne implements [sqldb.DB].
func (d *fickle) ReadOne(ctx context.Context, f func(sqldb.Tx) error) error {
	return d.Read(ctx, f)
}

// WriteRows implements [sqldb.DB].
func (d *fickle) WriteRows(ctx context.Context, statements ...sqldb.RowsStatement) error {
	return d.Write(ctx, func(tx sqldb.Tx) error { return d.RunRows(ctx, tx, statements...) })
}

// Write implements [sqldb.DB].
func (d *fickle) Write(ctx context.Context, f func(sqldb.Tx) error) error {
	const golden = 0x9e3779b97f4a7c15 // the golden ratio: spreads the faults evenly, without a short period
	const again, forgotten, lost = 1, 2, 3
	fault := d.writes.Add(1) * golden >> 62
	if fault == again || fault == lost {
		err := d.DB.Write(ctx, func(tx sqldb.Tx) error {
			if err := f(tx); err != nil {
				return err
			}
			return errUndone
		})
		switch {
		case !errors.Is(err, errUndone):
			return err
		case fault == lost:
			return fmt.Errorf("%w: it was %w", sqldb.ErrUnknown, err)
		}
	}
	err := d.DB.Write(ctx, f)
	if err == nil && fault == forgotten {
		err = fmt.Errorf("%w: it was done", sqldb.ErrUnknown)
	}
	return err
}

// A store's transaction may run several times, with one result. The pool has a single
// connection, so that it is shown as well that no store waits for itself.
func TestConformanceOfRepetition(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Set {
		t.Helper()
		pool, err := sql.Open("sqlite", ":memory:")
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, pool.Close()) })
		pool.SetMaxOpenConns(1)
		return repeating(t, pool)
	})
}

// Several connections run transactions again at the same time.
func TestConformanceOfConcurrentRepetition(t *testing.T) {
	t.Parallel()
	if os.Getenv("SIGNALBOX_TEST_FULL") != "1" {
		t.Skip("SIGNALBOX_TEST_FULL is not 1")
	}
	storetest.Run(t, func(t *testing.T) store.Set {
		t.Helper()
		pool, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "signalbox.db"))
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, pool.Close()) })
		return repeating(t, pool)
	})
}

func repeating(t *testing.T, pool *sql.DB) store.Set {
	t.Helper()
	_, err := New(t.Context(), pool, Config{})
	require.NoError(t, err)
	return sqlstore.Set(&fickle{DB: newDB(pool, DefaultPrefix)})
}
