package prommetrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/router"
)

// collector is what a registry gets of Metrics.
type collector struct{ *Metrics }

// all returns the parts that collect themselves.
func (m *Metrics) all() []prometheus.Collector {
	return []prometheus.Collector{
		m.decisions, m.escalations, m.attempts, m.replies.vec,
		m.decisionDuration, m.attemptDuration, m.confidence, m.ledgerSeconds,
	}
}

// Describe implements [prometheus.Collector].
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, part := range c.all() {
		part.Describe(ch)
	}
	for _, d := range []*prometheus.Desc{c.costDesc, c.heldDesc, c.overrunsDesc, c.outageDesc, c.lostDesc} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector]. Outages are those of this instant.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	r, s := c.router.Load(), c.current()
	if s == nil {
		return // Register has failed
	}
	for _, part := range c.all() {
		part.Collect(ch)
	}
	send := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		metric, err := prometheus.NewConstMetric(d, kind, v, labels...)
		if err != nil {
			metric = prometheus.NewInvalidMetric(d, err)
		}
		ch <- metric
	}
	for at, of := range s.served {
		send(c.costDesc, prometheus.CounterValue, dollars(of.cost.Load()), at.provider, at.model)
	}
	if nanos := c.unknownCost.Load(); nanos > 0 {
		send(c.costDesc, prometheus.CounterValue, dollars(nanos), unknown, unknown)
	}
	send(c.heldDesc, prometheus.GaugeValue, dollars(int64(c.held.sum())))
	overruns, _ := r.Overruns()
	send(c.overrunsDesc, prometheus.CounterValue, float64(overruns))
	for _, e := range s.endpoints {
		out := 0.0
		if r.Health(e.ID).Outage {
			out = 1
		}
		send(c.outageDesc, prometheus.GaugeValue, out, e.Tag()+" "+e.Model)
	}
	var lost int64
	for _, dropped := range c.cfg.Dropped {
		lost += dropped()
	}
	send(c.lostDesc, prometheus.CounterValue, float64(lost))
}

// dollars returns nano-dollars in dollars. It is exact up to 9 million dollars, and to 16
// digits beyond.
func dollars(nanos int64) float64 { return float64(nanos) / float64(router.Dollar) }
