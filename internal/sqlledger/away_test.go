package sqlledger

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/router"
)

// failing is a database whose writes fail.
type failing struct {
	sqldb.DB

	err   error
	tries int
}

func (f *failing) Writers() int { return 1 }

func (f *failing) Write(context.Context, func(sqldb.Tx) error) error {
	f.tries++
	return f.err
}

// While the database cannot be reached, a batch fails as a whole: bisecting it would
// wait for a connection again and again. What the database refuses is bisected.
func TestTheDatabaseIsNotLookedForByEach(t *testing.T) {
	t.Parallel()
	for err, tries := range map[error]int{sqldb.ErrAway: 1, errors.New("one of them is poison"): 2*maxBatch - 1} {
		db := &failing{err: err}
		l := NewLedger(db, NewActivity(db))
		batch := make([]*operation, maxBatch)
		for i := range batch {
			batch[i] = &operation{id: uuid.New(), asked: &router.Hold{}}
		}
		l.runBatch(batch)
		for _, o := range batch {
			require.ErrorIs(t, o.err, err)
		}
		assert.Equal(t, tries, db.tries, err)
	}
}
