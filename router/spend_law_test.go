package router_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// settlements is a ledger that remembers what it settled, and on which lines.
type settlements struct {
	router.Ledger
	router.Recorder

	lines map[uuid.UUID][]router.Line
	spent map[router.Line]router.Amount
}

func (s *settlements) Reserve(ctx context.Context, h router.Hold) error {
	err := s.Ledger.Reserve(ctx, h)
	if err == nil {
		s.lines[h.ID] = h.Lines
	}
	return err
}

func (s *settlements) Settle(ctx context.Context, id uuid.UUID, cost router.Amount) error {
	s.count(id, cost)
	return s.Ledger.Settle(ctx, id, cost)
}

func (s *settlements) SettleWith(ctx context.Context, id uuid.UUID, cost router.Amount, events []router.Event) error {
	s.count(id, cost)
	return s.Recorder.SettleWith(ctx, id, cost, events)
}

func (s *settlements) count(id uuid.UUID, cost router.Amount) {
	for _, line := range s.lines[id] {
		put(s.spent, line, cost)
	}
}

func sum(a, b router.Amount) router.Amount {
	return router.Amount{Credit: a.Credit + b.Credit, Total: a.Total + b.Total}
}

// put adds an amount that is not zero.
func put(books map[router.Line]router.Amount, line router.Line, amount router.Amount) {
	if amount != (router.Amount{}) {
		books[line] = sum(books[line], amount)
	}
}

// accounts is a router whose books are compared after each call.
type accounts struct {
	*rig

	clock  *clock
	ledger *settlements
	stored activity.Store
	events map[router.Line]router.Amount // what the events say of every owner and window
	total  map[string]router.Amount      // and of every account
}

func newAccounts(t *testing.T, draw *rapid.T) *accounts {
	t.Helper()
	stores := memory.New()
	recorder, ok := stores.Ledger.(router.Recorder)
	require.True(t, ok)
	a := &accounts{
		clock: newClock(), stored: stores.Activity,
		ledger: &settlements{Ledger: stores.Ledger, Recorder: recorder, lines: map[uuid.UUID][]router.Line{}, spent: map[router.Line]router.Amount{}},
		events: map[router.Line]router.Amount{}, total: map[string]router.Amount{},
	}
	price := func(e *router.Endpoint) {
		upTo3 := func(label string) router.USD { return router.USD(rapid.Int64Range(0, 3).Draw(draw, label)) }
		e.Pricing = router.Pricing{
			Request:    (upTo3("fee") * cent).Price(),
			Prompt:     (upTo3("prompt") * router.Dollar).Price(),
			Completion: (upTo3("completion") * router.Dollar).Price(),
		}
	}
	var ledger router.Ledger = a.ledger
	if rapid.Bool().Draw(draw, "plain") { // a ledger that records nothing
		ledger = struct{ router.Ledger }{ledger}
	}
	a.rig = newRig(t, "ant bee cat", func(cfg *router.Config) { cfg.Ledger, cfg.Now = ledger, a.clock.now }, price)
	return a
}

// call makes a random call and keeps books of it by its events only.
func (a *accounts) call(t *rapid.T) {
	ctx, hangUp := context.WithCancel(a.t.Context())
	defer hangUp()
	for _, slug := range a.order {
		a.upstreams[slug].will(a.drawStep(t, hangUp))
	}
	c := &router.Call{
		ID: "gen-dec-" + uuid.NewString(), Request: decision(byPrice),
		Principal: rapid.SampledFrom([]router.Principal{
			who(),
			{Account: "org", Workspace: "ws", Member: "user", KeyHash: "other"},
			{Account: "org", Workspace: "ws", KeyHash: "nobody's"},
			{Account: "rival", Workspace: "home", Member: "user", KeyHash: "rival's"},
			{Account: "org"},
		}).Draw(t, "who"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "budgets") {
		c.Budgets = append(c.Budgets, router.Budget{
			Check:    rapid.SampledFrom([]router.Check{creditCheck, keyCheck, workspaceCheck, guardrailCheck}).Draw(t, "check"),
			Owner:    rapid.SampledFrom(everyOwner()).Draw(t, "owner"),
			Interval: rapid.SampledFrom(everyInterval()).Draw(t, "interval"),
			Max:      router.USD(rapid.Int64Range(0, 30).Draw(t, "limit")) * cent,
			BYOK:     rapid.Bool().Draw(t, "byok"),
		})
	}
	if rapid.Bool().Draw(t, "own") {
		c.Credentials = []router.Credential{{ID: uuid.UUID{1}, Provider: "bee", Secret: "sk-own"}}
	}
	res, err := a.router.Decide(ctx, c)
	events := c.Events(res)
	require.LessOrEqual(t, len(events), 1)
	if err == nil {
		require.Len(t, events, 1, "who is answered is billed")
	} else if len(events) > 0 {
		require.True(t, events[0].Abandoned(), "and who hung up; nobody else")
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, events[0].Requests)
		require.Positive(t, events[0].Cost.Total)
	}
	require.NoError(t, a.stored.Record(a.t.Context(), events)) // again, where the ledger did
	for _, e := range events {
		a.total[e.Principal.Account] = sum(a.total[e.Principal.Account], e.Cost)
		for _, o := range everyOwner() {
			for _, i := range everyInterval() {
				if line := o.Line(e.Principal, i.Window(e.Admitted)); line != (router.Line{}) {
					put(a.events, line, e.Cost)
				}
			}
		}
	}
}

func (a *accounts) drawStep(t *rapid.T, hangUp func()) step {
	switch word := rapid.SampledFrom([]string{"200", "200", "dear", "bad", "500", "429(1)", "400", "hang up", "late"}).Draw(t, "step"); word {
	case "dear":
		return reply(func(r *router.Reply) { r.Usage.InputTokens, r.Usage.OutputTokens = 100_000, 100_000 })
	case "bad":
		return reply(func(r *router.Reply) { r.Answers = r.Answers[1:] })
	case "hang up":
		return func(ctx context.Context, _ router.Attempt) (router.Reply, error) {
			hangUp()
			return router.Reply{}, &router.UpstreamError{Err: ctx.Err()}
		}
	case "late":
		return func(ctx context.Context, at router.Attempt) (router.Reply, error) {
			hangUp()
			a.clock.step(12 * time.Hour)
			return answer(ctx, at)
		}
	default:
		return fails(a.t, word)
	}
}

// agree requires that events, settlements, balances and stored activity agree, and
// that nothing is held.
func (a *accounts) agree(t *rapid.T) {
	require.Equal(t, a.events, a.ledger.spent)
	lines := slices.Collect(maps.Keys(a.events))
	balances, err := a.ledger.Balances(a.t.Context(), lines)
	require.NoError(t, err)
	for i, line := range lines {
		require.Equal(t, router.Balance{Spent: a.events[line]}, balances[i], line)
	}
	for id, lines := range a.ledger.lines {
		balances, err := a.ledger.Balances(a.t.Context(), lines)
		require.NoError(t, err)
		for _, b := range balances {
			require.Zero(t, b.Held, id)
		}
	}
	for _, account := range []string{"org", "rival"} {
		items, err := a.stored.Items(a.t.Context(), activity.Range{Account: account, From: "2026-01-01", To: "2027-12-31"})
		require.NoError(t, err)
		var stored router.Amount
		for _, item := range items {
			stored = sum(stored, item.Cost)
		}
		require.Equal(t, a.total[account], stored)
	}
}

func everyOwner() []router.Owner {
	return []router.Owner{router.OwnerAccount, router.OwnerWorkspace, router.OwnerMember, router.OwnerKey}
}

func everyInterval() []router.Interval {
	return []router.Interval{router.Lifetime, router.Monthly, router.Weekly, router.Daily}
}

// For any request and any failure, the events agree with the settlements and with
// every owner's balance in every window. When a call is over nothing is held.
func TestBooksAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(draw *rapid.T) {
		a := newAccounts(t, draw)
		for range rapid.IntRange(1, 12).Draw(draw, "calls") {
			a.call(draw)
			a.agree(draw)
			a.clock.step(time.Duration(rapid.IntRange(0, 50).Draw(draw, "hours")) * time.Hour)
		}
	})
}
