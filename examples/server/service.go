package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
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
	model   string // for the curl command
	log     *slog.Logger
}

func newService(ctx context.Context, catalog *router.Catalog, log *slog.Logger) (*service, error) {
	ks, err := keys.New(keys.Config{Store: memory.New().Keys})
	if err != nil {
		return nil, err
	}
	s := &service{log: log}
	if _, s.access.management, err = ks.Create(ctx, keys.Key{Name: "management", Account: "demo", Creator: "admin", Management: true}); err != nil {
		return nil, err
	}
	if _, s.access.inference, err = ks.Create(ctx, keys.Key{Name: "inference", Account: "demo", Creator: "admin"}); err != nil {
		return nil, err
	}
	rt, err := router.New(router.Config{
		Catalog: catalog,
		Interceptors: []router.Interceptor{ // outermost first; this list is the policy
			router.Log(log),
			ks.Intercept,
		},
	})
	if err != nil {
		return nil, err
	}
	api, err := httpapi.New(httpapi.Config{Router: rt, Keys: ks, Logger: log})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/api/v1/", http.StripPrefix("/api/v1", api))
	mux.Handle("/v1/", http.StripPrefix("/v1", api.Native()))
	s.handler = mux
	if models := catalog.Models(); len(models) > 0 {
		s.model = models[0].ID
	}
	return s, nil
}

// Timeouts of the listener. A request may take its whole body time, then the
// router's 30 seconds.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 75 * time.Second
	idleTimeout   = 2 * time.Minute
	graceTimeout  = 40 * time.Second
	maxHeader     = 32 << 10
)

// serve listens, says where, and answers until ctx ends; then it finishes the
// requests in flight.
func (s *service) serve(ctx context.Context, o options, stdout io.Writer) error {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", o.addr)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
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
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceTimeout)
	defer cancel()
	err = server.Shutdown(grace)
	if serveErr := <-done; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, serveErr)
	}
	return err
}

// announce prints how to use the server. The keys are shown here and nowhere
// else.
func (s *service) announce(stdout io.Writer) {
	_, _ = fmt.Fprintf(stdout, `Signalbox listens on %[1]s

management key  %[2]s
inference key   %[3]s

Try it:

curl %[1]s/systemone -H 'Authorization: Bearer %[3]s' -H 'Content-Type: application/json' -d '{
  "model": "%[4]s",
  "state": "I was charged twice for May. Please send one payment back.",
  "questions": {
    "desk": {"type": "choice", "instructions": "Which team should take this?",
      "criteria": {"billing": "charges, payments and refunds", "technical": "something is broken", "sales": "questions before buying"}},
    "refund": {"type": "noul", "instructions": "Does the customer want money back?",
      "criteria": {"true": "wants a refund, money back", "false": "does not ask for money"}},
    "anger": {"type": "score", "instructions": "How upset is the customer?",
      "criteria": ["calm and friendly", "annoyed", "furious and threatening"]}}}'
`, s.access.baseURL, string(s.access.management), string(s.access.inference), s.model)
}
