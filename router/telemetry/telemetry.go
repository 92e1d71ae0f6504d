package telemetry

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/router"
)

// Config configures a [Telemetry]. Every field is optional.
type Config struct {
	// TracerProvider gets the spans of every call that its sampler takes. Give the SDK
	// [IDs] as its generator of ids, so that upstreams see the ids of attempts. With
	// another generator they see that of the root span. Nil is none.
	TracerProvider trace.TracerProvider
	// MeterProvider gets the metrics. Nil is none.
	MeterProvider metric.MeterProvider
	// Sinks returns where else the spans of a caller's calls go; nil is nowhere. They
	// get every call, whatever the sampler takes. Sinks is called at the end of each
	// call, at once from many goroutines.
	Sinks func(router.Principal) []Sink
	// Content puts states, instructions and answers into spans, and the upstreams' ids
	// of replies, which may be any text.
	Content bool
	// Now is the clock, the same as the router's. Default time.Now.
	Now func() time.Time
	// Rand is where ids come from. Default crypto/rand.
	Rand io.Reader
}

// Sink takes the spans of a finished call, the root span first. Offer must not block,
// because the caller waits, and must not change the spans. It is called from many
// goroutines.
type Sink interface{ Offer(spans []Span) }

// Addressed is an optional interface of a [router.Provider]: the host and port that it
// calls.
type Addressed interface {
	Address() (host string, port int)
}

// ErrConfig is wrapped by every error of [New].
var ErrConfig = errors.New("telemetry: invalid configuration")

// Telemetry observes calls. It is safe for concurrent use and has no goroutine.
type Telemetry struct {
	cfg     Config
	tracer  trace.Tracer // nil without a TracerProvider
	metrics *instruments // nil without a MeterProvider
}

// New returns a Telemetry, or an error that wraps [ErrConfig].
func New(cfg Config) (*Telemetry, error) {
	if name := typednil.Field(cfg); name != "" {
		return nil, fmt.Errorf("%w: %s holds a nil", ErrConfig, name)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	t := &Telemetry{cfg: cfg}
	if cfg.TracerProvider != nil {
		t.tracer = cfg.TracerProvider.Tracer(scope)
	}
	if cfg.MeterProvider != nil {
		var err error
		if t.metrics, err = newInstruments(cfg.MeterProvider.Meter(scope)); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
	}
	return t, nil
}

// errPanic is the error of a call that ended in a panic.
var errPanic = errors.New("telemetry: the call panicked")

// Intercept puts the trace of a call into its context and reports the call when it is
// over, also one that ends in a panic. The context has the root span, so that
// [Handler], and all that is instrumented with OpenTelemetry, finds it.
func (t *Telemetry) Intercept(next router.Decider) router.Decider {
	return func(ctx context.Context, c *router.Call) (res *router.Result, err error) {
		ctx, s := t.begin(ctx, c)
		err = errPanic
		defer func() { s.end(ctx, res, err) }()
		res, err = next(ctx, c)
		return res, err
	}
}
