package router_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
)

// TestRefusalSaysWhatCanBeAfforded: beside its documented sentence, and by the
// limit that refused.
func TestRefusalSaysWhatCanBeAfforded(t *testing.T) {
	t.Parallel()
	prompt, completion := router.BoundOf(decision(""))
	pricing := router.Pricing{Prompt: router.Dollars("1"), Completion: router.Dollars("1"), Request: router.Dollars("0.000001")}
	most := pricing.Bound(prompt, completion)
	said := func(left router.USD) string {
		return fmt.Sprintf("may cost up to %s USD for %d prompt tokens at ant, and the limit leaves %s USD", most, prompt, left)
	}
	for name, c := range map[string]struct {
		limit, spent router.USD
		want         string
	}{
		"some":      {most - 1, 0, said(most-1) + fmt.Sprintf(": enough for %d prompt tokens", prompt-1)},
		"less":      {most, 2000, said(most-2000) + fmt.Sprintf(": enough for %d prompt tokens", prompt-2)},
		"too few":   {pricing.Bound(0, completion), 0, said(pricing.Bound(0, completion))},
		"none":      {0, 0, said(0)},
		"overdrawn": {cent, router.Dollar, said(0)},
	} {
		l := newTill(t, "ant", 0)
		l.router.SetCatalog(l.catalog("ant", func(e *router.Endpoint) { e.Pricing = pricing }))
		l.spend(c.spent, 0)
		for _, check := range []router.Check{keyCheck, workspaceCheck} {
			budget := keyLimit(c.limit, router.Lifetime)
			budget.Check = check
			budget.Refusal = nil
			_, err := l.router.Decide(t.Context(), l.call(budget))
			e := fault(t, err)
			require.Len(t, e.Issues, 1, name)
			assert.Equal(t, c.want, e.Issues[0].Message, name)
			assert.Empty(t, e.Issues[0].Path, name)
			assert.Empty(t, errKeyLimit.Issues, "what the policy gave is as it was")
		}
	}
}

// TestRefusalCountsOwnHold: what the call already holds is available to the next
// candidate.
func TestRefusalCountsOwnHold(t *testing.T) {
	t.Parallel()
	l := newTill(t, "ant bee", cent, 5*cent)
	l.upstreams["ant"].will(func(context.Context, router.Attempt) (router.Reply, error) { return router.Reply{}, router.ErrNotSent })
	_, err := l.router.Decide(t.Context(), l.call(keyLimit(3*cent, router.Lifetime)))
	assert.Contains(t, fault(t, err).Issues[0].Message, "may cost up to 0.05 USD")
	assert.Contains(t, fault(t, err).Issues[0].Message, "leaves 0.03 USD")
}

// TestAffordedFits: the number of tokens in a refusal fits, and one token more does
// not.
func TestAffordedFits(t *testing.T) {
	t.Parallel()
	number := regexp.MustCompile(`enough for ([0-9]+) prompt tokens$`)
	rapid.Check(t, func(draw *rapid.T) {
		price := router.USD(rapid.Int64Range(1, 1<<50).Draw(draw, "price"))
		pricing := router.Pricing{Prompt: price.Price(), Completion: (price / 3).Price(), Request: (price / 1_000_000).Price()}
		prompt, completion := router.BoundOf(decision(""))
		most := pricing.Bound(prompt, completion)
		left := router.USD(rapid.Int64Range(0, int64(most)-1).Draw(draw, "left"))
		l := newTill(t, "ant", 0)
		l.router.SetCatalog(l.catalog("ant", func(e *router.Endpoint) { e.Pricing = pricing }))
		_, err := l.router.Decide(t.Context(), l.call(keyLimit(left, router.Lifetime)))
		found := number.FindStringSubmatch(fault(t, err).Issues[0].Message)
		if found == nil {
			require.Greater(draw, pricing.Bound(1, completion), left)
			return
		}
		n, err := strconv.ParseInt(found[1], 10, 64)
		require.NoError(draw, err)
		require.LessOrEqual(draw, pricing.Bound(n, completion), left)
		require.Greater(draw, pricing.Bound(n+1, completion), left)
	})
}
