package lease_test

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/lease"
	"github.com/signalbox/signalbox/store/sqlite"
)

// TestHistories has several nodes spend on the same lines, and die, under limits
// that change, windows that roll over, and a base of which calls fail before or
// after they have happened. After every step the base has set aside all that
// open calls have, no limit is passed by what was reserved under it, and events
// add up to what is spent; in the end spending is exact and nothing is held.
func TestHistories(t *testing.T) {
	t.Parallel()
	pool, err := sql.Open("sqlite", ":memory:")
	require.NoError(t, err)
	pool.SetMaxOpenConns(1)
	set, err := sqlite.New(t.Context(), pool, sqlite.Config{})
	require.NoError(t, err)
	number := uint32(0)
	rapid.Check(t, func(rt *rapid.T) {
		number++
		m := newModel(t, rt, set, number)
		rt.Repeat(map[string]func(*rapid.T){
			"reserve": m.reserve, "reserve more": m.reserve, "raise": m.raise, "settle": m.settle, "settle in vain": m.settleInVain, "void": m.void,
			"expire": m.expire, "die": m.die, "limit": m.limit, "window": m.roll, "": m.holds,
		})
		m.finish()
	})
}

var errInjected = errors.New("injected")

// shaky is a base that fails on demand.
type shaky struct {
	lease.Base

	fault int  // 0 none, 1 before, 2 after the call
	done  bool // the last call took effect
}

func (s *shaky) do(f func() error) error {
	fault := s.fault
	s.fault, s.done = 0, false
	if fault == 1 {
		return errInjected
	}
	err := f()
	s.done = err == nil
	if fault == 2 {
		return errInjected
	}
	return err
}

func (s *shaky) Reserve(ctx context.Context, h router.Hold) error {
	return s.do(func() error { return s.Base.Reserve(ctx, h) })
}

func (s *shaky) SettleWith(ctx context.Context, id uuid.UUID, cost router.Amount, events []router.Event) error {
	return s.do(func() error { return s.Base.SettleWith(ctx, id, cost, events) })
}

func (s *shaky) Settle(ctx context.Context, id uuid.UUID, cost router.Amount) error {
	return s.do(func() error { return s.Base.Settle(ctx, id, cost) })
}

func (s *shaky) Void(ctx context.Context, id uuid.UUID) error {
	return s.do(func() error { return s.Base.Void(ctx, id) })
}

func (s *shaky) Split(ctx context.Context, whole uuid.UUID, part router.Hold) error {
	return s.do(func() error { return s.Base.Split(ctx, whole, part) })
}

func (s *shaky) SettlePart(
	ctx context.Context, whole uuid.UUID, part router.Hold, cost router.Amount, events []router.Event,
) error {
	return s.do(func() error { return s.Base.SettlePart(ctx, whole, part, cost, events) })
}

// model is what can be observed from outside.
type model struct {
	t      *testing.T
	rt     *rapid.T
	set    store.Set
	base   *shaky
	number uint32
	nodes  []*lease.Ledger
	now    time.Time
	policy router.Expiry
	faults bool
	window int
	max    router.USD // the limit
	most   map[router.Line]router.USD
	calls  []*modelCall
	spent  map[router.Line]router.USD // by settlements
}

type modelCall struct {
	node *lease.Ledger
	hold router.Hold
	had  bool // it was reserved
	open bool // its amount must be held
	gone bool // its node died, or it was closed
}

func newModel(t *testing.T, rt *rapid.T, set store.Set, number uint32) *model {
	t.Helper()
	base, ok := set.Ledger.(lease.Base)
	require.True(t, ok)
	m := &model{
		t: t, rt: rt, set: set, base: &shaky{Base: base}, number: number, now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		policy: rapid.SampledFrom([]router.Expiry{router.ExpirePost, router.ExpireVoid}).Draw(rt, "policy"),
		faults: rapid.Bool().Draw(rt, "faults"), max: 500, most: map[router.Line]router.USD{}, spent: map[router.Line]router.USD{},
	}
	for range rapid.IntRange(1, 4).Draw(rt, "nodes") {
		m.nodes = append(m.nodes, m.node())
	}
	return m
}

func (m *model) node() *lease.Ledger {
	l, err := lease.New(lease.Config{Ledger: m.base, Nodes: 4, Calls: 16, Life: 4 * time.Minute})
	require.NoError(m.rt, err)
	return lease.Eager(l)
}

func (m *model) account() string { return fmt.Sprintf("acme %d", m.number) }

func (m *model) lines() []router.Line {
	return []router.Line{
		{Owner: m.account(), Window: "ever"}, {Owner: m.account(), Window: fmt.Sprintf("day %d", m.window)},
	}
}

func (m *model) fault() {
	if m.faults {
		m.base.fault = max(rapid.IntRange(-8, 2).Draw(m.rt, "fault"), 0)
	}
}

func (m *model) reserve(rt *rapid.T) {
	total := router.USD(rapid.IntRange(1, 9).Draw(rt, "amount"))
	h := router.Hold{
		Lines: m.lines(), Amount: router.Amount{Credit: total, Total: total},
		Deadline: m.now.Add(time.Duration(rapid.IntRange(1, 3).Draw(rt, "minutes")) * time.Minute),
	}
	if rapid.IntRange(0, 4).Draw(rt, "own") == 0 {
		h.Amount.Credit = 0
	}
	binary.BigEndian.PutUint32(h.ID[:], m.number)
	binary.BigEndian.PutUint32(h.ID[12:], uint32(len(m.calls)+1))
	h.Event = router.Event{ID: h.ID.String() + "/held", Admitted: m.now, Requests: 1, Principal: router.Principal{Account: m.account()}}
	call := &modelCall{node: rapid.SampledFrom(m.nodes).Draw(rt, "node"), hold: h}
	m.calls = append(m.calls, call)
	m.ask(call, h)
}

// ask reserves a hold under the current limits.
func (m *model) ask(call *modelCall, h router.Hold) {
	h.Caps = []router.Cap{{Line: h.Lines[0], Max: m.max, BYOK: true}, {Line: h.Lines[1], Max: 200}}
	for _, c := range h.Caps {
		m.most[c.Line] = max(m.most[c.Line], c.Max)
	}
	m.fault()
	err := call.node.Reserve(m.t.Context(), h)
	if err == nil {
		call.hold, call.had, call.open = h, true, true
	}
	m.tolerate(err)
}

// tolerate requires nil or one of the expected errors.
func (m *model) tolerate(err error) {
	m.base.fault = 0
	if _, refused := errors.AsType[*router.LimitError](err); !refused && !errors.Is(err, errInjected) {
		require.NoError(m.rt, err)
	}
}

// draw draws a call of a living node that was not closed, or nil. With late it may have
// expired.
func (m *model) draw(rt *rapid.T, late bool) *modelCall {
	var some []*modelCall
	for _, c := range m.calls {
		if !c.gone && c.had && (c.open || late) {
			some = append(some, c)
		}
	}
	if len(some) == 0 {
		return nil
	}
	return rapid.SampledFrom(some).Draw(rt, "call")
}

func (m *model) raise(rt *rapid.T) {
	if c := m.draw(rt, false); c != nil {
		h := c.hold
		more := router.USD(rapid.IntRange(0, 5).Draw(rt, "more"))
		h.Amount.Total += more
		if h.Amount.Credit > 0 {
			h.Amount.Credit += more
		}
		h.Deadline = h.Deadline.Add(time.Duration(rapid.IntRange(0, 2).Draw(rt, "later")) * time.Minute)
		m.ask(c, h)
	}
}

func (m *model) settle(rt *rapid.T) {
	if c := m.draw(rt, true); c != nil {
		total := router.USD(rapid.IntRange(0, int(c.hold.Amount.Total)).Draw(rt, "cost"))
		m.fault()
		m.settles(c, router.Amount{Credit: min(total, c.hold.Amount.Credit), Total: total})
	}
}

// settles settles until it succeeds, as the router does.
func (m *model) settles(c *modelCall, cost router.Amount) {
	for {
		err := m.try(c, cost)
		m.tolerate(err)
		if err == nil {
			break
		}
	}
	m.settled(c, cost)
}

func (m *model) try(c *modelCall, cost router.Amount) error {
	e := router.Event{ID: c.hold.ID.String() + "/0", Admitted: m.now, Requests: 1, Cost: cost, Principal: c.hold.Event.Principal}
	return c.node.SettleWith(m.t.Context(), c.hold.ID, cost, []router.Event{e})
}

// settleInVain fails to settle and voids the hold. That has no effect if the settlement took
// effect nevertheless.
func (m *model) settleInVain(rt *rapid.T) {
	if c := m.draw(rt, true); c != nil {
		m.base.fault = rapid.IntRange(1, 2).Draw(rt, "fault")
		require.ErrorIs(rt, m.try(c, c.hold.Amount), errInjected)
		if m.base.done {
			m.settled(c, c.hold.Amount)
		}
		require.NoError(rt, c.node.Void(m.t.Context(), c.hold.ID))
		c.open, c.gone = false, true
	}
}

func (m *model) settled(c *modelCall, cost router.Amount) {
	for _, line := range c.hold.Lines {
		m.spent[line] += cost.Total
		if !c.open {
			m.most[line] += cost.Total // its amount may have been used by other calls
		}
	}
	c.open, c.gone = false, true
}

func (m *model) void(rt *rapid.T) {
	if c := m.draw(rt, true); c != nil {
		m.fault()
		err := c.node.Void(m.t.Context(), c.hold.ID)
		m.tolerate(err)
		c.open, c.gone = false, err == nil
	}
}

func (m *model) expire(rt *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.IntRange(0, 2).Draw(rt, "minutes")) * time.Minute)
	m.fault()
	for _, c := range m.calls { // past its deadline a call has no promise
		c.open = c.open && !c.hold.Deadline.Before(m.now)
	}
	_, err := rapid.SampledFrom(m.nodes).Draw(rt, "node").Expire(m.t.Context(), m.now, 100, m.policy)
	m.tolerate(err)
}

// die replaces a node by a new one without memory.
func (m *model) die(rt *rapid.T) {
	i := rapid.IntRange(0, len(m.nodes)-1).Draw(rt, "node")
	for _, c := range m.calls {
		c.gone = c.gone || c.node == m.nodes[i]
	}
	m.nodes[i] = m.node()
}

func (m *model) limit(rt *rapid.T) { m.max = router.USD(rapid.IntRange(0, 500).Draw(rt, "max")) }

func (m *model) roll(*rapid.T) { m.window++ }

// holds requires what is true after every step.
func (m *model) holds(rt *rapid.T) {
	open := map[router.Line]router.USD{}
	for _, c := range m.calls {
		for _, line := range c.hold.Lines {
			if c.open {
				open[line] += c.hold.Amount.Total
			}
		}
	}
	for window := range m.window + 1 {
		lines := []router.Line{{Owner: m.account(), Window: "ever"}, {Owner: m.account(), Window: fmt.Sprintf("day %d", window)}}
		on, err := m.base.Balances(m.t.Context(), lines)
		require.NoError(rt, err)
		for i, b := range on {
			require.GreaterOrEqual(rt, b.Held.Total, open[lines[i]], "what open calls have is set aside")
			require.GreaterOrEqual(rt, b.Spent.Total, m.spent[lines[i]], "what was settled is spent")
			require.LessOrEqual(rt, b.Held.Credit, b.Held.Total)
			of := b.Spent.Of(i == 0) + b.Held.Of(i == 0)
			require.LessOrEqual(rt, of, m.most[lines[i]], "no limit is passed")
		}
	}
	m.eventsAddUp()
}

// eventsAddUp requires that the events add up to what is spent on the line of all calls.
func (m *model) eventsAddUp() {
	items, err := m.set.Activity.Items(m.t.Context(), activity.Range{Account: m.account(), From: "2026-01-01", To: "2026-12-31"})
	require.NoError(m.rt, err)
	var sum activity.Item
	for _, item := range items {
		sum.Add(item)
	}
	on, err := m.base.Balances(m.t.Context(), m.lines()[:1])
	require.NoError(m.rt, err)
	require.Equal(m.rt, on[0].Spent, sum.Cost)
}

// finish closes what is open and requires that everything is accounted for.
func (m *model) finish() {
	ctx := m.t.Context()
	for _, c := range m.calls {
		if !c.gone {
			require.NoError(m.rt, c.node.Void(ctx, c.hold.ID))
			c.open = false
		}
	}
	for _, node := range m.nodes {
		require.NoError(m.rt, node.Close(ctx))
		slices, calls := node.Drawn()
		require.Zero(m.rt, slices)
		require.Zero(m.rt, calls)
	}
	m.holds(m.rt)
	_, err := m.base.Expire(ctx, m.now.Add(time.Hour), 1000, m.policy)
	require.NoError(m.rt, err)
	for window := range m.window + 1 {
		m.window = window
		for _, line := range m.lines() {
			on, err := m.base.Balances(ctx, []router.Line{line})
			require.NoError(m.rt, err)
			require.Zero(m.rt, on[0].Held, "held in the end")
			if m.policy == router.ExpireVoid {
				require.Equal(m.rt, m.spent[line], on[0].Spent.Total, "spent in the end")
			}
		}
	}
	m.eventsAddUp()
}
