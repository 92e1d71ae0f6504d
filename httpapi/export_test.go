package httpapi

import (
	"context"
	"net/http"
)

// Routes returns the patterns of the route tables by default mount.
func Routes(h *Handler) map[string][]string {
	patterns := map[string][]string{}
	for mount, s := range map[string]*surface{"/api/v1": h.api, "/api/alpha": h.alpha, "/v1": h.native} {
		for _, rt := range s.routes {
			patterns[mount] = append(patterns[mount], rt.method+" "+rt.path)
		}
	}
	return patterns
}

// InFlight returns how many bytes of bodies a handler holds.
func InFlight(h *Handler) int64 {
	r := &h.api.room
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}

// Sharers returns the number of keys and accounts that hold bytes of bodies.
func Sharers(h *Handler) int {
	r := &h.api.room
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.shares)
}

// Parse takes the places of all large bodies that may be parsed at the same time. done
// gives them back.
func Parse(h *Handler) (done func()) {
	for range cap(h.api.parsing) {
		h.api.parsing <- struct{}{}
	}
	return func() {
		for range cap(h.api.parsing) {
			<-h.api.parsing
		}
	}
}

// AddClosedRoutes returns a handler with two routes that no table has: one for
// management keys, and one whose entry names no keys.
func AddClosedRoutes(h *Handler) http.Handler {
	done := func(x *exchange, _ context.Context) error {
		x.out = append(x.out, "{}"...)
		return nil
	}
	return newSurface(h.api.server, surface{}, []route{
		{method: http.MethodGet, path: "/managed", keys: management, serve: done},
		{method: http.MethodGet, path: "/forgotten", serve: done},
	})
}
