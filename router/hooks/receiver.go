package hooks

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/panics"
)

// handleTime bounds the time of one call of a handler. It is less than alertLease, so
// that an alert is rarely due again while its handler still tries.
const handleTime = 5 * time.Minute

// receiver is a Receiver with its queue.
type receiver struct {
	Receiver

	queue                      chan delivery
	now                        func() time.Time
	log                        *slog.Logger
	delivered, failed, dropped atomic.Int64
}

// delivery is an event on its way to a receiver.
type delivery struct {
	event Event
	// until is when another process may deliver the event; zero for an event that only
	// this process has.
	until time.Time
	done  func(ctx context.Context, err error) // nil for such an event
}

func newReceiver(r Receiver, cfg Config) *receiver {
	return &receiver{Receiver: r, queue: make(chan delivery, cfg.Queue), now: cfg.Now, log: cfg.Logger}
}

func (r *receiver) wants(t Type) bool { return r.Types == nil || slices.Contains(r.Types, t) }

// offer queues a delivery, or drops it where the queue is full. It never blocks.
func (r *receiver) offer(d delivery) {
	select {
	case r.queue <- d:
	default:
		r.dropped.Add(1)
	}
}

// run handles deliveries until ctx ends.
func (r *receiver) run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case d := <-r.queue:
			r.handle(ctx, d)
		case <-ctx.Done():
		}
	}
	lost := 0
	for len(r.queue) > 0 {
		if d := <-r.queue; d.done == nil {
			lost++
		}
	}
	r.dropped.Add(int64(lost))
	if lost > 0 {
		r.log.WarnContext(ctx, "events were lost because the process ends", slog.String("receiver", r.Name), slog.Int("events", lost))
	}
}

func (r *receiver) handle(ctx context.Context, d delivery) {
	if !d.until.IsZero() && !r.now().Before(d.until) {
		return // the alert is due again; another process may have delivered it
	}
	limited, cancel := context.WithTimeout(ctx, handleTime)
	defer cancel()
	err := panics.Catch(func() error { return r.Handler.Handle(limited, d.event) })
	if err == nil {
		r.delivered.Add(1)
	} else {
		r.failed.Add(1)
		r.log.WarnContext(ctx, "an event could not be delivered", slog.String("receiver", r.Name),
			slog.String("event", d.event.ID), slog.String("type", string(d.event.Data.Type())), slog.Any("error", err))
	}
	if d.done != nil {
		d.done(ctx, err)
	}
}
