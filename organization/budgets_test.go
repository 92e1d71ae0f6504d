package organization_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// usd reads an amount.
func usd(tb testing.TB, text string) router.USD {
	tb.Helper()
	u, err := router.ParseUSD(text)
	require.NoError(tb, err)
	return u
}

// put sets a budget of the default workspace.
func (b *bench) put(tb testing.TB, interval, limit string) error {
	tb.Helper()
	i, ok := router.ParseInterval(interval)
	require.True(tb, ok)
	_, err := b.SetBudget(tb.Context(), b.by, "default", i, usd(tb, limit), router.Update[bool]{})
	return err
}

// sentences lists what err says is wrong.
func sentences(tb testing.TB, err error) []string {
	tb.Helper()
	var invalid *systemone.InvalidError
	require.ErrorAs(tb, err, &invalid)
	var list []string
	for _, issue := range invalid.Issues {
		assert.Equal(tb, "limit_usd", issue.Path)
		list = append(list, issue.Message)
	}
	return list
}

// r85 has budgets of 500 monthly and 50 daily.
func r85(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	require.NoError(t, b.put(t, "monthly", "500"))
	require.NoError(t, b.put(t, "daily", "50"))
	return b
}

func TestR85aBudgetsDecrease(t *testing.T) {
	b := r85(t)
	assert.Equal(t, []string{
		"Budget limits must be strictly decreasing as scope narrows: the monthly limit ($500.00) must be greater than the weekly limit ($600.00).",
	}, sentences(t, b.put(t, "weekly", "600")))
	assert.Len(t, sentences(t, b.put(t, "lifetime", "50")), 2, "every budget that it is at odds with")
}

func TestR85bStrictly(t *testing.T) {
	b := r85(t)
	for _, c := range [][2]string{{"weekly", "500"}, {"weekly", "50"}, {"daily", "500"}} {
		assert.Len(t, sentences(t, b.put(t, c[0], c[1])), 1, c)
	}
}

func TestR85cBelowANarrowerOne(t *testing.T) {
	b := r85(t)
	require.NoError(t, b.put(t, "weekly", "200"))
	assert.Len(t, sentences(t, b.put(t, "monthly", "150")), 1)
}

func TestR85dEveryBudgetThatIsSet(t *testing.T) {
	b := r85(t)
	require.NoError(t, b.DeleteBudget(t.Context(), b.by, "default", router.Monthly))
	require.NoError(t, b.put(t, "lifetime", "900"))
	assert.Len(t, sentences(t, b.put(t, "daily", "900")), 1)
	require.NoError(t, b.put(t, "lifetime", "901"))
	require.NoError(t, b.put(t, "daily", "900"))
}

func TestR85eDeletingABudgetThatIsNotSet(t *testing.T) {
	b := r85(t)
	_, before, err := b.Changes(t.Context(), "acme", 0, 1)
	require.NoError(t, err)
	require.NoError(t, b.DeleteBudget(t.Context(), b.by, "default", router.Weekly))
	_, after, err := b.Changes(t.Context(), "acme", 0, 1)
	require.NoError(t, err)
	assert.Equal(t, before, after)
	require.ErrorIs(t, b.DeleteBudget(t.Context(), b.by, "nowhere", router.Weekly), organization.ErrNotFound)
}

func TestR85fTheSwitchIsTheWorkspaces(t *testing.T) {
	b := r85(t)
	set := func(i router.Interval, limit string, byok router.Update[bool]) organization.Workspace {
		w, err := b.SetBudget(t.Context(), b.by, "default", i, usd(t, limit), byok)
		require.NoError(t, err)
		return w
	}
	assert.True(t, set(router.Daily, "40", router.To(true)).IncludeBYOK)
	assert.True(t, set(router.Monthly, "400", router.Update[bool]{}).IncludeBYOK)
	c, err := call(t, b.Service, b.principal())
	require.NoError(t, err)
	require.Len(t, c.Budgets, 2)
	for _, budget := range c.Budgets {
		assert.True(t, budget.BYOK)
	}
	assert.False(t, set(router.Daily, "40", router.To(false)).IncludeBYOK)
}

func TestBudgetsKeepTheirIdentity(t *testing.T) {
	b := r85(t)
	first, err := b.Workspace(t.Context(), "acme", "default")
	require.NoError(t, err)
	b.pass(1e9)
	require.NoError(t, b.put(t, "daily", "60"))
	second, err := b.Workspace(t.Context(), "acme", "default")
	require.NoError(t, err)
	was, _ := first.Budget(router.Daily)
	is, _ := second.Budget(router.Daily)
	assert.Equal(t, was.ID, is.ID)
	assert.Equal(t, was.CreatedAt, is.CreatedAt)
	assert.Equal(t, noon.Add(1e9), is.UpdatedAt)
	assert.Equal(t, usd(t, "50"), was.Limit, "what was read stays as it was")
	assert.Equal(t, router.Monthly, second.Budgets[0].Interval, "the broadest first")
}

func TestBudgetsHaveBounds(t *testing.T) {
	b := newBench(t)
	for _, limit := range []string{"0", "-1", "9000000000.000000001"} {
		assert.Len(t, sentences(t, b.put(t, "daily", limit)), 1, limit)
	}
	require.NoError(t, b.put(t, "daily", "0.000000001"))
	require.NoError(t, b.put(t, "daily", "9000000000"))
}

// falling says whether w's limits decrease strictly as the interval narrows.
func falling(w organization.Workspace) bool {
	for i := 1; i < len(w.Budgets); i++ {
		if w.Budgets[i].Interval <= w.Budgets[i-1].Interval || w.Budgets[i].Limit >= w.Budgets[i-1].Limit {
			return false
		}
	}
	return true
}

func TestBudgetsDecreaseAfterAnyHistory(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := newBench(t)
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			i := router.Interval(rapid.IntRange(0, 3).Draw(r, "interval"))
			if rapid.IntRange(0, 4).Draw(r, "delete") == 0 {
				require.NoError(r, b.DeleteBudget(t.Context(), b.by, "default", i))
				continue
			}
			limit := router.USD(rapid.IntRange(1, 6).Draw(r, "limit"))
			before, err := b.Workspace(t.Context(), "acme", "default")
			require.NoError(r, err)
			_, err = b.SetBudget(t.Context(), b.by, "default", i, limit, router.Update[bool]{})
			fits := true
			for _, other := range before.Budgets {
				fits = fits && (other.Interval == i || (other.Interval < i) == (other.Limit > limit) && other.Limit != limit)
			}
			require.Equal(r, fits, err == nil)
		}
		w, err := b.Workspace(t.Context(), "acme", "default")
		require.NoError(r, err)
		require.True(r, falling(w))
	})
}

func TestBudgetsDecreaseAlsoWhenTheyRace(t *testing.T) {
	for range 50 {
		b := newBench(t)
		var wg sync.WaitGroup
		for i := range router.Interval(4) {
			for _, limit := range []router.USD{10, 20, 30, 40} {
				wg.Go(func() {
					_, err := b.SetBudget(t.Context(), b.by, "default", i, limit, router.Update[bool]{})
					if err != nil {
						var invalid *systemone.InvalidError
						assert.ErrorAs(t, err, &invalid)
					}
				})
			}
		}
		wg.Wait()
		w, err := b.Workspace(t.Context(), "acme", "default")
		require.NoError(t, err)
		require.True(t, falling(w), "%+v", w.Budgets)
	}
}
