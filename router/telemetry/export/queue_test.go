package export_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"

	"github.com/signalbox/signalbox/router/telemetry"
	"github.com/signalbox/signalbox/router/telemetry/export"
)

// target is a destination that notes what it gets, and when, and answers as told.
type target struct {
	do func(ctx context.Context, try int) error

	mu    sync.Mutex
	spans []int // of each try
	at    []time.Time
}

func (d *target) Export(ctx context.Context, spans []telemetry.Span) error {
	d.mu.Lock()
	d.spans, d.at = append(d.spans, len(spans)), append(d.at, time.Now())
	try := len(d.spans)
	d.mu.Unlock()
	if d.do == nil {
		return nil
	}
	return d.do(ctx, try)
}

// got returns how many spans each try had, and when it was.
func (d *target) got() (spans []int, at []time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.spans), slices.Clone(d.at)
}

// sizes returns how many spans each try had.
func (d *target) sizes() []int {
	list, _ := d.got()
	return list
}

// running starts Run and returns a function that ends it and waits.
func running(t *testing.T, cfg export.Config) (q *export.Queue, end func()) {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	q, err := export.NewQueue(cfg)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); q.Run(ctx) }()
	return q, func() { cancel(); <-done }
}

func spans(n int) []telemetry.Span { return make([]telemetry.Span, n) }

// TestBatches: spans wait for others, but not for long, and a call is never cut.
func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &target{}
		began := time.Now()
		q, end := running(t, export.Config{Destination: d, Batch: 10})
		q.Offer(spans(4))
		q.Offer(spans(5))
		synctest.Wait()
		assert.Empty(t, d.sizes())
		time.Sleep(2 * time.Second)
		synctest.Wait()
		assert.Equal(t, []int{9}, d.sizes())
		_, at := d.got()
		assert.Equal(t, 2*time.Second, at[0].Sub(began))
		q.Offer(spans(4))
		q.Offer(spans(4))
		q.Offer(spans(4))
		synctest.Wait()
		assert.Equal(t, []int{9, 8, 4}, d.sizes(), "a full batch waits for nothing")
		q.Offer(spans(30))
		synctest.Wait()
		assert.Equal(t, []int{9, 8, 4, 30}, d.sizes(), "a call is not cut")
		assert.Equal(t, export.Stats{Exported: 51}, q.Stats())
		end()
	})
}

// TestADestinationThatHangs costs callers nothing: Offer returns at once, at most the
// queue is lost, and every span is counted.
func TestADestinationThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		d := &target{do: func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }}
		q, end := running(t, export.Config{Destination: d, Bytes: 100 << 10, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		began := time.Now()
		for range 10_000 {
			q.Offer(spans(1))
		}
		assert.Equal(t, began, time.Now(), "by the clock of the bubble no caller waits")
		got := q.Stats()
		assert.LessOrEqual(t, got.Bytes, 100<<10)
		assert.Positive(t, got.Waiting)
		assert.Equal(t, int64(10_000), got.Waiting+got.Dropped)
		time.Sleep(15 * time.Second)
		end()
		assert.Equal(t, export.Stats{Dropped: 10_000}, q.Stats())
		assert.Less(t, time.Since(began), 21*time.Second, "15 s, and 5 s to empty the queue")
		assert.Contains(t, log.String(), "spans were lost at the end of the process")
		q.Offer(spans(1))
		assert.Equal(t, int64(10_001), q.Stats().Dropped, "nothing is taken after Run")
	})
}

// TestRetries: pauses double, and a batch that fails too often is dropped and counted.
func TestRetries(t *testing.T) {
	for _, c := range []struct {
		name  string
		do    func(ctx context.Context, try int) error
		tries []int // seconds after the first
		want  export.Stats
	}{
		{"dead", func(context.Context, int) error { return errors.New("dead") }, []int{1, 3, 7, 15}, export.Stats{Dropped: 3}},
		{"a full disk", func(context.Context, int) error { return &export.Error{Err: syscall.ENOSPC} }, []int{1, 3, 7, 15}, export.Stats{Dropped: 3}},
		{"recovers", func(_ context.Context, try int) error {
			if try < 3 {
				return errors.New("dead")
			}
			return nil
		}, []int{1, 3}, export.Stats{Exported: 3}},
		{"asks to wait", func(_ context.Context, try int) error {
			if try < 2 {
				return &export.Error{RetryAfter: 20 * time.Second, Err: errors.New("429")}
			}
			return nil
		}, []int{20}, export.Stats{Exported: 3}},
		{"asks to wait for ever", func(_ context.Context, try int) error {
			if try < 2 {
				return &export.Error{RetryAfter: time.Hour, Err: errors.New("429")}
			}
			return nil
		}, []int{60}, export.Stats{Exported: 3}},
		{"final", func(context.Context, int) error { return &export.Error{Final: true, Err: errors.New("400")} }, nil, export.Stats{Dropped: 3}},
		{"some rejected", func(context.Context, int) error {
			return &export.Error{Final: true, Rejected: 1, Err: errors.New("partial")}
		}, nil, export.Stats{Exported: 2, Dropped: 1}},
		{"panics", func(context.Context, int) error { panic("boom") }, nil, export.Stats{Dropped: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &target{do: c.do}
				q, end := running(t, export.Config{Destination: d})
				q.Offer(spans(3))
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				_, at := d.got()
				require.Len(t, at, len(c.tries)+1)
				for i, after := range c.tries {
					assert.Equal(t, time.Duration(after)*time.Second, at[i+1].Sub(at[0]))
				}
				assert.Equal(t, c.want, q.Stats())
				end()
			})
		})
	}
}

// TestTheEndEmptiesTheQueue: also of a batch that was being exported.
func TestTheEndEmptiesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &target{do: func(ctx context.Context, try int) error {
			if try == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}}
		q, end := running(t, export.Config{Destination: d})
		q.Offer(spans(3))
		time.Sleep(3 * time.Second)
		q.Offer(spans(2))
		end()
		assert.Equal(t, []int{3, 5}, d.sizes())
		assert.Equal(t, export.Stats{Exported: 5}, q.Stats())
	})
}

// TestTheBoundIsInBytes: texts of attributes count.
func TestTheBoundIsInBytes(t *testing.T) {
	q, err := export.NewQueue(export.Config{Destination: &target{}, Bytes: 10 << 10})
	require.NoError(t, err)
	large := spans(1)
	large[0].Attributes = []attribute.KeyValue{attribute.StringSlice("a", []string{string(make([]byte, 20<<10))})}
	q.Offer(large)
	assert.Equal(t, export.Stats{Dropped: 1}, q.Stats())
	large[0].Attributes = []attribute.KeyValue{attribute.String("a", string(make([]byte, 20<<10)))}
	q.Offer(large)
	assert.Equal(t, export.Stats{Dropped: 2}, q.Stats())
}

// TestQueueConfig: mistakes are errors.
func TestQueueConfig(t *testing.T) {
	var none *target
	for _, bad := range []export.Config{{}, {Destination: none}, {Destination: &target{}, Bytes: -1}, {Destination: &target{}, Tries: -1}} {
		_, err := export.NewQueue(bad)
		assert.ErrorIs(t, err, export.ErrConfig)
	}
}
