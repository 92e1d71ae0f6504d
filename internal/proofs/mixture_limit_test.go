package proofs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// few returns n, or all in the long variant.
func few(n, all int) int {
	if full() {
		return all
	}
	return n
}

// drawTale draws a request, its usages, and what goes wrong.
func drawTale(draw *rand.Rand, tokens int64) *tale {
	requests := mixedRequests()
	t := &tale{mixed: requests[draw.IntN(len(requests))], draw: rand.New(rand.NewPCG(draw.Uint64(), 0)), tokens: tokens}
	if t.failing == "" {
		t.failing = []string{"", "", "ant", "ant/", "bee", "cat", "dog"}[draw.IntN(7)]
	}
	if draw.IntN(4) == 0 {
		t.moments.n, t.moments.what = 1+draw.IntN(20), []action{hangsUp, fails}[draw.IntN(2)]
	}
	if draw.IntN(3) == 0 { // a session pins what has answered, where the request does not sort
		plain := t.request
		t.request = func() *systemone.Request {
			q := plain()
			q.SessionID, q.Provider = "session", nil
			return q
		}
	}
	return t
}

// Calls of every kind, all at once, in processes of which most are killed at random
// moments, never pass a limit, not even for an instant. Each charge is one event. When
// the holds of the killed processes have expired, the ledger, activity and the replies
// show the same money.
func TestNoMixturePassesALimit(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, e engine) {
		t.Helper()
		draw := rand.New(rand.NewPCG(seedOf(t), 0))
		calls := few(150, 1000)
		limit := router.USD(calls) * 3 * cent
		w := &world{engine: e, t: t, account: "acme"}
		ledgers, processes := make([]eventful, 8), make([]*mixture, 8)
		for i := range processes {
			var until *life
			if i >= 2 {
				until = mortal(draw.Int64N(int64(calls)), draw.IntN(2) == 0)
			}
			if ledgers[i] = newEventful(t, e.one.Ledger, until); i%2 == 1 {
				ledgers[i] = newEventful(t, e.other.Ledger, until)
			}
			ledgers[i].account = ledgers[0].account
			own := budget(guardrailCheck, router.OwnerMember, router.Daily, limit+2*cent)
			own.BYOK = true
			processes[i] = w.mixture(ledgers[i], keyLimit(limit), budget(creditCheck, router.OwnerAccount, router.Monthly, limit+cent), own)
		}
		var all sync.WaitGroup
		for i := range calls {
			happens, key := drawTale(draw, 5), draw.IntN(4) == 0
			all.Go(func() {
				o := processes[i%8].tell(happens, func(c *router.Call) {
					if key && i%8 < 2 { // those of a killed process wait until its claims end
						c.Idempotency = &router.Idempotency{Key: fmt.Sprint("key-", happens.name)}
					}
				})
				o.honestAmongKilled(t, i%8 >= 2)
			})
		}
		done := make(chan struct{})
		go func() { defer close(done); all.Wait() }()
		for watching := true; watching; {
			select {
			case <-done:
				watching = false
			case <-time.After(5 * time.Millisecond):
			}
			b := w.stands()
			assert.LessOrEqual(t, b.Spent.Credit+b.Held.Credit, limit)
			assert.LessOrEqual(t, b.Spent.Total+b.Held.Total, limit+2*cent)
		}
		w.afterKills(t, ledgers[0].account, limit)
	})
}

// honestAmongKilled is honest of a call whose process may have been killed.
func (o *told) honestAmongKilled(t *testing.T, mortal bool) {
	t.Helper()
	if mortal && o.err != nil {
		return
	}
	o.honest(t)
	assert.Nil(t, o.call.Report.Overrun)
}

// afterKills lets all holds expire and requires that nobody's books differ.
func (w *world) afterKills(t *testing.T, a *account, limit router.USD) {
	t.Helper()
	spent, open := a.sum()
	w.clock.Add(60)
	expired, err := w.other.Ledger.Expire(context.WithoutCancel(t.Context()), w.now(), 10_000, router.ExpirePost)
	require.NoError(t, err)
	assert.Equal(t, open, expired)
	assert.Equal(t, router.Balance{Spent: spent}, w.stands())
	assert.Equal(t, spent, w.used().Cost)
	assert.LessOrEqual(t, spent.Credit, limit)
	t.Logf("%s of %s spent, %d holds expired", spent.Credit, limit, expired)
	if w.verify != nil {
		w.verify(t)
	}
}

// A request's max_cost is never passed, whatever its upstreams count, but by attempts
// that were sent before and cost more than was held for them. These are reported. Once
// the costs have reached max_cost nothing more is sent. A dry run sends and costs
// nothing.
func TestMaxCostIsNeverPassed(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, e engine) {
		t.Helper()
		draw := rand.New(rand.NewPCG(seedOf(t), 0))
		w := &world{engine: e, t: t, account: "acme"}
		m := w.mixture(newEventful(t, e.one.Ledger, nil))
		n := few(40, 400)
		if e.verify == nil {
			n = few(1500, 30_000)
		}
		overruns, refused := int64(0), 0
		for range n {
			tokens := []int64{5, 100_000}[draw.IntN(2)]
			happens := drawTale(draw, tokens)
			most := router.USD(draw.Int64N(14)) * cent
			limited := func(c *router.Call) { c.Request.Routing = &systemone.Routing{MaxCost: most.String()} }
			dry := m.tell(&tale{mixed: happens.mixed}, limited, func(c *router.Call) { c.DryRun = true })
			assert.Empty(t, dry.asked, "a dry run sends nothing")
			o := m.tell(happens, limited)
			charged := o.honest(t).Credit
			over := o.call.Report.Overrun
			switch {
			case charged > most:
				require.NotNil(t, over)
				assert.Equal(t, charged, over.Cost.Credit)
				assert.Greater(t, tokens, int64(5), "no upstream counted too much")
			case tokens == 5:
				assert.Nil(t, over)
			}
			if over != nil {
				overruns++
			}
			o.sentWithin(t, most)
			if o.err != nil && len(o.asked) == 0 && happens.moments.name == "" {
				assert.Equal(t, router.PaymentRequired, classOf(t, o.err))
				require.ErrorContains(t, o.err, "Request cost limit exceeded")
				refused++
			}
			if t.Failed() {
				t.Fatalf("%s, failing %q, max_cost %s, %s at %s: %v", happens.name, happens.failing, most, happens.moments.what, happens.moments.name, o.err)
			}
		}
		counted, _ := m.router.Overruns()
		assert.Equal(t, overruns, counted)
		assert.Positive(t, refused)
		assert.Positive(t, overruns)
		assert.Zero(t, w.stands().Held)
		assert.Equal(t, w.stands().Spent, w.used().Cost)
	})
}

// sentWithin requires that nothing was sent that costs something when the answers
// before it had cost as much as a call may.
func (o *told) sentWithin(t *testing.T, most router.USD) {
	t.Helper()
	for _, l := range o.call.Report.Legs {
		if l.Reason == router.LegSplit {
			return // an answer may arrive while another sheet is sent
		}
	}
	for _, before := range o.started {
		assert.Less(t, before, most)
	}
}

// Each call is killed at each of its changes of the ledger, before and after it. Expiry
// closes its hold with one event. A retry with the same idempotency key, at another
// process, is charged as if there had been one call.
func TestACallKilledAtEachLedgerCall(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, e engine) {
		t.Helper()
		step := 3
		if e.verify == nil {
			step = 1
		}
		for i, q := range mixedRequests() {
			for _, key := range []bool{false, true} {
				w := &world{engine: e, t: t, account: fmt.Sprint("acme-", i, key)}
				w.killEach(t, q, key, few(step, 1))
			}
		}
		if e.verify != nil {
			e.verify(t)
		}
	})
}

func (w *world) killEach(t *testing.T, q mixed, key bool, step int) {
	t.Helper()
	var spent router.Amount
	for n, died := 1, true; died && !t.Failed(); n += step {
		for _, after := range []bool{false, true} {
			until := mortal(int64(n), after)
			ledger := newEventful(t, w.one.Ledger, until)
			edit := func(c *router.Call) {
				if key {
					c.Idempotency = &router.Idempotency{Key: fmt.Sprint(n, after)}
				}
			}
			w.mixture(ledger).tell(&tale{mixed: q}, edit)
			died = until.changes.Load() <= 0
			charged, open := ledger.account.sum()
			w.clock.Add(60)
			expired, err := w.other.Ledger.Expire(t.Context(), w.now(), 10, router.ExpirePost)
			require.NoError(t, err)
			assert.Equal(t, open, expired)
			if key {
				heir := w.mixture(newEventful(t, w.other.Ledger, nil)).tell(&tale{mixed: q}, edit)
				paid := heir.honest(t)
				if heir.call.Report.Replayed {
					paid = charged
				} else if charged.Total > 0 && open == 0 {
					t.Errorf("%s is charged again", q.name)
				}
				charged = paid
			}
			spent.Credit += charged.Credit
			spent.Total += charged.Total
			assert.Equal(t, router.Balance{Spent: spent}, w.stands(), "%s killed at change %d, after %t, key %t", q.name, n, after, key)
			assert.Equal(t, spent, w.used().Cost)
		}
	}
}
