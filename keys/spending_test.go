package keys_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
)

func (b *bench) patch(tb testing.TB, hash string, p keys.Patch) keys.Record {
	tb.Helper()
	r, err := b.Update(tb.Context(), b.admin, hash, p)
	require.NoError(tb, err)
	return r
}

func TestR78aWindowIsAFunctionOfTheInstant(t *testing.T) {
	day := func(month time.Month, d int) time.Time { return time.Date(2026, month, d, 12, 0, 0, 0, time.UTC) }
	for name, c := range map[string]struct {
		reset       router.Interval
		limit       router.USD
		spent       time.Time
		cost        router.USD
		full, empty time.Time // the last instant of the period, the first of the next
	}{
		"a": {router.Daily, usd(100), day(11, 21), usd(100), time.Date(2026, 11, 21, 23, 59, 59, 999e6, time.UTC), time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)},
		"b": {router.Weekly, usd(500), day(11, 16), usd(500), time.Date(2026, 11, 22, 23, 59, 59, 999e6, time.UTC), time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)},
		"d": {router.Monthly, usd(900), day(11, 1), usd(900), time.Date(2026, 11, 30, 23, 59, 59, 999e6, time.UTC), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)},
		"e": {router.Monthly, usd(900), time.Date(2028, 2, 1, 0, 0, 0, 0, time.UTC), usd(900), time.Date(2028, 2, 29, 12, 0, 0, 0, time.UTC), time.Date(2028, 3, 1, 0, 0, 0, 0, time.UTC)},
	} {
		b := newBench(t)
		r, _ := b.key(t, keys.Key{Limit: &c.limit, Reset: c.reset})
		b.clock.set(c.spent)
		b.spend(t, r.Hash, router.Amount{Credit: c.cost, Total: c.cost})
		for at, left := range map[time.Time]router.USD{c.full: 0, c.empty: c.limit} {
			b.clock.set(at)
			got, err := b.Get(t.Context(), b.admin, r.Hash)
			require.NoError(t, err)
			assert.Equal(t, left, *got.Remaining, "%s at %s", name, at)
			assert.Equal(t, c.limit-left, got.Usage[c.reset].Credit, name)
			assert.Equal(t, c.cost, got.Usage[router.Lifetime].Credit, name)
		}
	}
}

func TestR78cAWeekCrossesTheYear(t *testing.T) {
	b := newBench(t)
	r, _ := b.key(t, keys.Key{Limit: new(usd(500)), Reset: router.Weekly})
	b.clock.set(time.Date(2026, 12, 31, 12, 0, 0, 0, time.UTC))
	b.spend(t, r.Hash, router.Amount{Credit: usd(300), Total: usd(300)})
	b.clock.set(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	got, err := b.Get(t.Context(), b.admin, r.Hash)
	require.NoError(t, err)
	assert.Equal(t, usd(300), got.Usage[router.Weekly].Credit)
	assert.Zero(t, got.Usage[router.Monthly].Credit)
	assert.Zero(t, got.Usage[router.Daily].Credit)
	assert.Equal(t, usd(200), *got.Remaining)
	b.clock.set(time.Date(2027, 1, 4, 0, 0, 0, 0, time.UTC))
	got, err = b.Get(t.Context(), b.admin, r.Hash)
	require.NoError(t, err)
	assert.Zero(t, got.Usage[router.Weekly].Credit)
}

func TestR80AChangeOfResetForgivesNothing(t *testing.T) {
	b := newBench(t)
	r, _ := b.key(t, keys.Key{Limit: new(usd(1000))})
	for at, cost := range map[time.Time]router.USD{
		time.Date(2026, 10, 5, 0, 0, 0, 0, time.UTC):   usd(5800), // ever 100
		time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC):   usd(3300), // this month 42
		time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC):  usd(600),  // this week 9
		time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC): usd(300),
	} {
		b.clock.set(at)
		b.spend(t, r.Hash, router.Amount{Credit: cost, Total: cost})
	}
	b.clock.set(time.Date(2026, 11, 18, 13, 0, 0, 0, time.UTC))
	for reset, left := range map[router.Interval]router.USD{
		router.Daily: usd(700), router.Weekly: usd(100), router.Monthly: 0, router.Lifetime: 0,
	} {
		got := b.patch(t, r.Hash, keys.Patch{Reset: router.To(reset)})
		assert.Equal(t, left, *got.Remaining, reset)
		assert.Equal(t, usd(300), got.Usage[router.Daily].Credit)
		assert.Equal(t, usd(900), got.Usage[router.Weekly].Credit)
		assert.Equal(t, usd(4200), got.Usage[router.Monthly].Credit)
		assert.Equal(t, usd(10000), got.Usage[router.Lifetime].Credit)
	}
}

// budgets returns what Intercept puts on a call of the key.
func (b *bench) budgets(tb testing.TB, hash string) []router.Budget {
	tb.Helper()
	var found []router.Budget
	_, err := b.Intercept(func(_ context.Context, c *router.Call) (*router.Result, error) {
		found = c.Budgets
		return &router.Result{}, nil
	})(tb.Context(), &router.Call{Principal: router.Principal{KeyHash: hash}, Budgets: nil})
	require.NoError(tb, err)
	return found
}

func TestR81ANewLimitActsOnTheNextAdmission(t *testing.T) {
	b := newBench(t)
	r, _ := b.key(t, keys.Key{Limit: new(usd(1000)), Reset: router.Monthly})
	b.spend(t, r.Hash, router.Amount{Credit: usd(600), Total: usd(600)})
	want := router.Budget{
		Check: router.Check{Order: 20, Word: "key_limit"}, Owner: router.OwnerKey, Interval: router.Monthly,
		Refusal: &router.Error{Class: router.PaymentRequired, Message: "Key limit exceeded"},
	}
	for _, step := range []struct {
		name  string
		limit router.USD
		left  router.USD
	}{{"a", usd(400), 0}, {"b", usd(800), usd(200)}, {"d", usd(600), 0}, {"e", 0, 0}} {
		got := b.patch(t, r.Hash, keys.Patch{Limit: router.To(&step.limit)})
		assert.Equal(t, step.left, *got.Remaining, step.name)
		want.Max = step.limit
		assert.Equal(t, []router.Budget{want}, b.budgets(t, r.Hash), step.name)
	}
	got := b.patch(t, r.Hash, keys.Patch{Limit: router.To[*router.USD](nil)})
	assert.Nil(t, got.Remaining, "c")
	assert.Equal(t, router.Monthly, got.Reset, "c: it goes on as before")
	assert.Equal(t, usd(600), got.Usage[router.Monthly].Credit, "c")
	assert.Empty(t, b.budgets(t, r.Hash), "c: never refused")
}

func TestR83fTheSwitchLooksAtTheWholePeriod(t *testing.T) {
	b := newBench(t)
	r, _ := b.key(t, keys.Key{Limit: new(usd(100)), Reset: router.Daily})
	b.spend(t, r.Hash, router.Amount{Credit: usd(40), Total: usd(110)})
	got, err := b.Get(t.Context(), b.admin, r.Hash)
	require.NoError(t, err)
	assert.Equal(t, usd(60), *got.Remaining)
	assert.Equal(t, usd(70), got.Usage[router.Daily].BYOK())
	got = b.patch(t, r.Hash, keys.Patch{IncludeBYOK: router.To(true)})
	assert.Zero(t, *got.Remaining)
	assert.True(t, b.budgets(t, r.Hash)[0].BYOK)
}

// TestUsageIsWhatTheLedgerSays compares every figure of many keys, after any
// history, with the books and with a plain sum.
func TestUsageIsWhatTheLedgerSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t)
		var hashes []string
		for range 3 {
			r, _ := b.key(t, keys.Key{Limit: new(usd(50)), Reset: router.Weekly})
			hashes = append(hashes, r.Hash)
		}
		sums := map[router.Line]router.Amount{}
		for range rapid.IntRange(0, 40).Draw(rt, "n") {
			b.clock.after(time.Duration(rapid.Int64Range(0, int64(60*time.Hour)).Draw(rt, "later")))
			hash := rapid.SampledFrom(hashes).Draw(rt, "key")
			credit := router.USD(rapid.Int64Range(0, 1e9).Draw(rt, "credit"))
			cost := router.Amount{Credit: credit, Total: credit + router.USD(rapid.Int64Range(0, 1e9).Draw(rt, "own"))}
			b.spend(t, hash, cost)
			for i := range router.Daily + 1 {
				line := router.OwnerKey.Line(router.Principal{KeyHash: hash}, i.Window(b.clock.now()))
				sums[line] = router.Amount{Credit: sums[line].Credit + cost.Credit, Total: sums[line].Total + cost.Total}
			}
		}
		list, err := b.List(t.Context(), b.admin, keys.Query{})
		require.NoError(rt, err)
		require.Len(rt, list, len(hashes))
		for _, r := range list {
			for i := range router.Daily + 1 {
				line := router.OwnerKey.Line(router.Principal{KeyHash: r.Hash}, i.Window(b.clock.now()))
				balances, err := b.set.Ledger.Balances(t.Context(), []router.Line{line})
				require.NoError(rt, err)
				require.Equal(rt, balances[0].Spent, r.Usage[i])
				require.Equal(rt, sums[line], r.Usage[i])
			}
			require.Equal(rt, max(usd(50)-r.Usage[router.Weekly].Credit, 0), *r.Remaining)
		}
	})
}
