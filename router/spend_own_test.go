package router_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// own makes a call with the caller's own account at bee.
func (l *till) own(budgets ...router.Budget) *router.Call {
	c := l.call(budgets...)
	c.Credentials = []router.Credential{{ID: uuid.UUID{1}, Provider: "bee", Secret: "sk-own"}}
	return c
}

// R59b: with an own credential nothing is charged and the list price is counted.
func TestOwnCredentialIsNotCharged(t *testing.T) {
	t.Parallel()
	l := newTill(t, "ant bee", cent, 50*cent)
	c := l.own(router.Budget{Check: creditCheck, Owner: router.OwnerAccount, Refusal: errCredits})
	res, err := l.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.Zero(t, res.Cost)
	assert.Equal(t, "0", string(res.Response.Usage.Cost))
	assert.Equal(t, 50*cent, c.Report.Legs[0].Attempts[0].OwnCost)
	assert.Equal(t, router.Secret("sk-own"), l.upstreams["bee"].attempts()[0].Credential)
	want := router.Amount{Total: 50 * cent}
	assert.Equal(t, router.Balance{Spent: want}, l.balance(router.Lifetime))
	assert.Equal(t, want, c.Events(res)[0].Cost)
}

// R59c, R59d: shared candidates need credits, and the reply describes the attempts
// made.
func TestOwnCredentialFails(t *testing.T) {
	t.Parallel()
	l := newTill(t, "ant bee cat", cent)
	credits := router.Budget{Check: creditCheck, Owner: router.OwnerAccount, Refusal: errCredits}
	l.upstreams["bee"].will(fails(t, "429"))
	c := l.own(credits)
	assert.Equal(t, "rate_limit_exceeded", l.ask(c))
	assert.Len(t, c.Report.Legs[0].Skipped, 3)
	assert.Equal(t, "credits", c.Report.Legs[0].Skipped[0].Check.String())
	assert.Equal(t, "Insufficient credits", l.ask(l.call(credits)), "R59d")
}

// R77d: a caller's own account that is refused does not count against the endpoint.
func TestOwnCredentialRefused(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"401", "402", "403", "404", "429(7)"} {
		l := newTill(t, "bee", cent)
		bee := l.endpoint(0).ID
		for range 100 {
			l.upstreams["bee"].will(fails(t, status), answer)
			c := l.own()
			require.Empty(t, l.ask(c))
			require.Len(t, c.Report.Legs[0].Attempts, 2)
			assert.NotNil(t, c.Report.Legs[0].Attempts[0].Credential)
			assert.Nil(t, c.Report.Legs[0].Attempts[1].Credential)
		}
		assert.False(t, l.router.StatsOf(bee).Outage, status)
		up := l.router.Health(bee).Uptime5m
		require.NotNil(t, up)
		assert.InDelta(t, 100, *up, 0, status)
	}
}

// R83d, R83e: own credentials count where the limit includes them.
func TestOwnCredentialsUnderALimit(t *testing.T) {
	t.Parallel()
	l := newTill(t, "ant bee", cent)
	l.spend(50*cent, 50*cent)
	limit := keyLimit(50*cent, router.Lifetime)
	l.upstreams["bee"].will(fails(t, "500"))
	c := l.own(limit)
	assert.Equal(t, "provider_unavailable", l.ask(c), "R83d")
	assert.Equal(t, "bee", asked(c))
	require.Len(t, c.Report.Legs[0].Skipped, 2)
	limit.Max, limit.BYOK = router.Dollar, true
	assert.Equal(t, "Key limit exceeded", l.ask(l.own(limit)), "R83e")
}
