package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
)

// activityEvent returns an event of account acme at noon of a day.
func activityEvent(id, day string, p router.Principal) router.Event {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		at = time.Time{} // a day no query asks for
	}
	p.Account = "acme"
	return router.Event{
		ID: id, Admitted: at.Add(12 * time.Hour), Principal: p,
		Model: "acme/judge", Permaslug: "acme/judge-20260901", Endpoint: uuid.UUID{1}, Provider: "Ant Cloud",
		Requests: 1, Prompt: 10, Completion: 5, Reasoning: 2, Cached: 1, Cost: router.Amount{Credit: 3, Total: 7},
	}
}

func testActivity(t *testing.T, open Open) {
	t.Helper()
	if open(t).Activity == nil {
		t.Skip("no Activity")
	}
	all := activity.Range{Account: "acme", From: "2026-11-01", To: "2026-11-30"}
	for name, test := range map[string]func(t *testing.T, s activity.Store){
		"nothing was recorded": func(t *testing.T, s activity.Store) {
			t.Helper()
			assert.Empty(t, activityItems(t, s, all))
		},
		"events of one day, endpoint and workspace add up": func(t *testing.T, s activity.Store) {
			t.Helper()
			a, b := activityEvent("a", "2026-11-20", router.Principal{}), activityEvent("b", "2026-11-20", router.Principal{KeyHash: "k"})
			b.Requests = 0
			require.NoError(t, s.Record(t.Context(), []router.Event{a, b}))
			assert.Equal(t, []activity.Item{{
				Date: "2026-11-20", Model: "acme/judge", Permaslug: "acme/judge-20260901", Endpoint: uuid.UUID{1}, Provider: "Ant Cloud",
				Requests: 1, Prompt: 20, Completion: 10, Reasoning: 4, Cached: 2, Cost: router.Amount{Credit: 6, Total: 14},
			}}, activityItems(t, s, all))
		},
		"events of another day, model, endpoint, workspace or reason are another item": func(t *testing.T, s activity.Store) {
			t.Helper()
			events := []router.Event{
				activityEvent("a", "2026-11-20", router.Principal{}),
				activityEvent("b", "2026-11-21", router.Principal{}),
				activityEvent("c", "2026-11-20", router.Principal{Workspace: "w"}),
				activityEvent("d", "2026-11-20", router.Principal{}),
				activityEvent("e", "2026-11-20", router.Principal{}),
				activityEvent("f", "2026-11-20", router.Principal{}),
			}
			events[3].Model = "acme/other"
			events[4].Endpoint = uuid.UUID{2}
			events[5].Reason = router.LegEscalated
			require.NoError(t, s.Record(t.Context(), events))
			assert.Len(t, activityItems(t, s, all), len(events))
			assert.Equal(t, sumsOf(events), sumsIn(t, s, all))
		},
		"the range is inclusive at both ends": func(t *testing.T, s activity.Store) {
			t.Helper()
			for _, day := range []string{"2026-10-31", "2026-11-01", "2026-11-30", "2026-12-01"} {
				require.NoError(t, s.Record(t.Context(), []router.Event{activityEvent(day, day, router.Principal{})}))
			}
			assert.Len(t, activityItems(t, s, all), 2)
		},
		"events of another account are not shown": func(t *testing.T, s activity.Store) {
			t.Helper()
			require.NoError(t, s.Record(t.Context(), []router.Event{activityEvent("a", "2026-11-20", router.Principal{KeyHash: "k"})}))
			other := all
			other.Account = "zeta"
			assert.Empty(t, activityItems(t, s, other))
			other.KeyHash = "k"
			assert.Empty(t, activityItems(t, s, other))
		},
		"a range may be limited to a key and a member": func(t *testing.T, s activity.Store) {
			t.Helper()
			require.NoError(t, s.Record(t.Context(), []router.Event{
				activityEvent("a", "2026-11-20", router.Principal{KeyHash: "k", Member: "ann"}),
				activityEvent("b", "2026-11-20", router.Principal{KeyHash: "l", Member: "ann"}),
				activityEvent("c", "2026-11-20", router.Principal{KeyHash: "m", Member: "bob"}),
				activityEvent("d", "2026-11-20", router.Principal{}),
			}))
			for want, narrowed := range map[int64]activity.Range{
				4: {}, 2: {Member: "ann"}, 1: {KeyHash: "m"}, 0: {KeyHash: "m", Member: "ann"},
			} {
				narrowed.Account, narrowed.From, narrowed.To = all.Account, all.From, all.To
				var got int64
				for _, i := range activityItems(t, s, narrowed) {
					got += i.Requests
				}
				assert.Equal(t, want, got, narrowed)
			}
		},
		"an event that was recorded before adds nothing": func(t *testing.T, s activity.Store) {
			t.Helper()
			var events []router.Event
			for i := range 20 {
				events = append(events, activityEvent(fmt.Sprint("e", i), "2026-11-20", router.Principal{}))
			}
			var rivals sync.WaitGroup
			for i := range 8 {
				rivals.Go(func() { assert.NoError(t, s.Record(t.Context(), events[i:])) })
			}
			rivals.Wait()
			items := activityItems(t, s, all)
			require.Len(t, items, 1)
			assert.EqualValues(t, 20, items[0].Requests)
		},
		"methods honour their context": func(t *testing.T, s activity.Store) {
			t.Helper()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.Error(t, s.Record(ctx, []router.Event{activityEvent("a", "2026-11-20", router.Principal{})}))
			_, err := s.Items(ctx, all)
			require.Error(t, err)
			assert.Empty(t, activityItems(t, s, all))
		},
		"31 days with events are kept": func(t *testing.T, s activity.Store) {
			t.Helper()
			day := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
			for i := range 31 {
				date := day.AddDate(0, 0, -i).Format(time.DateOnly)
				require.NoError(t, s.Record(t.Context(), []router.Event{activityEvent(date, date, router.Principal{})}))
			}
			assert.Len(t, activityItems(t, s, activity.Range{Account: "acme", From: "2026-10-01", To: "2026-11-30"}), 31)
		},
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t).Activity) })
	}
}

func activityItems(t *testing.T, s activity.Store, r activity.Range) []activity.Item {
	t.Helper()
	items, err := s.Items(t.Context(), r)
	require.NoError(t, err)
	return items
}
