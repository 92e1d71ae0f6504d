package router

import (
	"context"
	"encoding/json"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// Outcome is what an [Observer] gets of a finished call.
type Outcome struct {
	ID, RequestID string
	Principal     Principal
	Admitted      time.Time
	Duration      time.Duration // the time that the Decider inside the interceptor took
	// Request is the call's request; nil when the call had none.
	Request   *systemone.Request
	SessionID string
	Trace     json.RawMessage // the request's trace configuration, an object; nil for none
	Result    *Result         // nil on failure
	Err       error           // nil on success; it wraps context.Canceled when the caller hung up
	// Report is complete. Nothing changes it or what it points to afterwards, so an
	// observer may keep it.
	Report Report
}

// Observer gets the outcome of every call, after the answer is known and before the
// caller gets it. It must be safe for concurrent use and must not change the
// outcome. It must not block, because the caller waits: slow work belongs into a
// queue. Its context has the values of the call's, but is not cancelled with it.
type Observer interface {
	Observe(ctx context.Context, o Outcome)
}

// ObserverFunc is a function as an [Observer]. A nil one does nothing.
type ObserverFunc func(ctx context.Context, o Outcome)

// Observe calls f.
func (f ObserverFunc) Observe(ctx context.Context, o Outcome) {
	if f != nil {
		f(ctx, o)
	}
}

// Observe passes every outcome to an observer, and every outage to one that is an
// [OutageObserver]. Inside an interceptor that refuses calls, it passes only the
// calls that were not refused. A nil observer gets nothing.
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
			c.outages = passed // an outer interceptor may call next again
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
