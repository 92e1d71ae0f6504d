package storetest

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
)

// recorderHistories compares the recorder with a model over random histories. Holds have
// events, and settlements record theirs.
func recorderHistories(t *testing.T, open Open) {
	t.Helper()
	set := open(t) // one for all histories, because opening stores is slow
	recorder, ok := set.Ledger.(router.Recorder)
	require.True(t, ok)
	number := uint32(0)
	histories(t, func(t *testing.T, rt *rapid.T) {
		t.Helper()
		number++
		m := &recorderModel{
			ledgerModel: ledgerModel{number: number, on: make(map[router.Line]router.Balance), holds: make(map[uuid.UUID]*modelHold)},
			onHold:      make(map[uuid.UUID]router.Event), events: make(map[string]router.Event),
		}
		defer m.close(t, set.Ledger)
		rt.Repeat(map[string]func(*rapid.T){
			"reserve": func(rt *rapid.T) {
				h := m.drawHold(rt)
				want := m.reserve(h)
				sameError(rt, want, set.Ledger.Reserve(t.Context(), h))
			},
			"settle": func(rt *rapid.T) {
				id, cost := m.drawID(rt), drawAmount(rt)
				want := m.settleWith(id, cost)
				sameError(rt, want, recorder.SettleWith(t.Context(), id, cost, eventsOf(id, cost)))
			},
			"settle again": func(rt *rapid.T) {
				id := m.drawID(rt)
				if h := m.holds[id]; h != nil && h.state == settled {
					require.NoError(rt, recorder.SettleWith(t.Context(), id, h.amount, eventsOf(id, h.amount)))
				}
			},
			"void": func(rt *rapid.T) {
				id := m.drawID(rt)
				m.voidWith(id)
				require.NoError(rt, set.Ledger.Void(t.Context(), id))
			},
			"expire": func(rt *rapid.T) {
				now, policy := drawTime(rt), rapid.SampledFrom([]router.Expiry{router.ExpirePost, router.ExpireVoid}).Draw(rt, "policy")
				due := m.expireWith(now, policy)
				n, err := set.Ledger.Expire(t.Context(), now, due+1, policy)
				require.NoError(rt, err)
				require.Equal(rt, due, n)
			},
			"": func(rt *rapid.T) { m.agrees(t, rt, set.Ledger, set.Activity) },
		})
	})
}

// eventsOf returns the events of a call with a cost; some calls have two.
func eventsOf(id uuid.UUID, cost router.Amount) []router.Event {
	half := amount(cost.Credit/2, cost.Credit/2)
	if id[15]%2 == 0 {
		half = router.Amount{}
	}
	first := ofHold(id, id.String()+"/0")
	second := ofHold(id, id.String()+"/1")
	first.Cost, second.Cost = amount(cost.Credit-half.Credit, cost.Total-half.Total), half
	second.Requests, second.Reason = 0, router.LegEscalated
	if id[15]%2 == 0 {
		return []router.Event{first}
	}
	return []router.Event{first, second}
}

// ofHold returns an event of the account of a hold.
func ofHold(id uuid.UUID, event string) router.Event {
	e := activityEvent(event, "2026-11-20", router.Principal{KeyHash: "k"})
	e.Principal.Account = accountsOf(id)[id[15]%2]
	return e
}

// accountsOf returns the accounts of the history to which a hold belongs.
func accountsOf(id uuid.UUID) [2]string {
	number := binary.BigEndian.Uint32(id[:])
	return [2]string{fmt.Sprintf("acme %d", number), fmt.Sprintf("zeta %d", number)}
}

// recorderModel is the promise of a recorder as a program.
type recorderModel struct {
	ledgerModel

	onHold map[uuid.UUID]router.Event // of the latest Reserve that succeeded
	events map[string]router.Event    // by ID
}

// drawHold draws a hold on two lines of its account.
func (m *recorderModel) drawHold(t *rapid.T) router.Hold {
	h := router.Hold{ID: m.drawID(t), Amount: drawAmount(t), Deadline: drawTime(t)}
	h.Lines = linesOfAccount(accountsOf(h.ID)[h.ID[15]%2])
	if rapid.Bool().Draw(t, "capped") {
		h.Caps = []router.Cap{{Line: h.Lines[1], Max: router.USD(rapid.IntRange(0, 40).Draw(t, "max"))}}
	}
	h.Event = ofHold(h.ID, h.ID.String()+"/held")
	h.Event.Endpoint = uuid.UUID{rapid.ByteRange(1, 3).Draw(t, "endpoint")}
	h.Event.Reason = rapid.SampledFrom([]router.LegReason{"", router.LegFirst, router.LegEscalated}).Draw(t, "reason")
	return h
}

func linesOfAccount(account string) []router.Line {
	return []router.Line{{Owner: account, Window: "ever"}, {Owner: account, Window: "2026-11"}}
}

func (m *recorderModel) reserve(h router.Hold) error {
	err := m.ledgerModel.reserve(h)
	if err == nil {
		m.onHold[h.ID] = h.Event
	}
	return err
}

func (m *recorderModel) settleWith(id uuid.UUID, cost router.Amount) error {
	var before modelHold
	if h := m.holds[id]; h != nil {
		before = *h
	}
	if err := m.settle(id, cost); err != nil {
		return err
	}
	if before.state == posted {
		m.record(m.onHold[id].Posted(before.amount).Corrected())
	}
	m.record(eventsOf(id, cost)...)
	return nil
}

func (m *recorderModel) voidWith(id uuid.UUID) {
	if h := m.holds[id]; h != nil && h.state == posted {
		m.record(m.onHold[id].Posted(h.amount).Corrected())
	}
	m.void(id)
}

func (m *recorderModel) expireWith(now time.Time, policy router.Expiry) int {
	due := m.expire(now, policy)
	for id, h := range m.holds {
		if h.state == posted {
			m.record(m.onHold[id].Posted(h.amount))
		}
	}
	return due
}

func (m *recorderModel) record(events ...router.Event) {
	for _, e := range events {
		m.events[e.ID] = e
	}
}

// agrees requires that the store shows the model's events, and that they add up to what is
// spent on every line.
func (m *recorderModel) agrees(t *testing.T, rt *rapid.T, ledger router.Ledger, shown activity.Store) {
	t.Helper()
	var some uuid.UUID
	binary.BigEndian.PutUint32(some[:], m.number)
	for _, account := range accountsOf(some) {
		var events []router.Event
		for _, e := range m.events {
			if e.Principal.Account == account {
				events = append(events, e)
			}
		}
		of := activity.Range{Account: account, From: "2026-11-01", To: "2026-11-30"}
		items := sumsIn(t, shown, of)
		require.Equal(rt, sumsOf(events), items)
		var total activity.Item
		for _, item := range items {
			total.Add(item)
		}
		balances, err := ledger.Balances(t.Context(), linesOfAccount(account))
		require.NoError(rt, err)
		for _, b := range balances {
			require.Equal(rt, b.Spent, total.Cost, account)
		}
	}
}

// cell is the key of an item.
type cell struct {
	date, model, permaslug, provider, workspace string
	reason                                      router.LegReason
	endpoint                                    uuid.UUID
}

func cellOf(i activity.Item) cell {
	return cell{i.Date, i.Model, i.Permaslug, i.Provider, i.Workspace, i.Reason, i.Endpoint}
}

// sumsOf adds events up by cell, without cells that corrections have emptied.
func sumsOf(events []router.Event) map[cell]activity.Item {
	sums := map[cell]activity.Item{}
	for _, e := range events {
		item := activity.ItemOf(e)
		at := cellOf(item)
		if sum, ok := sums[at]; ok {
			sum.Add(item)
			item = sum
		}
		sums[at] = item
	}
	return withoutNothing(sums)
}

// sumsIn returns what a store shows, by cell.
func sumsIn(t *testing.T, s activity.Store, of activity.Range) map[cell]activity.Item {
	t.Helper()
	items := activityItems(t, s, of)
	sums := map[cell]activity.Item{}
	for _, item := range items {
		sums[cellOf(item)] = item
	}
	require.Len(t, sums, len(items), "nothing stands twice")
	return withoutNothing(sums)
}

func withoutNothing(sums map[cell]activity.Item) map[cell]activity.Item {
	for at, sum := range sums {
		if sum.Empty() {
			delete(sums, at)
		}
	}
	return sums
}
