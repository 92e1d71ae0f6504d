package router_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// TestHangUp is R72 and its consequences.
func TestHangUp(t *testing.T) {
	t.Parallel()
	t.Run("R72a upstream is cancelled and nobody else is asked", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := newRig(t, "ant bee", nil)
			var upstream error
			g.upstreams["ant"].will(func(ctx context.Context, _ router.Attempt) (router.Reply, error) {
				<-ctx.Done()
				upstream = ctx.Err()
				return router.Reply{}, &router.UpstreamError{Err: ctx.Err()}
			})
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			c := &router.Call{Request: decision(byPrice)}
			_, err := g.router.Decide(ctx, c)
			require.ErrorIs(t, err, context.Canceled)
			_ = fault(t, err)
			require.ErrorIs(t, upstream, context.Canceled)
			assert.Equal(t, "ant", asked(c))
			assert.Equal(t, time.Second, c.Report.Legs[0].Attempts[0].Duration)
			assert.Empty(t, g.upstreams["bee"].attempts())
		})
	})
	t.Run("R72b does not count against uptime", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := newRig(t, "ant", nil)
			g.upstreams["ant"].will(fails(t, "timeout"))
			for range 5 {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Millisecond, cancel)
				_, err := g.router.Decide(ctx, &router.Call{Request: decision("")})
				require.ErrorIs(t, err, context.Canceled)
			}
			assert.False(t, g.router.Health(g.endpoint(0).ID).Outage)
		})
	})
	t.Run("R72c an answer that has arrived is charged", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := newRig(t, "ant", nil)
			ctx, cancel := context.WithCancel(t.Context())
			g.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
				cancel()
				return answer(ctx, a)
			})
			res, err := g.router.Decide(ctx, &router.Call{Request: decision("")})
			require.NoError(t, err)
			assert.NotZero(t, res.Cost)
		})
	})
	t.Run("R72d before anything was sent", func(t *testing.T) {
		t.Parallel()
		g := newRig(t, "ant", nil)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := g.router.Decide(ctx, &router.Call{Request: decision("")})
		require.ErrorIs(t, err, context.Canceled)
		assert.Empty(t, g.upstreams["ant"].attempts())
	})
}

// TestDeadlines is R76c and d, and the deadlines themselves.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		row     string
		steps   []step
		attempt time.Duration // its timeout; 0 is the default
		timeout time.Duration // of the call; 0 is the router's
		class   router.Class
		asked   string
		took    time.Duration
		stopped router.Stop
	}{
		{
			"R76c",
			[]step{fails(t, "500"), fails(t, "500"), slow(10*time.Second, fails(t, "500")), fails(t, "timeout")},
			30 * time.Second, 0,
			router.ProviderUnavailable, "ant bee cat dog", 30 * time.Second, router.StopDeadline,
		},
		{
			"R76d",
			[]step{fails(t, "timeout"), fails(t, "timeout"), fails(t, "timeout"), fails(t, "timeout")},
			30 * time.Second, 0,
			router.Timeout, "ant bee cat dog", 30 * time.Second, router.StopDeadline,
		},
		{
			"the native mount's 9 s",
			[]step{fails(t, "timeout"), answer},
			0, 9 * time.Second,
			"", "ant bee", 4500 * time.Millisecond, "",
		},
		{
			"an attempt has 10 s",
			[]step{fails(t, "timeout"), answer},
			0, 0,
			"", "ant bee", 10 * time.Second, "",
		},
		{
			"Retry-After makes nobody wait",
			[]step{fails(t, "429(7)"), answer},
			0, 0,
			"", "ant bee", 0, "",
		},
		{
			"an answer that comes after the end of its attempt is still one",
			[]step{func(ctx context.Context, a router.Attempt) (router.Reply, error) {
				<-ctx.Done()
				return answer(ctx, a)
			}},
			time.Minute, 0,
			"", "ant", 15 * time.Second, "",
		},
	} {
		t.Run(tt.row, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newRig(t, "ant bee cat dog elk fox", func(cfg *router.Config) { cfg.AttemptTimeout = tt.attempt })
				for i, do := range tt.steps {
					g.upstreams[g.order[i]].will(do)
				}
				started := time.Now()
				c := &router.Call{Request: decision(byPrice), Timeout: tt.timeout}
				_, err := g.router.Decide(t.Context(), c)
				assert.Equal(t, tt.took, time.Since(started))
				assert.Equal(t, tt.asked, asked(c))
				assert.Equal(t, tt.stopped, c.Report.Stopped)
				if tt.class == "" {
					require.NoError(t, err)
					return
				}
				assert.Equal(t, tt.class, fault(t, err).Class)
			})
		})
	}
}

// An attempt carries the deadline of its context.
func TestAttemptCarriesItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, "ant", nil)
		g.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
			deadline, ok := ctx.Deadline()
			assert.True(t, ok)
			assert.Equal(t, deadline, a.Deadline)
			assert.Equal(t, 10*time.Second, time.Until(deadline))
			return answer(ctx, a)
		})
		_, _, err := g.decide()
		require.NoError(t, err)
	})
}

// When policies have used up the time, the call is a timeout and nothing is sent.
func TestDeadlineBeforeAnyAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, "ant", func(cfg *router.Config) {
			cfg.Interceptors = []router.Interceptor{func(next router.Decider) router.Decider {
				return func(ctx context.Context, c *router.Call) (*router.Result, error) {
					<-ctx.Done()
					return next(ctx, c)
				}
			}}
		})
		started := time.Now()
		_, c, err := g.decide()
		e := fault(t, err)
		assert.Equal(t, router.Timeout, e.Class)
		require.ErrorIs(t, e, context.DeadlineExceeded)
		assert.Equal(t, 30*time.Second, time.Since(started))
		assert.Empty(t, c.Report.Legs[0].Attempts)
		assert.Empty(t, g.upstreams["ant"].attempts())
	})
}
