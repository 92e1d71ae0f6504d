package prommetrics

import (
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// holds are the holds that calls of this process have open. Another process, or the
// ledger's own expiry, may close one that stays here: it is dropped at the first expiry
// after its deadline. It is safe for concurrent use.
type holds struct {
	mu    sync.Mutex
	open  map[holdID]hold
	total router.USD
}

type holdID = uuid.UUID

// hold is what an account may be charged for a hold, and when the hold may expire.
type hold struct {
	credit   router.USD
	deadline time.Time
}

// reserved notes a new hold, or raises one that is known.
func (h *holds) reserved(by router.Hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	was := h.open[by.ID]
	now := hold{credit: max(was.credit, by.Amount.Credit), deadline: was.deadline}
	if by.Deadline.After(now.deadline) {
		now.deadline = by.Deadline
	}
	h.open[by.ID] = now
	h.total += now.credit - was.credit
}

func (h *holds) closed(id holdID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drop(id)
}

func (h *holds) drop(id holdID) {
	h.total -= h.open[id].credit
	delete(h.open, id)
}

// expired drops the holds whose deadline is before now.
func (h *holds) expired(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, open := range h.open {
		if open.deadline.Before(now) {
			h.drop(id)
		}
	}
}

func (h *holds) sum() router.USD {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.total
}
