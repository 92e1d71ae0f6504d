package router_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
)

// readOnly is a ledger of which only Balances may be called.
type readOnly struct {
	router.Ledger

	t    *testing.T
	fail error
}

func (l readOnly) Reserve(context.Context, router.Hold) error {
	l.t.Error("a dry run sets money aside")
	return nil
}

func (l readOnly) Balances(ctx context.Context, lines []router.Line) ([]router.Balance, error) {
	if l.fail != nil {
		return nil, l.fail
	}
	return l.Ledger.Balances(ctx, lines)
}

// For any limits and any spending, a dry run names the budget that then refuses the
// call. It changes nothing and asks no provider.
func TestADryRunRefusesWhatTheCallWould(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		amount := rapid.Int64Range(0, 4)
		l := newTill(t, "ant", router.USD(amount.Draw(rt, "fee"))*cent)
		l.spend(router.USD(amount.Draw(rt, "spent"))*cent, router.USD(amount.Draw(rt, "byok"))*cent)
		other := router.Hold{ID: uuid.New(), Deadline: l.clock.now().Add(time.Hour), Lines: []router.Line{
			router.OwnerKey.Line(who(), router.Lifetime.Window(l.clock.now())), router.OwnerAccount.Line(who(), router.Lifetime.Window(l.clock.now())),
		}}
		other.Amount.Credit = router.USD(amount.Draw(rt, "held")) * cent
		other.Amount.Total = other.Amount.Credit
		require.NoError(t, l.ledger.Reserve(t.Context(), other))
		var budgets []router.Budget
		for range rapid.IntRange(0, 3).Draw(rt, "budgets") {
			budgets = append(budgets, router.Budget{
				Check:    rapid.SampledFrom([]router.Check{creditCheck, keyCheck, workspaceCheck, guardrailCheck}).Draw(rt, "check"),
				Owner:    router.Owner(rapid.IntRange(0, 3).Draw(rt, "owner")),
				Interval: router.Lifetime,
				Max:      router.USD(rapid.Int64Range(0, 9).Draw(rt, "max")) * cent,
				BYOK:     rapid.Bool().Draw(rt, "counts own"),
			})
		}
		before := l.balance(router.Lifetime)
		dry := l.call(budgets...)
		dry.DryRun = true
		res, err := l.router.Decide(t.Context(), dry)
		require.NoError(t, err)
		assert.Equal(t, dry.ID, res.Response.ID)
		assert.Empty(t, res.Response.Answers)
		assert.Empty(t, l.upstreams["ant"].seen)
		assert.Equal(t, before, l.balance(router.Lifetime))

		meant := l.call(budgets...)
		_, err = l.router.Decide(t.Context(), meant)
		require.Len(t, dry.Report.Legs[0].Bounds, 1)
		refused := dry.Report.Legs[0].Bounds[0].Refused
		if err == nil {
			assert.Nil(t, refused)
			return
		}
		require.Len(t, meant.Report.Legs[0].Skipped, 1)
		require.NotNil(t, refused)
		assert.Equal(t, meant.Report.Legs[0].Skipped[0].Check, refused.Check)
	})
}

func TestADryRunOnlyReads(t *testing.T) {
	t.Parallel()
	l := newTill(t, "ant bee", cent, 3*cent)
	g := newRig(t, "ant bee", func(cfg *router.Config) { cfg.Ledger = readOnly{Ledger: l.ledger, t: t} }, fee(cent, 3*cent))
	c := l.call(keyLimit(2*cent, router.Daily))
	c.DryRun, c.Request.SessionID = true, "session"
	_, err := g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, c.Report.Legs[0].Bounds, 2)
	assert.Equal(t, router.Bound{Max: router.Amount{Credit: cent, Total: cent}}, c.Report.Legs[0].Bounds[0])
	assert.Equal(t, router.Amount{Credit: 3 * cent, Total: 3 * cent}, c.Report.Legs[0].Bounds[1].Max)
	assert.Equal(t, keyCheck, c.Report.Legs[0].Bounds[1].Refused.Check, "each candidate by itself")
	assert.Empty(t, c.Report.Legs[0].Attempts)

	// Without a ledger, or a principal, nothing refuses.
	g = newRig(t, "ant", func(*router.Config) {}, fee(cent))
	c = &router.Call{Request: decision(byPrice), DryRun: true}
	_, err = g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, []router.Bound{{Max: router.Amount{Credit: cent, Total: cent}}}, c.Report.Legs[0].Bounds)

	// A dry run fails where the plan or the ledger fails.
	c = &router.Call{Request: decision(`{"only":["nobody"]}`), DryRun: true}
	_, err = g.router.Decide(t.Context(), c)
	assert.Equal(t, router.NotFound, fault(t, err).Class)
	g = newRig(t, "ant", func(cfg *router.Config) { cfg.Ledger = readOnly{Ledger: l.ledger, t: t, fail: errors.New("away")} }, fee(cent))
	c = l.call(keyLimit(2*cent, router.Daily))
	c.DryRun = true
	_, err = g.router.Decide(t.Context(), c)
	assert.Equal(t, router.Server, fault(t, err).Class)
}
