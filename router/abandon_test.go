package router_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// ends are the ways in which a caller ends a call after d.
func ends() map[string]func(ctx context.Context, c *router.Call, d time.Duration) (context.Context, context.CancelFunc) {
	return map[string]func(ctx context.Context, c *router.Call, d time.Duration) (context.Context, context.CancelFunc){
		"hang-up": func(ctx context.Context, _ *router.Call, d time.Duration) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(d, cancel)
			return ctx, cancel
		},
		"context": func(ctx context.Context, _ *router.Call, d time.Duration) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, d)
		},
		"Timeout": func(ctx context.Context, c *router.Call, d time.Duration) (context.Context, context.CancelFunc) {
			c.Timeout = d
			return ctx, func() {}
		},
	}
}

// leaver is a rig with a recording ledger, whose callers end their calls.
type leaver struct {
	*rig

	tape *tape
}

func newLeaver(t *testing.T, endpoints string, mode router.Abandon, edit ...func(*router.Endpoint)) *leaver {
	t.Helper()
	p := newTape()
	price := func(e *router.Endpoint) { e.Pricing.Request = cent.Price() }
	return &leaver{tape: p, rig: newRig(t, endpoints, func(cfg *router.Config) {
		cfg.Ledger, cfg.Abandoned = p, mode
	}, append([]func(*router.Endpoint){price}, edit...)...)}
}

// stands returns the balance of the key.
func (l *leaver) stands() router.Balance {
	l.t.Helper()
	return l.tape.stands(l.t)
}

// estimate returns what the n-th endpoint charges for an abandoned attempt.
func (l *leaver) estimate(n int) router.USD {
	prompt := router.ShapeOf(decision("")).PromptTokens
	return l.endpoint(n).Pricing.Cost(prompt, 0)
}

// R72: an abandoned call is charged the estimate of the running attempt, and
// nothing for attempts that failed before it. The upstream sees its context end,
// and the attempt does not count against the endpoint.
func TestAbandonedAttemptsAreCharged(t *testing.T) {
	t.Parallel()
	for name, end := range ends() {
		synctest.Test(t, func(t *testing.T) {
			l := newLeaver(t, "ant bee cat", router.AbandonEstimate)
			var told error
			l.upstreams["ant"].will(slow(time.Second, fails(t, "500")))
			l.upstreams["bee"].will(func(ctx context.Context, _ router.Attempt) (router.Reply, error) {
				<-ctx.Done()
				told = ctx.Err()
				return router.Reply{}, &router.UpstreamError{Class: router.Timeout, Err: ctx.Err()}
			})
			for range 5 {
				c := &router.Call{Request: decision(`{"order":["ant","bee"]}`), Principal: who()}
				c.Request.Provider.Only = []string{"ant", "bee"} // no candidate behind the one that runs
				ctx, cancel := end(t.Context(), c, 3*time.Second)
				began := time.Now()
				_, err := l.router.Decide(ctx, c)
				cancel()
				require.Error(t, err, name)
				require.Error(t, told, name)
				assert.Equal(t, 3*time.Second, time.Since(began), name)
				require.Len(t, c.Report.Legs[0].Attempts, 2, name)
				failed, abandoned := c.Report.Legs[0].Attempts[0], c.Report.Legs[0].Attempts[1]
				assert.False(t, failed.Abandoned, name)
				assert.Zero(t, failed.Cost, name)
				assert.True(t, abandoned.Abandoned, name)
				assert.Equal(t, l.estimate(1), abandoned.Cost, name)
				events := c.Events(nil)
				require.Len(t, events, 1, name)
				assert.Equal(t, c.ID+"/abandoned", events[0].ID, name)
				assert.True(t, events[0].Abandoned(), name)
				assert.Equal(t, l.endpoint(1).ID, events[0].Endpoint, name)
				assert.Zero(t, events[0].Requests, name)
				assert.Equal(t, router.ShapeOf(c.Request).PromptTokens, events[0].Prompt, name)
				assert.True(t, c.RecordedIn(l.tape.shown), name)
				if name == "hang-up" {
					assert.Equal(t, router.StopCaller, c.Report.Stopped)
				} else {
					assert.Equal(t, router.StopDeadline, c.Report.Stopped, name)
				}
			}
			want := 5 * l.estimate(1)
			assert.Equal(t, router.Balance{Spent: router.Amount{Credit: want, Total: want}}, l.stands(), name)
			assert.Equal(t, want, sumOf(t, l.tape).Credit, name)
			assert.True(t, l.router.StatsOf(l.endpoint(0).ID).Outage, "what failed by itself did fail")
			assert.False(t, l.router.StatsOf(l.endpoint(1).ID).Outage, "%s is not bee's fault", name)
		})
	}
}

// sumOf returns the sum of the costs recorded with settlements.
func sumOf(t *testing.T, p *tape) (sum router.Amount) {
	t.Helper()
	for _, e := range p.settled {
		sum.Credit += e.Cost.Credit
		sum.Total += e.Cost.Total
	}
	return sum
}

// Attempts that cost nothing when the caller ends the call.
func TestWhatIsNotAbandoned(t *testing.T) {
	t.Parallel()
	hang := fails(t, "timeout")
	for name, tt := range map[string]struct {
		do      step
		mode    router.Abandon
		timeout time.Duration // of the call
		usual   time.Duration
		stay    bool // the caller does not hang up
		credit  router.USD
	}{
		"the operator charges nothing": {do: hang, mode: router.AbandonVoid},
		"the router's own deadline":    {do: hang, stay: true},
		"the surface's own deadline":   {do: hang, timeout: 9 * time.Second, usual: 9 * time.Second, stay: true},
		"nothing was sent": {do: func(ctx context.Context, _ router.Attempt) (router.Reply, error) {
			<-ctx.Done()
			return router.Reply{}, fmt.Errorf("%w: full", router.ErrNotSent)
		}},
		"the upstream failed": {do: func(ctx context.Context, _ router.Attempt) (router.Reply, error) {
			<-ctx.Done()
			return router.Reply{}, &router.UpstreamError{Status: 500, Err: errUpstream}
		}},
		"a bad reply": {do: func(ctx context.Context, a router.Attempt) (router.Reply, error) {
			<-ctx.Done()
			return changed(func(a systemone.Answers) { a[0].Kind = systemone.Score })(ctx, a)
		}},
		"a reply without room here": {do: func(ctx context.Context, _ router.Attempt) (router.Reply, error) {
			<-ctx.Done()
			return router.Reply{}, &router.UpstreamError{Local: true, Err: errUpstream}
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLeaver(t, "ant", tt.mode, func(e *router.Endpoint) { e.AttemptTimeout = time.Minute })
			l.upstreams["ant"].will(tt.do)
			c := &router.Call{Request: decision(byPrice), Principal: who(), Timeout: tt.timeout, UsualTimeout: tt.usual}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if !tt.stay {
				time.AfterFunc(time.Second, cancel)
			}
			_, err := l.router.Decide(ctx, c)
			require.Error(t, err, name)
			assert.Zero(t, l.stands(), name)
			assert.Empty(t, c.Events(nil), name)
		})
	}
}

// Where the operator states that an endpoint counts less than the plan estimates,
// the charge is at most the hold. No limit is exceeded and nothing is an overrun.
func TestAbandonedIsAtMostTheHold(t *testing.T) {
	t.Parallel()
	for name, own := range map[string][]router.Credential{"shared": nil, "own": {{Provider: "ant", Secret: "sk-own"}}} {
		synctest.Test(t, func(t *testing.T) {
			l := newLeaver(t, "ant", router.AbandonEstimate, func(e *router.Endpoint) {
				e.Pricing = router.Pricing{Prompt: router.Dollars("1000")}
				e.Counting = router.Counting{TokensPerByte: 1e-9, CompletionTokens: 1}
			})
			l.upstreams["ant"].will(fails(t, "timeout"))
			c := &router.Call{Request: decision(byPrice), Principal: who(), Credentials: own}
			c.Request.Provider.AllowFallbacks = new(false)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			_, err := l.router.Decide(ctx, c)
			require.ErrorIs(t, err, context.Canceled, name)
			held := l.tape.asked[0].Amount
			require.Less(t, held.Total, l.estimate(0), name)
			require.Positive(t, held.Total, name)
			assert.Equal(t, router.Balance{Spent: held}, l.stands(), name)
			assert.Equal(t, held, c.Events(nil)[0].Cost, name)
			assert.Nil(t, c.Report.Overrun, name)
		})
	}
}

// R72: the log has a line for a call whose caller hung up, with what was charged
// for it.
func TestAbandonedCallsAreLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := newLeaver(t, "ant", router.AbandonEstimate)
		l.rig = newRig(t, "ant", func(cfg *router.Config) {
			cfg.Ledger = l.tape
			cfg.Interceptors = []router.Interceptor{router.Log(slog.New(slog.NewJSONHandler(&out, nil)))}
		}, fee(cent))
		l.upstreams["ant"].will(fails(t, "timeout"))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := l.router.Decide(ctx, &router.Call{Request: decision(byPrice), Principal: who()})
		require.ErrorIs(t, err, context.Canceled)
		var line map[string]any
		require.NoError(t, json.Unmarshal(bytes.TrimSpace(out.Bytes()[bytes.LastIndexByte(bytes.TrimSpace(out.Bytes()), '\n')+1:]), &line))
		assert.Equal(t, "decision", line["msg"])
		assert.Equal(t, true, line["canceled"])
		assert.Equal(t, "caller", line["stopped"])
		assert.Equal(t, l.estimate(0).String(), line["charged"])
	})
}

// A caller that hangs up while old limits are read again holds nothing and is
// charged nothing.
func TestLeavingWhileLimitsAreReadAgain(t *testing.T) {
	t.Parallel()
	l, s, p := newShared(t, "ant", nil, cent)
	p.read(1, router.Dollar, nil)
	s.newest = 2
	ctx, leave := context.WithCancel(t.Context())
	p.limits.Again = func(ctx context.Context) (*router.Limits, error) {
		leave()
		return nil, ctx.Err()
	}
	c := l.call()
	_, err := l.router.Decide(ctx, c)
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, asked(c))
	assert.Equal(t, router.StopCaller, c.Report.Stopped)
	assert.Zero(t, l.balance(router.Lifetime))
	assert.Zero(t, s.voids, "there is nothing to give back")
}

// A caller that hangs up while a hold is raised is not charged for the failed
// attempts before, and its hold is given back.
func TestLeavingWhileAHoldIsRaised(t *testing.T) {
	t.Parallel()
	for _, mode := range []router.Abandon{router.AbandonEstimate, router.AbandonVoid, router.AbandonFinish} {
		ctx, cancel := context.WithCancel(t.Context())
		l := newTill(t, "ant bee", cent)
		raises := 0
		l.rig = newRig(t, "ant bee", func(cfg *router.Config) {
			cfg.Now, cfg.Abandoned = l.clock.now, mode
			cfg.Ledger = &slowLedger{l.ledger, func() {
				if raises++; raises == 2 {
					cancel()
				}
			}}
		}, fee(cent, 2*cent))
		l.upstreams["ant"].will(fails(t, "500"))
		c := l.call()
		_, err := l.router.Decide(ctx, c)
		require.ErrorIs(t, err, context.Canceled, mode)
		assert.Equal(t, "ant", asked(c), mode)
		assert.Zero(t, l.balance(router.Lifetime), mode)
		assert.Empty(t, c.Events(nil), mode)
	}
}

// The upstream charges a caller's own account, so the attempt is only counted here.
func TestAbandonedOnOwnCredentials(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLeaver(t, "bee", router.AbandonEstimate)
		l.upstreams["bee"].will(fails(t, "timeout"))
		c := &router.Call{Request: decision(byPrice), Principal: who(), Credentials: []router.Credential{{Provider: "bee", Secret: "sk-own"}}}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := l.router.Decide(ctx, c)
		require.ErrorIs(t, err, context.Canceled)
		want := router.Amount{Total: l.estimate(0)}
		assert.Equal(t, router.Balance{Spent: want}, l.stands())
		assert.Equal(t, want, c.Events(nil)[0].Cost)
	})
}

// An answer that arrives after the call has ended is charged by its own usage, in
// each mode.
func TestLateAnswersCorrectTheEstimate(t *testing.T) {
	t.Parallel()
	for _, mode := range []router.Abandon{router.AbandonEstimate, router.AbandonVoid, router.AbandonFinish} {
		for name, end := range ends() {
			synctest.Test(t, func(t *testing.T) {
				l := newLeaver(t, "ant", mode)
				l.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
					time.Sleep(2 * time.Second) // ignores its context
					return answer(ctx, a)
				})
				c := &router.Call{Request: decision(byPrice), Principal: who()}
				ctx, cancel := end(t.Context(), c, time.Second)
				defer cancel()
				res, err := l.router.Decide(ctx, c)
				require.NoError(t, err, name)
				assert.Equal(t, l.endpoint(0).Pricing.Cost(1000, 10), res.Cost)
				assert.Equal(t, res.Cost, l.stands().Spent.Credit, name)
				assert.Equal(t, c.ID+"/0", c.Events(res)[0].ID)
				assert.EqualValues(t, 1, c.Events(res)[0].Requests)
			})
		}
	}
}

// With AbandonFinish the upstream does not notice the hang-up, and its answer is
// charged.
func TestFinish(t *testing.T) {
	t.Parallel()
	for name, end := range ends() {
		synctest.Test(t, func(t *testing.T) {
			l := newLeaver(t, "ant", router.AbandonFinish)
			ask := func(do step) (*router.Call, time.Duration, error) {
				l.upstreams["ant"].will(do)
				c := &router.Call{Request: decision(byPrice), Principal: who()}
				ctx, cancel := end(t.Context(), c, time.Second)
				defer cancel()
				began := time.Now()
				_, err := l.router.Decide(ctx, c)
				return c, time.Since(began), err
			}
			_, took, err := ask(slow(9*time.Second, answer))
			require.NoError(t, err, name)
			assert.Equal(t, 9*time.Second, took, name)
			cost := l.endpoint(0).Pricing.Cost(1000, 10)
			assert.Equal(t, cost, l.stands().Spent.Credit, name)

			c, took, err := ask(slow(2*time.Second, fails(t, "500")))
			require.Error(t, err, name)
			assert.Equal(t, 2*time.Second, took, name)
			assert.Equal(t, 500, c.Report.Legs[0].Attempts[0].Status, name)
			assert.False(t, c.Report.Legs[0].Attempts[0].Abandoned, name)
			for range 4 {
				_, took, err = ask(fails(t, "timeout"))
				require.Error(t, err, name)
				assert.Equal(t, 10*time.Second, took, "no longer than an attempt")
			}
			assert.Equal(t, router.Balance{Spent: router.Amount{Credit: cost, Total: cost}}, l.stands(), "a failure costs nothing")
			assert.True(t, l.router.StatsOf(l.endpoint(0).ID).Outage, "it had its time")
		})
	}
}

// After a hang-up no further candidate is asked, in each mode.
func TestNobodyIsAskedForWhoLeft(t *testing.T) {
	t.Parallel()
	for _, mode := range []router.Abandon{router.AbandonEstimate, router.AbandonVoid, router.AbandonFinish} {
		synctest.Test(t, func(t *testing.T) {
			l := newLeaver(t, "ant bee cat", mode, marked("cat"))
			l.upstreams["ant"].will(slow(2*time.Second, fails(t, "500")))
			c := &router.Call{Request: decision(byPrice), Principal: who()}
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			_, err := l.router.Decide(ctx, c)
			require.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, "ant", asked(c))
			assert.Equal(t, router.StopCaller, c.Report.Stopped)
		})
	}
}

// slowLedger reserves whatever happens to its context, and the caller hangs up
// meanwhile.
type slowLedger struct {
	router.Ledger

	leave func()
}

func (s *slowLedger) Reserve(ctx context.Context, h router.Hold) error {
	err := s.Ledger.Reserve(context.WithoutCancel(ctx), h)
	s.leave()
	return err
}

// After a hang-up during Reserve no candidate is asked, in each mode. Nothing is
// sent, so nothing is charged.
func TestNobodyIsAskedForWhoLeftAtTheLedger(t *testing.T) {
	t.Parallel()
	for _, mode := range []router.Abandon{router.AbandonEstimate, router.AbandonVoid, router.AbandonFinish} {
		ctx, cancel := context.WithCancel(t.Context())
		l := newTill(t, "ant bee", cent)
		l.rig = newRig(t, "ant bee", func(cfg *router.Config) {
			cfg.Ledger, cfg.Now, cfg.Abandoned = &slowLedger{l.ledger, cancel}, l.clock.now, mode
		}, fee(cent))
		c := l.call()
		_, err := l.router.Decide(ctx, c)
		require.ErrorIs(t, err, context.Canceled, mode)
		assert.Empty(t, asked(c), mode)
		assert.Empty(t, l.upstreams["ant"].attempts(), mode)
		assert.Zero(t, l.balance(router.Lifetime), mode)
		assert.Equal(t, router.StopCaller, c.Report.Stopped, mode)
		assert.Empty(t, c.Report.Legs[0].Skipped, "%s: nobody was passed over", mode)
	}
}

// However short and frequent callers' deadlines are, an upstream that would have
// answered in the program's time has no outage. One that would not has one, under
// the program's deadline.
func TestACallersDeadlineIsNoOutage(t *testing.T) {
	t.Parallel()
	for name, end := range ends() {
		synctest.Test(t, func(t *testing.T) {
			rapid.Check(struct{ *testing.T }{t}, func(draw *rapid.T) {
				endpoints := rapid.SampledFrom([]string{"ant", "ant bee", "ant bee cat dog elk"}).Draw(draw, "endpoints")
				g := newRig(t, endpoints, nil, marked(rapid.SampledFrom([]string{"", "bee", "elk"}).Draw(draw, "last")))
				for _, u := range g.upstreams {
					u.will(fails(t, "timeout"))
				}
				patience := time.Duration(rapid.Int64Range(int64(time.Millisecond), int64(9999*time.Millisecond)).Draw(draw, "patience"))
				for range 5 {
					c := &router.Call{Request: decision("")}
					ctx, cancel := end(t.Context(), c, patience)
					_, err := g.router.Decide(ctx, c)
					cancel()
					require.Error(draw, err)
				}
				for i := range g.order {
					require.False(draw, g.router.Health(g.endpoint(i).ID).Outage, name)
				}
			})
		})
	}
	for name, usual := range map[string]time.Duration{"the router's": 0, "the surface's": 9 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(t, "ant bee", nil)
			g.upstreams["ant"].will(fails(t, "timeout"))
			for range 3 {
				c := &router.Call{Request: decision(byPrice), Timeout: usual, UsualTimeout: usual}
				_, err := g.router.Decide(t.Context(), c)
				require.NoError(t, err)
			}
			assert.True(t, g.router.Health(g.endpoint(0).ID).Outage, name)
		})
	}
}

// A client that watches the deadline itself may see it pass before its context
// ends. The attempt still ended by the caller's deadline.
func TestAClientMayGoByTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLeaver(t, "ant", router.AbandonEstimate)
		l.upstreams["ant"].will(func(_ context.Context, a router.Attempt) (router.Reply, error) {
			time.Sleep(time.Until(a.Deadline))
			return router.Reply{}, &router.UpstreamError{Class: router.Timeout, Err: errors.New("i/o timeout")}
		})
		for range 5 {
			c := &router.Call{Request: decision(byPrice), Principal: who(), Timeout: time.Second}
			_, err := l.router.Decide(t.Context(), c)
			assert.Equal(t, router.Timeout, fault(t, err).Class)
			assert.True(t, c.Report.Legs[0].Attempts[0].Abandoned)
		}
		assert.False(t, l.router.Health(l.endpoint(0).ID).Outage)
	})
}

// A hundred callers of a key with money for one call all hang up. The limit bounds
// what is sent upstream.
func TestHangingUpIsNotFree(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(*sync.WaitGroup, func()){
		"at once":           func(all *sync.WaitGroup, f func()) { all.Go(f) },
		"one after another": func(_ *sync.WaitGroup, f func()) { f() },
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newTill(t, "ant", cent)
			l.upstreams["ant"].will(fails(t, "timeout"))
			var all sync.WaitGroup
			for range 100 {
				at(&all, func() {
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(time.Second, cancel)
					c := &router.Call{Request: decision(byPrice), Principal: who(), Budgets: []router.Budget{keyLimit(cent+cent/10, router.Lifetime)}}
					_, err := l.router.Decide(ctx, c)
					assert.Error(t, err)
				})
			}
			all.Wait()
			assert.Len(t, l.upstreams["ant"].attempts(), 1, name)
			assert.Equal(t, router.Balance{Spent: cents(1)}, l.balance(router.Lifetime), name)
		})
	}
}

// The words of the modes.
func TestAbandonWords(t *testing.T) {
	t.Parallel()
	for a, word := range map[router.Abandon]string{
		router.AbandonEstimate: "estimate", router.AbandonVoid: "void", router.AbandonFinish: "finish", 9: "finish",
	} {
		text, err := a.MarshalText()
		require.NoError(t, err)
		assert.Equal(t, word, string(text))
		var back router.Abandon
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, min(a, router.AbandonFinish), back)
	}
	require.Error(t, new(router.Abandon).UnmarshalText([]byte("Void")))
	_, err := router.New(router.Config{Catalog: newRig(t, "ant", nil).router.Catalog(), Abandoned: 3})
	require.ErrorIs(t, err, router.ErrConfig)
}
