package storetest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
)

// ledgerHistories compares the ledger with a simple model over random histories: every result
// and every balance must be the model's.
func ledgerHistories(t *testing.T, open Open) {
	t.Helper()
	b := open(t).Ledger // one for all histories, because opening stores is slow
	number := uint32(0)
	histories(t, func(t *testing.T, rt *rapid.T) {
		t.Helper()
		number++
		m := &ledgerModel{number: number, on: make(map[router.Line]router.Balance), holds: make(map[uuid.UUID]*modelHold)}
		defer m.close(t, b)
		rt.Repeat(map[string]func(*rapid.T){
			"reserve": func(rt *rapid.T) {
				h := m.drawHold(rt)
				want := m.reserve(h)
				sameError(rt, want, b.Reserve(t.Context(), h))
			},
			"settle": func(rt *rapid.T) {
				id, cost := m.drawID(rt), drawAmount(rt)
				want := m.settle(id, cost)
				sameError(rt, want, b.Settle(t.Context(), id, cost))
			},
			"settle again": func(rt *rapid.T) {
				id := m.drawID(rt)
				if h := m.holds[id]; h != nil && h.state == settled {
					require.NoError(rt, b.Settle(t.Context(), id, h.amount))
				}
			},
			"void": func(rt *rapid.T) {
				id := m.drawID(rt)
				m.void(id)
				require.NoError(rt, b.Void(t.Context(), id))
			},
			"expire": func(rt *rapid.T) {
				now, policy := drawTime(rt), rapid.SampledFrom([]router.Expiry{router.ExpirePost, router.ExpireVoid}).Draw(rt, "policy")
				limit := rapid.IntRange(1, 3).Draw(rt, "limit")
				for due := m.expire(now, policy); ; due -= limit {
					n, err := b.Expire(t.Context(), now, limit, policy)
					require.NoError(rt, err)
					require.Equal(rt, max(min(due, limit), 0), n)
					if n < limit {
						return
					}
				}
			},
			"": func(rt *rapid.T) { // after each of them
				lines := m.lines()
				want := make([]router.Balance, len(lines))
				for i, line := range lines {
					want[i] = m.on[line]
				}
				got, err := b.Balances(t.Context(), lines)
				require.NoError(rt, err)
				require.Equal(rt, want, got)
			},
		})
	})
}

// sameError requires the error of the model; of a refusal, the same cap and the same rest.
func sameError(t *rapid.T, want, got error) {
	if want == nil {
		require.NoError(t, got)
		return
	}
	refused, ok := errors.AsType[*router.LimitError](want)
	if !ok {
		require.ErrorIs(t, got, want)
		return
	}
	var other *router.LimitError
	require.ErrorAs(t, got, &other)
	assert.Equal(t, *refused, *other)
}

func drawAmount(t *rapid.T) router.Amount {
	credit := router.USD(rapid.IntRange(0, 5).Draw(t, "credit"))
	return amount(credit, credit+router.USD(rapid.IntRange(0, 3).Draw(t, "own")))
}

// drawTime draws an instant within the day in which no hold may be forgotten.
func drawTime(t *rapid.T) time.Time {
	return noon().Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "minutes")) * time.Minute)
}

// ledgerModel is the promise of a ledger as a program.
type ledgerModel struct {
	number uint32 // of the history; each has its own lines and holds
	on     map[router.Line]router.Balance
	holds  map[uuid.UUID]*modelHold
}

func (m *ledgerModel) lines() []router.Line {
	lines := make([]router.Line, 3)
	for i := range lines {
		lines[i] = lineOf(fmt.Sprintf("%d/%c", m.number, 'a'+i))
	}
	return lines
}

// drawID draws one of few IDs, so that operations often meet.
func (m *ledgerModel) drawID(t *rapid.T) uuid.UUID {
	id := uuid.UUID{15: rapid.ByteRange(0, 9).Draw(t, "id")}
	binary.BigEndian.PutUint32(id[:], m.number)
	return id
}

// close voids all holds, so that the next history does not expire them.
func (m *ledgerModel) close(t *testing.T, b router.Ledger) {
	t.Helper()
	for id := range m.holds {
		require.NoError(t, b.Void(t.Context(), id))
	}
}

type modelHold struct {
	state    modelState
	lines    []router.Line
	amount   router.Amount // the cost, once settled
	deadline time.Time
}

type modelState int

const (
	held modelState = iota
	voided
	posted
	settled
)

// drawHold draws a new hold, or an existing one and mostly with its own lines.
func (m *ledgerModel) drawHold(t *rapid.T) router.Hold {
	h := router.Hold{ID: m.drawID(t), Amount: drawAmount(t), Deadline: drawTime(t)}
	if old := m.holds[h.ID]; old != nil && rapid.IntRange(0, 3).Draw(t, "other lines") != 3 {
		h.Lines = old.lines
	} else {
		set := rapid.IntRange(1, 7).Draw(t, "lines")
		for i, line := range m.lines() {
			if set&(1<<i) != 0 {
				h.Lines = append(h.Lines, line)
			}
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "caps") {
		h.Caps = append(h.Caps, router.Cap{
			Line: rapid.SampledFrom(h.Lines).Draw(t, "cap"),
			Max:  router.USD(rapid.IntRange(0, 40).Draw(t, "max")),
			BYOK: rapid.Bool().Draw(t, "byok"),
		})
	}
	return h
}

func (m *ledgerModel) reserve(asked router.Hold) error {
	h := m.holds[asked.ID]
	if h == nil {
		h = &modelHold{lines: asked.Lines, deadline: asked.Deadline}
	}
	if h.state != held || !assert.ObjectsAreEqual(h.lines, asked.Lines) {
		return router.ErrConflict
	}
	larger := h.amount.Max(asked.Amount)
	for i, c := range asked.Caps {
		on := m.on[c.Line]
		left := c.Max - on.Spent.Of(c.BYOK) - on.Held.Of(c.BYOK)
		if adds := larger.Of(c.BYOK) - h.amount.Of(c.BYOK); adds > 0 && adds > left {
			return &router.LimitError{Cap: i, Left: left}
		}
	}
	m.add(h.lines, router.Amount{}, amount(larger.Credit-h.amount.Credit, larger.Total-h.amount.Total))
	h.amount = larger
	if asked.Deadline.After(h.deadline) {
		h.deadline = asked.Deadline
	}
	m.holds[asked.ID] = h
	return nil
}

func (m *ledgerModel) settle(id uuid.UUID, cost router.Amount) error {
	h := m.holds[id]
	switch {
	case h == nil:
		return router.ErrNoHold
	case h.state == settled && h.amount == cost:
		return nil
	case h.state == settled:
		return router.ErrConflict
	case h.state == held:
		m.add(h.lines, cost, negative(h.amount))
	case h.state == posted:
		m.add(h.lines, amount(cost.Credit-h.amount.Credit, cost.Total-h.amount.Total), router.Amount{})
	default:
		m.add(h.lines, cost, router.Amount{})
	}
	h.state, h.amount = settled, cost
	return nil
}

func (m *ledgerModel) void(id uuid.UUID) {
	h := m.holds[id]
	switch {
	case h == nil:
		return
	case h.state == held:
		m.add(h.lines, router.Amount{}, negative(h.amount))
	case h.state == posted:
		m.add(h.lines, negative(h.amount), router.Amount{})
	default:
		return
	}
	h.state = voided
}

// expire closes all due holds and returns their number.
func (m *ledgerModel) expire(now time.Time, policy router.Expiry) (due int) {
	for id, h := range m.holds {
		if h.state != held || !h.deadline.Before(now) {
			continue
		}
		due++
		if policy == router.ExpireVoid {
			m.void(id)
			continue
		}
		m.add(h.lines, h.amount, negative(h.amount))
		h.state = posted
	}
	return due
}

func (m *ledgerModel) add(lines []router.Line, spent, held router.Amount) {
	for _, line := range lines {
		on := m.on[line]
		on.Spent = amount(on.Spent.Credit+spent.Credit, on.Spent.Total+spent.Total)
		on.Held = amount(on.Held.Credit+held.Credit, on.Held.Total+held.Total)
		m.on[line] = on
	}
}

func negative(a router.Amount) router.Amount { return amount(-a.Credit, -a.Total) }
