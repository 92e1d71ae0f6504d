package memory

import (
	"time"

	"github.com/google/uuid"
)

// remembered is how long a closed hold is known, from its deadline on.
const remembered = 24 * time.Hour

// closedHolds is a queue of holds in the order of their closing, which is
// nearly that of their deadlines. Its parts hold no pointers and never move.
type closedHolds struct {
	parts [][]closedHold
	taken int // of the first part
}

type closedHold struct {
	id    uuid.UUID
	until int64 // Unix seconds
}

const partSize = 1024

func (q *closedHolds) push(h *hold) {
	last := len(q.parts) - 1
	if last < 0 || len(q.parts[last]) == partSize {
		q.parts = append(q.parts, make([]closedHold, 0, partSize))
		last++
	}
	until := h.deadline.Add(remembered).Unix() + 1 // never too early
	q.parts[last] = append(q.parts[last], closedHold{id: h.id, until: until})
}

// pop takes the hold out that was closed first, if its time is over.
func (q *closedHolds) pop(now time.Time) (uuid.UUID, bool) {
	if len(q.parts) == 0 || q.taken == len(q.parts[0]) || q.parts[0][q.taken].until >= now.Unix() {
		return uuid.UUID{}, false
	}
	id := q.parts[0][q.taken].id
	if q.taken++; q.taken == partSize {
		q.parts, q.taken = q.parts[1:], 0
	}
	return id, true
}
