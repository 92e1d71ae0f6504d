package router

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/systemone"
)

// Config says what a [Router] is made of. Only Catalog is required.
type Config struct {
	Catalog *Catalog // required
	// Interceptors are the policies around every call, outermost first.
	Interceptors []Interceptor
	// Timeout is the total deadline of a call that has none of its own.
	// Default 30 s.
	Timeout time.Duration
	// AttemptTimeout is the most time that one attempt gets, at an endpoint that
	// states none of its own. Default 10 s. While further candidates may follow, an
	// attempt gets half of what is left of the call's time, if that is less.
	AttemptTimeout time.Duration
	MaxAttempts    int // of one call, those at last resorts not counted; default 4
	// RetryPercent and RetryReserve bound the further attempts at an endpoint that
	// in thirty seconds has failed at least three times and more than every fifth
	// time. In any ten seconds it gets RetryPercent of them for each hundred calls
	// that began at its model, and RetryReserve besides. Where these are used up
	// the next candidate is asked. Defaults 20 and 100; less than 0 is none.
	RetryPercent, RetryReserve int
	// Abandoned says what becomes of an attempt whose caller ends the call while it
	// runs. Default [AbandonEstimate].
	Abandoned Abandon
	Limits    systemone.Limits // of a request; default those of systemone
	// UserKey is the secret that the caller's user is hashed with before it
	// goes upstream. Without it no user ever does, not even hashed: a request
	// with a user that requires its parameters finds no endpoint then.
	UserKey []byte
	// Sessions remembers sticky sessions. Default: the last 65,536 of this
	// process.
	Sessions Sessions
	// Ledger counts what calls spend, and holds them to their budgets: before
	// each attempt the most that it can cost is set aside on all lines of the
	// call's principal, and an answer is charged to them. Nil counts and limits
	// nothing. The program has it expire holds now and then, in case a process
	// dies. A ledger that is down for a moment when an answer is charged is asked
	// again for ten seconds; the caller waits that long, also one who is to hear
	// that no upstream answered.
	Ledger Ledger
	// FreeWithoutLedger answers calls that cost nothing, as those of free
	// endpoints, also while the Ledger cannot be reached. Default: they are refused
	// like all others; to find out, such a call reads the ledger if no call has
	// reached it for a second. Calls that cost nothing make no hold, so they are
	// admitted by limits and keys as old as the policies' caches.
	FreeWithoutLedger bool
	// Now is the clock. Default time.Now. It may step back.
	Now func() time.Time
	// NewID makes ids that were never used before, of calls and of requests.
	// Default UUIDv7, which sorts by time.
	NewID func() uuid.UUID
	// Seed draws the seeds of plans, and pauses where the ledger is down. Default
	// random.
	Seed func() uint64
}

const (
	defaultTimeout        = 30 * time.Second
	defaultAttemptTimeout = 10 * time.Second
	defaultMaxAttempts    = 4

	maxRequestID = 128 // bytes
)

// Router answers decision requests. It is safe for concurrent use.
type Router struct {
	cfg        Config
	decide     Decider // the interceptors around the engine
	statistics statistics
	reload     sync.Mutex // serialises SetCatalog
	world      atomic.Pointer[world]
	admissions admissions
	windows    latestWindows
	overruns   amounts // costs above their holds
	estimates  amounts // costs of answers without counts
	reached    reached
	now        func() time.Time // the real clock, which contexts go by
}

// New returns a router, or an error that is [ErrConfig].
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
		return nil, fmt.Errorf("%w: Abandoned is none of its constants", ErrConfig)
	case cfg.Limits.Questions < 0, cfg.Limits.Options < 0, cfg.Limits.Levels < 0:
		return nil, fmt.Errorf("%w: Limits must not be negative", ErrConfig)
	}
	for i, intercept := range cfg.Interceptors {
		if intercept == nil {
			return nil, fmt.Errorf("%w: Interceptors[%d] is nil", ErrConfig, i)
		}
	}
	r := &Router{cfg: cfg.withDefaults(), now: time.Now}
	r.decide = r.execute
	for i, intercept := range slices.Backward(r.cfg.Interceptors) {
		if r.decide = intercept(r.decide); r.decide == nil {
			return nil, fmt.Errorf("%w: Interceptors[%d] returned no Decider", ErrConfig, i)
		}
	}
	r.SetCatalog(cfg.Catalog)
	return r, nil
}

func (cfg Config) withDefaults() Config {
	cfg.Interceptors = slices.Clone(cfg.Interceptors)
	cfg.UserKey = slices.Clone(cfg.UserKey)
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.AttemptTimeout == 0 {
		cfg.AttemptTimeout = defaultAttemptTimeout
	}
	if cfg.MaxAttempts == 0 {
		cfg.MaxAttempts = defaultMaxAttempts
	}
	if cfg.RetryPercent == 0 {
		cfg.RetryPercent = defaultRetryPercent
	}
	if cfg.RetryReserve == 0 {
		cfg.RetryReserve = defaultRetryReserve
	}
	if cfg.Sessions == nil {
		cfg.Sessions = newMemorySessions(sessionsKept)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NewID == nil {
		// Must cannot fail here: crypto/rand never does.
		cfg.NewID = func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
	}
	if cfg.Seed == nil {
		cfg.Seed = rand.Uint64
	}
	return cfg
}

// Catalog returns the catalog in force.
func (r *Router) Catalog() *Catalog { return r.world.Load().catalog }

// SetCatalog puts a catalog in force for the calls that begin from now on.
// Calls in flight go on with the one they began with. Statistics, outages and
// attempts in flight stay with endpoints of the same ID, those of endpoints
// that are gone are forgotten. A nil catalog changes nothing.
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

// Health returns how an endpoint has been doing; the zero value for one that
// is not in the catalog.
func (r *Router) Health(endpoint uuid.UUID) Health {
	s, ok := r.world.Load().byEndpoint[endpoint]
	if !ok {
		return Health{}
	}
	return s.tracker.health(r.cfg.Now())
}

// Decide answers a call: it runs the interceptors, checks the request, plans,
// and asks one candidate after another until one answers, the caller turns out
// to be at fault, or attempts, candidates or time are used up; [Report.Stopped]
// says which.
//
// Every error is an [*Error]. It wraps context.Canceled when the caller gave
// up by cancelling ctx; a complete answer that had already arrived is still
// returned. What the attempt costs that runs when the caller ends the call is up
// to [Config.Abandoned]. A call with an [Idempotency] is not ended by its caller:
// Decide returns when the call is over, whatever becomes of ctx. c.Report is filled
// either way. A call is decided once: a second time is refused, because its id, its
// instant and its report are taken.
//
// A preset is for an interceptor to resolve: it replaces the request by one
// without. One that is left is not found.
//
// Decide does not recover from a provider's or interceptor's panic: that is a
// bug of the program, which its owner must see. What the call had taken is
// given back, so a server that recovers, as net/http does, may go on.
func (r *Router) Decide(ctx context.Context, c *Call) (*Result, error) {
	switch {
	case c == nil || c.Request == nil:
		return nil, &Error{Class: InvalidRequest, Issues: []systemone.Issue{{Message: "is required"}}, Err: errNoRequest}
	case c.clock != nil:
		return nil, &Error{Class: Server, Err: errDecided}
	}
	r.begin(c)
	ctx = r.detach(ctx, c)
	if _, ends := ctx.Deadline(); ends || c.Timeout > 0 { // of the caller's own, perhaps
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

// begin fills what the caller left for the router to make.
func (r *Router) begin(c *Call) {
	c.clock, c.world, c.limits = r.cfg.Now, r.world.Load(), r.cfg.Limits
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
		c.Seed = max(r.cfg.Seed(), 1) // 0 would be drawn anew in a replay
	}
}

// timeout is the total time of a call.
func (r *Router) timeout(c *Call) time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return r.cfg.Timeout
}

// usualTimeout is the total time that the program gives calls like this one.
func (r *Router) usualTimeout(c *Call) time.Duration {
	if c.UsualTimeout > 0 {
		return c.UsualTimeout
	}
	return r.cfg.Timeout
}

// Limits are those that requests are held to, as they were configured.
func (r *Router) Limits() systemone.Limits { return r.cfg.Limits }

// VisibleASCII reports whether id has 1 to 128 characters, all of them visible ASCII, as
// a request ID must, because it goes into headers. A [Call] with any other RequestID gets
// a new one.
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

// asError makes an [*Error] of what a policy returned.
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

// invalid makes an [*Error] of what [systemone.Request.Validate] returned.
func invalid(err error) *Error {
	e := &Error{Class: InvalidRequest, Err: err}
	if inv, ok := errors.AsType[*systemone.InvalidError](err); ok {
		e.Issues = inv.Issues
	}
	return e
}
