package organization_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

func TestAnAccountSpendsWithoutALimitUntilItIsPaidInto(t *testing.T) {
	b := newBench(t)
	c, err := call(t, b.Service, b.principal())
	require.NoError(t, err)
	assert.Empty(t, c.Budgets)
	a, err := b.TopUp(t.Context(), b.by, "p1", 5*router.Dollar)
	require.NoError(t, err)
	assert.True(t, a.Prepaid)
	_, err = b.TopUp(t.Context(), b.by, "p2", usd(t, "0.5"))
	require.NoError(t, err)
	c, err = call(t, b.Service, b.principal())
	require.NoError(t, err)
	assert.Equal(t, []router.Budget{{
		Check: router.Check{Order: 10, Word: "credits"}, Owner: router.OwnerAccount, Interval: router.Lifetime, Max: usd(t, "5.5"),
		Refusal: &router.Error{Class: router.PaymentRequired, Message: "Insufficient credits"},
	}}, c.Budgets)
	_, err = b.UpdateAccount(t.Context(), b.by, organization.AccountUpdate{Prepaid: router.To(false)})
	require.NoError(t, err)
	c, err = call(t, b.Service, b.principal())
	require.NoError(t, err)
	assert.Empty(t, c.Budgets)
	_, err = b.UpdateAccount(t.Context(), b.by, organization.AccountUpdate{Prepaid: router.To(true)})
	require.NoError(t, err)
	c, err = call(t, b.Service, b.principal())
	require.NoError(t, err)
	assert.Equal(t, usd(t, "5.5"), c.Budgets[0].Max)
}

func TestAPaymentCountsOnce(t *testing.T) {
	b := newBench(t)
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			_, err := b.TopUp(t.Context(), b.by, "p"+strconv.Itoa(i%6), router.Dollar)
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	got, err := b.Credits(t.Context(), "acme")
	require.NoError(t, err)
	assert.Equal(t, 6*router.Dollar, got.Total)
	_, err = b.TopUp(t.Context(), b.by, "p0", 2*router.Dollar)
	assert.Equal(t, []string{"payment"}, paths(t, err), "another amount")
}

func TestTopUpRefusesBadValues(t *testing.T) {
	b := newBench(t)
	for _, amount := range []router.USD{0, -1, 9_000_000_000*router.Dollar + 1} {
		_, err := b.TopUp(t.Context(), b.by, "", amount)
		assert.Equal(t, []string{"payment", "amount"}, paths(t, err))
	}
	_, err := b.TopUp(t.Context(), b.by, "all", 9_000_000_000*router.Dollar)
	require.NoError(t, err)
	_, err = b.TopUp(t.Context(), b.by, "more", 1)
	assert.Equal(t, []string{"amount"}, paths(t, err))
	_, err = b.TopUp(t.Context(), router.Actor{Principal: router.Principal{Account: "nobody"}}, "p", 1)
	require.ErrorIs(t, err, organization.ErrNotFound)
}

func TestCreditsShowWhatWasCharged(t *testing.T) {
	b := newBench(t)
	b.books[router.Line{Owner: "account:acme", Window: "ever"}] = router.Balance{
		Spent: router.Amount{Credit: 3, Total: 10}, Held: router.Amount{Credit: 7, Total: 7},
	}
	got, err := b.Credits(t.Context(), "acme")
	require.NoError(t, err)
	assert.Equal(t, organization.Credits{Used: 3}, got, "neither holds nor the caller's own credentials")
	_, err = b.Credits(t.Context(), "nobody")
	require.ErrorIs(t, err, organization.ErrNotFound)
}
