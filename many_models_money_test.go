package signalbox_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/router"
)

// manyAccount is what ledger, activity and events show at an instant.
type manyAccount struct {
	balance  router.Balance
	activity map[string]activity.Item // by provider's display name
	events   int
}

func (w *manyWorld) account(t *testing.T) manyAccount {
	t.Helper()
	list, err := w.stores.Ledger.Balances(t.Context(), []router.Line{router.OwnerAccount.Line(w.holder(t), "ever")})
	require.NoError(t, err)
	a := manyAccount{balance: list[0], activity: map[string]activity.Item{}}
	items, err := w.events.Items(t.Context(), activity.Range{Account: demo.Account, From: "2000-01-01", To: tomorrow()})
	require.NoError(t, err)
	for _, item := range items {
		sum := a.activity[item.Provider]
		sum.Add(item)
		a.activity[item.Provider] = sum
	}
	a.events = len(w.events.since(0))
	return a
}

// manyCost reads "ant 0.001 + bee 0.01 = 0.011", and adds it up again.
func (c *manyCase) manyCost(t *testing.T) (events []string, by map[string]router.USD, sum router.USD) {
	t.Helper()
	by = map[string]router.USD{}
	text := c.one("cost")
	if text == "" {
		require.NotEmpty(t, c.all("issue"), "the case does not say what it costs")
	}
	if text == "" || text == "0" {
		return nil, by, 0
	}
	text, total, added := strings.Cut(text, " = ")
	for one := range strings.SplitSeq(text, " + ") {
		slug, amount, _ := strings.Cut(one, " ")
		name := manyProviders()[slug]
		events = append(events, fmt.Sprintf("%s %s", name, manyUSD(t, amount)))
		by[name] += manyUSD(t, amount)
		sum += manyUSD(t, amount)
	}
	if added {
		require.Equal(t, manyUSD(t, total), sum, "the sum of the case itself")
	}
	return events, by, sum
}

// checkMoney requires that events, ledger and activity show the cost of the case, and that
// nothing stays held.
func (w *manyWorld) checkMoney(t *testing.T, before manyAccount) {
	t.Helper()
	events, by, sum := w.c.manyCost(t)
	now := w.account(t)
	var got []string
	for _, e := range w.events.since(before.events) {
		got = append(got, fmt.Sprintf("%s %s", e.Provider, e.Cost.Credit))
	}
	used, requests := map[string]router.USD{}, map[string]int64{}
	for name, item := range now.activity {
		used[name] = item.Cost.Credit - before.activity[name].Cost.Credit
		requests[name] = item.Requests - before.activity[name].Requests
	}
	spent := now.balance.Spent.Credit - before.balance.Spent.Credit
	assert.Equal(t, bill(events, by, sum, 0), bill(got, used, spent, now.balance.Held.Credit), "money")
	if want := w.c.one("requests"); want != "" {
		slug, count, _ := strings.Cut(want, " ")
		n, err := strconv.ParseInt(count, 10, 64)
		require.NoError(t, err)
		for name, got := range requests {
			if name != manyProviders()[slug] {
				assert.Zero(t, got, "requests of %s", name)
			} else {
				assert.Equal(t, n, got, "requests of %s", name)
			}
		}
	}
}

// bill writes what events, activity and ledger show, so that all of it is compared at once.
func bill(events []string, activity map[string]router.USD, spent, held router.USD) string {
	slices.Sort(events)
	maps.DeleteFunc(activity, func(_ string, cost router.USD) bool { return cost == 0 })
	return fmt.Sprintf("events: %s\nactivity: %v\nspent: %s\nheld: %s", strings.Join(events, " + "), activity, spent, held)
}

// checkUsage compares the reply's usage, and that of its legs, with the case.
func (w *manyWorld) checkUsage(t *testing.T, reply *manyReply) {
	t.Helper()
	_, _, sum := w.c.manyCost(t)
	assert.Equal(t, sum, manyUSD(t, reply.Usage.Cost.String()), "usage.cost")
	if want := w.c.one("tokens"); want != "" {
		assert.Equal(t, want, fmt.Sprintf("%d/%d", reply.Usage.Input, reply.Usage.Output), "tokens")
	}
	var legs router.USD
	for _, leg := range reply.Metadata.Legs {
		if leg.Usage != nil {
			legs += manyUSD(t, leg.Usage.Cost.String())
		}
	}
	if len(reply.Metadata.Legs) > 0 {
		assert.Equal(t, sum, legs, "usage.cost of all legs")
	}
}

// checkUpstreams requires that every step was taken, and nothing else was asked.
func (w *manyWorld) checkUpstreams(t *testing.T) {
	t.Helper()
	for slug, u := range w.upstreams {
		u.mu.Lock()
		for _, asked := range u.wrong {
			assert.Fail(t, "not foreseen", "%s was asked %s", slug, asked)
		}
		for _, step := range u.steps {
			if !step.optional {
				assert.Fail(t, "not asked", "%s was never asked %+v", slug, step.asked)
			}
		}
		u.mu.Unlock()
	}
	if want := w.c.one("parallel"); want != "" {
		slug, most, _ := strings.Cut(want, " ")
		assert.Equal(t, most, strconv.Itoa(w.upstreams[slug].most), "attempts of %s at once", slug)
	}
}
