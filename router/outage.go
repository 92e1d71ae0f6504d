package router

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Outage is a period in which load balancing avoids an endpoint, because it failed
// often in the last 30 s or asked for a pause ([Stats.Outage]).
type Outage struct {
	Endpoint *Endpoint
	Provider string    // display name
	Class    Class     // of the endpoint's last failure before Since
	Since    time.Time // when the router noticed the begin
	// Until is when the router noticed the end; zero in the event of the begin. An
	// endpoint that leaves the catalog ends its outage.
	Until time.Time
}

// OutageObserver is an optional interface of an [Observer]. ObserveOutage gets each
// outage exactly twice: when it begins and, with Until set, when it ends. The
// router delivers one event at a time, in order.
//
// The router has no goroutine of its own, so a call that passes [Observe] notices a
// change. It notices a begin when its attempt fails, or later, when older successes
// have left the statistics. It notices an end when the endpoint answers it, or when
// it is planned after the end: without calls, an end is noticed late. Where two
// calls notice changes at once, either may deliver both events.
//
// An implementation must not block: slow work belongs into a queue. Its context has
// the values of the call's, but is not cancelled with it.
type OutageObserver interface {
	ObserveOutage(ctx context.Context, o Outage)
}

// outages are the outage events of a router that observers have yet to get.
type outages struct {
	due     atomic.Bool // observers may not know the state of some endpoint, or queue is not empty
	mu      sync.Mutex
	queue   []Outage // to be delivered
	telling bool     // a goroutine is delivering the queue
}

// told is what observers know of an endpoint. outages.mu guards all fields but out.
type told struct {
	out   atomic.Bool // the endpoint has an outage
	class Class
	since time.Time
	gone  bool // the endpoint has left the catalog and has no further events
}

// tellOutages queues what has changed at these endpoints and delivers the queue to
// the call's observers.
func (r *Router) tellOutages(ctx context.Context, c *Call, among ...*served) {
	if len(c.outages) == 0 {
		return
	}
	o := &r.statistics.outages
	o.mu.Lock()
	defer o.mu.Unlock()
	// Read under the lock, so that no earlier event is later than now.
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
// delivers the event.
func (o *outages) forget(s *served, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.note(s, false, now)
	s.tracker.told.gone = true
	o.due.Store(true)
}

// tell delivers the queue, with mu released while an observer runs. Only one
// goroutine at a time delivers, which keeps the order; others leave their events in
// the queue.
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
