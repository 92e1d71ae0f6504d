package router

import (
	"sync/atomic"
	"time"
)

// The windows of an endpoint's statistics, each with the width of its slots.
const (
	outageWindow = 30 * time.Second
	outageSlot   = time.Second
	recentWindow = 5 * time.Minute
	recentSlot   = 30 * time.Second
	reportWindow = 30 * time.Minute
	reportSlot   = 5 * time.Minute
	dayWindow    = 24 * time.Hour
	daySlot      = 15 * time.Minute

	// An outage needs this many failures, and less than 4/5 of all attempts successful.
	outageFailures = 3

	// The pause of an endpoint that asks for one without a duration, and the longest pause.
	defaultRest = 5 * time.Second
	maxRest     = time.Minute

	percentileSuccesses = 10  // fewer leave a percentile unknown
	uptimeAttempts      = 100 // fewer leave a reported uptime unknown
)

// tracker holds the statistics of one endpoint. It is safe for concurrent use and
// takes no lock. Its memory is bounded: about 75 KB for an endpoint in steady use,
// 2 KB for one that is never used.
type tracker struct {
	inflight atomic.Int64
	retries  counter // further attempts while the endpoint failed often

	outages ring[tally]
	recent  ring[sample]
	report  ring[sample]
	day     ring[daily]
	resting atomic.Pointer[rest]

	failure atomic.Pointer[Class] // of the last attempt that counted for outages and failed
	told    told

	events  atomic.Uint64 // the number of observations
	outage  atomic.Bool   // in the last snapshot
	figures figures       // guarded by statistics.mu
}

// tally counts the attempts that count for an endpoint's uptime.
type tally struct{ ok, failed atomic.Int64 }

// sample is a tally with the speed of the successes.
type sample struct {
	tally
	latency    histogram // microseconds
	throughput histogram // thousandths of a token per second
}

// daily is a tally with counts of checked replies.
type daily struct {
	tally
	passed, checked atomic.Int64
}

// rest is a pause that an endpoint asked for by Retry-After. It has a begin, so
// that a clock that steps back does not prolong it.
type rest struct{ from, until time.Time }

func (r *rest) holds(now time.Time) bool {
	return r != nil && !now.Before(r.from) && now.Before(r.until)
}

// observation is what an attempt adds to its endpoint's statistics.
type observation struct {
	at       time.Time // when it ended
	ok       bool
	failed   bool // counts against uptime
	checked  bool // there was a reply to check
	duration time.Duration
	tokens   int64
	rest     time.Duration // what the endpoint asked for; 0 is nothing
	class    Class         // of a failure
}

func newTracker() *tracker {
	return &tracker{
		retries: newCounter(),
		outages: newRing[tally](int(outageWindow/outageSlot), outageSlot),
		recent:  newRing[sample](int(recentWindow/recentSlot), recentSlot),
		report:  newRing[sample](int(reportWindow/reportSlot), reportSlot),
		day:     newRing[daily](int(dayWindow/daySlot), daySlot),
	}
}

// record adds an attempt. It reports whether the endpoint's outage now differs from
// the last snapshot.
func (t *tracker) record(o observation) (changed bool) {
	if o.failed || o.rest > 0 {
		t.failure.Store(new(o.class))
	}
	if o.rest > 0 {
		t.rest(o.at, min(o.rest, maxRest))
	}
	if o.checked || o.ok || o.failed {
		day := t.day.at(o.at)
		day.add(o)
		day.check(o)
	}
	if o.ok || o.failed {
		t.outages.at(o.at).add(o)
		t.recent.at(o.at).add(o)
		t.report.at(o.at).add(o)
	}
	if o.ok {
		t.resting.Store(nil)
	}
	t.events.Add(1)
	return t.outageAt(o.at) != t.outage.Load()
}

// lastFailure returns the class of the last failure that counted, "" before any.
func (t *tracker) lastFailure() Class {
	if class := t.failure.Load(); class != nil {
		return *class
	}
	return ""
}

// rest starts a pause, unless one that ends later holds already.
func (t *tracker) rest(now time.Time, d time.Duration) {
	fresh := &rest{from: now, until: now.Add(d)}
	for {
		old := t.resting.Load()
		if old.holds(now) && old.until.After(fresh.until) {
			return
		}
		if t.resting.CompareAndSwap(old, fresh) {
			return
		}
	}
}

// outageAt reports whether load balancing should avoid the endpoint.
func (t *tracker) outageAt(now time.Time) bool {
	return t.resting.Load().holds(now) || t.suffers(now)
}

// suffers reports whether the endpoint failed often in the last 30 s.
func (t *tracker) suffers(now time.Time) bool {
	var ok, failed int64
	for n := range t.outages.window(now) {
		ok += n.ok.Load()
		failed += n.failed.Load()
	}
	return failed >= outageFailures && 5*ok < 4*(ok+failed)
}

func (t *tally) add(o observation) {
	if o.ok {
		t.ok.Add(1)
	}
	if o.failed {
		t.failed.Add(1)
	}
}

func (s *sample) add(o observation) {
	s.tally.add(o)
	if !o.ok {
		return
	}
	us := uint64(max(o.duration.Microseconds(), 0))
	s.latency.add(us)
	// A reply faster than a microsecond counts as one of a microsecond.
	s.throughput.add(uint64(o.tokens) * 1_000_000_000 / max(us, 1)) //nolint:gosec // tokens are checked
}

func (d *daily) check(o observation) {
	if !o.checked {
		return
	}
	d.checked.Add(1)
	if o.ok {
		d.passed.Add(1)
	}
}
