package proofs

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// paid is what callers were charged for upstream replies.
type paid struct {
	mu      sync.Mutex
	all     router.Amount
	replies map[string]*shares
}

// shares is what the callers of one reply were charged.
type shares struct {
	cost        router.USD
	billed, all int
}

func (p *paid) add(o *told, charged router.Amount) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all.Credit += charged.Credit
	p.all.Total += charged.Total
	for rec := range o.call.Report.Attempts() {
		if rec.UpstreamID == "" {
			continue
		}
		s := p.replies[rec.UpstreamID]
		if s == nil {
			s = &shares{}
			p.replies[rec.UpstreamID] = s
		}
		s.all = max(rec.Sharers, 1)
		if rec.Billed {
			s.billed++
			s.cost += rec.Cost
		}
	}
}

// Callers of every kind of request share upstream calls, and some remembered answers. They never pass a limit, and
// the ledger, activity and replies show the same money. Who pays for a reply pay together
// what its upstream reported; where some hang up or fail, the others pay no more.
func TestSharedCallsCostWhatTheirUpstreamReported(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, e engine) {
		t.Helper()
		for _, hangUps := range []bool{false, true} {
			draw := rand.New(rand.NewPCG(seedOf(t), 0))
			calls := few(80, 1000)
			w := &world{engine: e, t: t, account: fmt.Sprint("acme-", hangUps)}
			limit := router.USD(calls) * 2 * cent
			ledger := newEventful(t, e.one.Ledger, nil)
			m := w.mixtureOf(router.Config{Ledger: ledger, Share: true, Remember: &router.Remembering{}}, budget(creditCheck, router.OwnerAccount, router.Lifetime, limit))
			sum := &paid{replies: map[string]*shares{}}
			var all sync.WaitGroup
			for i := range calls {
				happens := drawTale(draw, 5)
				happens.shares, happens.draw = true, nil
				if !hangUps {
					happens.moments = moments{}
				}
				all.Go(func() {
					o := m.tell(happens, func(c *router.Call) {
						c.Principal.KeyHash = fmt.Sprint(w.account, i%7)
						if i%3 == 0 { // a third asks only what is not remembered
							c.Request.Routing = &systemone.Routing{Remember: systemone.RememberWrite}
						}
					})
					sum.add(o, o.honest(t))
				})
			}
			all.Wait()
			w.shared(m, sum, limit, hangUps)
		}
		if e.verify != nil {
			e.verify(t)
		}
	})
}

// shared requires what callers have paid together.
func (w *world) shared(m *mixture, sum *paid, limit router.USD, hangUps bool) {
	w.t.Helper()
	assert.Equal(w.t, router.Balance{Spent: sum.all}, w.stands())
	assert.Equal(w.t, sum.all, w.used().Cost)
	assert.LessOrEqual(w.t, sum.all.Credit, limit)
	most := 0
	for id, s := range sum.replies {
		cost, ok := m.gave.costs[id]
		require.True(w.t, ok)
		most = max(most, s.billed)
		if s.billed == s.all && !hangUps && s.cost != 0 {
			assert.Equal(w.t, cost, s.cost, "%s, of %d callers", id, s.all)
		}
		assert.LessOrEqual(w.t, s.cost, cost, id)
	}
	assert.Greater(w.t, most, 1, "something was shared")
}
