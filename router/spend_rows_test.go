package router_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// spentAt spends an amount on the key's line, and every owner's, at an instant; the
// clock stays where it is.
func (l *till) spentAt(instant string, credit, byok router.USD) {
	l.t.Helper()
	now := l.clock.at
	defer func() { l.clock.at = now }()
	l.clock.at = at(instant)
	l.spend(credit, byok)
}

// R80: every charge and hold counts in all windows; a limit compares one.
func TestLimitChangesItsWindow(t *testing.T) {
	t.Parallel()
	l := newTill(t, "ant", 30*cent)
	l.clock.at = at("2026-11-18T12:00:00Z") // a Wednesday
	l.spentAt("2026-10-18T12:00:00Z", 58*router.Dollar, 0)
	l.spentAt("2026-11-02T12:00:00Z", 33*router.Dollar, 0)
	l.spentAt("2026-11-16T12:00:00Z", 6*router.Dollar, 0)
	l.spend(3*router.Dollar, 0)
	for interval, spent := range map[router.Interval]router.USD{
		router.Daily: 3, router.Weekly: 9, router.Monthly: 42, router.Lifetime: 100,
	} {
		assert.Equal(t, spent*router.Dollar, l.balance(interval).Spent.Credit, interval)
	}
	limit := 10 * router.Dollar
	assert.Equal(t, "Key limit exceeded", l.ask(l.call(keyLimit(limit, router.Monthly))), "R80c")
	assert.Equal(t, "Key limit exceeded", l.ask(l.call(keyLimit(limit, router.Lifetime))), "R80d")

	var dear, fits string // while 0.80 is held from before the change
	l.router.SetCatalog(l.catalog("ant", fee(80*cent)))
	l.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
		ask := func(price router.USD) string {
			l.router.SetCatalog(l.catalog("ant", fee(price)))
			if _, err := l.router.Decide(ctx, l.call(keyLimit(limit, router.Weekly))); err != nil {
				return fault(t, err).Message
			}
			return ""
		}
		dear, fits = ask(30*cent), ask(20*cent)
		return answer(ctx, a)
	}, answer)
	require.Empty(t, l.ask(l.call(keyLimit(limit, router.Daily))), "R80a")
	assert.Equal(t, "Key limit exceeded", dear, "R80e")
	assert.Empty(t, fits, "R80e")
	assert.Equal(t, limit, l.balance(router.Weekly).Spent.Credit, "R80b")

	l.clock.at = at("2026-11-30T23:59:59Z")
	assert.Equal(t, "Key limit exceeded", l.ask(l.call(keyLimit(limit, router.Monthly))), "R80c")
	l.clock.at = at("2026-12-01T00:00:00Z")
	assert.Empty(t, l.ask(l.call(keyLimit(limit, router.Monthly))), "R80c")
}

// R81b, R82a, R83f: exactly what is left fits, and the BYOK switch applies to the
// whole window.
func TestLimitIsInclusive(t *testing.T) {
	t.Parallel()
	raised := newTill(t, "ant", router.Dollar)
	raised.spend(6*router.Dollar, 0)
	assert.Equal(t, "Key limit exceeded", raised.ask(raised.call(keyLimit(4*router.Dollar, router.Lifetime))), "R81a")
	for range 2 {
		assert.Empty(t, raised.ask(raised.call(keyLimit(8*router.Dollar, router.Lifetime))), "R81b")
	}
	assert.Equal(t, "Key limit exceeded", raised.ask(raised.call(keyLimit(8*router.Dollar, router.Lifetime))), "R81b")

	l := newTill(t, "ant", 2*cent)
	l.spend(98*cent, 0)
	limit := keyLimit(router.Dollar, router.Lifetime)
	var second string
	l.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
		l.router.SetCatalog(l.catalog("ant", fee(cent/10)))
		_, err := l.router.Decide(ctx, l.call(limit))
		second = fault(t, err).Message
		return answer(ctx, a)
	}, answer)
	assert.Empty(t, l.ask(l.call(limit)), "R82a")
	assert.Equal(t, "Key limit exceeded", second, "R82a")

	own := newTill(t, "ant", cent)
	own.spend(40*cent, 70*cent)
	switched := limit
	assert.Empty(t, own.ask(own.call(switched)), "R83f, off")
	switched.BYOK = true
	assert.Equal(t, "Key limit exceeded", own.ask(own.call(switched)), "R83f")
}
