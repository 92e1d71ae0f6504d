package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// readyTimeout is how long the storage may take to answer.
	readyTimeout = 2 * time.Second
	// readyFor is how long an answer of the storage is reused. /readyz needs no
	// key, so frequent requests must not reach the storage.
	readyFor = time.Second
)

// health serves the probes of a load balancer or orchestrator: /healthz, whether
// the process is alive, and /readyz, whether it should get requests.
type health struct {
	storage  func(context.Context) error // reads one record
	stopping *atomic.Bool
	now      func() time.Time
	log      *slog.Logger

	mu    sync.Mutex
	asked time.Time // zero before the first time
	err   error
}

// before answers /healthz and /readyz, and passes all other requests to h.
func (c *health) before(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch strings.TrimSuffix(r.URL.Path, "/") {
		case "/healthz":
			c.answer(w, r, nil)
		case "/readyz":
			c.answer(w, r, c.ready(r.Context()))
		default:
			h.ServeHTTP(w, r)
		}
	})
}

var (
	errStopping = errors.New("stopping")
	errStorage  = errors.New("storage cannot be reached")
)

func (c *health) answer(w http.ResponseWriter, r *http.Request, problem error) {
	status, text := http.StatusOK, "ok"
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		status, text = http.StatusMethodNotAllowed, "method not allowed"
	case problem != nil:
		status, text = http.StatusServiceUnavailable, problem.Error()
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(`{"status":"` + text + `"}` + "\n"))
}

// ready returns why the server should not get requests, or nil. The storage's own
// error goes only to the log.
func (c *health) ready(ctx context.Context) error {
	if c.stopping.Load() {
		return errStopping
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); c.asked.IsZero() || now.Sub(c.asked) >= readyFor || now.Before(c.asked) {
		// The result is shared, so the end of this caller's context must not make it an
		// error.
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout)
		defer cancel()
		before := c.err
		c.err, c.asked = c.storage(limited), c.now()
		if (before == nil) != (c.err == nil) {
			c.log.WarnContext(ctx, "readiness changed", slog.Bool("ready", c.err == nil), slog.Any("error", c.err))
		}
	}
	if c.err != nil {
		return errStorage
	}
	return nil
}
