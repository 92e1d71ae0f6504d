package router

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Outage is a time in which load balancing keeps off an endpoint, because it failed
// a lot of late or asked for rest ([Stats.Outage]).
type Outage struct {
	Endpoint *Endpoint
	Provider string    // display name
	Class    Class     // of the endpoint's last failure before the router noticed
	Since    time.Time // when the router noticed that it had begun
	// Until is when the router noticed that it was over; zero at the beginning. An
	// endpoint that leaves the catalog has no outage from then on.
	Until time.Time
}

// OutageObserver is an optional interface of an [Observer]. ObserveOutage gets each
// outage exactly twice: when it begins and, with Until set, when it is over. The
// router calls it for one event at a time, in the order of the events.
//
// The router has no goroutine of its own, so it notices on the goroutine of a call
// that passes [Observe]. A begin is noticed by the call whose attempt failed, or by the next
// one where older successes have left the statistics since. An end is noticed by a call
// that is answered there, or by the first that is planned afterwards: where no calls come, it is late.
// Where two calls notice at once, either may deliver both events.
//
// An implementation must not wait: what takes time goes to a queue of its own.
// Its context has the values of the call's, but does not end with it.
type OutageObserver interface {
	ObserveOutage(ctx context.Context, o Outage)
}

// outages are those that the observers of a router are told of.
type outages struct {
	due     atomic.Bool // an endpoint may have another state than observers know, or queue is not empty
	mu      sync.Mutex
	queue   []Outage // still to be told
	telling bool     // a goroutine is telling the queue
}

// told is what observers know of an endpoint. All but out is owned by whoever holds
// outages.mu.
type told struct {
	out   atomic.Bool // the endpoint has an outage
	class Class
	since time.Time
	gone  bool // the endpoint has left the catalog: there is nothing more to tell
}

// tellOutages tells the call's observers what has changed at these endpoints, and
// what is in the queue.
func (r *Router) tellOutages(ctx context.Context, c *Call, among ...*served) {
	if len(c.outages) == 0 {
		return
	}
	o := &r.statistics.outages
	o.mu.Lock()
	defer o.mu.Unlock()
	// Read under the lock: what another call has noted is in the past of now.
	now := r.cfg.Now()
	for _, s := range among {
		o.note(s, s.tracker.outageAt(now), now)
	}
	o.tell(context.WithoutCancel(ctx), c.outages)
}

// note queues an event if observers do not know the state of an endpoint.
func (o *outages) note(s *served, out bool, now time.Time) {
	t := &s.tracker.told
	if t.gone || out == t.out.Load() {
		return
	}
	t.out.Store(out)
	event := Outage{Endpoint: s.endpoint, Provider: s.provider.Name, Since: now}
	if out {
		t.class, t.since = s.tracker.lastFailure(), now
	} else {
		event.Since, event.Until = t.since, later(now, t.since)
	}
	event.Class = t.class
	o.queue = append(o.queue, event)
}

// forget ends the outage of an endpoint that has left the catalog. The next call
// tells it.
func (o *outages) forget(s *served, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.note(s, false, now)
	s.tracker.told.gone = true
	o.due.Store(true)
}

// tell empties the queue, with mu released while an observer runs. One goroutine at
// a time does, which keeps the order; the others leave their events to it.
func (o *outages) tell(ctx context.Context, observers []OutageObserver) {
	if o.telling {
		return
	}
	o.telling = true
	defer func() {
		o.telling = false
		if len(o.queue) > 0 { // an observer has panicked
			o.due.Store(true)
		}
	}()
	for len(o.queue) > 0 {
		event := o.queue[0]
		o.queue = o.queue[1:]
		func() {
			o.mu.Unlock()
			defer o.mu.Lock()
			for _, observer := range observers {
				observer.ObserveOutage(ctx, event)
			}
		}()
	}
}
