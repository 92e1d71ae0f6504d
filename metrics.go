package signalbox

import (
	"context"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
)

// Metrics measures a service. router/prommetrics has one for Prometheus, so that only
// programs that import it link Prometheus' client. All methods must be safe for concurrent
// use and must not block. A method added later comes as an optional interface.
type Metrics interface {
	// Observer gets the outcome of every call, also of those that a policy refuses.
	router.Observer

	// Ledger returns a ledger that measures inner. It has the optional interfaces of inner,
	// such as [router.Recorder]. New calls it once.
	Ledger(inner router.Ledger) router.Ledger

	// Request counts a reply of the HTTP interface. route is the pattern of the route, or
	// "" where none matched.
	Request(route string, status int)

	// Register begins the measurement of r. New calls it once and last, and returns its
	// error.
	Register(r *router.Router) error
}

// observeRequests returns an observer for the metrics and the program's own observer, or
// nil if there are neither.
func observeRequests(cfg Config) func(context.Context, httpapi.Outcome) {
	metrics, own := cfg.Metrics, cfg.API.Observe
	if metrics == nil {
		return own
	}
	return func(ctx context.Context, o httpapi.Outcome) {
		metrics.Request(o.Route, o.Status)
		if own != nil {
			own(ctx, o)
		}
	}
}
