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

// access says which keys a route takes. The zero value refuses everybody, so
// that a table entry that forgets to say is closed.
type access uint8

const (
	nobody     access = iota
	public            // a key is not needed; one that is sent must be sound
	inference         // keys that ask for decisions
	management        // keys that administer
	anyKey            // both
)

// route is one entry of a surface's table. There is no other way to serve a
// path.
type route struct {
	method, path string
	keys         access
	// serve appends the JSON of a 200 to x.out, or returns an error. It cannot
	// write, so there are no half answers.
	serve func(x *exchange, ctx context.Context) error
}

// ServeHTTP tells the surface that asked its mux which route was matched.
func (rt *route) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if p, ok := w.(*probe); ok {
		p.route = rt
	}
}

// probe is the recorder that a surface shows to its mux instead of the
// caller's connection: the mux sets the request's path values and leaves a
// route here, or else says 404, 405 or a redirect, which the surface says in
// its own words.
type probe struct {
	route  *route
	status int
	header http.Header
}

// Header returns what the mux may fill.
func (p *probe) Header() http.Header {
	if p.header == nil {
		p.header = http.Header{}
	}
	return p.header
}

// WriteHeader keeps the status.
func (p *probe) WriteHeader(status int) { p.status = status }

// Write drops the mux's text.
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }

// server is what both surfaces share.
type server struct {
	Config
	metadataMember string // router_metadata
	metadataHeader string // X-Router-Metadata, canonical
	warningsHeader string // X-Router-Warnings, canonical
	dryRunHeader   string // X-Router-Dry-Run, canonical
	exposedHeaders string // to pages of Origins
	exchanges      sync.Pool
	packers        sync.Pool
	room           room          // of bodies
	parsing        chan struct{} // filled while large bodies are taken apart
	admitter       Admitter      // nil: no rate is limited
}

func newServer(cfg Config) *server {
	s := &server{
		Config:         cfg,
		metadataMember: cfg.Brand + "_metadata",
		metadataHeader: http.CanonicalHeaderKey("X-" + cfg.Brand + "-Metadata"),
		parsing:        make(chan struct{}, runtime.GOMAXPROCS(0)),
		room: room{
			whole: cfg.MaxInFlightBytes, key: cfg.MaxInFlightPerKey, account: cfg.MaxInFlightPerAccount,
			shares: map[owner]int64{},
		},
		warningsHeader: http.CanonicalHeaderKey("X-" + cfg.Brand + "-Warnings"),
		dryRunHeader:   http.CanonicalHeaderKey("X-" + cfg.Brand + "-Dry-Run"),
		exposedHeaders: exposedHeaders(cfg.Brand),
	}
	s.admitter, _ = cfg.Keys.(Admitter)
	return s
}

// surface is one mountable interface: a table of routes and what they have in
// common.
type surface struct {
	*server
	name       string // tells surfaces apart, whatever they are mounted at
	mux        *http.ServeMux
	routes     []route
	native     bool
	dualErrors bool
	dialect    systemone.Dialect
	timeout    time.Duration // of a decision; 0 is the router's
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
}

// run finds the route and does what it needs, in the order of the documented
// checks.
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
	case rt == nil: // also a redirect: its target would lack the prefix of the mount
		return errNotFound
	}
	if err := x.authenticate(ctx, rt.keys); err != nil {
		return err
	}
	return rt.serve(x, ctx)
}

// withoutSlash is r without the slash at the end of its path. The request of the
// embedding program is not changed.
func withoutSlash(r *http.Request) *http.Request {
	if len(r.URL.Path) < 2 || !strings.HasSuffix(r.URL.Path, "/") || !strings.HasSuffix(r.URL.EscapedPath(), "/") {
		return r
	}
	address, copied := *r.URL, *r
	address.Path, address.RawPath = strings.TrimSuffix(address.Path, "/"), strings.TrimSuffix(address.RawPath, "/")
	copied.URL = &address
	return &copied
}

// end answers a panic with a 500, so that one broken request does not cost a
// connection with others on it, and gives back the exchange for reuse and the
// room of its body.
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
		return // x is not reused: whoever panicked may still hold it
	}
	x.recycle()
}
