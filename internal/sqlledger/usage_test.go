package sqlledger_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
)

// items are the day's of the test's account, in one order.
func (b *books) items(t *testing.T, r activity.Range) []activity.Item {
	t.Helper()
	r.Account, r.From, r.To = "acme", "2026-11-21", "2026-11-21"
	items, err := b.Activity.Items(t.Context(), r)
	require.NoError(t, err)
	slices.SortFunc(items, func(x, y activity.Item) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
	return items
}

// left reports whether there are events that the roll-ups do not count yet.
func (b *books) left(t *testing.T) bool {
	t.Helper()
	err := b.exec(t.Context(), `INSERT INTO {events_new} (id, account, size, events) SELECT id, account, size, events FROM {events_new}`)
	return err != nil // one row twice breaks the key
}

// Events that the roll-ups do not count yet are read with them, and added to them
// by Expire.
func TestFold(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		someone, cases := someone(), []activity.Range{{}, {KeyHash: "k"}, {Member: "ann"}, {KeyHash: "k", Member: "ann"}, {KeyHash: "other"}}
		someone.KeyHash, someone.Member = "k", "ann"
		record := func(from, to int, each router.Amount) {
			var events []router.Event
			for i := range to - from {
				e := used(router.Hold{Event: holdOf([16]byte{1}, someone, noon(), 1).Event}, 0)
				e.ID, e.Cost = strconv.Itoa(from+i), each
				events = append(events, e)
			}
			require.NoError(t, b.Activity.Record(t.Context(), events))
		}
		record(0, 3, router.Amount{Credit: 1, Total: 2})
		b.fold(t)
		record(2, 5, router.Amount{Credit: 1, Total: 2}) // one of them is there
		assert.True(t, b.left(t))
		before := map[int][]activity.Item{}
		for i, r := range cases {
			before[i] = b.items(t, r)
		}
		require.Len(t, before[0], 1)
		assert.Equal(t, int64(5), before[0][0].Requests)
		assert.Equal(t, router.Amount{Credit: 5, Total: 10}, before[0][0].Cost)
		assert.Equal(t, before[0], before[3])
		assert.Empty(t, before[4])
		b.fold(t)
		assert.False(t, b.left(t))
		for i, r := range cases {
			assert.Equal(t, before[i], b.items(t, r), r)
		}
		record(5, 7, router.Amount{Credit: math.MaxInt64, Total: math.MaxInt64})
		for range 2 {
			assert.Equal(t, router.Amount{Credit: math.MaxInt64, Total: math.MaxInt64}, b.items(t, activity.Range{})[0].Cost, "sums stay there")
			b.fold(t)
			assert.False(t, b.left(t), "and keep nothing from being added")
		}
	})
}

// Where nobody calls Expire, whoever records adds what is listed now and then.
func TestFoldWithoutExpire(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		const most = 16 << 10
		var events []router.Event
		for i := range most {
			e := used(router.Hold{Event: holdOf([16]byte{1}, someone(), noon(), 1).Event}, 1)
			e.ID = strconv.Itoa(i)
			events = append(events, e)
		}
		require.NoError(t, b.Activity.Record(t.Context(), events[1:]))
		assert.True(t, b.left(t))
		require.NoError(t, b.Activity.Record(t.Context(), events[:1]))
		assert.False(t, b.left(t))
		assert.Equal(t, int64(most), b.items(t, activity.Range{})[0].Requests)
	})
}

// A list that cannot be read is named, and stays.
func TestListsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		for _, text := range []string{"", "[", `{"events":1,"texts":[],"sums":[[0`} {
			b.empty(t)
			require.NoError(t, b.exec(t.Context(), `INSERT INTO {events_new} (id, account, size, events) VALUES (77, 'acme', 1, '`+text+`')`))
			_, err := b.Activity.Items(t.Context(), activity.Range{Account: "acme", From: "2026-11-21", To: "2026-11-21"})
			require.ErrorContains(t, err, "list 77 of new events", text)
			_, err = b.Ledger.Expire(t.Context(), noon(), 0, router.ExpireVoid)
			require.ErrorContains(t, err, "list 77 of new events", text)
			_, err = b.verify(t.Context())
			require.ErrorContains(t, err, "list 77 of new events", text)
			assert.True(t, b.left(t), text)
		}
	})
}
