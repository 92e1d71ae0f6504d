package router

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"
)

// Pauses between two tries of closing a hold: each is drawn from half to one and
// a half of what stands here, and the next is twice as long.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// repeat does what closes a hold, again and again for settleTime, until it
// succeeds or that is no use. Closing goes by the hold's id, so it may be done
// again also when it happened and only the word of it was lost.
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
			return cmp.Or(before, err) // the one before says why, this one that the time is up
		}
		if !wait(ctx, pause/2+time.Duration(draw()%uint64(pause))) { //nolint:gosec // neither is negative
			return err
		}
		before = err
	}
}

// wait waits, and says whether there is time left.
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

// isFinal says whether an error stays, however often a hold is closed.
func isFinal(err error) bool {
	_, limit := errors.AsType[*LimitError](err)
	return limit || errors.Is(err, ErrNoHold) || errors.Is(err, ErrConflict) || errors.Is(err, ErrFinal)
}

// withSettleTime returns the context in which a hold is closed: with the values
// of the call's but not its end, and settleTime for the ledger.
func withSettleTime(ctx context.Context) (context.Context, context.CancelFunc) {
	c := &closing{ctx: context.WithoutCancel(ctx)}
	return c, c.end
}

// closing is a context with a timer that runs only once somebody waits for its
// end, or asks when that is. A ledger in memory does neither, and a timer costs
// as much as what it does.
type closing struct {
	mu   sync.Mutex
	ctx  context.Context    //nolint:containedctx // this is a context
	stop context.CancelFunc // of the timer; nil before there is one
}

// timed returns the context with the timer.
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
