package activity_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
)

// Without ByReason an item is the sum over all reasons; with it each reason has an
// item of its own.
func TestItemsByReason(t *testing.T) {
	now := noon
	s, store := newService(t, &now)
	yesterday := noon.AddDate(0, 0, -1)
	events := make([]router.Event, 4)
	for i, reason := range []router.LegReason{router.LegFirst, router.LegEscalated, router.LegFirst, ""} {
		events[i] = event(i, yesterday, router.Principal{Workspace: home})
		events[i].Reason = reason
	}
	require.NoError(t, store.Record(t.Context(), events))
	requests := func(q activity.Query) (got []string) {
		items, err := s.Items(t.Context(), "acme", q)
		require.NoError(t, err)
		for _, i := range items {
			got = append(got, fmt.Sprintf("%s %q %d", i.Workspace, i.Reason, i.Requests))
		}
		return got
	}
	assert.Equal(t, []string{` "" 4`}, requests(activity.Query{}))
	assert.Equal(t, []string{` "" 1`, ` "escalated" 1`, ` "first" 2`}, requests(activity.Query{ByReason: true}))
	assert.Equal(t, []string{home + ` "" 4`}, requests(activity.Query{ByWorkspace: true}))
	assert.Equal(t, []string{home + ` "" 1`, home + ` "escalated" 1`, home + ` "first" 2`},
		requests(activity.Query{ByWorkspace: true, ByReason: true}))
}

var hashA, hashB = strings.Repeat("a", 64), strings.Repeat("b", 64)

// Items by reason add up to the items without it, whatever was recorded and taken
// back.
func TestReasonsAddUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		now := noon
		s, store := newService(t, &now)
		var events []router.Event
		for i := range rapid.IntRange(0, 30).Draw(rt, "events") {
			e := event(i, noon.AddDate(0, 0, -rapid.IntRange(0, 3).Draw(rt, "day")).Add(time.Hour), router.Principal{
				Workspace: rapid.SampledFrom([]string{"", home, side, gone}).Draw(rt, "workspace"),
				KeyHash:   rapid.SampledFrom([]string{hashA, hashB}).Draw(rt, "key"),
			})
			e.Endpoint = uuid.UUID{rapid.ByteRange(1, 2).Draw(rt, "endpoint")}
			e.Reason = rapid.SampledFrom([]router.LegReason{"", router.LegFirst, router.LegEscalated, router.LegSplit, router.LegRefused}).Draw(rt, "reason")
			e.Cost.Credit = router.USD(rapid.IntRange(0, 1000).Draw(rt, "credit"))
			if events = append(events, e); rapid.Bool().Draw(rt, "taken back") {
				events = append(events, e.Corrected())
			}
		}
		require.NoError(rt, store.Record(t.Context(), events))
		q := activity.Query{ByWorkspace: rapid.Bool().Draw(rt, "by workspace"), KeyHash: rapid.SampledFrom([]string{"", hashA}).Draw(rt, "of key")}
		want, err := s.Items(t.Context(), "acme", q)
		require.NoError(rt, err)
		q.ByReason = true
		split, err := s.Items(t.Context(), "acme", q)
		require.NoError(rt, err)
		got := []activity.Item{}
		at := map[activity.Item]int{} // by what items have in common
		for _, item := range split {
			of := activity.Item{Date: item.Date, Model: item.Model, Endpoint: item.Endpoint, Workspace: item.Workspace}
			item.Reason = ""
			if i, ok := at[of]; ok {
				got[i].Add(item)
				continue
			}
			at[of] = len(got)
			got = append(got, item)
		}
		require.Equal(rt, want, got)
	})
}
