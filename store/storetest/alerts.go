package storetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router/hooks"
)

var alertNoon = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

func testAlerts(t *testing.T, open Open) {
	t.Helper()
	if open(t).Alerts == nil {
		t.Skip("no Alerts")
	}
	for name, test := range map[string]func(*testing.T, hooks.AlertStore){
		"an alert comes back byte by byte, once until it is due again": alertTaken,
		"an alert is raised once, whether or not it is delivered":      alertOnce,
		"an alert that is done is never due":                           alertDone,
		"alerts that have been due longest are first, at most limit":   alertOrder,
		"an alert that expires is forgotten":                           alertExpires,
		"of concurrent calls one takes an alert":                       alertRivals,
		"methods of alerts honour their context":                       alertContext,
		"a random history of alerts is that of the model":              alertHistory,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t).Alerts) })
	}
}

func alertOf(id string, raised time.Time) hooks.Alert {
	return hooks.Alert{ID: id, Event: []byte(`{"of":"` + id + ` \u0000 ü 💶"}`), Raised: raised}
}

func takeAlerts(t require.TestingT, s hooks.AlertStore, now time.Time, limit int) (ids []string) {
	list, err := s.Take(context.Background(), uuid.New(), now, now.Add(time.Minute), limit)
	require.NoError(t, err)
	for _, a := range list {
		ids = append(ids, a.ID)
	}
	return ids
}

func alertTaken(t *testing.T, s hooks.AlertStore) {
	t.Helper()
	want := alertOf("a", alertNoon)
	want.Expires = alertNoon.Add(time.Hour)
	require.NoError(t, s.Raise(t.Context(), want))
	forever := alertOf("b", alertNoon.Add(time.Second))
	require.NoError(t, s.Raise(t.Context(), forever))
	assert.Empty(t, takeAlerts(t, s, alertNoon.Add(-time.Second), 10), "not due yet")
	until := alertNoon.Add(time.Minute)
	list, err := s.Take(t.Context(), uuid.New(), alertNoon.Add(time.Second), until, 10)
	require.NoError(t, err)
	assert.Equal(t, []hooks.Alert{want, forever}, list)
	assert.Empty(t, takeAlerts(t, s, until.Add(-time.Second), 10))
	assert.Equal(t, []string{"a", "b"}, takeAlerts(t, s, until, 10))
}

func alertOnce(t *testing.T, s hooks.AlertStore) {
	t.Helper()
	require.NoError(t, s.Raise(t.Context(), alertOf("a", alertNoon)))
	again := hooks.Alert{ID: "a", Event: []byte(`{}`), Raised: alertNoon.Add(-time.Hour)}
	require.NoError(t, s.Raise(t.Context(), again))
	list, err := s.Take(t.Context(), uuid.New(), alertNoon, alertNoon.Add(time.Minute), 10)
	require.NoError(t, err)
	assert.Equal(t, []hooks.Alert{alertOf("a", alertNoon)}, list, "the first one is kept")
	require.NoError(t, s.Done(t.Context(), "a"))
	require.NoError(t, s.Raise(t.Context(), again))
	assert.Empty(t, takeAlerts(t, s, alertNoon.Add(time.Hour), 10))
}

func alertDone(t *testing.T, s hooks.AlertStore) {
	t.Helper()
	require.NoError(t, s.Done(t.Context(), "unknown"))
	for _, id := range []string{"a", "b"} {
		require.NoError(t, s.Raise(t.Context(), alertOf(id, alertNoon)))
	}
	require.NoError(t, s.Done(t.Context(), "b"), "also before it was taken")
	assert.Equal(t, []string{"a"}, takeAlerts(t, s, alertNoon, 10))
	for range 2 {
		require.NoError(t, s.Done(t.Context(), "a"))
	}
	assert.Empty(t, takeAlerts(t, s, alertNoon.Add(24*time.Hour), 10))
}

func alertOrder(t *testing.T, s hooks.AlertStore) {
	t.Helper()
	for i, id := range []string{"c", "a", "b"} {
		require.NoError(t, s.Raise(t.Context(), alertOf(id, alertNoon.Add(time.Duration(i)*time.Second))))
	}
	now := alertNoon.Add(time.Second * 5)
	assert.Empty(t, takeAlerts(t, s, now, 0))
	assert.Equal(t, []string{"c", "a"}, takeAlerts(t, s, now, 2))
	assert.Equal(t, []string{"b"}, takeAlerts(t, s, now, 2))
}

func alertExpires(t *testing.T, s hooks.AlertStore) {
	t.Helper()
	a, b := alertOf("a", alertNoon), alertOf("b", alertNoon)
	a.Expires = alertNoon.Add(time.Hour)
	require.NoError(t, s.Raise(t.Context(), a))
	require.NoError(t, s.Raise(t.Context(), b))
	require.NoError(t, s.Done(t.Context(), "b"))
	assert.Empty(t, takeAlerts(t, s, a.Expires, 10), "it is not delivered any more")
	later := alertNoon.Add(1000 * 24 * time.Hour)
	require.NoError(t, s.Raise(t.Context(), alertOf("b", alertNoon)))
	assert.Empty(t, takeAlerts(t, s, later, 10), "one that never expires is still known")
	require.NoError(t, s.Raise(t.Context(), alertOf("a", later)))
	assert.Equal(t, []string{"a"}, takeAlerts(t, s, later, 10))
}

func alertRivals(t *testing.T, s hooks.AlertStore) {
	t.Helper()
	const alerts, rivals = 20, 8
	var all sync.WaitGroup
	var mu sync.Mutex
	taken := map[string]int{}
	for range rivals {
		all.Go(func() {
			for i := range alerts {
				if err := s.Raise(t.Context(), alertOf(strconv.Itoa(i), alertNoon)); err != nil {
					t.Error(err)
				}
			}
			for range alerts {
				list, err := s.Take(t.Context(), uuid.New(), alertNoon, alertNoon.Add(time.Minute), 3)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				for _, a := range list {
					taken[a.ID]++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	assert.Len(t, taken, alerts)
	for id, n := range taken {
		assert.Equal(t, 1, n, "alert %s", id)
	}
}

func alertContext(t *testing.T, s hooks.AlertStore) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Raise(ctx, alertOf("a", alertNoon)), context.Canceled)
	_, err := s.Take(ctx, uuid.New(), alertNoon, alertNoon.Add(time.Minute), 1)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, s.Done(ctx, "a"), context.Canceled)
	assert.Empty(t, takeAlerts(t, s, alertNoon, 1))
}

// alertHistory runs random calls on the store and on a map of when each alert is due. The
// IDs of one history begin with a number of its own, because histories share the store.
// A history ignores what earlier ones have left.
func alertHistory(t *testing.T, s hooks.AlertStore) {
	t.Helper()
	n, now := 0, alertNoon
	histories(t, func(t *testing.T, r *rapid.T) {
		t.Helper()
		n++
		prefix := fmt.Sprintf("%04d-", n)
		due := map[string]time.Time{} // the zero time is done
		id := rapid.Custom(func(r *rapid.T) string {
			return prefix + strconv.Itoa(rapid.IntRange(0, 5).Draw(r, "alert"))
		})
		r.Repeat(map[string]func(*rapid.T){
			"raise": func(r *rapid.T) {
				id := id.Draw(r, "id")
				require.NoError(r, s.Raise(t.Context(), alertOf(id, now)))
				if _, known := due[id]; !known {
					due[id] = now
				}
			},
			"wait": func(r *rapid.T) {
				now = now.Add(rapid.SampledFrom([]time.Duration{time.Second, time.Minute / 2, time.Minute}).Draw(r, "pause"))
			},
			"done": func(r *rapid.T) {
				id := id.Draw(r, "id")
				require.NoError(r, s.Done(t.Context(), id))
				if _, known := due[id]; known {
					due[id] = time.Time{}
				}
			},
			"take": func(r *rapid.T) {
				var want []string
				for _, id := range slices.Sorted(maps.Keys(due)) {
					if at := due[id]; !at.IsZero() && !at.After(now) {
						want = append(want, id)
						due[id] = now.Add(time.Minute)
					}
				}
				got := slices.DeleteFunc(takeAlerts(r, s, now, 10_000), func(id string) bool { return !strings.HasPrefix(id, prefix) })
				require.ElementsMatch(r, want, got)
			},
		})
	})
}
