package router

import (
	"sync"
	"time"

	"github.com/google/uuid"
)

// hourly allows one event per endpoint and hour. It is safe for concurrent use.
// Endpoints are forgotten after an hour.
type hourly struct {
	mu   sync.Mutex
	last map[uuid.UUID]time.Time
}

func (h *hourly) first(endpoint uuid.UUID, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at, ok := h.last[endpoint]; ok && recent(at, now) {
		return false
	}
	if h.last == nil {
		h.last = make(map[uuid.UUID]time.Time)
	}
	for id, at := range h.last {
		if !recent(at, now) {
			delete(h.last, id)
		}
	}
	h.last[endpoint] = now
	return true
}

// recent reports whether an instant is less than an hour before or after now. It
// may be after now where the clock has stepped back.
func recent(at, now time.Time) bool { return now.Sub(at).Abs() < time.Hour }
