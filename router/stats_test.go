package router

import (
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// The middle of a cell is within 1/32 of every number that the cell counts,
// and greater numbers never have a lower cell.
func TestHistogramErrorBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Uint64Range(0, 1<<35-1).Draw(t, "v")
		w := rapid.Uint64Range(0, v).Draw(t, "w")
		middle := cellMiddle(cellOf(v))
		if d := math.Abs(middle - float64(v)); d > float64(v)/32 {
			t.Fatalf("%d counts as %v: off by %v", v, middle, d/float64(v))
		}
		if cellOf(w) > cellOf(v) {
			t.Fatalf("%d is in cell %d, %d in cell %d", w, cellOf(w), v, cellOf(v))
		}
	})
	assert.Equal(t, histogramCells-1, cellOf(math.MaxUint64), "what is beyond the scale")
	assert.Equal(t, histogramCells-1, cellOf(1<<35-1))
	for cell := range histogramCells {
		assert.Equal(t, cell, cellOf(uint64(cellMiddle(cell))), "the middle of a cell is in it")
	}
}

// A percentile is within 1/32 of the value of that rank, from both ends.
func TestPercentileByNearestRank(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Uint64Range(0, 1<<34), 1, 200).Draw(t, "values")
		percent := rapid.SampledFrom([]uint64{50, 75, 90, 99}).Draw(t, "percent")
		var h histogram
		var sum tallied
		for _, v := range values {
			h.add(v)
		}
		sum.merge(&h)
		slices.Sort(values)
		rank := int(math.Ceil(float64(len(values)) * float64(percent) / 100))
		near := func(name string, want uint64, got float64) {
			if math.Abs(got-float64(want)) > float64(want)/32 {
				t.Fatalf("%s %d of %d values: want about %d, got %v", name, percent, len(values), want, got)
			}
		}
		near("at most", values[rank-1], sum.atMost(percent))
		near("at least", values[len(values)-rank], sum.atLeast(percent))
	})
}

// A ring counts like a list of (epoch, count), whatever its clock does. A slot is
// lost only when another epoch takes its place, and a window contains neither old
// nor future slots.
func TestRingAgainstList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const width = time.Second
		n := rapid.IntRange(1, 6).Draw(t, "slots")
		r := newRing[tally](n, width)
		type entry struct{ epoch, count int64 }
		list := make(map[int64]entry) // by place
		now := time.Unix(rapid.Int64Range(-20, 20).Draw(t, "start"), 0)
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.Int64Range(-9e9, 9e9).Draw(t, "step")))
			epoch := int64(math.Floor(float64(now.UnixNano()) / 1e9))
			if rapid.Bool().Draw(t, "add") {
				r.at(now).ok.Add(1)
				place := ((epoch % int64(n)) + int64(n)) % int64(n)
				if list[place].epoch != epoch {
					list[place] = entry{epoch: epoch}
				}
				e := list[place]
				e.count++
				list[place] = e
			}
			var want, got int64
			for _, e := range list {
				if e.epoch > epoch-int64(n) && e.epoch <= epoch {
					want += e.count
				}
			}
			for s := range r.window(now) {
				got += s.ok.Load()
			}
			if got != want {
				t.Fatalf("at epoch %d: want %d, got %d", epoch, want, got)
			}
		}
	})
}

// A percentile is known from 10 successes on, and forgotten after 5 minutes;
// throughput's P90 is what 90 % of the replies reach.
func TestPercentilesNeedTenSuccesses(t *testing.T) {
	t.Parallel()
	tr := newTracker()
	success := func(at time.Time, ms int) {
		tr.record(observation{at: at, ok: true, checked: true, duration: time.Duration(ms) * time.Millisecond, tokens: 100})
	}
	for i := range 9 {
		success(noon(), 100*(i+1))
	}
	assert.False(t, tr.stats(noon()).Latency.Known, "nine successes")
	assert.False(t, tr.stats(noon()).Throughput.Known)
	success(noon(), 1000)

	s := tr.stats(noon())
	require.True(t, s.Latency.Known, "ten successes")
	assert.InEpsilon(t, 0.5, s.Latency.P50, 0.032)
	assert.InEpsilon(t, 0.8, s.Latency.P75, 0.032)
	assert.InEpsilon(t, 0.9, s.Latency.P90, 0.032)
	assert.InEpsilon(t, 1.0, s.Latency.P99, 0.032)
	require.True(t, s.Throughput.Known)
	assert.InEpsilon(t, 100/0.5, s.Throughput.P50, 0.032)
	assert.InEpsilon(t, 100/0.9, s.Throughput.P90, 0.032)
	assert.InEpsilon(t, 100/1.0, s.Throughput.P99, 0.032)

	assert.True(t, tr.stats(noon().Add(4*time.Minute+29*time.Second)).Latency.Known)
	assert.False(t, tr.stats(noon().Add(5*time.Minute)).Latency.Known)
	h := tr.health(noon().Add(29 * time.Minute))
	assert.Nil(t, h.Uptime30m, "ten attempts say nothing of uptime")
	assert.True(t, tr.health(noon().Add(24*time.Minute)).Latency30m.Known)
	assert.Equal(t, int64(10), tr.stats(noon().Add(5*time.Minute)).Passed)
}

// Replies that were checked, and those that passed, count for a day.
func TestCheckedRepliesOfADay(t *testing.T) {
	t.Parallel()
	tr := newTracker()
	for i := range 100 {
		tr.record(observation{at: noon(), ok: i < 95, failed: i >= 95, checked: true, duration: time.Millisecond})
	}
	tr.record(observation{at: noon(), failed: true}) // no reply
	s := tr.stats(noon().Add(23 * time.Hour))
	assert.Equal(t, int64(95), s.Passed)
	assert.Equal(t, int64(100), s.Checked)
	assert.Zero(t, tr.stats(noon().Add(24*time.Hour)).Checked)
}

// Uptime is in percent, over three windows, and needs 100 attempts.
func TestUptimeWindows(t *testing.T) {
	t.Parallel()
	tr := newTracker()
	add := func(at time.Time, ok, failed int) {
		for range ok {
			tr.record(observation{at: at, ok: true, duration: time.Millisecond})
		}
		for range failed {
			tr.record(observation{at: at, failed: true})
		}
	}
	now := noon()
	add(now.Add(-12*time.Hour), 0, 100)
	add(now.Add(-20*time.Minute), 90, 10)
	add(now, 99, 0)
	h := tr.health(now)
	assert.Nil(t, h.Uptime5m, "99 attempts")
	add(now, 0, 1)
	h = tr.health(now)
	require.NotNil(t, h.Uptime5m)
	assert.InDelta(t, 99, *h.Uptime5m, 1e-9)
	require.NotNil(t, h.Uptime30m)
	assert.InDelta(t, 94.5, *h.Uptime30m, 1e-9)
	require.NotNil(t, h.Uptime1d)
	assert.InDelta(t, 63, *h.Uptime1d, 1e-9)
}

// A clock that steps back hides what it has yet to reach, prolongs no pause, and is
// right again when it catches up.
func TestClockStepsBack(t *testing.T) {
	t.Parallel()
	tr := newTracker()
	for range 3 {
		tr.record(observation{at: noon(), failed: true})
	}
	tr.record(observation{at: noon(), rest: time.Minute})
	require.True(t, tr.outageAt(noon()))
	assert.False(t, tr.outageAt(noon().Add(-time.Hour)))
	assert.True(t, tr.outageAt(noon().Add(time.Second)))
	assert.True(t, tr.outageAt(noon().Add(59*time.Second)))
	assert.False(t, tr.outageAt(noon().Add(60*time.Second)))
}

// Of two pauses the later end counts.
func TestRestsDoNotShorten(t *testing.T) {
	t.Parallel()
	tr := newTracker()
	tr.record(observation{at: noon(), rest: 20 * time.Second})
	tr.record(observation{at: noon().Add(time.Second), rest: 5 * time.Second})
	assert.True(t, tr.outageAt(noon().Add(19*time.Second)))
	tr.record(observation{at: noon().Add(time.Second), rest: 30 * time.Second})
	assert.True(t, tr.outageAt(noon().Add(30*time.Second)))
	assert.False(t, tr.outageAt(noon().Add(31*time.Second)))
}

// No observation recorded concurrently is lost.
func TestRecordInParallel(t *testing.T) {
	t.Parallel()
	const workers, each = 8, 500
	tr := newTracker()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range each {
				tr.record(observation{at: noon(), ok: true, checked: true, duration: time.Millisecond, tokens: 10})
			}
		})
	}
	wg.Wait()
	s := tr.stats(noon())
	assert.Equal(t, int64(workers*each), s.Passed)
	assert.True(t, s.Latency.Known)
}
