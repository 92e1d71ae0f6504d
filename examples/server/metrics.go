package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	scrapesAtOnce = 4
	scrapeTimeout = 10 * time.Second
)

// newRegistry returns a registry with the metrics of the Go runtime and the process.
func newRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}

// watch serves /metrics, /healthz and /readyz on -metrics-addr, if that is set, until stop
// is called. They need no key, so the address should not be reachable from outside.
func (s *service) watch(ctx context.Context, o options, own *health) (stop func(), err error) {
	if o.metricsAddr == "" {
		return func() {}, nil
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", o.metricsAddr)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn), MaxRequestsInFlight: scrapesAtOnce, Timeout: scrapeTimeout,
	}))
	server := newServer(own.before(mux), s.log)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.log.ErrorContext(ctx, "metrics are no longer served", slog.Any("error", err))
		}
	}()
	s.metricsURL = rootURL(listener.Addr()) + "/metrics"
	return func() {
		_ = server.Close()
		<-done
	}, nil
}
