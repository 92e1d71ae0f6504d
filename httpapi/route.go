package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// access says which keys a route takes. The zero value refuses every caller, so that a
// route without an entry for keys is closed.
type access uint8

const (
	nobody     access = iota
	public            // no key is needed, but a key that is sent must be valid
	inference         // keys for decisions
	management        // keys for administration
	anyKey            // both
)

// route is one entry of a surface's table. Paths are served in no other way.
type route struct {
	method, path string
	keys         access
	// serve appends the JSON of a 200 to x.out, or returns an error. It does not write
	// to the connection, so a reply is never half an answer and half an error.
	serve func(x *exchange, ctx context.Context) error
}

// ServeHTTP stores the matched route in the probe.
func (rt *route) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if p, ok := w.(*probe); ok {
		p.route = rt
	}
}

// probe is the ResponseWriter that a surface passes to its mux. The mux sets the
// request's path values, and the probe records the matched route or the status of the
// mux: 404, 405 or a redirect. The surface then writes its own reply.
type probe struct {
	route  *route
	status int
	header http.Header
}

// Header returns a header that is never sent.
func (p *probe) Header() http.Header {
	if p.header == nil {
		p.header = http.Header{}
	}
	return p.header
}

// WriteHeader records the status.
func (p *probe) WriteHeader(status int) { p.status = status }

// Write drops the mux's text.
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }

// server is what all surfaces share.
type server struct {
	Config
	metadataMember string // router_metadata
	metadataHeader string // X-Router-Metadata, canonical
	warningsHeader string // X-Router-Warnings, canonical
	dryRunHeader   string // X-Router-Dry-Run, canonical
	fallback       fallbackHeaders
	exposedHeaders string // headers that pages of Origins may read
	exchanges      sync.Pool
	packers        sync.Pool
	room           room          // the bytes that bodies hold
	parsing        chan struct{} // one element for each large body that is being parsed
	admitter       Admitter      // nil: no rate is limited
}

func newServer(cfg Config) *server {
	s := &server{
		Config:         cfg,
		metadataMember: strings.ReplaceAll(cfg.Brand, "-", "_") + "_metadata",
		metadataHeader: http.CanonicalHeaderKey("X-" + cfg.Brand + "-Metadata"),
		parsing:        make(chan struct{}, runtime.GOMAXPROCS(0)),
		room: room{
			whole: cfg.MaxInFlightBytes, key: cfg.MaxInFlightPerKey, account: cfg.MaxInFlightPerAccount,
			shares: map[owner]int64{},
		},
		warningsHeader: http.CanonicalHeaderKey("X-" + cfg.Brand + "-Warnings"),
		dryRunHeader:   http.CanonicalHeaderKey("X-" + cfg.Brand + "-Dry-Run"),
		fallback:       newFallbackHeaders(cfg.Brand),
	}
	s.exposedHeaders = exposedHeaders(cfg.Brand, s.fallback)
	s.admitter, _ = cfg.Keys.(Admitter)
	return s
}

// surface is one mountable handler: a table of routes and what they have in common.
type surface struct {
	*server
	name       string // distinguishes surfaces, wherever they are mounted
	mux        *http.ServeMux
	routes     []route
	native     bool
	dualErrors bool
	dialect    systemone.Dialect
	doors      map[string]door // by path; systemOne for others
	timeout    time.Duration   // of a decision; 0 means the router's timeout
}

func newSurface(s *server, kind surface, routes []route) *surface {
	kind.server, kind.mux, kind.routes = s, http.NewServeMux(), routes
	for i := range routes {
		kind.mux.Handle(routes[i].method+" "+routes[i].path, &routes[i])
	}
	return &kind
}

// ServeHTTP runs one exchange from its request id to its reply.
func (s *surface) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x, ok := s.exchanges.Get().(*exchange)
	if !ok {
		x = new(exchange)
	}
	x.begin(s, w, r)
	ctx := r.Context()
	defer x.end(ctx)
	if err := x.run(ctx); err != nil {
		x.fail(ctx, err)
	}
	x.send(ctx)
	x.observe(ctx)
}

// run finds the route and serves it, in the order of the documented checks.
func (x *exchange) run(ctx context.Context) error {
	if x.preflight() {
		x.status = http.StatusNoContent
		return nil
	}
	x.r = withoutSlash(x.r)
	x.s.mux.ServeHTTP(&x.probe, x.r)
	rt := x.probe.route
	switch {
	case rt == nil && x.probe.status == http.StatusMethodNotAllowed:
		return errMethod
	case rt == nil: // or a redirect, whose target would lack the prefix of the mount
		return errNotFound
	}
	if err := x.authenticate(ctx, rt.keys); err != nil {
		return err
	}
	return rt.serve(x, ctx)
}

// withoutSlash returns r without the final slash of its path. It does not change r,
// which belongs to the embedding program.
func withoutSlash(r *http.Request) *http.Request {
	if len(r.URL.Path) < 2 || !strings.HasSuffix(r.URL.Path, "/") || !strings.HasSuffix(r.URL.EscapedPath(), "/") {
		return r
	}
	address, copied := *r.URL, *r
	address.Path, address.RawPath = strings.TrimSuffix(address.Path, "/"), strings.TrimSuffix(address.RawPath, "/")
	copied.URL = &address
	return &copied
}

// end gives back the room of the body and puts the exchange back for reuse. It answers
// a panic with 500, because closing the connection would break other requests on it.
func (x *exchange) end(ctx context.Context) {
	x.letGo()
	if x.release != nil {
		x.release()
	}
	if v := recover(); v != nil {
		x.s.Logger.ErrorContext(ctx, "panic while serving a request",
			slog.String("request_id", x.requestID), slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
		if !x.sent {
			x.fail(ctx, errPanic)
			x.send(ctx)
		}
		x.observe(ctx)
		return // x is not reused, because code that panicked may still refer to it
	}
	x.recycle()
}
