package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// service is everything between the catalog and the listener.
type service struct {
	handler http.Handler
	access  access
	model   string // for the curl command; "": every endpoint is switched off
	log     *slog.Logger
}

func newService(ctx context.Context, catalog *router.Catalog, log *slog.Logger) (*service, error) {
	ks, err := keys.New(keys.Config{Store: memory.New().Keys})
	if err != nil {
		return nil, err
	}
	s := &service{log: log}
	if _, s.access.management, err = ks.Create(ctx, router.Actor{}, keys.Key{Name: "management", Account: "demo", Creator: "admin", Management: true}); err != nil {
		return nil, err
	}
	if _, s.access.inference, err = ks.Create(ctx, router.Actor{}, keys.Key{Name: "inference", Account: "demo", Creator: "admin"}); err != nil {
		return nil, err
	}
	userKey := make([]byte, 32)
	_, _ = rand.Read(userKey) // never fails
	rt, err := router.New(router.Config{
		Catalog:      catalog,
		Interceptors: policies(ks, log),
		UserKey:      userKey,
	})
	if err != nil {
		return nil, err
	}
	api, err := httpapi.New(httpapi.Config{Router: rt, Keys: ks, Logger: log})
	if err != nil {
		return nil, err
	}
	s.handler, s.model = mount(api), firstModel(catalog)
	return s, nil
}

// mount puts both dialects under their prefixes. It is no http.ServeMux, which
// would answer an unusual path such as /api/v1//models with a redirect: under
// the mounts every answer is the handler's own.
func mount(api *httpapi.Handler) http.Handler {
	const documented, native = "/api/v1", "/v1"
	under := func(path, prefix string) bool {
		rest, ok := strings.CutPrefix(path, prefix)
		return ok && (rest == "" || rest[0] == '/')
	}
	documentedAPI, nativeAPI := http.StripPrefix(documented, api), http.StripPrefix(native, api.Native())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case under(r.URL.Path, documented):
			documentedAPI.ServeHTTP(w, r)
		case under(r.URL.Path, native):
			nativeAPI.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	})
}

// policies lists what is around every decision, outermost first. The order
// matters: what the keys refuse is in the log too.
func policies(ks *keys.Service, log *slog.Logger) []router.Interceptor {
	return []router.Interceptor{
		router.Log(log),
		ks.Intercept,
	}
}

// firstModel is the first model that can be asked, or "".
func firstModel(c *router.Catalog) string {
	for _, m := range c.Models() {
		if slices.ContainsFunc(c.EndpointsOf(m), func(e *router.Endpoint) bool { return !e.Off }) {
			return m.ID
		}
	}
	return ""
}

// Timeouts of the listener. A request may take its whole body time, then the
// router's whole time.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 30 * time.Second
	decideTimeout = 30 * time.Second // the router's default
	slack         = 15 * time.Second
	writeTimeout  = readTimeout + decideTimeout + slack
	idleTimeout   = 2 * time.Minute
	// lameDuck is how long a server that stops goes on accepting, while it asks
	// callers to close their connections. Without it a request that is on its
	// way over a kept connection would be lost.
	lameDuck     = 500 * time.Millisecond
	graceTimeout = readTimeout + decideTimeout + slack
	maxHeader    = 32 << 10
)

// newServer is the HTTP server around h. A caller who sends or reads slowly
// cannot hold on to it.
func newServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// serve listens, says where, and answers until ctx ends; then it finishes the
// requests in flight.
func (s *service) serve(ctx context.Context, o options, stdout io.Writer) error {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", o.addr)
	if err != nil {
		return err
	}
	var stopping atomic.Bool
	server := newServer(closing(s.handler, &stopping), s.log)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()

	s.access.baseURL = "http://" + listener.Addr().String() + "/api/v1"
	if o.keysFile != "" {
		if err := s.access.write(o.keysFile); err != nil {
			_ = server.Close()
			<-done //nolint:errcheck // it says that it was closed
			return err
		}
	}
	s.announce(stdout)

	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	stopping.Store(true)
	select {
	case err := <-done:
		return err
	case <-time.After(lameDuck):
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceTimeout)
	defer cancel()
	err = server.Shutdown(grace)
	if serveErr := <-done; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, serveErr)
	}
	return err
}

// closing asks callers to close their connections once the server stops.
func closing(h http.Handler, stopping *atomic.Bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if stopping.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// announce prints how to use the server. The keys are shown here and nowhere
// else.
func (s *service) announce(stdout io.Writer) {
	_, _ = fmt.Fprintf(stdout, `Signalbox listens on %[1]s

management key  %[2]s
inference key   %[3]s

`, s.access.baseURL, string(s.access.management), string(s.access.inference))
	if s.model == "" {
		_, _ = fmt.Fprintln(stdout, "Nothing can be asked yet: every endpoint is switched off, as the warnings say.")
		return
	}
	_, _ = fmt.Fprintf(stdout, `Try it:

curl -sS %[1]s/systemone -H 'Authorization: Bearer %[2]s' -H 'Content-Type: application/json' -d '{
  "model": "%[3]s",
  "state": "I was charged twice for May and nobody answers my mails. Please send one payment back.",
  "questions": {
    "desk": {"type": "choice", "instructions": "Which team should take this?",
      "criteria": {"billing": "charges, payments and refunds", "technical": "something is broken", "sales": "questions before buying"}},
    "refund": {"type": "noul", "instructions": "Does the customer want money back?",
      "criteria": {"true": "wants a refund, money back", "false": "does not ask for money"}},
    "anger": {"type": "score", "instructions": "How upset is the customer?",
      "criteria": ["calm and friendly", "annoyed, still waiting for an answer", "furious, insulting and threatening"]}}}'
`, s.access.baseURL, string(s.access.inference), s.model)
}
