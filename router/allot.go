package router

import (
	"context"
	"time"
)

// lastResortTime is the time reserved for a last resort whose latency is not known.
const lastResortTime = 250 * time.Millisecond

// allotment is the time that an attempt gets.
type allotment struct {
	given time.Duration
	// due is what the attempt would get under the program's own deadline alone.
	// Where given is less than due, the caller's deadline cut the attempt short.
	due time.Duration
	// final says that no candidate can be asked after this attempt.
	final bool
}

// deadline is the time of a whole call. It uses the real clock, whatever
// [Config.Now] is, because contexts do.
type deadline struct {
	end   time.Time
	whole time.Duration // what was left when the walk began
	// spare is how much later the program's own deadline is than the caller's; 0
	// where it is not later.
	spare time.Duration
}

func (r *Router) deadline(ctx context.Context, c *Call) deadline {
	now := r.now()
	end, ok := ctx.Deadline()
	if !ok { // an interceptor removed the deadline
		end = now.Add(r.timeout(c))
	}
	return deadline{end: end, whole: end.Sub(now), spare: max(c.usualEnd.Sub(end), 0)}
}

// allot returns the time that the i-th candidate gets. It is zero or less where no
// time is left beside what is reserved for the last resorts behind it.
//
// What is left, less that reserve, is halved while further candidates may follow,
// so that an upstream that hangs leaves time to ask another.
func (w *walk) allot(i int) allotment {
	more, kept := w.follows(i)
	left := w.deadline.end.Sub(w.router.now())
	most := w.candidates[i].Endpoint.AttemptTimeout
	if most == 0 {
		most = w.router.cfg.AttemptTimeout
	}
	share := func(spare time.Duration) time.Duration {
		l := left + spare - min(kept, (w.deadline.whole+spare)/4)
		if more {
			l /= 2
		}
		return min(l, most)
	}
	return allotment{given: share(0), due: share(w.deadline.spare), final: !more && kept == 0}
}

// follows reports whether further candidates may follow the i-th one under the limit
// of attempts, and how much time the last resorts behind it need.
func (w *walk) follows(i int) (more bool, kept time.Duration) {
	counted := w.counted
	if !w.candidates[i].Endpoint.LastResort {
		counted++
	}
	open := counted < w.router.cfg.MaxAttempts
	if !w.call.world.catalog.lasts {
		return w.behind || open && i+1 < len(w.candidates), 0
	}
	more = w.behind
	for j := range w.candidates[i+1:] {
		switch e := w.candidates[i+1+j].Endpoint; {
		case e.LastResort:
			kept += w.lastResortTime(e)
		default:
			more = more || open
		}
	}
	return more, kept
}

// lastResortTime returns the time that a last resort is expected to need: its P99
// latency, where that is known.
func (w *walk) lastResortTime(e *Endpoint) time.Duration {
	latency := &w.stats[w.call.world.byEndpoint[e.ID].index].Latency
	if !latency.Known {
		return lastResortTime
	}
	return time.Duration(latency.P99 * float64(time.Second))
}
