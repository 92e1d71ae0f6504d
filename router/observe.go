package router

import (
	"context"
	"encoding/json"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// Outcome is a call that is over.
type Outcome struct {
	ID, RequestID string
	Principal     Principal
	Admitted      time.Time
	Duration      time.Duration // of what lies inside the interceptor
	// Request is what was asked; nil when the call had none.
	Request   *systemone.Request
	SessionID string
	Trace     json.RawMessage // the request's trace configuration, an object; nil for none
	Result    *Result         // nil on failure
	Err       error           // nil on success; it wraps context.Canceled when the caller hung up
	Report    Report
}

// Observer gets the outcome of every call, with the trace configuration of its
// request, after the answer is known and before the caller has it. It must be
// safe for concurrent use, must not change what it is given, and must not
// wait: what takes time goes to a queue of its own. Its context does not end
// with the caller's.
type Observer interface {
	Observe(ctx context.Context, o Outcome)
}

// ObserverFunc is an [Observer] that is a function. A nil one sees nothing.
type ObserverFunc func(ctx context.Context, o Outcome)

// Observe calls f.
func (f ObserverFunc) Observe(ctx context.Context, o Outcome) {
	if f != nil {
		f(ctx, o)
	}
}

// Observe hands every outcome to an observer, and every outage to one that is an
// [OutageObserver]. Inside an interceptor that refuses calls it sees only those that
// got through. A nil observer sees nothing.
func Observe(observer Observer) Interceptor {
	outages, _ := observer.(OutageObserver)
	return func(next Decider) Decider {
		if observer == nil {
			return next
		}
		return func(ctx context.Context, c *Call) (*Result, error) {
			passed := c.outages
			if outages != nil {
				c.outages = append(passed, outages)
			}
			started := c.now()
			res, err := next(ctx, c)
			c.outages = passed // an interceptor outside may call again
			o := Outcome{
				ID: c.ID, RequestID: c.RequestID,
				Principal: c.Principal,
				Admitted:  c.Admitted,
				Duration:  max(c.now().Sub(started), 0),
				Request:   c.Request,
				Result:    res,
				Err:       err,
				Report:    c.Report,
			}
			if q := c.Request; q != nil {
				o.SessionID, o.Trace = q.SessionID, q.Trace
			}
			observer.Observe(context.WithoutCancel(ctx), o)
			return res, err
		}
	}
}
