package router_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// tape is a ledger that records events and remembers its calls. A method listed in
// fails returns an error before it takes effect, or after, a given number of times.
type tape struct {
	router.Ledger
	router.Recorder

	shown   activity.Store
	asked   []router.Hold
	settled []router.Event
	plain   int // settlements without events
	fails   map[string]when
	times   int // that each of them does; 0 is always
	tried   map[string]int
}

type when string

const (
	before when = "before"
	after  when = "after"
)

func newTape() *tape {
	set := memory.New()
	recorder, _ := set.Ledger.(router.Recorder)
	return &tape{Ledger: set.Ledger, Recorder: recorder, shown: set.Activity, fails: map[string]when{}, tried: map[string]int{}}
}

var errTape = errors.New("the tape is torn")

// do runs a method, or fails in its place or after it.
func (p *tape) do(verb string, f func() error) error {
	p.tried[verb]++
	fails := p.fails[verb]
	if p.times > 0 && p.tried[verb] > p.times {
		fails = ""
	}
	if fails == before {
		return errTape
	}
	err := f()
	if fails == after {
		return errTape
	}
	return err
}

func (p *tape) Reserve(ctx context.Context, h router.Hold) error {
	p.asked = append(p.asked, h)
	return p.do("reserve", func() error { return p.Ledger.Reserve(ctx, h) })
}

func (p *tape) Settle(ctx context.Context, id uuid.UUID, cost router.Amount) error {
	p.plain++
	return p.do("settle", func() error { return p.Ledger.Settle(ctx, id, cost) })
}

func (p *tape) SettleWith(ctx context.Context, id uuid.UUID, cost router.Amount, events []router.Event) error {
	p.settled = append(p.settled, events...)
	return p.do("settle", func() error { return p.Recorder.SettleWith(ctx, id, cost, events) })
}

func (p *tape) Void(ctx context.Context, id uuid.UUID) error {
	return p.do("void", func() error { return p.Ledger.Void(ctx, id) })
}

func newTapeRig(t *testing.T, p *tape, endpoints string, fees ...router.USD) *rig {
	t.Helper()
	clock := newClock()
	return newRig(t, endpoints, func(cfg *router.Config) { cfg.Ledger, cfg.Now = p, clock.now }, fee(fees...))
}

// expire closes all holds that are open.
func (p *tape) expire(t *testing.T) {
	t.Helper()
	_, err := p.Expire(t.Context(), newClock().now().Add(time.Hour), 10, router.ExpirePost)
	require.NoError(t, err)
}

// stands returns what is spent and held on the key.
func (p *tape) stands(t *testing.T) router.Balance {
	t.Helper()
	b, err := p.Balances(t.Context(), []router.Line{router.OwnerKey.Line(who(), "ever")})
	require.NoError(t, err)
	return b[0]
}

// shows adds up what activity shows.
func (p *tape) shows(t *testing.T) (sum activity.Item) {
	t.Helper()
	items, err := p.shown.Items(t.Context(), activity.Range{Account: "org", From: "2026-01-01", To: "2027-12-31"})
	require.NoError(t, err)
	for _, item := range items {
		sum.Add(item)
	}
	return sum
}

func cents(n router.USD) router.Amount { return router.Amount{Credit: n * cent, Total: n * cent} }

func TestEventOfAnExpiredHold(t *testing.T) {
	t.Parallel()
	e := router.Event{
		ID: "gen-dec-1/held", Admitted: at("2026-11-21T12:00:00Z"), Principal: who(), Model: modelM, Provider: "Ant Cloud",
		Requests: 1, Prompt: 2, Completion: 3, Reasoning: 4, Cached: 5,
	}
	posted := e.Posted(router.Amount{Credit: 6, Total: 7})
	want := e
	want.Cost = router.Amount{Credit: 6, Total: 7}
	assert.Equal(t, want, posted)
	want.ID, want.Cost = "gen-dec-1/held/corrected", router.Amount{Credit: -6, Total: -7}
	want.Requests, want.Prompt, want.Completion, want.Reasoning, want.Cached = -1, -2, -3, -4, -5
	assert.Equal(t, want, posted.Corrected())
}

// A hold carries the event to record if it expires: that of the candidate for which
// it was last raised.
func TestHoldsNameTheirEvents(t *testing.T) {
	t.Parallel()
	p := newTape()
	g := newTapeRig(t, p, "ant bee cat", cent, 3*cent, 2*cent)
	g.upstreams["ant"].will(fails(t, "500"))
	g.upstreams["bee"].will(fails(t, "500"))
	c := &router.Call{Request: decision(`{"order":["ant","bee","cat"]}`), Principal: who()}
	_, err := g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, p.asked, 2, "cat costs no more than what is held")
	for i, want := range []string{"Ant Cloud", "Bee"} {
		assert.Equal(t, router.Event{
			ID: c.ID + "/held", Admitted: newClock().now(), Principal: who(),
			Model: modelM, Permaslug: "acme/judge-20260901", Endpoint: g.endpoint(i).ID, Provider: want, Requests: 1,
		}, p.asked[i].Event)
	}
}

// A settlement records the events of the call, the same as Call.Events.
func TestSettlementsRecordTheirEvents(t *testing.T) {
	t.Parallel()
	p := newTape()
	g := newTapeRig(t, p, "ant bee", cent, 2*cent)
	g.upstreams["ant"].will(fails(t, "500"))
	c := &router.Call{Request: decision(byPrice), Principal: who()}
	res, err := g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, c.Events(res), p.settled)
	require.Len(t, p.settled, 1)
	assert.Equal(t, c.ID+"/0", p.settled[0].ID)
	assert.Zero(t, p.plain)
	assert.Equal(t, cents(2), p.shows(t).Cost)
	assert.True(t, c.RecordedIn(p.shown))
	assert.False(t, c.RecordedIn(memory.New().Activity))
}

// Nothing is recorded where there is no account, no recorder, no hold or no
// answer.
func TestWhatIsNotRecorded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		who    router.Principal
		fee    router.USD
		plain  bool // the ledger does not record
		fails  bool
		events int
	}{
		"recorded":    {who: who(), fee: cent, events: 1},
		"no account":  {who: router.Principal{KeyHash: "key"}, fee: cent},
		"no recorder": {who: who(), fee: cent, plain: true},
		"free":        {who: who()},
		"no answer":   {who: who(), fee: cent, fails: true},
	} {
		p := newTape()
		var ledger router.Ledger = p
		if tt.plain {
			ledger = struct{ router.Ledger }{p}
		}
		g := newRig(t, "ant", func(cfg *router.Config) { cfg.Ledger = ledger }, fee(tt.fee))
		if tt.fails {
			g.upstreams["ant"].will(fails(t, "500"))
		}
		c := &router.Call{Request: decision(byPrice), Principal: tt.who}
		_, err := g.router.Decide(t.Context(), c)
		assert.Equal(t, tt.fails, err != nil, name)
		assert.Len(t, p.settled, tt.events, name)
		assert.Equal(t, tt.events == 1, c.RecordedIn(p.shown), name)
		if name == "no account" || name == "no recorder" {
			assert.Equal(t, 1, p.plain, name)
			assert.Zero(t, p.asked[0].Event, name)
		}
	}
}

// Failures that last, before or after the method takes effect. The caller gets the
// error after ten seconds, or at once where Reserve failed. What was not spent is
// given back or expires, what was spent stays spent, and the events agree.
func TestTornTape(t *testing.T) {
	t.Parallel()
	spent, held := router.Balance{Spent: cents(2)}, router.Balance{Held: cents(2)}
	for name, tt := range map[string]struct {
		fails    map[string]when
		upstream string
		class    router.Class
		sent     int // to the upstream
		took     time.Duration
		at, then router.Balance
	}{
		"reserve":                {fails: map[string]when{"reserve": before}, upstream: "200", class: router.Server},
		"reserve, done":          {fails: map[string]when{"reserve": after}, upstream: "200", class: router.Server},
		"reserve and void":       {fails: map[string]when{"reserve": before, "void": before}, upstream: "200", class: router.Server},
		"reserve, done and void": {fails: map[string]when{"reserve": after, "void": before}, upstream: "200", class: router.Server, at: held, then: spent},
		"settle":                 {fails: map[string]when{"settle": before}, upstream: "200", class: router.Server, sent: 1, took: settleTime, at: held, then: spent},
		"settle, done":           {fails: map[string]when{"settle": after}, upstream: "200", class: router.Server, sent: 1, took: settleTime, at: spent, then: spent},
		"void":                   {fails: map[string]when{"void": before}, upstream: "429(1)", class: router.RateLimitExceeded, sent: 1, took: settleTime, at: held, then: spent},
		"void, done":             {fails: map[string]when{"void": after}, upstream: "429(1)", class: router.RateLimitExceeded, sent: 1, took: settleTime},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newTape()
			p.fails = tt.fails
			g := newTapeRig(t, p, "ant", 2*cent)
			g.upstreams["ant"].will(fails(t, tt.upstream))
			c := &router.Call{Request: decision(byPrice), Principal: who()}
			begun := time.Now()
			_, err := g.router.Decide(t.Context(), c)
			assert.Equal(t, tt.took, time.Since(begun), name)
			assert.Equal(t, tt.class, fault(t, err).Class, name)
			require.ErrorIs(t, err, errTape, name)
			assert.Len(t, g.upstreams["ant"].attempts(), tt.sent, name)
			assert.False(t, c.RecordedIn(p.shown), name)
			assert.Equal(t, tt.at, p.stands(t), name)
			p.expire(t)
			assert.Equal(t, tt.then, p.stands(t), name)
			assert.Equal(t, tt.then.Spent, p.shows(t).Cost, name)
		})
	}
}

// Temporary failures, before or after the method takes effect, are not visible. The
// answer is charged and recorded once, and what was not spent is given back. The
// same holds for a caller that hangs up and is charged.
func TestTheTapeIsMended(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fails     map[string]when
		answer    bool
		abandoned router.Abandon
		want      router.Amount
	}{
		"settle":               {fails: map[string]when{"settle": before}, answer: true, want: cents(1)},
		"settle, done":         {fails: map[string]when{"settle": after}, answer: true, want: cents(1)},
		"settle an estimate":   {fails: map[string]when{"settle": before}, want: cents(1)},
		"and that was settled": {fails: map[string]when{"settle": after}, want: cents(1)},
		"void":                 {fails: map[string]when{"void": before}, abandoned: router.AbandonVoid},
		"void, done":           {fails: map[string]when{"void": after}, abandoned: router.AbandonVoid},
	} {
		for _, times := range []int{1, 2, 15} {
			for _, plain := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					p := newTape()
					p.fails, p.times = tt.fails, times
					var ledger router.Ledger = p
					if plain {
						ledger = struct{ router.Ledger }{p}
					}
					g := newRig(t, "ant", func(cfg *router.Config) {
						cfg.Ledger, cfg.Now, cfg.Abandoned = ledger, newClock().now, tt.abandoned
					}, fee(cent))
					ctx, hangUp := context.WithCancel(t.Context())
					g.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
						hangUp()
						if tt.answer {
							return answer(ctx, a)
						}
						return router.Reply{}, &router.UpstreamError{Err: ctx.Err()}
					})
					c := &router.Call{Request: decision(byPrice), Principal: who()}
					begun := time.Now()
					res, err := g.router.Decide(ctx, c)
					assert.Less(t, time.Since(begun), settleTime, name)
					want := tt.want
					if tt.answer {
						require.NoError(t, err, name)
						assert.Equal(t, cent, res.Cost, name)
					} else {
						require.ErrorIs(t, err, context.Canceled, name)
						require.NotErrorIs(t, err, errTape, name)
					}
					assert.Equal(t, router.Balance{Spent: want}, p.stands(t), name)
					p.expire(t)
					assert.Equal(t, router.Balance{Spent: want}, p.stands(t), name)
					if !plain {
						assert.Equal(t, want, p.shows(t).Cost, name)
						assert.Equal(t, want != router.Amount{}, c.RecordedIn(p.shown), name)
					}
				})
			}
		}
	}
}

// A settlement that was given up and arrives late corrects what expiry charged.
func TestLateSettlement(t *testing.T) {
	t.Parallel()
	p := newTape()
	g := newTapeRig(t, p, "ant", 0)
	g.router.SetCatalog(g.catalog("ant", func(e *router.Endpoint) { e.Pricing = router.Pricing{Prompt: router.Dollars("1")} }))
	g.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
		p.expire(t)                                         //nolint:contextcheck // with the test's own context
		assert.Equal(t, p.stands(t).Spent, p.shows(t).Cost) //nolint:contextcheck // the same
		assert.Equal(t, p.asked[0].Amount, p.shows(t).Cost) //nolint:contextcheck // the same
		return answer(ctx, a)
	})
	c := &router.Call{Request: decision(byPrice), Principal: who()}
	res, err := g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.NotEqual(t, p.asked[0].Amount.Credit, res.Cost, "or it would show nothing")
	assert.Equal(t, router.Balance{Spent: router.Amount{Credit: res.Cost, Total: res.Cost}}, p.stands(t))
	sum := p.shows(t)
	assert.Equal(t, p.stands(t).Spent, sum.Cost)
	assert.EqualValues(t, 1, sum.Requests)
	assert.EqualValues(t, 1000, sum.Prompt)
}
