package storetest

import (
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/lease"
)

// partHistories runs the same random history for two twins. One settles parts; the other
// splits them off and then settles them. They must be alike after every step.
func partHistories(t *testing.T, open Open) {
	t.Helper()
	set := open(t) // one for all histories, because opening stores is slow
	base, ok := set.Ledger.(lease.Base)
	require.True(t, ok)
	number := uint32(0)
	histories(t, func(t *testing.T, rt *rapid.T) {
		t.Helper()
		number++
		h := &partHistory{Base: base, t: t, number: number, shown: set.Activity}
		defer h.clear(rt) // also when the history ends early, so that the next one sees no open hold
		rt.Repeat(map[string]func(*rapid.T){
			"reserve": h.reserve, "split": h.split, "settle": h.settle, "settle more": h.settle, "settle at once": h.settleAtOnce,
			"close": h.close, "expire": h.expire, "": h.alike,
		})
	})
}

// partHistory is the state of a history. Holds of both twins have the same numbers.
type partHistory struct {
	lease.Base

	t      *testing.T
	shown  activity.Store
	number uint32
	parts  int
}

const twins = 2

// id returns the ID of a twin's hold.
func (h *partHistory) id(twin, n int) (id uuid.UUID) {
	binary.BigEndian.PutUint32(id[:], h.number)
	id[4], id[15] = byte(twin+1), byte(n)
	return id
}

func (h *partHistory) lines(twin int) []router.Line { return linesOfAccount(h.account(twin)) }

func (h *partHistory) account(twin int) string { return fmt.Sprintf("twin %d of %d", twin, h.number) }

func (h *partHistory) event(twin int, id string, cost router.Amount) router.Event {
	e := activityEvent(id, "2026-11-20", router.Principal{KeyHash: "k"})
	e.Principal.Account, e.Cost = h.account(twin), cost
	return e
}

// both does the same for each twin and requires the same error.
func (h *partHistory) both(rt *rapid.T, do func(twin int) error) {
	want := do(0)
	sameError(rt, want, do(1))
}

const wholes = 3 // holds to split, numbered from 0

func (h *partHistory) reserve(rt *rapid.T) {
	n, a, deadline := rapid.IntRange(0, wholes-1).Draw(rt, "whole"), drawAmount(rt), drawTime(rt)
	a.Credit, a.Total = 4*a.Credit, 4*a.Total
	h.both(rt, func(twin int) error {
		id := h.id(twin, n)
		return h.Reserve(h.t.Context(), router.Hold{
			ID: id, Lines: h.lines(twin), Amount: a, Deadline: deadline, Event: h.event(twin, id.String()+"/held", router.Amount{}),
		})
	})
}

// drawPart draws a part, mostly a new one, and its whole.
func (h *partHistory) drawPart(rt *rapid.T) (whole, n int, part router.Hold) {
	whole = rapid.IntRange(0, wholes).Draw(rt, "whole") // the last one never exists
	if h.parts == 0 || h.parts < 200 && rapid.IntRange(0, 3).Draw(rt, "new") > 0 {
		h.parts++
		n = wholes + h.parts
	} else {
		n = wholes + rapid.IntRange(1, h.parts).Draw(rt, "part")
	}
	return whole, n, router.Hold{Amount: drawAmount(rt), Deadline: drawTime(rt)}
}

func (h *partHistory) of(twin, n int, part router.Hold) router.Hold {
	part.ID = h.id(twin, n)
	part.Event = h.event(twin, part.ID.String()+"/held", router.Amount{})
	return part
}

func (h *partHistory) split(rt *rapid.T) {
	whole, n, part := h.drawPart(rt)
	h.both(rt, func(twin int) error { return h.Split(h.t.Context(), h.id(twin, whole), h.of(twin, n, part)) })
}

func (h *partHistory) settle(rt *rapid.T) {
	whole, n, part := h.drawPart(rt)
	cost, event := drawAmount(rt), rapid.IntRange(0, 20).Draw(rt, "event")
	h.both(rt, func(twin int) error { return h.pay(twin, whole, n, part, cost, event) })
}

// pay settles a part: in one call for the first twin, in two for the second. Events with small
// numbers may repeat those of other calls.
func (h *partHistory) pay(twin, whole, n int, part router.Hold, cost router.Amount, event int) error {
	part = h.of(twin, n, part)
	name := part.ID.String()
	if event < 3 {
		name = fmt.Sprintf("%s %d", h.account(twin), event)
	}
	events := []router.Event{h.event(twin, name+"/0", cost)}
	if event == 3 {
		events = nil
	}
	if twin == 0 {
		return h.SettlePart(h.t.Context(), h.id(twin, whole), part, cost, events)
	}
	if err := h.Split(h.t.Context(), h.id(twin, whole), part); err != nil {
		return err
	}
	return h.SettleWith(h.t.Context(), part.ID, cost, events)
}

// settleAtOnce settles parts of two holds concurrently.
func (h *partHistory) settleAtOnce(rt *rapid.T) {
	first, amount := h.parts, amount(2, 2)
	h.parts += rapid.IntRange(2, 8).Draw(rt, "parts")
	if h.parts > 200 {
		h.parts = first
		return
	}
	odd := rapid.IntRange(0, wholes-1).Draw(rt, "whole")
	for twin := range twins {
		var wg sync.WaitGroup
		for n := first + 1; n <= h.parts; n++ {
			wg.Go(func() {
				err := h.pay(twin, odd*(n%2), wholes+n, router.Hold{Amount: amount, Deadline: noon()}, amount, n)
				if err != nil {
					assert.ErrorIs(h.t, err, router.ErrNoHold)
				}
			})
		}
		wg.Wait()
	}
}

func (h *partHistory) close(rt *rapid.T) {
	n := rapid.IntRange(0, wholes+h.parts).Draw(rt, "hold")
	if rapid.Bool().Draw(rt, "void") {
		h.both(rt, func(twin int) error { return h.Void(h.t.Context(), h.id(twin, n)) })
		return
	}
	cost := drawAmount(rt)
	h.both(rt, func(twin int) error { return h.Settle(h.t.Context(), h.id(twin, n), cost) })
}

func (h *partHistory) expire(rt *rapid.T) {
	policy := rapid.SampledFrom([]router.Expiry{router.ExpirePost, router.ExpireVoid}).Draw(rt, "policy")
	_, err := h.Expire(h.t.Context(), drawTime(rt), 1000, policy)
	require.NoError(rt, err)
}

func (h *partHistory) clear(rt *rapid.T) {
	_, err := h.Expire(h.t.Context(), noon().Add(12*time.Hour), 1000, router.ExpirePost)
	require.NoError(rt, err)
	h.alike(rt)
}

func (h *partHistory) alike(rt *rapid.T) {
	var balances [twins][]router.Balance
	var items [twins]map[cell]activity.Item
	for twin := range twins {
		var err error
		balances[twin], err = h.Balances(h.t.Context(), h.lines(twin))
		require.NoError(rt, err)
		items[twin] = sumsIn(h.t, h.shown, activity.Range{Account: h.account(twin), From: "2026-11-01", To: "2026-11-30"})
	}
	require.Equal(rt, balances[1], balances[0])
	require.Equal(rt, items[1], items[0])
}
