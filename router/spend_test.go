package router_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

const cent = router.Dollar / 100

func who() router.Principal {
	return router.Principal{Account: "org", Workspace: "ws", Member: "user", KeyHash: "key"}
}

// fee makes the n-th endpoint cost a fixed fee and nothing else, so that the most
// that a call may cost is the fee.
func fee(fees ...router.USD) func(*router.Endpoint) {
	n := 0
	return func(e *router.Endpoint) {
		e.Pricing = router.Pricing{Request: fees[n%len(fees)].Price()}
		n++
	}
}

// till is a rig with a ledger and a clock.
type till struct {
	*rig

	ledger router.Ledger
	clock  *clock
}

func newTill(t *testing.T, endpoints string, fees ...router.USD) *till {
	t.Helper()
	l := &till{ledger: memory.New().Ledger, clock: newClock()}
	l.rig = newRig(t, endpoints, func(cfg *router.Config) { cfg.Ledger, cfg.Now = l.ledger, l.clock.now }, fee(fees...))
	return l
}

// spend puts an amount on all lines of the principal at the clock's instant.
func (l *till) spend(credit, byok router.USD) {
	l.t.Helper()
	var lines []router.Line
	for _, o := range []router.Owner{router.OwnerAccount, router.OwnerWorkspace, router.OwnerMember, router.OwnerKey} {
		for _, i := range []router.Interval{router.Lifetime, router.Monthly, router.Weekly, router.Daily} {
			lines = append(lines, o.Line(who(), i.Window(l.clock.now())))
		}
	}
	id := uuid.New()
	require.NoError(l.t, l.ledger.Reserve(l.t.Context(), router.Hold{ID: id, Lines: lines}))
	require.NoError(l.t, l.ledger.Settle(l.t.Context(), id, router.Amount{Credit: credit, Total: credit + byok}))
}

func (l *till) balance(i router.Interval) router.Balance {
	l.t.Helper()
	b, err := l.ledger.Balances(l.t.Context(), []router.Line{router.OwnerKey.Line(who(), i.Window(l.clock.now()))})
	require.NoError(l.t, err)
	return b[0]
}

var (
	errKeyLimit = &router.Error{Class: router.PaymentRequired, Message: "Key limit exceeded"}
	errCredits  = &router.Error{Class: router.PaymentRequired, Message: "Insufficient credits"}
)

// The checks of the policies of this module.
var (
	creditCheck    = router.Check{Order: 10, Word: "credits"}
	keyCheck       = router.Check{Order: 20, Word: "key_limit"}
	workspaceCheck = router.Check{Order: 30, Word: "workspace_budget"}
	guardrailCheck = router.Check{Order: 40, Word: "guardrail_budget"}
)

func keyLimit(most router.USD, i router.Interval) router.Budget {
	return router.Budget{Check: keyCheck, Owner: router.OwnerKey, Interval: i, Max: most, Refusal: errKeyLimit}
}

func (l *till) call(budgets ...router.Budget) *router.Call {
	return &router.Call{Request: decision(byPrice), Principal: who(), Budgets: budgets}
}

// ask returns "" for an answer, else the refusal's sentence or class.
func (l *till) ask(c *router.Call) string {
	l.t.Helper()
	_, err := l.router.Decide(l.t.Context(), c)
	held := l.balance(router.Lifetime).Held
	assert.Zero(l.t, held, "nothing is held when a call is over")
	if err == nil {
		return ""
	}
	e := fault(l.t, err)
	if e.Message != "" {
		return e.Message
	}
	return string(e.Class)
}

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t
}

// R78: a window is a function of the instant.
func TestWindowsOfLimits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		interval    router.Interval
		limit       router.USD
		spent       string
		last, first string
	}{
		"R78a": {router.Daily, router.Dollar, "2026-11-21T10:00:00Z", "2026-11-21T23:59:59.999Z", "2026-11-22T00:00:00Z"},
		"R78b": {router.Weekly, 5 * router.Dollar, "2026-11-16T00:00:00Z", "2026-11-22T23:59:59.999Z", "2026-11-23T00:00:00Z"},
		"R78c": {router.Weekly, 5 * router.Dollar, "2026-12-31T10:00:00Z", "2027-01-03T23:59:59.999Z", "2027-01-04T00:00:00Z"},
		"R78d": {router.Monthly, 9 * router.Dollar, "2026-11-02T10:00:00Z", "2026-11-30T23:59:59.999Z", "2026-12-01T00:00:00Z"},
		"R78e": {router.Monthly, 9 * router.Dollar, "2028-02-01T10:00:00Z", "2028-02-29T12:00:00Z", "2028-03-01T00:00:00Z"},
	} {
		l := newTill(t, "ant", cent)
		l.clock.at = at(tt.spent)
		l.spend(tt.limit, 0)
		l.clock.at = at(tt.last)
		assert.Equal(t, "Key limit exceeded", l.ask(l.call(keyLimit(tt.limit, tt.interval))), name)
		l.clock.at = at(tt.first)
		assert.Empty(t, l.ask(l.call(keyLimit(tt.limit, tt.interval))), name)
		assert.Equal(t, cent, l.balance(tt.interval).Spent.Credit, name)
	}
}

// R79: the time of admission decides the day, and it never steps back.
func TestAdmissionDecidesTheDay(t *testing.T) {
	t.Parallel()
	l := newTill(t, "ant", cent)
	l.clock.at = at("2026-11-21T23:59:59.9Z")
	l.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
		l.clock.step(500 * time.Millisecond)
		assert.Zero(t, l.balance(router.Daily), "nothing is held on the next day") //nolint:contextcheck // read with the test's own context
		return answer(ctx, a)
	}, answer)
	c := l.call(keyLimit(cent, router.Daily))
	res, err := l.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.Zero(t, l.balance(router.Daily))
	assert.Equal(t, at("2026-11-21T23:59:59.9Z"), c.Events(res)[0].Admitted)

	require.Empty(t, l.ask(l.call()), "a call of the 22nd")
	l.clock.at = at("2026-11-21T23:59:58Z")
	back := l.call()
	require.Empty(t, l.ask(back))
	assert.Equal(t, 22, back.Admitted.Day())
	assert.Equal(t, cent, l.balance(router.Daily).Spent.Credit, "the 21st has the first alone")
}

// R81: a call that adds nothing to a limit is never refused by it.
func TestFreeIsNeverRefused(t *testing.T) {
	t.Parallel()
	l := newTill(t, "ant", 0)
	l.spend(6*router.Dollar, 0)
	assert.Empty(t, l.ask(l.call(keyLimit(0, router.Lifetime))), "R81e")
	assert.Empty(t, l.ask(l.call(keyLimit(4*router.Dollar, router.Lifetime))), "R81f")
	paid := newTill(t, "ant", cent)
	assert.Equal(t, "Key limit exceeded", paid.ask(paid.call(keyLimit(0, router.Lifetime))), "R81e")
	paid.spend(6*router.Dollar, 0)
	assert.Equal(t, "Key limit exceeded", paid.ask(paid.call(keyLimit(4*router.Dollar, router.Lifetime))), "R81a")
	assert.Equal(t, "Key limit exceeded", paid.ask(paid.call(keyLimit(6*router.Dollar, router.Lifetime))), "R81d")
	assert.Empty(t, paid.ask(paid.call()), "R81c")
}

// R82b: a cost above its hold is charged in full, and the next call is refused.
func TestOverrun(t *testing.T) {
	t.Parallel()
	l := newTill(t, "ant", 0)
	catalog := l.catalog("ant", func(e *router.Endpoint) { e.Pricing = router.Pricing{Prompt: router.Dollars("1")} })
	l.router.SetCatalog(catalog)
	l.upstreams["ant"].will(reply(func(r *router.Reply) { r.Usage.InputTokens = 1_000_000 }))
	assert.Empty(t, l.ask(l.call(keyLimit(cent, router.Lifetime))))
	assert.Equal(t, router.Dollar, l.balance(router.Lifetime).Spent.Credit)
	count, amount := l.router.Overruns()
	assert.EqualValues(t, 1, count)
	prompt, completion := router.BoundOf(decision(""))
	assert.Equal(t, router.Dollar-router.Pricing{Prompt: router.Dollars("1")}.Bound(prompt, completion), amount)
	assert.Equal(t, "Key limit exceeded", l.ask(l.call(keyLimit(cent, router.Lifetime))))
}

// R82c: a call that fails costs nothing.
func TestFailureCostsNothing(t *testing.T) {
	t.Parallel()
	l := newTill(t, "ant bee", cent)
	l.upstreams["ant"].will(fails(t, "500"))
	l.upstreams["bee"].will(fails(t, "500"))
	assert.Equal(t, "provider_unavailable", l.ask(l.call(keyLimit(router.Dollar, router.Lifetime))))
	assert.Zero(t, l.balance(router.Lifetime))
}

// R82d: concurrent calls cannot exceed a limit.
func TestAThousandAtOnce(t *testing.T) {
	t.Parallel()
	l := newTill(t, "ant", cent)
	var answered, refused atomic.Int64
	var wg sync.WaitGroup
	for range 1000 {
		wg.Go(func() {
			_, err := l.router.Decide(t.Context(), l.call(keyLimit(router.Dollar, router.Lifetime)))
			e, failed := errors.AsType[*router.Error](err)
			switch {
			case err == nil:
				answered.Add(1)
			case failed && e.Message == "Key limit exceeded":
				refused.Add(1)
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, 100, answered.Load())
	assert.EqualValues(t, 900, refused.Load())
	assert.Len(t, l.upstreams["ant"].attempts(), 100, "nothing else was sent")
	assert.Equal(t, router.Balance{Spent: router.Amount{Credit: router.Dollar, Total: router.Dollar}}, l.balance(router.Lifetime))
}

// R83a to R83c: a candidate that does not fit is skipped.
func TestSkippedCandidates(t *testing.T) {
	t.Parallel()
	l := newTill(t, "ant bee", cent, 50*cent)
	l.spend(90*cent, 0)
	limit := keyLimit(router.Dollar, router.Lifetime)
	l.upstreams["ant"].will(fails(t, "500"), answer)
	a := l.call(limit)
	assert.Equal(t, "provider_unavailable", l.ask(a), "R83a")
	require.Len(t, a.Report.Legs[0].Skipped, 1)
	assert.Equal(t, router.Skip{Endpoint: l.endpoint(1), Check: keyCheck}, a.Report.Legs[0].Skipped[0])

	b := l.call(limit)
	b.Request = decision(`{"order":["bee","ant"]}`)
	assert.Empty(t, l.ask(b), "R83b")
	assert.Equal(t, "ant", asked(b))

	c := l.call(limit)
	c.Request = decision(`{"order":["bee"],"allow_fallbacks":false}`)
	assert.Equal(t, "Key limit exceeded", l.ask(c), "R83c")
	assert.Empty(t, l.upstreams["bee"].attempts())
}

// R83g: a failover never gives back what is held.
func TestFailoverKeepsItsHold(t *testing.T) {
	t.Parallel()
	l := newTill(t, "ant bee", cent)
	l.spend(99*cent, 0)
	limit := keyLimit(router.Dollar, router.Lifetime)
	var second string
	l.upstreams["ant"].will(fails(t, "500"))
	l.upstreams["bee"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
		_, err := l.router.Decide(ctx, l.call(limit))
		second = fault(t, err).Message
		return answer(ctx, a)
	})
	assert.Empty(t, l.ask(l.call(limit)))
	assert.Equal(t, "Key limit exceeded", second)
}

// Budgets are checked by check, owner and interval, whatever the order in which
// policies add them (R84e, R86g).
func TestOrderOfBudgets(t *testing.T) {
	t.Parallel()
	l := newTill(t, "ant", cent)
	budget := func(c router.Check, o router.Owner, i router.Interval, m string) router.Budget {
		return router.Budget{Check: c, Owner: o, Interval: i, Refusal: &router.Error{Class: router.PermissionDenied, Message: m}}
	}
	ordered := []router.Budget{
		{Check: creditCheck, Owner: router.OwnerAccount, Refusal: errCredits},
		keyLimit(0, router.Daily),
		budget(workspaceCheck, router.OwnerWorkspace, router.Monthly, "monthly"),
		budget(workspaceCheck, router.OwnerWorkspace, router.Daily, "daily"),
		budget(guardrailCheck, router.OwnerWorkspace, router.Daily, "default"),
		budget(guardrailCheck, router.OwnerMember, router.Monthly, "member"),
		budget(guardrailCheck, router.OwnerKey, router.Lifetime, "key"),
	}
	for i := range ordered {
		rest := ordered[i:]
		c := l.call()
		for j := range rest { // backwards
			c.Budgets = append(c.Budgets, rest[len(rest)-1-j])
		}
		assert.Equal(t, rest[0].Refusal.Message, l.ask(c))
		assert.Equal(t, rest[0].Check, c.Report.Legs[0].Skipped[0].Check)
	}
}

// The spending of a principal's four owners is what was charged, in all windows.
func TestEveryOwnerIsCounted(t *testing.T) {
	t.Parallel()
	l := newTill(t, "ant", cent)
	require.Empty(t, l.ask(l.call()))
	for _, o := range []router.Owner{router.OwnerAccount, router.OwnerWorkspace, router.OwnerMember, router.OwnerKey} {
		for _, i := range []router.Interval{router.Lifetime, router.Monthly, router.Weekly, router.Daily} {
			b, err := l.ledger.Balances(t.Context(), []router.Line{o.Line(who(), i.Window(l.clock.now()))})
			require.NoError(t, err)
			assert.Equal(t, router.Amount{Credit: cent, Total: cent}, b[0].Spent)
		}
	}
}

// Two members share a line only if they are the same member of the same account,
// whatever characters the embedding program's ids contain.
func TestMembersOfTwoAccountsShareNoLine(t *testing.T) {
	t.Parallel()
	ids := []string{"a", "b", "a/b", "b/c", "c", "a%2Fb", "a%", "2Fb/c", "/", "%", "%2F"}
	of := map[router.Line]router.Principal{}
	for _, account := range append(ids, "") {
		for _, member := range ids {
			p := router.Principal{Account: account, Member: member}
			line := router.OwnerMember.Line(p, "ever")
			other, taken := of[line]
			assert.Falsef(t, taken, "%+v and %+v are both %q", p, other, line.Owner)
			of[line] = p
		}
	}
}

// brokenLedger fails in the methods that a test selects.
type brokenLedger struct {
	router.Ledger

	reserve, settle error
}

func (b *brokenLedger) Reserve(ctx context.Context, h router.Hold) error {
	if b.reserve != nil {
		return b.reserve
	}
	return b.Ledger.Reserve(ctx, h)
}

func (b *brokenLedger) Settle(ctx context.Context, id uuid.UUID, cost router.Amount) error {
	if b.settle != nil {
		return b.settle
	}
	return b.Ledger.Settle(ctx, id, cost)
}

// Without its ledger the router answers no call and sends nothing.
func TestBrokenLedger(t *testing.T) {
	t.Parallel()
	errDisk := errors.New("disk full")
	for name, broken := range map[string]*brokenLedger{"reserve": {reserve: errDisk}, "settle": {settle: errDisk}} {
		synctest.Test(t, func(t *testing.T) {
			broken.Ledger = memory.New().Ledger
			g := newRig(t, "ant", func(cfg *router.Config) { cfg.Ledger = broken }, fee(cent))
			begun := time.Now()
			_, err := g.router.Decide(t.Context(), &router.Call{Request: decision(byPrice), Principal: who()})
			assert.Equal(t, router.Server, fault(t, err).Class, name)
			require.ErrorIs(t, err, errDisk)
			b, err := broken.Balances(t.Context(), []router.Line{router.OwnerKey.Line(who(), "ever")})
			require.NoError(t, err)
			if name == "reserve" {
				assert.Zero(t, time.Since(begun), "told at once")
				assert.Empty(t, g.upstreams["ant"].attempts())
				assert.Zero(t, b[0])
			} else {
				assert.Equal(t, settleTime, time.Since(begun), "it might have come back")
				assert.Equal(t, cent, b[0].Held.Credit, "left to expire")
			}
		})
	}
}

// Resolve caches its outcome while the request is the same.
func TestResolve(t *testing.T) {
	t.Parallel()
	_, err := (&router.Call{Request: decision("")}).Resolve()
	assert.Equal(t, router.Server, fault(t, err).Class, "not being decided")
	g := newRig(t, "ant", intercepted(func(next router.Decider) router.Decider {
		return func(ctx context.Context, c *router.Call) (*router.Result, error) {
			first, err := c.Resolve()
			require.NoError(t, err)
			again, err := c.Resolve()
			require.NoError(t, err)
			assert.Same(t, &first[0], &again[0])
			c.Request = &systemone.Request{Preset: "p", State: c.Request.State, Questions: c.Request.Questions}
			_, err = c.Resolve()
			assert.Equal(t, router.NotFound, fault(t, err).Class)
			return next(ctx, c)
		}
	}))
	_, _, err = g.decide()
	assert.Equal(t, router.NotFound, fault(t, err).Class)
}
