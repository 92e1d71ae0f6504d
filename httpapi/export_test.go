package httpapi

import (
	"context"
	"net/http"
)

// Routes returns the patterns of the two route tables, as their muxes have
// them.
func Routes(h *Handler) (api, native []string) {
	for _, rt := range h.api.routes {
		api = append(api, rt.method+" "+rt.path)
	}
	for _, rt := range h.native.routes {
		native = append(native, rt.method+" "+rt.path)
	}
	return api, native
}

// InFlight returns how many bytes of bodies a handler holds.
func InFlight(h *Handler) int64 {
	r := &h.api.room
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}

// Sharers returns how many keys and accounts a handler holds bodies of.
func Sharers(h *Handler) int {
	r := &h.api.room
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.shares)
}

// Parse takes the place of as many large bodies as may be taken apart at a time.
// done gives it back.
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

// AddClosedRoutes adds what no table has yet: a route for management keys and
// one whose entry forgot to say which keys it takes.
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
