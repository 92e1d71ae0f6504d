package postgres_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/internal/sqlstore"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/postgres"
)

// slowFold is a database in which folding waits for the test.
type slowFold struct {
	sqldb.DB

	folds, goOn chan struct{}
}

func (d *slowFold) RunRows(ctx context.Context, tx sqldb.Tx, statements ...sqldb.RowsStatement) error {
	if strings.HasPrefix(statements[0].Text, "DELETE FROM {events_new}") {
		d.folds <- struct{}{}
		<-d.goOn
	}
	return d.DB.RunRows(ctx, tx, statements...)
}

// The caller that reaches the number of events to fold waits for the fold; other callers
// do not.
func TestNobodyWaitsForAFold(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{})
	_, err := postgres.New(t.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
	require.NoError(t, err)
	db := &slowFold{DB: postgres.DB(pool), folds: make(chan struct{}), goOn: make(chan struct{})}
	set := sqlstore.Set(db)
	recorder, ok := set.Ledger.(router.Recorder)
	require.True(t, ok)
	hold := func(n byte) router.Hold {
		return router.Hold{
			ID: uuid.UUID{n}, Lines: []router.Line{{Owner: "key:k", Window: "ever"}}, Deadline: time.Unix(60, 0),
			Amount: router.Amount{Credit: 1, Total: 1},
		}
	}
	events := make([]router.Event, 16<<10)
	for i := range events {
		events[i].ID = strconv.Itoa(i)
	}
	require.NoError(t, set.Activity.Record(t.Context(), events[1:]))
	for _, n := range []byte{1, 2} {
		require.NoError(t, set.Ledger.Reserve(t.Context(), hold(n)))
	}

	settled := make(chan error, 1)
	go func() { settled <- recorder.SettleWith(t.Context(), uuid.UUID{1}, router.Amount{}, events[:1]) }()
	<-db.folds
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	assert.NoError(t, set.Ledger.Reserve(ctx, hold(3)))
	assert.NoError(t, set.Ledger.Void(ctx, uuid.UUID{2}))
	close(db.goOn)
	go func() {
		for range db.folds {
		}
	}()
	defer close(db.folds)
	assert.NoError(t, <-settled)
}
