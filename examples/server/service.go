package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/hooks"
	"github.com/signalbox/signalbox/router/prommetrics"
)

// service is everything between the catalog and the listener.
type service struct {
	*signalbox.Service

	first  *firstStart // nil on a later start
	access access
	model  string // for the curl command; "" if every endpoint is switched off
	log    *slog.Logger
	traces *traces // nil without destinations

	registry   *prometheus.Registry // nil without -metrics-addr
	metricsURL string               // "" likewise
}

func newService(
	ctx context.Context, catalog *router.Catalog, kept *storage, o options, now func() time.Time, log *slog.Logger,
	first ...router.Interceptor,
) (*service, error) {
	s := &service{model: firstModel(catalog), log: log}
	var metrics signalbox.Metrics
	if o.metricsAddr != "" {
		s.registry = newRegistry()
		metrics = prommetrics.New(prommetrics.Config{Registerer: s.registry, Dropped: []func() int64{s.dropped}})
	}
	routing := router.Config{Abandoned: o.abandoned}
	o.routing.apply(&routing)
	made, err := signalbox.New(signalbox.Config{
		Catalog: catalog, Stores: kept.set, SealingKeys: []router.Secret{kept.sealingKey},
		Retention:    time.Duration(o.retention) * 24 * time.Hour,
		Logger:       log,
		Metrics:      metrics,
		Now:          now,
		Router:       routing,
		Keys:         keys.Config{Rates: o.limits.rates},
		Hooks:        hooks.Config{Receivers: o.receivers},
		Interceptors: signalbox.Interceptors{First: first},
		API: httpapi.Config{
			Origins: o.originList(), CreditsURL: o.creditsURL,
			MaxInFlightBytes: int64(o.limits.bodies), MaxInFlightPerKey: int64(o.limits.keyBodies),
			MaxInFlightPerAccount: int64(o.limits.accountBodies),
		},
	})
	if err != nil {
		return nil, err
	}
	s.Service = made
	if s.first, err = (&seeder{made, kept.set, now}).begin(ctx, kept.alone); err != nil {
		return nil, err
	}
	if err := warnOfGuardrails(ctx, made, log); err != nil {
		return nil, err
	}
	if s.first != nil {
		s.access = access{management: s.first.management, inference: s.first.inference}
	}
	return s, nil
}

// firstModel returns the first model with an endpoint that is on, or "".
func firstModel(c *router.Catalog) string {
	for _, m := range c.Models() {
		if slices.ContainsFunc(c.EndpointsOf(m), func(e *router.Endpoint) bool { return !e.Off }) {
			return m.ID
		}
	}
	return ""
}

// Timeouts of the listener. A request may use the whole time for its body, and then
// the whole time of the router.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 30 * time.Second
	decideTimeout = 30 * time.Second // the router's default
	slack         = 15 * time.Second
	writeTimeout  = readTimeout + decideTimeout + slack
	idleTimeout   = 2 * time.Minute
	// lameDuck is how long a stopping server still accepts requests, while it asks
	// callers to close their connections. Without it a request already sent over a
	// kept connection would be lost.
	lameDuck     = 500 * time.Millisecond
	graceTimeout = readTimeout + decideTimeout + slack
	maxHeader    = 32 << 10
)

// newServer returns an HTTP server for h. It speaks HTTP/1, and HTTP/2 without TLS
// with prior knowledge (h2c). Its timeouts end connections that send or read too
// slowly.
func newServer(h http.Handler, log *slog.Logger) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Protocols:         protocols,
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// serve listens, prints the address, and answers requests until ctx ends. Then it
// finishes the requests in flight.
func (s *service) serve(ctx context.Context, o options, stdout io.Writer) error {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", o.addr)
	if err != nil {
		return err
	}
	background, endBackground := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	work.Go(func() { s.Run(background) })
	work.Go(func() { tidy(background) })
	work.Go(func() { s.traces.run(background) })
	defer work.Wait()
	defer endBackground()

	var stopping atomic.Bool
	own := &health{storage: s.Ready, stopping: &stopping, now: time.Now, log: s.log}
	endWatch, err := s.watch(ctx, o, own)
	if err != nil {
		_ = listener.Close()
		return err
	}
	defer endWatch() // after the last request, so that it is counted
	server := newServer(closing(own.before(s.Handler), &stopping), s.log)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()

	s.access.baseURL = rootURL(listener.Addr()) + "/api/v1"
	if err := s.handOut(ctx, o.keysFile, stdout); err != nil {
		_ = server.Close()
		<-done //nolint:errcheck // always http.ErrServerClosed here
		return err
	}

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
	if err = server.Shutdown(grace); err != nil {
		_ = server.Close() // ends the requests in flight, so that the storage can close
	}
	if serveErr := <-done; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, serveErr)
	}
	return err
}

// rootURL returns the address for clients. A listener on all addresses has no address
// to connect to, so the result names the loopback address.
func rootURL(addr net.Addr) string {
	at := addr.String()
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		at = net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	return "http://" + at
}

// closing asks callers to close their connections when the server is stopping.
func closing(h http.Handler, stopping *atomic.Bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if stopping.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// dropped returns how many traces and events were lost in queues since the start.
func (s *service) dropped() (n int64) {
	if s.traces != nil {
		for _, q := range s.traces.queues {
			n += q.Stats().Dropped
		}
	}
	if s.Service != nil && s.Hooks != nil {
		for _, c := range s.Hooks.Counts() {
			n += c.Dropped
		}
	}
	return n
}
