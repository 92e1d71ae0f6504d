package hooks_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/hooks"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
)

var (
	noon = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

	ann = router.Principal{Account: "acme", Workspace: "w1", Member: "ann", KeyHash: "k1"}

	errDown = errors.New("down")

	keyLimit  = router.Budget{Check: router.Check{Order: 20, Word: "key_limit"}, Owner: router.OwnerKey, Interval: router.Daily, Max: 10 * router.Dollar}
	credits   = router.Budget{Check: router.Check{Order: 10, Word: "credits"}, Owner: router.OwnerAccount, Max: 100 * router.Dollar}
	workspace = router.Budget{Check: router.Check{Order: 30, Word: "workspace_budget"}, Owner: router.OwnerWorkspace, Interval: router.Monthly, Max: 20 * router.Dollar}
)

// site is what several processes share.
type site struct {
	store.Set

	now time.Time
}

func newSite() *site { return &site{Set: memory.New(), now: noon} }

// hooks returns the hooks of one process.
func (s *site) hooks(t require.TestingT, cfg hooks.Config) *hooks.Hooks {
	cfg.Ledger, cfg.Alerts = s.Ledger, s.Alerts
	cfg.Now = func() time.Time { return s.now }
	cfg.Logger = slog.New(slog.DiscardHandler)
	h, err := hooks.New(cfg)
	require.NoError(t, err)
	return h
}

// spend settles a call of p in the ledger and passes it through the hooks.
func (s *site) spend(t require.TestingT, h *hooks.Hooks, p router.Principal, cost router.USD, budgets ...router.Budget) {
	hold := router.Hold{ID: uuid.New(), Deadline: s.now.Add(time.Minute), Amount: router.Amount{Credit: cost, Total: cost}}
	for _, owner := range []router.Owner{router.OwnerAccount, router.OwnerWorkspace, router.OwnerMember, router.OwnerKey} {
		for _, every := range []router.Interval{router.Lifetime, router.Monthly, router.Weekly, router.Daily} {
			hold.Lines = append(hold.Lines, owner.Line(p, every.Window(s.now)))
		}
	}
	require.NoError(t, s.Ledger.Reserve(context.Background(), hold))
	require.NoError(t, s.Ledger.Settle(context.Background(), hold.ID, hold.Amount))
	leg := &router.Leg{Attempts: []router.AttemptRecord{{Billed: true, Cost: cost}}}
	s.call(t, h, router.Call{Principal: p, Budgets: budgets, Report: router.Report{Legs: []*router.Leg{leg}}})
}

// refuse passes a call of p through the hooks that a check has refused.
func (s *site) refuse(t require.TestingT, h *hooks.Hooks, p router.Principal, check router.Check, budgets ...router.Budget) {
	leg := &router.Leg{Skipped: []router.Skip{{Reason: router.SkipLimit, Check: check}}}
	s.call(t, h, router.Call{Principal: p, Budgets: budgets, Report: router.Report{Legs: []*router.Leg{leg}}})
}

func (s *site) call(t require.TestingT, h *hooks.Hooks, c router.Call) {
	c.Admitted = s.now
	_, err := h.Intercept(func(context.Context, *router.Call) (*router.Result, error) { return nil, errDown })(context.Background(), &c)
	require.ErrorIs(t, err, errDown, "the result is that of the call")
}

// inbox is a handler that keeps events. A nil fails delivers all of them.
type inbox struct {
	mu     sync.Mutex
	events []hooks.Event
	fails  func(hooks.Event) error
}

func (b *inbox) Handle(_ context.Context, e hooks.Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails != nil {
		if err := b.fails(e); err != nil {
			return err
		}
	}
	b.events = append(b.events, e)
	return nil
}

// budgets returns the alerts in the inbox and empties it.
func (b *inbox) budgets() (list []hooks.Budget) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		if data, ok := e.Data.(hooks.Budget); ok {
			list = append(list, data)
		}
	}
	b.events = nil
	slices.SortFunc(list, func(a, c hooks.Budget) int {
		if n := strings.Compare(a.Check, c.Check); n != 0 {
			return n
		}
		return a.Percent - c.Percent
	})
	return list
}

// settle compares budgets and handles all that is due.
func settle(t require.TestingT, h *hooks.Hooks) {
	require.NoError(t, h.Compare(context.Background()))
	for i := range h.Counts() {
		for h.HandleNext(context.Background(), i) {
		}
	}
}

func (s *site) wait(d time.Duration) { s.now = s.now.Add(d) }

func receivers(list ...hooks.Handler) (all []hooks.Receiver) {
	for _, h := range list {
		all = append(all, hooks.Receiver{Handler: h})
	}
	return all
}

func percentsOf(list []hooks.Budget) (percents []int) {
	for _, b := range list {
		percents = append(percents, b.Percent)
	}
	return percents
}
