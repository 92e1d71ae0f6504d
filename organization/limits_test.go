package organization_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// hold asks the ledger for money as an engine does, on all owners' lines and
// under the budgets in their order; a refusal is that of the first.
func (b *bench) hold(tb testing.TB, amount router.Amount, more ...router.Budget) (uuid.UUID, *router.Error) {
	tb.Helper()
	p := b.principal()
	c, err := call(tb, b.Service, p)
	require.NoError(tb, err)
	budgets := append(c.Budgets, more...)
	slices.SortStableFunc(budgets, func(x, y router.Budget) int {
		return cmp.Or(cmp.Compare(x.Check.Order, y.Check.Order), cmp.Compare(x.Owner, y.Owner), cmp.Compare(x.Interval, y.Interval))
	})
	h := router.Hold{ID: uuid.New(), Amount: amount, Deadline: b.now.Add(time.Minute)}
	for _, owner := range []router.Owner{router.OwnerAccount, router.OwnerWorkspace, router.OwnerMember, router.OwnerKey} {
		for _, i := range []router.Interval{router.Lifetime, router.Monthly, router.Weekly, router.Daily} {
			h.Lines = append(h.Lines, owner.Line(p, i.Window(b.now)))
		}
	}
	for _, budget := range budgets {
		h.Caps = append(h.Caps, router.Cap{Line: budget.Owner.Line(p, budget.Interval.Window(b.now)), Max: budget.Max, BYOK: budget.BYOK})
	}
	err = b.set.Ledger.Reserve(tb.Context(), h)
	if limit, ok := errors.AsType[*router.LimitError](err); ok {
		return h.ID, budgets[limit.Cap].Refusal
	}
	require.NoError(tb, err)
	return h.ID, nil
}

// spend records that an amount was spent, whatever the limits say.
func (b *bench) spend(tb testing.TB, credit, total string) {
	tb.Helper()
	id, refusal := b.hold(tb, router.Amount{})
	require.Nil(tb, refusal)
	require.NoError(tb, b.set.Ledger.Settle(tb.Context(), id, router.Amount{Credit: usd(tb, credit), Total: usd(tb, total)}))
}

// want runs a call of a price and compares its refusal; "" is none.
func (b *bench) want(tb testing.TB, class router.Class, message, credit, total string, more ...router.Budget) {
	tb.Helper()
	id, refusal := b.hold(tb, router.Amount{Credit: usd(tb, credit), Total: usd(tb, total)}, more...)
	if message == "" {
		require.Nil(tb, refusal)
		require.NoError(tb, b.set.Ledger.Void(tb.Context(), id))
		return
	}
	require.NotNil(tb, refusal)
	assert.Equal(tb, class, refusal.Class)
	assert.Equal(tb, message, refusal.Message)
}

// r84 has budgets of 50 daily, 200 weekly and 500 monthly.
func r84(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	for _, c := range [][2]string{{"daily", "50"}, {"weekly", "200"}, {"monthly", "500"}} {
		require.NoError(t, b.put(t, c[0], c[1]))
	}
	return b
}

const (
	monthly = "Workspace monthly budget of $500.00 exceeded. Contact your org admin."
	weekly  = "Workspace weekly budget of $200.00 exceeded. Contact your org admin."
	daily   = "Workspace daily budget of $50.00 exceeded. Contact your org admin."
)

// spendOn spends days before noon and comes back.
func (b *bench) spendOn(t *testing.T, days int, credit string) {
	t.Helper()
	b.pass(time.Duration(-days) * 24 * time.Hour)
	b.spend(t, credit, credit)
	b.pass(time.Duration(days) * 24 * time.Hour)
}

func TestR84aTheBroadestIsNamed(t *testing.T) {
	b := r84(t)
	b.spendOn(t, 14, "439.99")
	b.spendOn(t, 2, "50")
	b.spend(t, "10", "10")
	b.want(t, router.PermissionDenied, monthly, "0.02", "0.02")
}

func TestR84bWeekly(t *testing.T) {
	b := r84(t)
	b.spendOn(t, 14, "100")
	b.spendOn(t, 2, "150")
	b.spend(t, "50", "50")
	b.want(t, router.PermissionDenied, weekly, "0.01", "0.01")
}

func TestR84cTheNextDayIsANewOne(t *testing.T) {
	b := r84(t)
	b.spend(t, "50", "50")
	b.pass(12*time.Hour - 1)
	b.want(t, router.PermissionDenied, daily, "0.01", "0.01")
	b.pass(1)
	b.want(t, "", "", "50", "50")
}

func TestR84dLimitsAreInclusive(t *testing.T) {
	b := r84(t)
	b.spendOn(t, 14, "499.99")
	b.want(t, "", "", "0.01", "0.01")
	b.want(t, router.PermissionDenied, monthly, "0.010000001", "0.010000001")
}

func TestR84eTheKeysLimitComesFirst(t *testing.T) {
	b := r84(t)
	b.spendOn(t, 14, "500")
	key := router.Budget{
		Check: router.Check{Order: 20, Word: "key_limit"}, Owner: router.OwnerKey, Interval: router.Monthly, Max: 1,
		Refusal: &router.Error{Class: router.PaymentRequired, Message: "Key limit exceeded"},
	}
	b.want(t, router.PaymentRequired, "Key limit exceeded", "1", "1", key)
	_, err := b.TopUp(t.Context(), b.by, "p", 1)
	require.NoError(t, err)
	b.want(t, router.PaymentRequired, "Insufficient credits", "1", "1", key)
}

func TestR84fAnOwnCredentialIsNotCounted(t *testing.T) {
	b := r84(t)
	b.spendOn(t, 14, "500")
	b.want(t, "", "", "0", "1")
	b.want(t, router.PermissionDenied, monthly, "0.01", "0.01")
}

func TestR84gTheSwitchLooksAtTheWholeWindow(t *testing.T) {
	b := r84(t)
	b.pass(-14 * 24 * time.Hour)
	b.spend(t, "450", "550")
	b.pass(14 * 24 * time.Hour)
	b.want(t, "", "", "1", "1")
	_, err := b.SetBudget(t.Context(), b.by, "default", router.Monthly, usd(t, "500"), router.To(true))
	require.NoError(t, err)
	b.want(t, router.PermissionDenied, monthly, "1", "1")
	b.want(t, router.PermissionDenied, monthly, "0", "1")
}

func TestR84hAmountsHaveTwoDecimalsAndMoreWhenNeeded(t *testing.T) {
	for limit, want := range map[string]string{
		"1000.5": "$1000.50", "0.005": "$0.005", "1234567": "$1234567.00", "0.000000001": "$0.000000001", "7.25": "$7.25",
	} {
		b := newBench(t)
		require.NoError(t, b.put(t, "lifetime", limit))
		b.want(t, router.PermissionDenied, "Workspace lifetime budget of "+want+" exceeded. Contact your org admin.", "9000000000", "9000000000")
	}
}

func TestR85gALimitBelowWhatIsSpent(t *testing.T) {
	b := r85(t)
	b.spend(t, "45", "45")
	require.NoError(t, b.put(t, "daily", "40"))
	b.want(t, router.PermissionDenied, "Workspace daily budget of $40.00 exceeded. Contact your org admin.", "0.01", "0.01")
}

type nobody struct{}

func (nobody) Decide(context.Context, router.Attempt) (router.Reply, error) {
	return router.Reply{}, errors.New("nobody is there")
}

func TestR36TheWorkspacesSortIsThatOfRequestsWithNone(t *testing.T) {
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-20260901"}},
		[]router.ProviderInfo{{Slug: "ant", Client: nobody{}}, {Slug: "bee", Client: nobody{}}, {Slug: "cat", Client: nobody{}}},
		[]router.Endpoint{
			{Provider: "ant", Model: "acme/judge", Pricing: router.Pricing{Prompt: router.Dollars("1")}},
			{Provider: "bee", Model: "acme/judge", Pricing: router.Pricing{Prompt: router.Dollars("2")}},
			{Provider: "cat", Model: "acme/judge", Pricing: router.Pricing{Prompt: router.Dollars("3")}},
		},
	)
	require.NoError(t, err)
	models, err := catalog.Resolve("judge")
	require.NoError(t, err)
	b := newBench(t)
	_, err = b.UpdateWorkspace(t.Context(), b.by, "default", organization.WorkspaceUpdate{DefaultSort: router.To(systemone.SortPrice)})
	require.NoError(t, err)
	c, err := call(t, b.Service, b.principal())
	require.NoError(t, err)
	latency := func(p50 float64) router.Stats {
		return router.Stats{Latency: router.Percentiles{Known: true, P50: p50, P75: p50, P90: p50, P99: p50}}
	}
	for name, row := range map[string]struct {
		preferences *systemone.Preferences
		stats       []router.Stats
		want        string
	}{
		"R36a": {nil, nil, "ant bee cat"},
		"R36b": {&systemone.Preferences{}, nil, "ant bee cat"},
		"R36c": {&systemone.Preferences{Order: []string{"cat"}}, nil, "cat ant bee"},
		"R36d": {&systemone.Preferences{AllowFallbacks: new(false)}, nil, "ant"},
		"R36e": {
			&systemone.Preferences{Sort: systemone.Sort{By: systemone.SortLatency}},
			[]router.Stats{latency(0.9), latency(0.2), {}},
			"bee ant cat",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(32) { // a draw would show itself
				plan := router.NewPlan(router.PlanInput{
					Catalog: catalog, Models: models, Shape: router.Shape{Questions: 1, PromptTokens: 10},
					Preferences: row.preferences, Policy: c.Policy, Stats: row.stats, Seed: seed,
				})
				var order []string
				for _, candidate := range plan.Candidates {
					order = append(order, candidate.Endpoint.Tag())
				}
				require.Equal(t, row.want, strings.Join(order, " "))
			}
		})
	}
}
