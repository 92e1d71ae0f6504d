package router

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// statistics is shared by the snapshots of all catalogs of a router.
type statistics struct {
	mu      sync.Mutex    // held while statistics are read out
	changes atomic.Uint64 // how often an outage began or ended
	outages outages
}

// world is a catalog with its run-time state. A call uses one world from begin to
// end. SetCatalog makes a new world, which shares the trackers and counters of
// equal ids.
type world struct {
	catalog    *Catalog
	served     []*served // by the index of the catalog's endpoints
	byEndpoint map[uuid.UUID]*served
	firsts     map[string]*counter // by model id: calls whose first attempt was for the model
	// escalations are of the models made of stages that state MaxEscalated, by id.
	escalations map[string]*escalations
	statistics  *statistics
	view        atomic.Pointer[view]
}

// served is an endpoint with its provider and its state.
type served struct {
	endpoint *Endpoint
	provider *ProviderInfo
	tracker  *tracker
	firsts   *counter // of its model
	index    int      // in the catalog's endpoints
}

// view is a snapshot of the statistics of every endpoint. Plans share it.
type view struct {
	from, until time.Time // while it is in force
	changes     uint64
	stats       []Stats // by the index of the catalog's endpoints
}

func newWorld(c *Catalog, before *world, s *statistics) *world {
	endpoints, models := c.Endpoints(), c.Models()
	w := &world{
		catalog:    c,
		served:     make([]*served, 0, len(endpoints)),
		byEndpoint: make(map[uuid.UUID]*served, len(endpoints)),
		firsts:     make(map[string]*counter, len(models)),
		statistics: s,
	}
	providers := make(map[string]*ProviderInfo)
	for _, p := range c.Providers() {
		providers[p.Slug] = p
	}
	for _, m := range models {
		w.firsts[m.ID] = before.counter(m.ID)
		if m.MaxEscalated > 0 {
			w.limit(m.ID, before)
		}
	}
	for i, e := range endpoints {
		v := &served{endpoint: e, provider: providers[e.Provider], tracker: before.tracker(e.ID), firsts: w.firsts[e.Model], index: i}
		w.served = append(w.served, v)
		w.byEndpoint[e.ID] = v
	}
	return w
}

// limit makes the escalations of a model, or keeps those of the world before.
func (w *world) limit(model string, before *world) {
	if w.escalations == nil {
		w.escalations = make(map[string]*escalations)
	}
	if before != nil {
		w.escalations[model] = before.escalations[model]
	}
	if w.escalations[model] == nil {
		w.escalations[model] = new(escalations)
	}
}

func (w *world) tracker(id uuid.UUID) *tracker {
	if w != nil {
		if v, ok := w.byEndpoint[id]; ok {
			return v.tracker
		}
	}
	return newTracker()
}

func (w *world) counter(model string) *counter {
	if w != nil {
		if c, ok := w.firsts[model]; ok {
			return c
		}
	}
	return new(newCounter())
}

// stats returns the statistics at an instant, by the index of the catalog's
// endpoints. They are computed again after a second, when a pause ends or when an
// outage changes. While one goroutine computes them, the others use the previous
// ones.
func (w *world) stats(now time.Time) []Stats {
	v := w.view.Load()
	if v != nil && v.inForce(now, w.statistics.changes.Load()) {
		return v.stats
	}
	switch {
	case v == nil:
		w.statistics.mu.Lock()
	case !w.statistics.mu.TryLock():
		return v.stats
	}
	defer w.statistics.mu.Unlock()
	return w.readOut(now).stats
}

func (v *view) inForce(now time.Time, changes uint64) bool {
	return v.changes == changes && !now.Before(v.from) && now.Before(v.until)
}

// readOut computes a view. Failures leave the window of outages only at whole
// seconds, so between these only the end of a pause changes an outage without an
// observation.
func (w *world) readOut(now time.Time) *view {
	second := time.Unix(now.Unix(), 0)
	v := &view{
		from: second, until: second.Add(outageSlot),
		changes: w.statistics.changes.Load(),
		stats:   make([]Stats, len(w.served)),
	}
	for i, s := range w.served {
		if r := s.tracker.resting.Load(); r.holds(now) {
			v.from, v.until = later(v.from, r.from), earlier(v.until, r.until)
		}
		v.stats[i] = s.tracker.stats(now)
		s.tracker.outage.Store(v.stats[i].Outage)
		if s.tracker.told.out.Load() != v.stats[i].Outage {
			w.statistics.outages.due.Store(true)
		}
	}
	w.view.Store(v)
	return v
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
