package router

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
)

// testWorld has n endpoints, each with some history.
func testWorld(tb testing.TB, n int) *world {
	tb.Helper()
	w := &world{statistics: &statistics{}, byEndpoint: make(map[uuid.UUID]*served)}
	for i := range n {
		s := &served{endpoint: &Endpoint{ID: uuid.New()}, tracker: newTracker()}
		for k := range 20 {
			s.tracker.record(observation{
				at: noon().Add(-15 * time.Second * time.Duration(k)), ok: true, checked: true, tokens: 1000,
				duration: time.Duration(100+i%50+k) * time.Millisecond,
			})
		}
		w.served = append(w.served, s)
		w.byEndpoint[s.endpoint.ID] = s
	}
	return w
}

// A snapshot is shared within its second, and computed again when the second, a
// pause or an outage changes.
func TestSnapshotIsShared(t *testing.T) {
	t.Parallel()
	w := testWorld(t, 3)
	at := func(d time.Duration) []Stats { return w.stats(noon().Add(d)) }
	same := func(a, b []Stats) bool { return &a[0] == &b[0] }
	record := func(o observation) {
		if w.served[1].tracker.record(o) {
			w.statistics.changes.Add(1)
		}
	}
	first := at(0)
	assert.True(t, same(first, at(999*time.Millisecond)))
	record(observation{at: noon(), ok: true, duration: time.Second})
	assert.True(t, same(first, at(0)), "a success changes nothing that cannot wait a second")
	assert.False(t, same(first, at(time.Second)))

	first = at(0)
	record(observation{at: noon(), rest: 400 * time.Millisecond})
	resting := at(0)
	assert.False(t, same(first, resting), "an outage is visible at once")
	assert.True(t, resting[1].Outage)
	assert.True(t, at(399 * time.Millisecond)[1].Outage)
	assert.False(t, at(-time.Hour)[1].Outage, "a clock that steps back")
	assert.True(t, at(399 * time.Millisecond)[1].Outage)
	assert.False(t, at(400 * time.Millisecond)[1].Outage, "and so is its end")
}

func BenchmarkRecord(b *testing.B) {
	tr := newTracker()
	o := observation{at: noon(), ok: true, checked: true, duration: 123 * time.Millisecond, tokens: 1000}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			tr.record(o)
		}
	})
}

func BenchmarkSnapshot(b *testing.B) {
	w := testWorld(b, 1000)
	for _, bench := range []struct {
		name string
		step time.Duration // of the clock between snapshots
		busy bool          // every endpoint answered in between
	}{
		{"shared", 0, false},
		{"idle", time.Second, false},
		{"busy", time.Second, true},
	} {
		b.Run(fmt.Sprint(bench.name, "/endpoints=", len(w.served)), func(b *testing.B) {
			b.ReportAllocs()
			now := noon()
			for b.Loop() {
				now = now.Add(bench.step)
				if now.Sub(noon()) > time.Minute {
					now = noon()
				}
				if bench.busy {
					for _, s := range w.served {
						s.tracker.events.Add(1)
					}
				}
				w.stats(now)
			}
		})
	}
}
