package router

import (
	"sync"
	"time"
)

// hourly allows one event per key and hour. It is safe for concurrent use. Keys are
// forgotten after an hour.
type hourly[K comparable] struct {
	mu   sync.Mutex
	last map[K]time.Time
}

func (h *hourly[K]) first(key K, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at, ok := h.last[key]; ok && recent(at, now) {
		return false
	}
	if h.last == nil {
		h.last = make(map[K]time.Time)
	}
	for id, at := range h.last {
		if !recent(at, now) {
			delete(h.last, id)
		}
	}
	h.last[key] = now
	return true
}

// recent reports whether an instant is less than an hour before or after now. It
// may be after now where the clock has stepped back.
func recent(at, now time.Time) bool { return now.Sub(at).Abs() < time.Hour }
