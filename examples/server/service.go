package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/examples/server/stack"
	"github.com/signalbox/signalbox/router"
)

// service is everything between the catalog and the listener.
type service struct {
	handler http.Handler
	access  access
	sweep   func(ctx context.Context)
	model   string // for the curl command; "": every endpoint is switched off
	log     *slog.Logger
}

func newService(ctx context.Context, catalog *router.Catalog, log *slog.Logger) (*service, error) {
	st, err := stack.New(stack.Config{Catalog: catalog, Log: log})
	if err != nil {
		return nil, err
	}
	seeded, err := st.Seed(ctx)
	if err != nil {
		return nil, err
	}
	return &service{
		handler: st.Handler,
		sweep:   st.Sweep,
		access:  access{management: seeded.Management, inference: seeded.Inference},
		model:   firstModel(catalog),
		log:     log,
	}, nil
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
	sweeping, endSweeping := context.WithCancel(context.WithoutCancel(ctx))
	var sweeper sync.WaitGroup
	sweeper.Go(func() { s.sweep(sweeping) })
	defer sweeper.Wait()
	defer endSweeping()

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
