package httpapi

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/router"
)

// Outcome is what [Config.Observe] gets of a request that was answered or refused.
type Outcome struct {
	// Surface is the handler that served the request: "api", "alpha" or "native".
	Surface string
	// Route is the method and the pattern of the route, such as "GET
	// /model/{author}/{slug}", without the prefix of the mount. It is "" where no route
	// matched: a 404 or 405, or the preflight of a browser. There is a fixed number of
	// routes, so Route may be the label of a metric.
	Route  string
	Status int // of the reply, also where the caller hung up before it arrived
	// Duration is the time from the arrival of the request's head to the end of its
	// reply.
	Duration  time.Duration
	RequestID string
	// Principal is the caller; the zero value where none was authenticated.
	Principal router.Principal
	// GenerationID is the id of the decision, or "" where none began.
	GenerationID string
}

// observe passes the outcome to Config.Observe, once.
func (x *exchange) observe(ctx context.Context) {
	if x.s.Observe == nil || x.observed {
		return
	}
	x.observed = true // also if Observe panics
	o := Outcome{
		Surface: x.s.name, Status: x.status, RequestID: x.requestID, Principal: x.principal,
		Duration: max(x.s.Now().Sub(x.began), 0), // the clock may step back
	}
	if x.probe.route != nil {
		o.Route = x.r.Pattern
	}
	if x.call != nil {
		o.GenerationID = x.call.ID
	}
	x.s.Observe(context.WithoutCancel(ctx), o)
}
