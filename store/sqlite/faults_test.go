package sqlite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/internal/sqlstore"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/sqlite"
	"github.com/signalbox/signalbox/systemone"
)

const (
	cent  = router.Dollar / 100
	limit = 4 * cent // of the key: the first two calls cost three, one more fits
	calls = 4
)

func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// burning is a service on a database that fails.
type burning struct {
	t       *testing.T
	whole   store.Set // the same database without faults
	managed *signalbox.Service
	failing *failing
	faulty  store.Set
	who     router.Principal // the owner of the key in use
	secret  router.Secret
	told    router.USD // sum of the costs that answers reported
	posted  router.USD // what the account had spent before
}

func newBurning(t *testing.T) *burning {
	t.Helper()
	pool := open(t, ":memory:")
	pool.SetMaxOpenConns(1)
	b := &burning{t: t, failing: &failing{DB: sqlite.DB(pool), n: math.MaxInt}}
	var err error
	b.whole, err = sqlite.New(t.Context(), pool, sqlite.Config{})
	require.NoError(t, err)
	b.faulty = sqlstore.Set(b.failing)
	b.managed = b.service(b.whole)
	_, err = demo.Seed(t.Context(), b.managed)
	require.NoError(t, err)
	return b
}

// service returns a service with two upstreams and cold caches.
func (b *burning) service(set store.Set) *signalbox.Service {
	b.t.Helper()
	first := true
	ant := &routertest.Script{Default: routertest.Step{Do: func(_ context.Context, a router.Attempt) (router.Reply, error) {
		b.within(limit) //nolint:contextcheck // with the test's own context
		if first {      // fails over to the dearer endpoint, so that the hold is raised
			first = false
			return router.Reply{}, routertest.Fail(500, 0)
		}
		return router.Reply{Answers: routertest.Answers(a.Request)}, nil
	}}}
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: routertest.Model, Permaslug: routertest.Model + "-1"}},
		[]router.ProviderInfo{{Slug: "ant", Client: ant}, {Slug: "bee", Client: &routertest.Script{}}},
		[]router.Endpoint{
			{Provider: "ant", Model: routertest.Model, UpstreamModel: "1", Pricing: router.Pricing{Request: cent.Price()}},
			{Provider: "bee", Model: routertest.Model, UpstreamModel: "2", Pricing: router.Pricing{Request: (2 * cent).Price()}},
		},
	)
	require.NoError(b.t, err)
	s, err := signalbox.New(signalbox.Config{Catalog: catalog, Stores: set, SealingKeys: demo.SealingKeys(), Logger: slog.New(slog.DiscardHandler), Now: noon})
	require.NoError(b.t, err)
	return s
}

// begin creates a key with a limit, and lets the n-th operation of a kind fail.
func (b *burning) begin(what fault, n int) {
	b.t.Helper()
	by := demo.Program()
	k, secret, err := b.managed.Keys.Create(b.t.Context(), by, keys.Key{Name: "key", Creator: demo.Member, Limit: new(limit)})
	require.NoError(b.t, err)
	b.who = router.Principal{Account: k.Account, Workspace: k.Workspace, Member: k.Creator, KeyHash: k.Hash}
	b.secret, b.told, b.posted = secret, 0, b.spent(router.OwnerAccount).Spent.Credit
	b.failing.fault, b.failing.n, b.failing.seen = what, n, 0
}

// spent returns the balance of an owner.
func (b *burning) spent(o router.Owner) router.Balance {
	b.t.Helper()
	list, err := b.whole.Ledger.Balances(b.t.Context(), []router.Line{o.Line(b.who, "ever")})
	require.NoError(b.t, err)
	return list[0]
}

// within requires that the limit is kept and that the events add up to what is spent.
func (b *burning) within(limit router.USD) {
	b.t.Helper()
	on := b.spent(router.OwnerKey)
	assert.LessOrEqual(b.t, on.Spent.Credit+on.Held.Credit, limit)
	items, err := b.whole.Activity.Items(b.t.Context(), activity.Range{Account: demo.Account, From: "2026-11-21", To: "2026-11-21"})
	require.NoError(b.t, err)
	sum := router.USD(0)
	for _, item := range items {
		sum += item.Cost.Credit
	}
	assert.Equal(b.t, b.spent(router.OwnerAccount).Spent.Credit, sum)
}

// call makes a call and reports whether it failed because of a fault.
func (b *burning) call(s *signalbox.Service) (failed bool) {
	cheap, err := systemone.DecodePreferences([]byte(`{"sort":"price"}`))
	require.NoError(b.t, err)
	res, err := s.Router.Decide(b.t.Context(), &router.Call{Secret: b.secret, Request: &systemone.Request{
		Model: routertest.Model, State: json.RawMessage(`"x"`), Provider: cheap,
		Questions: []systemone.Question{{Name: "q", Kind: systemone.Noul, Instructions: json.RawMessage(`"?"`)}},
	}})
	if err == nil {
		b.told += res.Cost
		return false
	}
	var told *router.Error
	require.ErrorAs(b.t, err, &told)
	if told.Class == router.PaymentRequired {
		return false
	}
	assert.Equal(b.t, router.Server, told.Class, err)
	assert.ErrorIs(b.t, err, errFault)
	return true
}

// Whatever operation of the database fails: the limit is kept, every answered call is
// charged, a call that is not answered gets an error, and what stays held ends with its
// deadline.
func TestTheNthTimeSomethingFails(t *testing.T) {
	t.Parallel()
	for _, what := range everyFault() {
		t.Run(fmt.Sprintf("%s, for good %t", what.what, what.onward), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { failEverywhere(t, what) }) // fails if a goroutine is left behind
		})
	}
}

func failEverywhere(t *testing.T, what fault) {
	t.Helper()
	b := newBurning(t)
	n := 1
	for ; ; n++ {
		b.begin(what, n)
		failed := b.run()
		if b.failing.seen < n {
			require.False(t, failed)
			assert.Equal(t, limit, b.told, "all went well: two cents, and one, and one")
			break
		}
		switch {
		case what.what == unknown:
			assert.False(t, failed, "%d: what is unknown is found out", n)
		case what.onward:
			assert.True(t, failed, "%d: nothing is answered that is not written", n)
		}
	}
	assert.Greater(t, n, 6, "so many things may fail")
}

// run makes calls while the database fails, and checks what is left of them.
func (b *burning) run() (failed bool) {
	s := b.service(b.faulty)
	for range calls {
		failed = b.call(s) || failed
		b.within(limit)
	}
	b.failing.n = math.MaxInt
	b.failing.onward = false
	_, err := b.whole.Ledger.Expire(b.t.Context(), noon().Add(time.Hour), 100, router.ExpirePost)
	require.NoError(b.t, err)
	b.within(limit)
	on := b.spent(router.OwnerKey)
	assert.Zero(b.t, on.Held)
	assert.GreaterOrEqual(b.t, on.Spent.Credit, b.told, "what was answered is paid")
	assert.Equal(b.t, b.posted+on.Spent.Credit, b.spent(router.OwnerAccount).Spent.Credit)
	return failed
}
