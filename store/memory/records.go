package memory

import (
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// remembered is how long a closed hold is known, from its deadline on.
const remembered = 24 * time.Hour

// record is what stays known of a hold.
type record struct {
	id    uuid.UUID
	cost  router.Amount // when it is settled
	slot  uint32        // of the hold in its table, until it is settled; then noSlot
	until uint32        // minutes since 1970; notClosed before it is closed
}

const (
	noSlot    = math.MaxUint32
	notClosed = math.MaxUint32 // in the year 10136, later than any clock
)

// records is a queue of records in the order in which the holds came, which is
// nearly that of their deadlines, and finds them by their ids. There are many:
// they hold no pointers and never move, and the index, in which a new id is not
// found, is small.
type records struct {
	index map[uuid.UUID]uint32 // numbers
	parts [][]record
	first uint32 // number of the first in the first part; numbers may start over
	taken int    // of the first part
}

const partSize = 256

// add adds a record and returns its number.
func (q *records) add(r record) uint32 {
	last := len(q.parts) - 1
	if last < 0 || len(q.parts[last]) == partSize {
		q.parts = append(q.parts, make([]record, 0, partSize))
		last++
	}
	number := q.first + uint32(last*partSize+len(q.parts[last])) //nolint:gosec // modulo 1<<32
	q.parts[last] = append(q.parts[last], r)
	q.index[r.id] = number
	return number
}

// at returns the record of a number.
func (q *records) at(number uint32) *record {
	n := number - q.first
	return &q.parts[n/partSize][n%partSize]
}

// find returns the record of an id, or nil.
func (q *records) find(id uuid.UUID) *record {
	if number, known := q.index[id]; known {
		return q.at(number)
	}
	return nil
}

// pop takes the first record out, if its time is over. One that is not closed
// keeps those behind it waiting.
func (q *records) pop(now time.Time) (record, bool) {
	if len(q.parts) == 0 || q.taken == len(q.parts[0]) {
		return record{}, false
	}
	r := q.parts[0][q.taken]
	if time.Unix(int64(r.until)*60, 0).After(now) {
		return record{}, false
	}
	delete(q.index, r.id)
	if q.taken++; q.taken == partSize {
		q.parts, q.taken = q.parts[1:], 0
		q.first += partSize
	}
	return r, true
}

// close says when the record of a hold with this deadline may be forgotten,
// never too early.
func (r *record) close(deadline time.Time) {
	minutes := deadline.Add(remembered).Unix()/60 + 1
	r.until = uint32(min(max(minutes, 0), notClosed-1))
}
