package lease

import (
	"time"

	"github.com/google/uuid"
)

// remembered is how many closed holds are kept here. The base knows those that were settled,
// but not those that were given back to a slice.
const remembered = 1 << 14

// closedCalls are the holds that were closed last.
type closedCalls struct {
	known map[uuid.UUID]closedCall
	order []uuid.UUID // a ring buffer once it is full
	next  int
}

// closedCall is a closed hold. slice is zero unless the hold was given back to a slice.
type closedCall struct {
	slice    uuid.UUID
	deadline time.Time
}

func (c *closedCalls) add(id uuid.UUID, was closedCall) {
	if _, known := c.known[id]; known {
		return
	}
	c.known[id] = was
	if len(c.order) < remembered {
		c.order = append(c.order, id)
		return
	}
	delete(c.known, c.order[c.next])
	c.order[c.next] = id
	c.next = (c.next + 1) % remembered
}
