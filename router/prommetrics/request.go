package prommetrics

import (
	"strconv"
	"sync"
)

const (
	// unmatched is the route of requests that no route matches.
	unmatched = "unmatched"
	// mostRoutes is how many routes have series of their own; a service has about 60.
	mostRoutes = 250
)

// routes are the routes that have been counted.
type routes struct {
	mu    sync.RWMutex
	known map[string]bool
}

// Request counts a reply of the HTTP interface, for httpapi.Config.Observe. route is the
// pattern of the route, or "" where none matched. It must never be the path of a request.
// Routes beyond 250 are counted like those that do not match, and statuses that are none
// as 0.
func (m *Metrics) Request(route string, status int) {
	if status < 100 || status > 599 {
		status = 0
	}
	m.requests.WithLabelValues(m.routes.label(route), strconv.Itoa(status)).Inc()
}

func (r *routes) label(route string) string {
	if route == "" {
		return unmatched
	}
	r.mu.RLock()
	known := r.known[route]
	r.mu.RUnlock()
	if known {
		return route
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.known == nil:
		r.known = map[string]bool{}
	case len(r.known) >= mostRoutes && !r.known[route]:
		return unmatched
	}
	r.known[route] = true
	return route
}
