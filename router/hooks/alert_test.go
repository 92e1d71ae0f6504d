package hooks_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/hooks"
)

// TestBudgetsAreAnnouncedAtEachShareOnce: an alert comes when spending reaches the
// percentage, before any call is refused, and not again in that window.
func TestBudgetsAreAnnouncedAtEachShareOnce(t *testing.T) {
	s, in := newSite(), &inbox{}
	h := s.hooks(t, hooks.Config{Receivers: receivers(in)})
	for _, step := range []struct {
		cost router.USD
		want []int
	}{
		{4_999_999_999, nil}, // one nano-dollar below 50 %
		{1, []int{50}},
		{router.Dollar, nil},
		{2 * router.Dollar, []int{80}},
		{router.Dollar, nil},
		{5 * router.Dollar, []int{100}}, // beyond the limit
		{router.Dollar, nil},
	} {
		s.spend(t, h, ann, step.cost, keyLimit)
		settle(t, h)
		assert.Equal(t, step.want, percentsOf(in.budgets()), "after %s", step.cost)
	}
	s.wait(24 * time.Hour)
	s.spend(t, h, ann, 9*router.Dollar, keyLimit)
	settle(t, h)
	assert.Equal(t, []int{50, 80}, percentsOf(in.budgets()), "a new window")
}

// TestAlertsSayWhichBudget: for each kind of owner the alert has what identifies it.
func TestAlertsSayWhichBudget(t *testing.T) {
	s, in := newSite(), &inbox{}
	h := s.hooks(t, hooks.Config{Receivers: receivers(in), Percents: []int{10}})
	guardrail := router.Budget{
		Check: router.Check{Order: 40, Word: "guardrail_budget"}, Owner: router.OwnerMember, Interval: router.Weekly, Max: 30 * router.Dollar, BYOK: true,
	}
	s.spend(t, h, ann, 10*router.Dollar, credits, keyLimit, workspace, guardrail)
	settle(t, h)
	spent := 10 * router.Dollar
	assert.Equal(t, []hooks.Budget{
		{Account: "acme", Owner: "account", Check: "credits", Interval: "lifetime", Window: "ever", Percent: 10, Limit: credits.Max, Spent: spent},
		{Account: "acme", Member: "ann", Owner: "member", Check: "guardrail_budget", Interval: "weekly", Window: "2026-W47", Percent: 10, Limit: guardrail.Max, Spent: spent, BYOK: true},
		{Account: "acme", Workspace: "w1", KeyHash: "k1", Owner: "key", Check: "key_limit", Interval: "daily", Window: "2026-11-21", Percent: 10, Limit: keyLimit.Max, Spent: spent},
		{Account: "acme", Workspace: "w1", Owner: "workspace", Check: "workspace_budget", Interval: "monthly", Window: "2026-11", Percent: 10, Limit: workspace.Max, Spent: spent},
	}, in.budgets())
}

// TestAChangedLimitIsAnnouncedAgain: more credits, or a higher limit, is a new budget.
func TestAChangedLimitIsAnnouncedAgain(t *testing.T) {
	s, in := newSite(), &inbox{}
	h := s.hooks(t, hooks.Config{Receivers: receivers(in)})
	s.spend(t, h, ann, 90*router.Dollar, credits)
	settle(t, h)
	assert.Equal(t, []int{50, 80}, percentsOf(in.budgets()))
	more := credits
	more.Max = 150 * router.Dollar
	s.spend(t, h, ann, router.Dollar, more)
	settle(t, h)
	assert.Equal(t, []int{50}, percentsOf(in.budgets()))
}

// TestTheFirstRefusalIsAnnounced: of the budgets of the check that refused, it is the one
// with the least left, once in a window.
func TestTheFirstRefusalIsAnnounced(t *testing.T) {
	s, in := newSite(), &inbox{}
	h := s.hooks(t, hooks.Config{Receivers: receivers(in), Percents: []int{100}})
	wide, none := workspace, keyLimit
	wide.Interval, wide.Max = router.Lifetime, 200*router.Dollar
	none.Max = 0
	s.spend(t, h, ann, 19*router.Dollar, wide, workspace)
	for range 2 {
		s.refuse(t, h, ann, workspace.Check, wide, workspace, credits)
		settle(t, h)
	}
	got := in.budgets()
	require.Len(t, got, 1)
	assert.Equal(t, hooks.BudgetRefused, got[0].Type())
	assert.Equal(t, workspace.Max, got[0].Limit)
	assert.Zero(t, got[0].Percent)
	s.refuse(t, h, ann, none.Check, none)
	settle(t, h)
	assert.Len(t, in.budgets(), 1, "a limit of nothing has no percentages, but it refuses")
}

// TestCallsThatCostNothingAreNotCompared: the ledger is not asked for them.
func TestCallsThatCostNothingAreNotCompared(t *testing.T) {
	s := newSite()
	h := s.hooks(t, hooks.Config{Receivers: receivers(&inbox{})})
	free := &router.Leg{Attempts: []router.AttemptRecord{{Billed: true}}}
	paid := &router.Leg{Attempts: []router.AttemptRecord{{Billed: true, Cost: 1}}}
	for name, c := range map[string]router.Call{
		"free":            {Budgets: []router.Budget{keyLimit}, Report: router.Report{Legs: []*router.Leg{free}}},
		"replayed":        {Budgets: []router.Budget{keyLimit}, Report: router.Report{Replayed: true}},
		"dry run":         {Budgets: []router.Budget{keyLimit}, Report: router.Report{Legs: []*router.Leg{paid}}, DryRun: true},
		"without budgets": {Report: router.Report{Legs: []*router.Leg{paid}}},
	} {
		s.call(t, h, c)
		assert.Zero(t, h.Noted(), name)
	}
}

// TestTheWatchIsBounded: callers beyond the bound are not noted, and nothing else fails.
func TestTheWatchIsBounded(t *testing.T) {
	s := newSite()
	h := s.hooks(t, hooks.Config{Receivers: receivers(&inbox{})})
	paid := &router.Leg{Attempts: []router.AttemptRecord{{Billed: true, Cost: 1}}}
	for i := range hooks.MostNoted + 10 {
		p := router.Principal{Account: strconv.Itoa(i)}
		s.call(t, h, router.Call{Principal: p, Budgets: []router.Budget{credits}, Report: router.Report{Legs: []*router.Leg{paid}}})
	}
	assert.Equal(t, hooks.MostNoted, h.Noted())
}

// failing is a ledger, and a store of alerts, that fails n times.
type failing struct {
	router.Ledger
	hooks.AlertStore

	balances, raises int
}

func (f *failing) Balances(ctx context.Context, lines []router.Line) ([]router.Balance, error) {
	if f.balances--; f.balances >= 0 {
		return nil, errDown
	}
	return f.Ledger.Balances(ctx, lines)
}

func (f *failing) Raise(ctx context.Context, a hooks.Alert) error {
	if f.raises--; f.raises >= 0 {
		return errDown
	}
	return f.AlertStore.Raise(ctx, a)
}

// TestAnAlertOutlastsAStorageThatIsAway: what could not be compared or raised is tried
// again without another call.
func TestAnAlertOutlastsAStorageThatIsAway(t *testing.T) {
	s, in := newSite(), &inbox{}
	f := &failing{Ledger: s.Ledger, AlertStore: s.Alerts, balances: 2, raises: 2}
	s.Ledger, s.Alerts = f, f
	h := s.hooks(t, hooks.Config{Receivers: receivers(in)})
	s.spend(t, h, ann, 9*router.Dollar, keyLimit)
	for range 4 {
		require.ErrorIs(t, h.Compare(t.Context()), errDown)
	}
	settle(t, h)
	assert.Equal(t, []int{50, 80}, percentsOf(in.budgets()))
}

// TestAnAlertIsRepeatedToTheReceiverThatRefused: after the lease, under the same ID, and
// not to those that have it, until a day has passed.
func TestAnAlertIsRepeatedToTheReceiverThatRefused(t *testing.T) {
	s, good := newSite(), &inbox{}
	var ids []string
	bad := &inbox{fails: func(e hooks.Event) error {
		ids = append(ids, e.ID)
		return errDown
	}}
	h := s.hooks(t, hooks.Config{Receivers: receivers(good, bad), Percents: []int{50}})
	s.spend(t, h, ann, 5*router.Dollar, keyLimit)
	settle(t, h)
	settle(t, h)
	assert.Len(t, ids, 1, "not before the lease is over")
	s.wait(hooks.AlertLease)
	settle(t, h)
	require.Len(t, ids, 2)
	assert.Equal(t, ids[0], ids[1])
	assert.Len(t, good.budgets(), 1)
	s.wait(hooks.AlertTries)
	settle(t, h)
	s.wait(hooks.AlertLease)
	settle(t, h)
	assert.Len(t, ids, 2, "given up")
	assert.Equal(t, int64(2), h.Counts()[1].Failed)
}

// TestAnAlertThatWaitsTooLongIsLeftToOthers: an alert in a slow queue whose lease is over
// is not delivered, because another process may have done so.
func TestAnAlertThatWaitsTooLongIsLeftToOthers(t *testing.T) {
	s, in := newSite(), &inbox{}
	h := s.hooks(t, hooks.Config{Receivers: receivers(in), Percents: []int{50}})
	s.spend(t, h, ann, 5*router.Dollar, keyLimit)
	require.NoError(t, h.Compare(t.Context()))
	s.wait(hooks.AlertLease)
	require.True(t, h.HandleNext(t.Context(), 0))
	assert.Empty(t, in.budgets())
	settle(t, h)
	assert.Len(t, in.budgets(), 1)
}

// TestAlertsOverProcesses is the law: whatever several processes do on one store, each
// budget has one alert for each percentage that it reached in a window, and no other. It
// is delivered at least once while processes die, and exactly once while none does and
// no handler fails.
func TestAlertsOverProcesses(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s, in := newSite(), &inbox{}
		troubled := rapid.Bool().Draw(r, "troubled")
		in.fails = func(hooks.Event) error {
			if troubled && rapid.IntRange(0, 3).Draw(r, "fails") == 0 {
				return errDown
			}
			return nil
		}
		start := func() *hooks.Hooks { return s.hooks(r, hooks.Config{Receivers: receivers(in), Queue: 2}) }
		processes := []*hooks.Hooks{start(), start(), start()}
		spent := map[string]router.USD{} // by window
		r.Repeat(map[string]func(*rapid.T){
			"spend": func(r *rapid.T) {
				cost := router.USD(rapid.Int64Range(1, int64(3*router.Dollar)).Draw(r, "cost"))
				s.spend(r, rapid.SampledFrom(processes).Draw(r, "process"), ann, cost, keyLimit)
				spent[router.Daily.Window(s.now)] += cost
			},
			"compare": func(r *rapid.T) {
				require.NoError(r, rapid.SampledFrom(processes).Draw(r, "process").Compare(context.Background()))
			},
			"handle": func(r *rapid.T) {
				rapid.SampledFrom(processes).Draw(r, "process").HandleNext(context.Background(), 0)
			},
			"wait": func(r *rapid.T) { s.wait(time.Duration(rapid.IntRange(1, 5).Draw(r, "hours")) * time.Hour) },
			"die": func(r *rapid.T) {
				if !troubled {
					r.Skip("no process dies")
				}
				processes[rapid.IntRange(0, 2).Draw(r, "process")] = start()
			},
		})
		calm := !troubled
		troubled = false
		// A process that died may have taken its last note with it, so there is one more
		// call in the current window.
		s.spend(r, processes[0], ann, 1, keyLimit)
		spent[router.Daily.Window(s.now)]++
		for range 8 { // the queue holds two alerts; others are due again after the lease
			for _, h := range processes {
				settle(r, h)
			}
			s.wait(hooks.AlertLease)
		}
		for window, n := range alertsByWindow(r, in, calm) {
			require.GreaterOrEqual(r, spent[window], keyLimit.Max/100*router.USD(n), "%s has an alert at %d %%", window, n)
		}
		last := router.Daily.Window(s.now.Add(-8 * hooks.AlertLease))
		for _, percent := range []int{50, 80, 100} {
			if spent[last]*100 >= keyLimit.Max*router.USD(percent) {
				require.Contains(r, windowsAt(in, percent), last)
			}
		}
	})
}

// alertsByWindow returns the highest percentage of each window. It checks that alerts of
// one budget and percentage have one ID, and, with once, that each came once.
func alertsByWindow(t require.TestingT, in *inbox, once bool) map[string]int {
	highest, ids := map[string]int{}, map[string]string{}
	for _, e := range in.events {
		b, ok := e.Data.(hooks.Budget)
		require.True(t, ok)
		highest[b.Window] = max(highest[b.Window], b.Percent)
		of := fmt.Sprint(b.Window, b.Percent)
		if id, known := ids[of]; known {
			require.False(t, once, "%s came twice", of)
			require.Equal(t, id, e.ID)
		}
		ids[of] = e.ID
	}
	return highest
}

func windowsAt(in *inbox, percent int) (windows []string) {
	for _, e := range in.events {
		if b, ok := e.Data.(hooks.Budget); ok && b.Percent == percent {
			windows = append(windows, b.Window)
		}
	}
	return windows
}
