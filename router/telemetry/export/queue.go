package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/panics"
	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/router/telemetry"
)

// Destination takes spans away. Export honours ctx and does not keep the spans. It
// returns an [*Error] if the pause or the number of spans matters. Any other error is
// tried again. A queue calls it from one goroutine at a time.
type Destination interface {
	Export(ctx context.Context, spans []telemetry.Span) error
}

// Error says why spans were not exported.
type Error struct {
	// Final says that the same spans would be refused again, so they are dropped.
	Final bool
	// Rejected is how many of the spans a Final refusal is about; 0 is all of them.
	Rejected int
	// RetryAfter is how long the destination asks to wait; 0 is the queue's own pause.
	RetryAfter time.Duration
	// Err is for the operator's log. It contains no address, no header and no span.
	Err error
}

// Error returns the text of Err.
func (e *Error) Error() string { return fmt.Sprintf("export: %v", e.Err) }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// ErrConfig is wrapped by every error about a mistake in a configuration.
var ErrConfig = errors.New("export: invalid configuration")

// Config configures a [Queue]. Only Destination is required.
type Config struct {
	Destination Destination // required
	// Bytes bounds the spans that wait or are being exported, by an estimate of their
	// size in memory. Default 16 MiB.
	Bytes int
	Batch int           // the most spans of one export, except that a call is never cut; default 512
	Wait  time.Duration // how long a span waits for others; default 2 s
	// Timeout ends one export. Default 10 s.
	Timeout time.Duration
	Tries   int // of a batch, before it is dropped; default 5
	// Drain is how long Run may go on after its context ended, to empty the queue.
	// Default 5 s.
	Drain time.Duration
	// Logger gets a warning for each batch that is dropped, and for what is lost at the
	// end. Default slog.Default().
	Logger *slog.Logger
}

// The pauses between tries double from the first to the longest.
const (
	firstPause   = time.Second
	longestPause = time.Minute
)

// Queue passes spans to a destination. It is safe for concurrent use.
type Queue struct {
	cfg  Config
	full chan struct{} // a batch is complete

	mu      sync.Mutex
	waiting [][]telemetry.Span // whole calls
	stats   Stats
	closed  bool // Run has ended
}

// Stats counts the spans of a queue since it was made.
type Stats struct {
	Exported int64
	Dropped  int64 // because the queue was full or closed, or the destination refused them
	Waiting  int64 // in the queue now, or being exported
	Bytes    int   // estimate of what Waiting takes
}

// NewQueue returns a queue, or an error that wraps [ErrConfig]. It starts no goroutine:
// see [Queue.Run].
func NewQueue(cfg Config) (*Queue, error) {
	switch {
	case cfg.Destination == nil || typednil.Is(cfg.Destination):
		return nil, fmt.Errorf("%w: Destination is required", ErrConfig)
	case cfg.Bytes < 0, cfg.Batch < 0, cfg.Wait < 0, cfg.Timeout < 0, cfg.Tries < 0, cfg.Drain < 0:
		return nil, fmt.Errorf("%w: Bytes, Batch, Wait, Timeout, Tries and Drain must not be negative", ErrConfig)
	}
	orElse(&cfg.Bytes, 16<<20)
	orElse(&cfg.Batch, 512)
	orElse(&cfg.Wait, 2*time.Second)
	orElse(&cfg.Timeout, 10*time.Second)
	orElse(&cfg.Tries, 5)
	orElse(&cfg.Drain, 5*time.Second)
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &Queue{cfg: cfg, full: make(chan struct{}, 1)}, nil
}

func orElse[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Offer appends the spans of a call, or drops them if the queue has no room or Run has
// ended. It never waits for the destination.
func (q *Queue) Offer(spans []telemetry.Span) {
	size := sizeOf(spans)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || size > q.cfg.Bytes-q.stats.Bytes {
		q.stats.Dropped += int64(len(spans))
		return
	}
	q.waiting = append(q.waiting, spans)
	q.stats.Waiting += int64(len(spans))
	q.stats.Bytes += size
	if q.stats.Waiting >= int64(q.cfg.Batch) {
		select {
		case q.full <- struct{}{}:
		default:
		}
	}
}

// Stats returns the counts.
func (q *Queue) Stats() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stats
}

// Run exports until ctx ends, and then for at most Config.Drain. What is left is
// dropped and logged, and so are later spans. End ctx after the last call. Call Run
// once, in a goroutine of its own.
func (q *Queue) Run(ctx context.Context) {
	ticks := time.NewTicker(q.cfg.Wait)
	defer ticks.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-ticks.C:
		case <-q.full:
		}
		for q.flush(ctx) {
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), q.cfg.Drain)
	defer cancel()
	for q.flush(last) {
	}
	q.close(ctx)
}

// flush exports one batch. It returns false if nothing waits or ctx has ended. The batch
// stays in the queue while it is exported, so that the bound covers it.
func (q *Queue) flush(ctx context.Context) bool {
	calls, spans := q.batch()
	if len(spans) == 0 || ctx.Err() != nil {
		return false
	}
	err := q.deliver(ctx, spans)
	if err != nil && ctx.Err() != nil {
		return false // it stays for the next flush
	}
	dropped := 0
	if err != nil {
		dropped = len(spans)
		if e, ok := errors.AsType[*Error](err); ok && e.Rejected > 0 {
			dropped = min(e.Rejected, dropped)
		}
		q.cfg.Logger.WarnContext(ctx, "spans were dropped", slog.Int("spans", dropped), slog.Any("error", err))
	}
	q.remove(calls, spans, dropped)
	return true
}

// deliver exports a batch, with retries.
func (q *Queue) deliver(ctx context.Context, spans []telemetry.Span) (err error) {
	pause := firstPause
	for n := 1; ; n++ {
		err = q.try(ctx, spans)
		e, known := errors.AsType[*Error](err)
		if err == nil || n >= q.cfg.Tries || known && e.Final {
			return err
		}
		wait := pause
		if known && e.RetryAfter > 0 {
			wait = min(e.RetryAfter, longestPause)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
		pause = min(2*pause, longestPause)
	}
}

// try exports a batch once. A panic of the destination is a final error.
func (q *Queue) try(ctx context.Context, spans []telemetry.Span) (err error) {
	ctx, cancel := context.WithTimeout(ctx, q.cfg.Timeout)
	defer cancel()
	panicked := panics.Catch(func() error {
		err = q.cfg.Destination.Export(ctx, spans)
		return nil
	})
	if panicked != nil {
		return &Error{Final: true, Err: panicked}
	}
	return err
}

// batch returns the spans of the next batch, and of how many calls they are.
func (q *Queue) batch() (calls int, spans []telemetry.Span) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for _, call := range q.waiting {
		if calls > 0 && n+len(call) > q.cfg.Batch {
			break
		}
		calls++
		n += len(call)
	}
	return calls, slices.Concat(q.waiting[:calls]...)
}

// remove takes a batch out of the queue and counts it.
func (q *Queue) remove(calls int, spans []telemetry.Span, dropped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, call := range q.waiting[:calls] {
		q.stats.Bytes -= sizeOf(call)
	}
	q.waiting = slices.Delete(q.waiting, 0, calls)
	q.stats.Waiting -= int64(len(spans))
	q.stats.Dropped += int64(dropped)
	q.stats.Exported += int64(len(spans) - dropped)
}

// close drops what waits.
func (q *Queue) close(ctx context.Context) {
	q.mu.Lock()
	lost := q.stats.Waiting
	q.closed, q.waiting = true, nil
	q.stats.Dropped, q.stats.Waiting, q.stats.Bytes = q.stats.Dropped+lost, 0, 0
	q.mu.Unlock()
	if lost > 0 {
		q.cfg.Logger.WarnContext(ctx, "spans were lost at the end of the process", slog.Int64("spans", lost))
	}
}

// Rough sizes in memory, in bytes.
const (
	spanBytes      = 256
	attributeBytes = 80
	elementBytes   = 16
)

// sizeOf estimates the memory that spans take.
func sizeOf(spans []telemetry.Span) (n int) {
	for i := range spans {
		s := &spans[i]
		n += spanBytes + len(s.Name)
		for j := range s.Attributes {
			n += attributeBytes + len(s.Attributes[j].Value.AsString())
			for _, text := range s.Attributes[j].Value.AsStringSlice() {
				n += elementBytes + len(text)
			}
		}
	}
	return n
}
