package prommetrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/router"
)

// unknown is the label of what is not in the catalog. It is neither an id of a model,
// which has a slash, nor likely to be a slug.
const unknown = "unknown"

// outcome is how a decision or a stage ended.
type outcome int

const (
	answered outcome = iota
	refused
	failed
)

func (o outcome) String() string { return [...]string{"answered", "refused", "failed"}[o] }

// classOK is the class of an attempt that was answered.
const classOK = "ok"

// classes are the classes of attempts.
//
//nolint:gochecknoglobals // a lookup table that is never written
var classes = [...]router.Class{
	classOK, router.InvalidRequest, router.PayloadTooLarge, router.RateLimitExceeded,
	router.ProviderUnavailable, router.NoCapacity, router.Timeout, router.ProviderOverloaded,
}

// amount is a sum of money that only grows. It is safe for concurrent use.
type amount struct{ atomic.Int64 }

func (a *amount) add(cost router.USD) { a.Add(int64(cost)) }

// series are the series of one catalog. Only [Metrics.current] makes series, and removes
// those of names that the catalog no longer has. So a call that began with an older
// catalog cannot bring one back: it adds to a counter that is no longer collected.
type series struct {
	catalog   *router.Catalog
	models    map[string]*modelSeries // by id
	served    map[served]*servedSeries
	attempts  map[string]prometheus.Observer // durations, by slug of the provider
	endpoints []*router.Endpoint
}

// served is a model at a provider.
type served struct{ provider, model string }

type modelSeries struct {
	decisions, escalations [failed + 1]prometheus.Counter
	confidence             prometheus.Observer
}

type servedSeries struct {
	attempts [len(classes)]prometheus.Counter
	cost     *amount
}

// current returns the series of the router's catalog, or nil before Register.
func (m *Metrics) current() *series {
	r := m.router.Load()
	if r == nil {
		return nil
	}
	if s := m.series.Load(); s != nil && s.catalog == r.Catalog() {
		return s
	}
	m.renew.Lock()
	defer m.renew.Unlock()
	// Read under the lock, so that older series never replace newer ones.
	catalog, before := r.Catalog(), m.series.Load()
	if before != nil && before.catalog == catalog {
		return before
	}
	s := m.newSeries(catalog, before)
	m.series.Store(s)
	if before != nil {
		m.remove(before, s)
	}
	return s
}

// newSeries returns the series of a catalog. Those that were there before keep their
// values.
func (m *Metrics) newSeries(c *router.Catalog, before *series) *series {
	s := &series{
		catalog: c, endpoints: c.Endpoints(),
		models: map[string]*modelSeries{}, served: map[served]*servedSeries{}, attempts: map[string]prometheus.Observer{},
	}
	for _, model := range c.Models() {
		of := &modelSeries{}
		for o := answered; o <= failed; o++ {
			of.decisions[o] = m.decisions.WithLabelValues(model.ID, o.String())
			of.escalations[o] = m.escalations.WithLabelValues(model.ID, o.String())
		}
		if len(model.Stages) == 0 { // one made of stages gives no answers itself
			of.confidence = m.confidence.WithLabelValues(model.ID)
		}
		s.models[model.ID] = of
	}
	for _, p := range c.Providers() {
		s.attempts[p.Slug] = m.attemptDuration.WithLabelValues(p.Slug)
	}
	for _, e := range s.endpoints {
		at := served{e.Provider, e.Model}
		if s.served[at] != nil {
			continue // another variant
		}
		of := &servedSeries{cost: new(amount)}
		if before != nil && before.served[at] != nil {
			of.cost = before.served[at].cost
		}
		for i, class := range classes {
			of.attempts[i] = m.attempts.WithLabelValues(e.Provider, e.Model, string(class))
		}
		s.served[at] = of
	}
	return s
}

// remove ends the series that only the older catalog has.
func (m *Metrics) remove(older, newer *series) {
	for id, was := range older.models {
		now := newer.models[id]
		if now == nil || was.confidence != nil && now.confidence == nil {
			m.confidence.DeleteLabelValues(id)
		}
		if now == nil {
			m.decisions.DeletePartialMatch(prometheus.Labels{"model": id})
			m.escalations.DeletePartialMatch(prometheus.Labels{"model": id})
		}
	}
	for slug := range older.attempts {
		if newer.attempts[slug] == nil {
			m.attemptDuration.DeleteLabelValues(slug)
		}
	}
	for at := range older.served {
		if newer.served[at] == nil {
			m.attempts.DeletePartialMatch(prometheus.Labels{"provider": at.provider, "model": at.model})
		}
	}
}
