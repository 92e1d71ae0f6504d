package router

import (
	"iter"
	"time"
)

// figures caches what a plan needs of an endpoint's statistics, until an
// observation arrives or a slot of a window ends.
type figures struct {
	stats  Stats // Outage is not used
	events uint64
	epoch  int64
	known  bool
}

// stats returns the endpoint's statistics at an instant. Callers hold
// statistics.mu.
func (t *tracker) stats(now time.Time) Stats {
	f := &t.figures
	// The slots of every window but the outages' are multiples of recentSlot.
	events, epoch := t.events.Load(), epochOf(now, recentSlot)
	if !f.known || f.events != events || f.epoch != epoch {
		*f = figures{events: events, epoch: epoch, known: true}
		f.stats.Latency, f.stats.Throughput = speed(&t.recent, now)
		for d := range t.day.window(now) {
			f.stats.Passed += d.passed.Load()
			f.stats.Checked += d.checked.Load()
		}
	}
	s := f.stats
	s.Outage = t.outageAt(now)
	return s
}

// speed returns the percentiles of latency, in seconds, and of throughput, in
// tokens per second. The P90 of a throughput is what 90 % of the replies reach.
func speed(samples *ring[sample], now time.Time) (latency, throughput Percentiles) {
	var l, t tallied
	for s := range samples.window(now) {
		// Too few successes are common, and counting them is cheap.
		if s.ok.Load() > 0 {
			l.merge(&s.latency)
			t.merge(&s.throughput)
		}
	}
	if l.total >= percentileSuccesses {
		latency = percentiles(1e-6, l.atMost)
	}
	if t.total >= percentileSuccesses {
		throughput = percentiles(1e-3, t.atLeast)
	}
	return latency, throughput
}

func percentiles(unit float64, at func(percent uint64) float64) Percentiles {
	return Percentiles{
		Known: true,
		P50:   at(50) * unit, P75: at(75) * unit, P90: at(90) * unit, P99: at(99) * unit,
	}
}

// Health is the recent health of an endpoint, for listings. The zero value is an
// endpoint of which nothing is known.
type Health struct {
	Outage bool // load balancing avoids it now
	// The uptimes are in percent: the share of successes among the attempts that
	// the endpoint answered or failed by its own fault. Rate limits, faulty
	// requests and cancelled calls do not count. Nil with fewer than 100 such
	// attempts.
	Uptime5m, Uptime30m, Uptime1d *float64
	Latency30m                    Percentiles // seconds
	Throughput30m                 Percentiles // tokens per second
}

func (t *tracker) health(now time.Time) Health {
	h := Health{
		Outage:    t.outageAt(now),
		Uptime5m:  uptime(t.recent.window(now), func(s *sample) *tally { return &s.tally }),
		Uptime30m: uptime(t.report.window(now), func(s *sample) *tally { return &s.tally }),
		Uptime1d:  uptime(t.day.window(now), func(d *daily) *tally { return &d.tally }),
	}
	h.Latency30m, h.Throughput30m = speed(&t.report, now)
	return h
}

func uptime[T any](window iter.Seq[*T], count func(*T) *tally) *float64 {
	var ok, failed int64
	for v := range window {
		n := count(v)
		ok += n.ok.Load()
		failed += n.failed.Load()
	}
	if ok+failed < uptimeAttempts {
		return nil
	}
	return new(100 * float64(ok) / float64(ok+failed))
}
