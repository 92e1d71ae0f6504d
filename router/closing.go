package router

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"
)

// Pauses between two attempts to close a hold. Each is random, from half to one and
// a half of a base that starts at firstPause and doubles up to longestPause.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// repeat calls do, which closes a hold, until it succeeds, until its error is final
// ([isFinal]), or until settleTime is over. Closing a hold is idempotent by the
// hold's ID, so do may be called again although an earlier call took effect and
// only its reply was lost.
func repeat(ctx context.Context, draw func() uint64, do func(ctx context.Context) error) error {
	ctx, end := withSettleTime(ctx)
	defer end()
	var before error
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := do(ctx)
		switch {
		case err == nil || isFinal(err):
			return err
		case ctx.Err() != nil:
			return cmp.Or(before, err) // err says only that the time is up; the error before it says why
		}
		if !wait(ctx, pause/2+time.Duration(draw()%uint64(pause))) { //nolint:gosec // neither is negative
			return err
		}
		before = err
	}
}

// wait reports whether ctx outlasted the pause.
func wait(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// isFinal reports whether a retry cannot succeed.
func isFinal(err error) bool {
	_, limit := errors.AsType[*LimitError](err)
	return limit || errors.Is(err, ErrNoHold) || errors.Is(err, ErrConflict) || errors.Is(err, ErrFinal)
}

// withSettleTime returns the context in which a hold is closed. It has the values of
// the call's context, but is not cancelled with it: it ends after settleTime.
func withSettleTime(ctx context.Context) (context.Context, context.CancelFunc) {
	c := &closing{ctx: context.WithoutCancel(ctx)}
	return c, c.end
}

// closing is a context whose timer starts at the first call of Done or Deadline.
// The in-memory ledger calls neither, and starting and stopping a timer would take
// as long as closing its hold.
type closing struct {
	mu   sync.Mutex
	ctx  context.Context    //nolint:containedctx // this is a context
	stop context.CancelFunc // of the timer; nil before there is one
}

// timed returns the context with the timer, and starts the timer if needed.
func (c *closing) timed() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop == nil {
		c.ctx, c.stop = context.WithTimeout(c.ctx, settleTime)
	}
	return c.ctx
}

// latest returns the context with the timer, if it has one yet.
func (c *closing) latest() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ctx
}

func (c *closing) Deadline() (time.Time, bool) { return c.timed().Deadline() }
func (c *closing) Done() <-chan struct{}       { return c.timed().Done() }
func (c *closing) Err() error                  { return c.latest().Err() }
func (c *closing) Value(key any) any           { return c.latest().Value(key) }

func (c *closing) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		c.stop()
	}
}
