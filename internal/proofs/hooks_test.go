package proofs

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/hooks"
	"github.com/signalbox/signalbox/store"
)

// Six processes on one database spend one budget at once. Each alert is delivered once.
func TestProcessesDeliverEachAlertOnce(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, e engine) {
		t.Helper()
		const calls = 20 // of each process
		alerts := make(chan hooks.Event, 100)
		ann := router.Principal{Account: "acme", Workspace: "w", Member: "ann", KeyHash: "k"}
		budget := router.Budget{Check: router.Check{Order: 20, Word: "key_limit"}, Owner: router.OwnerKey, Max: 6 * calls * cent}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var processes, spending sync.WaitGroup
		for n := range 6 {
			set := []store.Set{e.one, e.other}[n%2]
			h, err := hooks.New(hooks.Config{
				Receivers: []hooks.Receiver{{Handler: hooks.Funcs{Budget: func(_ context.Context, e hooks.Event, _ hooks.Budget) error {
					alerts <- e
					return nil
				}}}},
				Ledger: set.Ledger, Alerts: set.Alerts, Every: time.Millisecond, Logger: slog.New(slog.DiscardHandler),
			})
			require.NoError(t, err)
			processes.Go(func() { h.Run(ctx) })
			spending.Go(func() {
				for range calls {
					if err := spendOnce(ctx, set, h, ann, budget); err != nil {
						t.Error(err)
					}
				}
			})
		}
		spending.Wait()
		percents := map[int]string{}
		for len(percents) < 3 {
			e := <-alerts
			b, ok := e.Data.(hooks.Budget)
			require.True(t, ok)
			assert.Empty(t, percents[b.Percent], "%d %% came twice", b.Percent)
			percents[b.Percent] = e.ID
		}
		stop()
		processes.Wait()
		assert.Empty(t, alerts, "an alert came twice")
		due, err := e.one.Alerts.Take(t.Context(), uuid.New(), time.Now().Add(time.Hour), time.Now().Add(2*time.Hour), 10)
		require.NoError(t, err)
		assert.Empty(t, due, "all are done")
	})
}

// spendOnce settles a call of a cent and passes it through the hooks.
func spendOnce(ctx context.Context, set store.Set, h *hooks.Hooks, p router.Principal, b router.Budget) error {
	now := time.Now()
	amount := router.Amount{Credit: cent, Total: cent}
	hold := router.Hold{ID: uuid.New(), Lines: []router.Line{b.Owner.Line(p, b.Interval.Window(now))}, Amount: amount, Deadline: now.Add(time.Minute)}
	if err := set.Ledger.Reserve(ctx, hold); err != nil {
		return err
	}
	if err := set.Ledger.Settle(ctx, hold.ID, amount); err != nil {
		return err
	}
	call := &router.Call{Principal: p, Admitted: now, Budgets: []router.Budget{b}}
	call.Report.Legs = []*router.Leg{{Attempts: []router.AttemptRecord{{Billed: true, Cost: cent}}}}
	_, err := h.Intercept(func(context.Context, *router.Call) (*router.Result, error) { return &router.Result{}, nil })(ctx, call)
	return err
}
