package prommetrics

import (
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// unmatched is the route of requests that no route matches.
	unmatched = "unmatched"
	// mostRoutes is how many routes have series of their own; a service has about 60.
	mostRoutes = 250
)

// replies are the counters of replies. It is safe for concurrent use.
type replies struct {
	vec *prometheus.CounterVec

	mu       sync.RWMutex
	counters map[reply]prometheus.Counter
	routes   map[string]bool // with series of their own
}

type reply struct {
	route  string
	status int
}

// Request counts a reply of the HTTP interface, for httpapi.Config.Observe. route is the
// pattern of the route, or "" where none matched. It must never be the path of a request.
// Routes beyond 250 are counted like those that do not match, and statuses outside 100 to
// 599 as 0.
func (m *Metrics) Request(route string, status int) {
	if status < 100 || status > 599 {
		status = 0
	}
	r := &m.replies
	r.mu.RLock()
	counter := r.counters[reply{route, status}]
	r.mu.RUnlock()
	if counter == nil {
		counter = r.counter(route, status)
	}
	counter.Inc()
}

func (r *replies) counter(route string, status int) prometheus.Counter {
	r.mu.Lock()
	defer r.mu.Unlock()
	label := route
	switch {
	case route == "", !r.routes[route] && len(r.routes) >= mostRoutes:
		label = unmatched
	default:
		r.routes[route] = true
	}
	counter := r.vec.WithLabelValues(label, strconv.Itoa(status))
	if label == route || route == "" { // so that the map is bounded, too
		r.counters[reply{route, status}] = counter
	}
	return counter
}
