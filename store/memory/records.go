package memory

import (
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// remembered is how long a closed hold stays after its deadline.
const remembered = 24 * time.Hour

// record is what is kept of a hold after it is closed.
type record struct {
	id    uuid.UUID
	cost  router.Amount // once settled
	slot  uint32        // of the hold in its table; noSlot once settled
	until uint32        // when to forget it, in minutes since 1970; notClosed while it is open
}

const (
	noSlot    = math.MaxUint32
	notClosed = math.MaxUint32 // the year 10136
)

// records is a queue of records in the order of their creation, which is nearly the order of
// their deadlines, with an index by ID. There may be many: they have no pointers and never
// move, and the index is small, because most look-ups are of new IDs.
type records struct {
	index map[uuid.UUID]uint32 // record numbers
	parts [][]record
	first uint32 // number of the first record of the first part; numbers wrap around
	taken int    // records already removed from the first part
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

// pop removes the first record if it may be forgotten. A record that is not closed keeps those
// behind it.
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

// close sets when the record of a hold with this deadline may be forgotten, rounded up.
func (r *record) close(deadline time.Time) {
	minutes := deadline.Add(remembered).Unix()/60 + 1
	r.until = uint32(min(max(minutes, 0), notClosed-1))
}
