package prommetrics

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/router"
)

// Config configures [Metrics]. Write it with field names, because minor versions add
// fields.
type Config struct {
	// Registerer is where the metrics are registered: a registry, or one that
	// prometheus.WrapRegistererWith has given constant labels. It is required.
	Registerer prometheus.Registerer
	// Dropped are functions that return how much a queue has lost since the program
	// began: outcomes, spans, events. signalbox_observer_dropped_total is their sum. They
	// must be safe for concurrent use.
	Dropped []func() int64
	// Now is the clock that ledgers are timed with; default time.Now.
	Now func() time.Time
}

// Metrics measures one router, its ledger and the HTTP interface in front of it. It is
// safe for concurrent use, has no goroutine and blocks nobody.
type Metrics struct {
	cfg    Config
	router atomic.Pointer[router.Router]
	series atomic.Pointer[series]
	renew  sync.Mutex // serialises new series

	decisions, escalations, attempts                       *prometheus.CounterVec
	attemptDuration, confidence, ledgerSeconds             *prometheus.HistogramVec
	decisionDuration                                       prometheus.Histogram
	costDesc, heldDesc, overrunsDesc, outageDesc, lostDesc *prometheus.Desc

	unknownCost amount // at endpoints that are not in the catalog
	held        holds
	replies     replies
}

const namespace = "signalbox_"

// New returns metrics that count nothing before [Metrics.Register]. A program with the
// root package sets signalbox.Config.Metrics. Any other program
//
//   - gives router.Config a Ledger that [Metrics.Ledger] has wrapped,
//   - puts router.Observe(m) first among its interceptors,
//   - calls [Metrics.Request] in httpapi.Config.Observe, and
//   - calls [Metrics.Register] before it serves.
func New(cfg Config) *Metrics {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	m := &Metrics{
		cfg:         cfg,
		decisions:   counters("decisions_total", "Calls, by the model that they name first and by outcome: answered, refused or failed.", "model", "outcome"),
		escalations: counters("escalations_total", "Later stages that were due, by the model that the call names first and by outcome: answered, refused or failed.", "model", "outcome"),
		attempts:    counters("attempts_total", "Attempts at upstreams, by class: ok or the type of the error.", "provider", "model", "class"),
		decisionDuration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: namespace + "decision_duration_seconds", Help: "Time that calls took, policies and all attempts included.", Buckets: callBuckets(),
		}),
		attemptDuration: histograms("attempt_duration_seconds", "Time that attempts at upstreams took.", callBuckets(), "provider"),
		confidence: histograms("answer_confidence", "Confidence of the answers, from 0 to 1, by the model that gave them.",
			[]float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99}, "model"),
		ledgerSeconds: histograms("ledger_seconds", "Time that the ledger took, by operation.",
			[]float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10}, "op"),
		costDesc:     describe("cost_usd_total", "What callers were charged, in US dollars.", "provider", "model"),
		heldDesc:     describe("held_usd", "What calls in flight in this process hold of their budgets, in US dollars."),
		overrunsDesc: describe("overruns_total", "Answers that cost more than was held for them."),
		outageDesc:   describe("endpoint_outage", "1 while load balancing avoids the endpoint, else 0.", "endpoint"),
		lostDesc:     describe("observer_dropped_total", "What the queues of observers have lost."),
		held:         holds{open: map[holdID]hold{}},
		replies: replies{
			vec:      counters("http_requests_total", "Replies of the HTTP interface, by the pattern of the route and the status.", "route", "status"),
			counters: map[reply]prometheus.Counter{}, routes: map[string]bool{},
		},
	}
	for o := range ops { // so that they exist before they are counted
		m.ledgerSeconds.WithLabelValues(o.String())
	}
	return m
}

var (
	errRegisterer = errors.New("prommetrics: Config.Registerer is required")
	errRegistered = errors.New("prommetrics: these metrics measure a router already; make new ones")
)

// Register begins to measure r, and registers the metrics. Call it once, before the
// router serves. Errors are a missing Registerer, a second call, and those of
// [prometheus.Registerer].
func (m *Metrics) Register(r *router.Router) error {
	if m.cfg.Registerer == nil || typednil.Is(m.cfg.Registerer) {
		return errRegisterer
	}
	if !m.router.CompareAndSwap(nil, r) {
		return errRegistered
	}
	if err := m.cfg.Registerer.Register(collector{m}); err != nil {
		m.router.Store(nil)
		return fmt.Errorf("prommetrics: %w", err)
	}
	return nil
}

// callBuckets are the buckets of calls and attempts, in seconds. The first are for the
// embedded model, the last is the router's default timeout.
func callBuckets() []float64 {
	return []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: namespace + name, Help: help}, labels)
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: namespace + name, Help: help, Buckets: buckets}, labels)
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(namespace+name, help, labels, nil)
}
