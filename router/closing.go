package router

import (
	"context"
	"sync"
	"time"
)

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
