package router

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/systemone"
)

const (
	defaultTimeout        = 30 * time.Second
	defaultAttemptTimeout = 10 * time.Second
	defaultMaxAttempts    = 4

	maxRequestID = 128 // bytes

	// maxDeadlineMS is the longest deadline of a request; it keeps one that was not
	// validated from overflowing.
	maxDeadlineMS = 600_000
)

// Router answers decision requests. It is safe for concurrent use.
type Router struct {
	cfg        Config
	decide     Decider // the engine inside its interceptors
	statistics statistics
	reload     sync.Mutex // serialises SetCatalog
	world      atomic.Pointer[world]
	admissions admissions
	windows    latestWindows
	overruns   amounts // costs above their holds
	estimates  amounts // costs of answers without counts
	kept       keptCounts
	capped     atomic.Int64 // stages that MaxEscalated kept from being asked
	reached    reached
	now        func() time.Time // the real clock, which contexts go by

	flights     flights      // of Config.Share
	remembering *remembering // nil where nothing is remembered
}

// New returns a router, or an error that wraps [ErrConfig].
func New(cfg Config) (*Router, error) {
	if name := typednil.Field(cfg); name != "" {
		return nil, fmt.Errorf("%w: %s holds a nil", ErrConfig, name)
	}
	switch {
	case cfg.Catalog == nil:
		return nil, fmt.Errorf("%w: Catalog is required", ErrConfig)
	case cfg.Timeout < 0, cfg.AttemptTimeout < 0, cfg.MaxAttempts < 0:
		return nil, fmt.Errorf("%w: Timeout, AttemptTimeout and MaxAttempts must not be negative", ErrConfig)
	case cfg.Abandoned > AbandonFinish:
		return nil, fmt.Errorf("%w: Abandoned has an unknown value", ErrConfig)
	case cfg.Limits.Questions < 0, cfg.Limits.Options < 0, cfg.Limits.Levels < 0:
		return nil, fmt.Errorf("%w: Limits must not be negative", ErrConfig)
	}
	for i, intercept := range cfg.Interceptors {
		if intercept == nil {
			return nil, fmt.Errorf("%w: Interceptors[%d] is nil", ErrConfig, i)
		}
	}
	memory, err := newRemembering(cfg.Remember)
	if err != nil {
		return nil, err
	}
	r := &Router{cfg: cfg.withDefaults(), now: time.Now, remembering: memory}
	r.decide = r.execute
	for i, intercept := range slices.Backward(r.cfg.Interceptors) {
		if r.decide = intercept(r.decide); r.decide == nil {
			return nil, fmt.Errorf("%w: Interceptors[%d] returned no Decider", ErrConfig, i)
		}
	}
	r.SetCatalog(cfg.Catalog)
	return r, nil
}

// Catalog returns the current catalog. It is safe for concurrent use.
func (r *Router) Catalog() *Catalog { return r.world.Load().catalog }

// SetCatalog replaces the catalog for calls that begin from now on. Calls in flight
// keep the catalog with which they began. An endpoint of the same ID keeps its
// statistics, its outage and its count of attempts in flight; those of endpoints
// that are gone are dropped. A nil catalog changes nothing. It is safe for
// concurrent use.
func (r *Router) SetCatalog(c *Catalog) {
	if c == nil {
		return
	}
	r.reload.Lock()
	defer r.reload.Unlock()
	before, now := r.world.Load(), r.cfg.Now()
	w := newWorld(c, before, &r.statistics)
	w.stats(now) // so that no request waits for the first snapshot
	r.world.Store(w)
	if before == nil {
		return
	}
	for _, s := range before.served {
		if _, stays := w.byEndpoint[s.endpoint.ID]; !stays {
			r.statistics.outages.forget(s, now)
		}
	}
}

// Health returns the health of an endpoint; the zero value where the current
// catalog has no such endpoint. It is safe for concurrent use.
func (r *Router) Health(endpoint uuid.UUID) Health {
	s, ok := r.world.Load().byEndpoint[endpoint]
	if !ok {
		return Health{}
	}
	return s.tracker.health(r.cfg.Now())
}

// Decide answers a call. It runs the interceptors, checks the request, makes a
// plan, and asks one candidate after another until one answers. It stops earlier
// when the caller is at fault, or when attempts, candidates or time are used up;
// [Report.Stopped] says which. It is safe for concurrent use with different calls.
//
// Every error is an [*Error]. It wraps context.Canceled when the caller cancelled
// ctx; a complete answer that had already arrived is still returned.
// [Config.Abandoned] decides what a running attempt then costs. c.Report is filled
// with or without an error.
//
// The caller of a call with an [Idempotency] cannot cancel it: Decide returns when
// the call is over, whatever happens to ctx. A call can be decided only once,
// because its ID, its time and its report are set; a second Decide is an error.
//
// A preset must be resolved by an interceptor, which replaces the request by one
// without a preset. A preset that no interceptor has resolved is reported as not
// found.
//
// Decide does not recover from a panic of a provider or an interceptor, because
// that is a bug of the program. It does release what the call had taken, so a
// server that recovers, as net/http does, may go on.
func (r *Router) Decide(ctx context.Context, c *Call) (*Result, error) {
	switch {
	case c == nil || c.Request == nil:
		return nil, &Error{Class: InvalidRequest, Issues: []systemone.Issue{{Message: "is required"}}, Err: errNoRequest}
	case c.clock != nil:
		return nil, &Error{Class: Server, Err: errDecided}
	}
	r.begin(c)
	if d := c.Request.Routing; d != nil && d.DeadlineMS > 0 {
		c.Timeout = min(r.timeout(c), time.Duration(min(d.DeadlineMS, maxDeadlineMS))*time.Millisecond)
	}
	ctx = r.detach(ctx, c)
	if _, ends := ctx.Deadline(); ends || c.Timeout > 0 { // the caller may have set this deadline
		c.usualEnd = r.now().Add(r.usualTimeout(c))
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout(c))
	defer cancel()

	res, err := r.decide(ctx, c)
	switch {
	case err != nil:
		return nil, asError(err)
	case res == nil:
		return nil, &Error{Class: Server, Err: errNoResult}
	}
	return res, nil
}

var (
	errNoRequest = errors.New("router: Call.Request is required")
	errDecided   = errors.New("router: the call was decided before; make a new one")
	errNoResult  = errors.New("router: an interceptor returned neither a result nor an error")
)

// begin sets the fields that the caller left empty.
func (r *Router) begin(c *Call) {
	c.clock, c.world, c.limits, c.userKey = r.cfg.Now, r.world.Load(), r.cfg.Limits, r.cfg.UserKey
	if c.Admitted.IsZero() {
		c.Admitted = r.admissions.admit(r.cfg.Now())
	}
	if c.ID == "" || r.cfg.Ledger != nil {
		c.holdID = r.cfg.NewID()
	}
	if c.ID == "" {
		c.ID = "gen-dec-" + hex.EncodeToString(c.holdID[:])
	}
	if !VisibleASCII(c.RequestID) {
		c.RequestID = r.cfg.NewID().String()
	}
	if c.Seed == 0 {
		c.Seed = max(r.cfg.Seed(), 1) // 0 would be replaced when the seed is used again
	}
}

// timeout returns the total time of a call.
func (r *Router) timeout(c *Call) time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return r.cfg.Timeout
}

// usualTimeout returns the total time that the program gives calls like this one.
func (r *Router) usualTimeout(c *Call) time.Duration {
	if c.UsualTimeout > 0 {
		return c.UsualTimeout
	}
	return r.cfg.Timeout
}

// Limits returns the limits on requests as configured: the zero value selects the
// defaults of systemone.
func (r *Router) Limits() systemone.Limits { return r.cfg.Limits }

// VisibleASCII reports whether id has 1 to 128 characters, all of them visible
// ASCII. A request ID must, because it is sent in headers; a [Call] with any other
// RequestID gets a new one.
func VisibleASCII(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}

// asError turns an interceptor's error into an [*Error].
func asError(err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	if _, ok := errors.AsType[*systemone.InvalidError](err); ok {
		return invalid(err)
	}
	if !errors.Is(err, ErrUnavailable) && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)) {
		return &Error{Class: Timeout, Err: err}
	}
	return Failure(err)
}

// invalid turns an error of [systemone.Request.Validate] into an [*Error].
func invalid(err error) *Error {
	e := &Error{Class: InvalidRequest, Err: err}
	if inv, ok := errors.AsType[*systemone.InvalidError](err); ok {
		e.Issues = inv.Issues
	}
	return e
}
