package proofs

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/lease"
	"github.com/signalbox/signalbox/systemone"
)

// A limit, and max_cost, leave room for a stage where they leave room for the costs of
// the stages before it and for the most that it may cost itself. A nano-dollar less
// keeps the first answers.
func TestAStageThatFitsIsAsked(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, e engine) {
		t.Helper()
		for _, q := range mixedRequests() {
			if q.name != "stage" && q.name != "free behind" && q.name != "free" && q.name != "last resort" {
				continue
			}
			w := &world{engine: e, t: t, account: q.name}
			m := w.mixture(e.one.Ledger)
			dry := m.tell(&tale{mixed: q}, func(c *router.Call) { c.DryRun = true })
			calm := m.tell(&tale{mixed: q})
			calm.honest(t)
			// Every leg of the call is of a group of its own.
			need, cost := router.USD(0), router.USD(0)
			for _, l := range calm.call.Report.Legs {
				last := len(l.Attempts) - 1
				planned := dry.call.Report.Legs[l.Group]
				for i, c := range planned.Plan.Candidates {
					if c.Endpoint == l.Attempts[last].Endpoint {
						need = max(need, cost+planned.Bounds[i].Max.Credit)
					}
				}
				cost += l.Attempts[last].Cost
			}
			for _, less := range []router.USD{0, cent} {
				capped := m.tell(&tale{mixed: q}, func(c *router.Call) {
					c.Request.Routing = &systemone.Routing{MaxCost: (need - less).String()}
				})
				w.account = q.name + less.String() // a new key
				limited := w.mixture(e.one.Ledger, keyLimit(need-less)).tell(&tale{mixed: q})
				for _, o := range []*told{capped, limited} {
					o.honest(t)
					kept := slices.ContainsFunc(o.call.Report.Legs, func(l *router.Leg) bool { return l.Kept == router.KeptBudget })
					assert.Equal(t, less > 0, kept, "%s at %s", q.name, need-less)
				}
				w.account = q.name
			}
		}
	})
}

// Calls of every kind, all at once, in processes that lease slices of the budget, never
// pass it. When all slices are given back, nothing is held.
func TestNoMixturePassesALeasedLimit(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) engine{"SQLite": inSQLite, "PostgreSQL": inPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			draw := rand.New(rand.NewPCG(seedOf(t), 0))
			calls := few(80, 1000)
			limit := router.USD(calls) * 3 * cent
			w := &world{engine: open(t), t: t, account: "acme"}
			ledgers, processes := make([]*lease.Ledger, 4), make([]*mixture, 4)
			for i := range processes {
				var err error
				ledgers[i], err = lease.New(lease.Config{Ledger: []router.Ledger{w.one.Ledger, w.other.Ledger}[i%2]})
				require.NoError(t, err)
				processes[i] = w.mixture(ledgers[i], keyLimit(limit))
			}
			var all sync.WaitGroup
			var mu sync.Mutex
			var spent router.Amount
			for i := range calls {
				happens := drawTale(draw, 5)
				all.Go(func() {
					charged := processes[i%4].tell(happens).honest(t)
					mu.Lock()
					defer mu.Unlock()
					spent.Credit += charged.Credit
					spent.Total += charged.Total
				})
			}
			all.Wait()
			assert.LessOrEqual(t, spent.Credit, limit)
			for _, l := range ledgers {
				require.NoError(t, l.Close(t.Context()))
			}
			assert.Equal(t, router.Balance{Spent: spent}, w.stands())
			assert.Equal(t, spent, w.used().Cost)
			w.verify(t)
		})
	}
}

// changing is a ledger that finds the limits of each first hold old.
type changing struct {
	eventful

	told *bool
}

func (l changing) Reserve(ctx context.Context, h router.Hold) error {
	if len(h.Versions) > 0 && !*l.told {
		*l.told = true
		return &router.StaleError{Versions: []int{0}}
	}
	return l.eventful.Reserve(ctx, h)
}

// A limit that is lowered while a free first stage answers keeps its answers: the
// second stage is held under the lowered limit. A raised one lets it be asked.
func TestALimitChangesBetweenStages(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, e engine) {
		t.Helper()
		for _, after := range []router.USD{cent, router.Dollar} {
			w := &world{engine: e, t: t, account: "acme" + after.String()}
			m := w.mixture(changing{newEventful(t, e.one.Ledger, nil), new(bool)})
			version := []router.Version{{Line: router.OwnerKey.Line(w.who(), router.Lifetime.Window(w.now())), N: 1}}
			var q mixed
			for _, q = range mixedRequests() {
				if q.name == "free" {
					break
				}
			}
			o := m.tell(&tale{mixed: q}, func(c *router.Call) {
				c.Limit(&router.Limits{
					Budgets: []router.Budget{keyLimit(router.Dollar + cent - after)}, Versions: version,
					Again: func(context.Context) (*router.Limits, error) {
						return &router.Limits{Budgets: []router.Budget{keyLimit(after)}, Versions: version}, nil
					},
				})
			})
			charged := o.honest(t)
			require.NoError(t, o.err)
			assert.Equal(t, after == router.Dollar, o.asked["cat"] == 1)
			assert.Equal(t, router.Balance{Spent: charged}, w.stands())
		}
	})
}
