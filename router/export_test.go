package router

import (
	"github.com/google/uuid"

	"github.com/signalbox/signalbox/systemone"
)

// StatsOf returns an endpoint's statistics as the next plan would see them.
func (r *Router) StatsOf(id uuid.UUID) Stats {
	w := r.world.Load()
	stats := w.stats(r.cfg.Now())
	for i, e := range w.catalog.Endpoints() {
		if e.ID == id {
			return stats[i]
		}
	}
	return Stats{}
}

// InFlight returns how many places at an endpoint are taken.
func (r *Router) InFlight(id uuid.UUID) int64 {
	return r.world.Load().byEndpoint[id].tracker.inflight.Load()
}

// NewMemorySessions makes the default memory with another size.
func NewMemorySessions(kept int) Sessions { return newMemorySessions(kept) }

// Digest is the key's digest.
func (k SessionKey) Digest() [32]byte { return k.digest() }

// BoundOf returns the most tokens that a request may take.
func BoundOf(q *systemone.Request) (prompt, completion int64) { return BoundAt(q, &Endpoint{}) }

// BoundAt returns the most tokens that a request may take at an endpoint.
func BoundAt(q *systemone.Request, e *Endpoint) (prompt, completion int64) {
	s := sizeOf(q)
	return s.at(e)
}
