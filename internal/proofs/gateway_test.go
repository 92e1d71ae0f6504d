package proofs

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/systemone"
)

const cent = router.Dollar / 100

// world is storage that two programs share, with an account that has spent nothing yet.
type world struct {
	engine

	t       *testing.T
	account string
	clock   atomic.Int64 // minutes since noon
}

func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func (w *world) now() time.Time { return noon().Add(time.Duration(w.clock.Load()) * time.Minute) }

// who returns a principal of the account with a new key and a new member.
func (w *world) who() router.Principal {
	return router.Principal{Account: w.account, Workspace: w.account + "'s", Member: "ann", KeyHash: w.account + "'s key"}
}

func (w *world) line(o router.Owner, i router.Interval) router.Line {
	return o.Line(w.who(), i.Window(w.now()))
}

// stands returns the balance of the account for all time.
func (w *world) stands() router.Balance {
	w.t.Helper()
	return w.on(w.line(router.OwnerAccount, router.Lifetime))
}

func (w *world) on(line router.Line) router.Balance {
	w.t.Helper()
	list, err := w.other.Ledger.Balances(w.t.Context(), []router.Line{line})
	require.NoError(w.t, err)
	return list[0]
}

// used sums up the activity of the account.
func (w *world) used() (sum activity.Item) {
	w.t.Helper()
	items, err := w.one.Activity.Items(w.t.Context(), activity.Range{Account: w.account, From: "2026-01-01", To: "2027-12-31"})
	require.NoError(w.t, err)
	for _, item := range items {
		sum.Add(item)
	}
	return sum
}

// spent requires that ledger and activity show this amount of credits as spent, and
// that nothing is held.
func (w *world) spent(want router.USD) {
	w.t.Helper()
	amount := router.Amount{Credit: want, Total: want}
	assert.Equal(w.t, router.Balance{Spent: amount}, w.stands())
	assert.Equal(w.t, amount, w.used().Cost)
}

// gateway is a router with one model on two endpoints, of which the second is dearer,
// and with budgets on every call.
type gateway struct {
	*world

	router   *router.Router
	ant, bee *routertest.Script
}

func (w *world) gateway(set store.Set, ant, bee router.Pricing, budgets ...router.Budget) *gateway {
	w.t.Helper()
	g := &gateway{world: w, ant: &routertest.Script{}, bee: &routertest.Script{}}
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: routertest.Model, Permaslug: routertest.Model + "-1"}},
		[]router.ProviderInfo{{Slug: "ant", Client: g.ant}, {Slug: "bee", Client: g.bee}},
		[]router.Endpoint{
			{Provider: "ant", Model: routertest.Model, UpstreamModel: "1", Pricing: ant},
			{Provider: "bee", Model: routertest.Model, UpstreamModel: "2", Pricing: bee},
		},
	)
	require.NoError(w.t, err)
	limit := func(next router.Decider) router.Decider {
		return func(ctx context.Context, c *router.Call) (*router.Result, error) {
			c.Budgets = append(c.Budgets, budgets...)
			return next(ctx, c)
		}
	}
	g.router, err = router.New(router.Config{
		Catalog: catalog, Ledger: set.Ledger, Interceptors: []router.Interceptor{limit}, Now: w.now,
	})
	require.NoError(w.t, err)
	return g
}

func fee(price router.USD) router.Pricing { return router.Pricing{Request: price.Price()} }

// The checks that the policies of this module name in their budgets.
var (
	creditCheck    = router.Check{Order: 10, Word: "credits"}
	keyCheck       = router.Check{Order: 20, Word: "key_limit"}
	workspaceCheck = router.Check{Order: 30, Word: "workspace_budget"}
	guardrailCheck = router.Check{Order: 40, Word: "guardrail_budget"}
)

func budget(c router.Check, o router.Owner, i router.Interval, most router.USD) router.Budget {
	return router.Budget{Check: c, Owner: o, Interval: i, Max: most}
}

// keyLimit is a limit on the key.
func keyLimit(most router.USD) router.Budget {
	return budget(keyCheck, router.OwnerKey, router.Lifetime, most)
}

// ask makes a call with a state and reports whether it was answered. It requires that
// any other call was refused for a limit.
func (g *gateway) ask(state string) bool {
	g.t.Helper()
	_, err := g.call(g.t.Context(), state)
	if err == nil {
		return true
	}
	refused, ok := errors.AsType[*router.Error](err)
	if assert.True(g.t, ok, err) {
		assert.Contains(g.t, []router.Class{router.PaymentRequired, router.PermissionDenied}, refused.Class, err)
	}
	return false
}

func (g *gateway) call(ctx context.Context, state string) (*router.Result, error) {
	text, err := json.Marshal(state)
	require.NoError(g.t, err)
	cheap, err := systemone.DecodePreferences([]byte(`{"sort":"price"}`))
	require.NoError(g.t, err)
	return g.router.Decide(ctx, &router.Call{Principal: g.who(), Request: &systemone.Request{
		Model: routertest.Model, State: text, Provider: cheap,
		Questions: []systemone.Question{{Name: "q", Kind: systemone.Noul, Instructions: json.RawMessage(`"?"`)}},
	}})
}

// crowd makes n calls at once, on these gateways in turn, and returns how many were
// answered.
func crowd(n int, gateways ...*gateway) int64 {
	var answered atomic.Int64
	var all sync.WaitGroup
	for i := range n {
		g := gateways[i%len(gateways)]
		all.Go(func() {
			if g.ask("x") {
				answered.Add(1)
			}
		})
	}
	all.Wait()
	return answered.Load()
}

// does returns a step of an upstream that calls look before it answers, with a usage.
func does(look func(), usage systemone.Usage) routertest.Step {
	return routertest.Step{Do: func(_ context.Context, a router.Attempt) (router.Reply, error) {
		look()
		return router.Reply{Answers: routertest.Answers(a.Request), Usage: usage, Model: a.Model}, nil
	}}
}

func failing() routertest.Step {
	return routertest.Step{Err: routertest.Fail(http.StatusInternalServerError, 0)}
}
