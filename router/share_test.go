package router_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// sharing is a rig that shares calls, with a ledger. Its endpoints have a fee.
type sharing struct {
	*rig

	stores store.Set
}

func newSharing(t *testing.T, endpoints string, change func(*router.Config), edit ...func(*router.Endpoint)) *sharing {
	t.Helper()
	s := &sharing{stores: memory.New()}
	price := func(e *router.Endpoint) { e.Pricing.Request = router.Dollars("0.000000007") }
	s.rig = newRig(t, endpoints, func(cfg *router.Config) {
		cfg.Share, cfg.Ledger = true, s.stores.Ledger
		if change != nil {
			change(cfg)
		}
	}, append([]func(*router.Endpoint){price}, edit...)...)
	return s
}

// balance returns what is spent and held on the account.
func (s *sharing) balance() router.Balance {
	s.t.Helper()
	b, err := s.stores.Ledger.Balances(context.Background(), []router.Line{router.OwnerAccount.Line(who(), "ever")})
	require.NoError(s.t, err)
	return b[0]
}

// shows adds up what activity shows.
func (s *sharing) shows() (sum activity.Item) {
	s.t.Helper()
	items, err := s.stores.Activity.Items(context.Background(), activity.Range{Account: "org", From: "1999-01-01", To: "2999-12-31"})
	require.NoError(s.t, err)
	for _, item := range items {
		sum.Add(item)
	}
	return sum
}

// member returns the principal of the n-th caller: another key of the same account.
func member(n int) router.Principal {
	p := who()
	p.KeyHash = fmt.Sprint("key", n)
	return p
}

// uses makes an upstream answer after a second, with odd counts of tokens.
func uses() step {
	return slow(time.Second, reply(func(r *router.Reply) {
		r.Usage = systemone.Usage{InputTokens: 1003, OutputTokens: 17, CachedTokens: 5, Cost: "0.5"}
	}))
}

// TestCallersOfOneSheetShareOneUpstreamCall: together 32 callers pay what the
// upstream reported, in the ledger, in activity and in their replies. An endpoint
// that takes one call at a time takes them all.
func TestCallersOfOneSheetShareOneUpstreamCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSharing(t, "ant", nil, func(e *router.Endpoint) { e.Limits.Concurrency = 1 })
		s.upstreams["ant"].will(uses())
		var all sync.WaitGroup
		var mu sync.Mutex
		var sum systemone.Usage
		var cost router.USD
		for n := range 32 {
			all.Go(func() {
				c := &router.Call{Request: decision(""), Principal: member(n)}
				res, err := s.router.Decide(t.Context(), c)
				if err != nil {
					t.Error(err)
					return
				}
				assert.Equal(t, answers()[1].Choice, res.Response.Answers[1].Choice)
				rec := c.Report.Legs[0].Attempts[0]
				assert.Equal(t, 32, rec.Sharers)
				assert.Equal(t, rec.UpstreamCost, rec.Cost)
				assert.Equal(t, res.Cost, rec.Cost)
				mu.Lock()
				defer mu.Unlock()
				cost += res.Cost
				sum.InputTokens += res.Response.Usage.InputTokens
				sum.OutputTokens += res.Response.Usage.OutputTokens
				sum.CachedTokens += res.Response.Usage.CachedTokens
			})
		}
		time.Sleep(time.Second / 2)
		assert.EqualValues(t, 1, s.router.InFlight(s.endpoint(0).ID))
		all.Wait()
		assert.Len(t, s.upstreams["ant"].attempts(), 1)
		want := s.endpoint(0).Pricing.Cost(1003, 17)
		assert.Equal(t, want, cost)
		assert.Equal(t, systemone.Usage{InputTokens: 1003, OutputTokens: 17, CachedTokens: 5}, sum)
		assert.Equal(t, router.Balance{Spent: router.Amount{Credit: want, Total: want}}, s.balance())
		shown := s.shows()
		assert.Equal(t, want, shown.Cost.Credit)
		assert.EqualValues(t, 32, shown.Requests)
		assert.EqualValues(t, 1003, shown.Prompt)
		assert.EqualValues(t, 17, shown.Completion)
		assert.Zero(t, s.router.InFlight(s.endpoint(0).ID))
		assert.EqualValues(t, 1, s.router.StatsOf(s.endpoint(0).ID).Checked, "one reply is counted once")
	})
}

// TestWhatIsNotShared has two callers that differ in one thing.
func TestWhatIsNotShared(t *testing.T) {
	t.Parallel()
	own := func(secret router.Secret) []router.Credential {
		return []router.Credential{{ID: uuid.UUID{1}, Provider: "ant", Secret: secret}}
	}
	for name, tt := range map[string]struct {
		both func(*router.Call)
		one  func(*router.Call)
		off  bool
		want int
	}{
		"nothing":                    {want: 1},
		"switched off":               {off: true, want: 2},
		"another key of the account": {one: func(c *router.Call) { c.Principal.KeyHash = "another" }, want: 1},
		"another account":            {one: func(c *router.Call) { c.Principal.Account = "other" }, want: 2},
		"an own credential":          {one: func(c *router.Call) { c.Credentials = own("mine") }, want: 2},
		"one own credential":         {both: func(c *router.Call) { c.Credentials = own("mine") }, want: 1},
		"another own credential": {
			both: func(c *router.Call) { c.Credentials = own("mine") },
			one:  func(c *router.Call) { c.Credentials = own("yours") }, want: 2,
		},
		"another state":           {one: func(c *router.Call) { c.Request.State = []byte(`"another"`) }, want: 2},
		"a question less":         {one: func(c *router.Call) { c.Request.Questions = c.Request.Questions[:2] }, want: 2},
		"a user that is not sent": {one: func(c *router.Call) { c.Request.User = "ann" }, want: 1},
		"a session":               {one: func(c *router.Call) { c.Request.SessionID = "s" }, want: 1},
		"zero retention": {
			both: func(c *router.Call) { c.Request.Provider = &systemone.Preferences{ZDR: true} }, want: 2,
		},
		"a rule of zero retention":     {both: func(c *router.Call) { c.Policy = []router.Rule{{ZDR: true}} }, want: 2},
		"zero retention of some":       {both: func(c *router.Call) { c.Policy = []router.Rule{{ZDRGroups: []string{"xai"}}} }, want: 2},
		"zero retention of one caller": {one: func(c *router.Call) { c.Policy = []router.Rule{{ZDR: true}} }, want: 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSharing(t, "ant", func(cfg *router.Config) { cfg.Share = !tt.off }, func(e *router.Endpoint) { e.ZDR = true })
			var seen atomic.Int64
			s.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
				seen.Add(1)
				time.Sleep(time.Second)
				r, err := answer(ctx, a)
				r.Answers = r.Answers[:len(a.Request.Questions)]
				return r, err
			})
			var all sync.WaitGroup
			for n := range 2 {
				all.Go(func() {
					c := &router.Call{Request: decision(""), Principal: who()}
					if tt.both != nil {
						tt.both(c)
					}
					if n == 1 && tt.one != nil {
						tt.one(c)
					}
					_, err := s.router.Decide(t.Context(), c)
					assert.NoError(t, err, name)
				})
				synctest.Wait()
			}
			all.Wait()
			assert.EqualValues(t, tt.want, seen.Load(), name)
		})
	}
}

// TestALeaverPaysItsShare has the first of three callers end its call while the
// upstream works for all of them.
func TestALeaverPaysItsShare(t *testing.T) {
	t.Parallel()
	for name, end := range ends() {
		for mode := range router.AbandonFinish + 1 {
			synctest.Test(t, func(t *testing.T) {
				name := name + " " + mode.String()
				s := newSharing(t, "ant", func(cfg *router.Config) { cfg.Abandoned = mode })
				s.upstreams["ant"].will(uses())
				prompt := router.ShapeOf(decision("")).PromptTokens
				total, estimate := s.endpoint(0).Pricing.Cost(1003, 17), s.endpoint(0).Pricing.Cost(prompt, 0)
				costs := make([]router.USD, 3)
				var all sync.WaitGroup
				for n := range costs {
					all.Go(func() {
						c, ctx := &router.Call{Request: decision(""), Principal: member(n)}, t.Context()
						if n == 0 {
							var cancel context.CancelFunc
							ctx, cancel = end(ctx, c, 100*time.Millisecond)
							defer cancel()
						}
						began := time.Now()
						_, err := s.router.Decide(ctx, c)
						costs[n] = c.Report.Legs[0].Attempts[0].Cost
						stayed := n > 0 || mode == router.AbandonFinish || mode == router.AbandonEstimate && name == "hang-up estimate"
						assert.Equal(t, stayed, err == nil, name)
						assert.Equal(t, stayed, time.Since(began) == time.Second, name)
					})
					synctest.Wait()
				}
				all.Wait()
				assert.Len(t, s.upstreams["ant"].attempts(), 1, name)
				assert.Equal(t, total, s.balance().Spent.Credit, "%s: %v", name, costs)
				assert.Zero(t, s.balance().Held, name)
				assert.Equal(t, total, s.shows().Cost.Credit, name)
				assert.EqualValues(t, 1003, s.shows().Prompt, name)
				switch {
				case mode == router.AbandonVoid:
					assert.Zero(t, costs[0], name)
				case mode == router.AbandonEstimate && name != "hang-up estimate":
					assert.Equal(t, estimate/3, costs[0], name)
				default:
					assert.Equal(t, total-2*(total/3), costs[0], name)
				}
			})
		}
	}
}

// TestAllWhoLeavePayOneEstimate: the upstream is told, and the callers pay together
// what one would pay alone.
func TestAllWhoLeavePayOneEstimate(t *testing.T) {
	t.Parallel()
	for name, end := range ends() {
		synctest.Test(t, func(t *testing.T) {
			s := newSharing(t, "ant", nil)
			var told error
			s.upstreams["ant"].will(func(ctx context.Context, _ router.Attempt) (router.Reply, error) {
				<-ctx.Done()
				told = ctx.Err()
				return router.Reply{}, &router.UpstreamError{Class: router.Timeout, Err: ctx.Err()}
			})
			var all sync.WaitGroup
			for n := range 7 {
				all.Go(func() {
					c := &router.Call{Request: decision(""), Principal: member(n)}
					ctx, cancel := end(t.Context(), c, time.Duration(n+1)*time.Second)
					defer cancel()
					_, err := s.router.Decide(ctx, c)
					assert.Error(t, err)
				})
			}
			all.Wait()
			require.ErrorIs(t, told, context.Canceled, name)
			estimate := s.endpoint(0).Pricing.Cost(router.ShapeOf(decision("")).PromptTokens, 0)
			assert.Equal(t, estimate, s.balance().Spent.Credit, name)
			assert.Zero(t, s.balance().Held, name)
			assert.Equal(t, estimate, s.shows().Cost.Credit, name)
			assert.False(t, s.router.StatsOf(s.endpoint(0).ID).Outage, name)
		})
	}
}

// TestASharedFailureIsOneFailure: all callers go to the next candidate, together
// again, and the endpoint's statistics count one failure.
func TestASharedFailureIsOneFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSharing(t, "ant bee", nil)
		s.upstreams["ant"].will(slow(time.Second, fails(t, "500")))
		s.upstreams["bee"].will(uses())
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				c := &router.Call{Request: decision(byPrice), Principal: member(n)}
				if _, err := s.router.Decide(t.Context(), c); err != nil {
					t.Error(err)
				}
				assert.Equal(t, "ant bee", asked(c))
				assert.Zero(t, c.Report.Legs[0].Attempts[0].Cost)
			})
		}
		all.Wait()
		assert.Len(t, s.upstreams["ant"].attempts(), 1)
		assert.Len(t, s.upstreams["bee"].attempts(), 1)
		assert.False(t, s.router.StatsOf(s.endpoint(0).ID).Outage, "eight failures would be an outage")
		assert.Equal(t, s.endpoint(1).Pricing.Cost(1003, 17), s.balance().Spent.Credit)
	})
}

// TestAPanicOfAProviderIsOneCallersError: the others are answered by the next
// candidate. Nothing stays taken.
func TestAPanicOfAProviderIsOneCallersError(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(){"panic: boom": func() { panic("boom") }, "goroutine": runtime.Goexit} {
		synctest.Test(t, func(t *testing.T) {
			s := newSharing(t, "ant bee", nil)
			s.upstreams["ant"].will(slow(time.Second, func(context.Context, router.Attempt) (router.Reply, error) {
				end()
				return router.Reply{}, nil
			}))
			var all sync.WaitGroup
			var bugs, answered atomic.Int64
			for n := range 8 {
				all.Go(func() {
					_, err := s.router.Decide(t.Context(), &router.Call{Request: decision(byPrice), Principal: member(n)})
					if err == nil {
						answered.Add(1)
						return
					}
					assert.Equal(t, router.Server, fault(t, err).Class, name)
					assert.Contains(t, fault(t, err).Err.Error(), name)
					bugs.Add(1)
				})
			}
			all.Wait()
			assert.EqualValues(t, 1, bugs.Load(), name)
			assert.EqualValues(t, 7, answered.Load(), name)
			assert.Zero(t, s.router.InFlight(s.endpoint(0).ID), name)
			assert.Zero(t, s.balance().Held, name)
		})
	}
}

// TestAThousandCallersThatComeAndGo: whatever a thousand callers do, they pay for
// each answered call what the upstream reported, and for each cancelled one an
// estimate. No place stays taken, and nothing stays held.
func TestAThousandCallersThatComeAndGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSharing(t, "ant", nil)
		var answered, cancelled atomic.Int64
		s.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
			select {
			case <-time.After(10 * time.Millisecond):
				answered.Add(1)
				return uses()(context.WithoutCancel(ctx), a)
			case <-ctx.Done():
				cancelled.Add(1)
				return router.Reply{}, &router.UpstreamError{Class: router.Timeout, Err: ctx.Err()}
			}
		})
		var all sync.WaitGroup
		for n := range 1000 {
			all.Go(func() {
				time.Sleep(rand.N(20 * time.Second))
				c := &router.Call{Request: decision(""), Principal: member(n % 50)}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				switch stays := rand.N(30 * time.Millisecond); rand.N(3) {
				case 0:
					time.AfterFunc(stays, cancel)
				case 1:
					c.Timeout = stays
				}
				_, _ = s.router.Decide(ctx, c)
			})
		}
		all.Wait()
		price := s.endpoint(0).Pricing
		want := price.Cost(1003, 17) * router.USD(answered.Load())
		want += price.Cost(router.ShapeOf(decision("")).PromptTokens, 0) * router.USD(cancelled.Load())
		assert.Equal(t, want, s.balance().Spent.Credit, "%d answered, %d cancelled", answered.Load(), cancelled.Load())
		assert.Equal(t, want, s.shows().Cost.Credit)
		assert.Zero(t, s.balance().Held)
		assert.Zero(t, s.router.InFlight(s.endpoint(0).ID))
	})
}

// BenchmarkSharedCalls has 32 callers with one sheet, and reports how often the
// upstream is asked for each of them.
func BenchmarkSharedCalls(b *testing.B) {
	var calls, callers atomic.Int64
	up := &upstream{steps: []step{func(ctx context.Context, a router.Attempt) (router.Reply, error) {
		calls.Add(1)
		return slow(5*time.Millisecond, answer)(ctx, a)
	}}}
	e := router.Endpoint{Provider: "ant", Model: modelM, UpstreamModel: "judge"}
	catalog, err := router.NewCatalog(models(), []router.ProviderInfo{{Slug: "ant", Name: "Ant", Client: up}}, []router.Endpoint{e})
	require.NoError(b, err)
	r, err := router.New(router.Config{Catalog: catalog, Share: true, Ledger: memory.New().Ledger})
	require.NoError(b, err)
	for b.Loop() {
		var all sync.WaitGroup
		for n := range 32 {
			all.Go(func() {
				callers.Add(1)
				if _, err := r.Decide(b.Context(), &router.Call{Request: decision(""), Principal: member(n)}); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
	}
	b.ReportMetric(float64(32*calls.Load())/float64(callers.Load()), "upstream/32-callers")
}
