package activity_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

const (
	home = "00000000-0000-4000-8000-000000000001"
	side = "00000000-0000-4000-8000-000000000002"
	gone = "00000000-0000-4000-8000-000000000003"
)

// directory knows the organization acme and the personal account me.
type directory struct{}

func (directory) Workspaces(_ context.Context, account string) ([]string, error) {
	if account == "broken" {
		return nil, errDirectory
	}
	return []string{home, side}, nil
}

func (directory) IsOrganization(_ context.Context, account string) (bool, error) {
	return account == "acme", nil
}

var errDirectory = errors.New("the directory is down")

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func newService(t *testing.T, now *time.Time) (*activity.Service, activity.Store) {
	t.Helper()
	store := memory.New().Activity
	s, err := activity.New(activity.Config{Store: store, Directory: directory{}, Now: func() time.Time { return *now }})
	require.NoError(t, err)
	return s, store
}

func event(id int, at time.Time, p router.Principal) router.Event {
	if p.Account == "" {
		p.Account = "acme"
	}
	return router.Event{
		ID: fmt.Sprint("gen-dec-", id, "/0"), Admitted: at, Principal: p,
		Model: "acme/judge", Permaslug: "acme/judge-20260901", Endpoint: uuid.UUID{1}, Provider: "Ant Cloud",
		Requests: 1, Prompt: 10, Completion: 5, Reasoning: 2, Cached: 1,
		Cost: router.Amount{Credit: router.Dollar / 100, Total: router.Dollar / 20},
	}
}

func TestNewRefusesMistakes(t *testing.T) {
	_, err := activity.New(activity.Config{})
	require.ErrorIs(t, err, activity.ErrConfig)
}

// TestWindow walks the edges of days, months and years.
func TestWindow(t *testing.T) {
	for _, c := range []struct{ now, from, to string }{
		{"2026-11-21T00:00:00Z", "2026-10-22", "2026-11-20"},
		{"2026-11-20T23:59:59.999Z", "2026-10-21", "2026-11-19"},
		{"2028-03-01T12:00:00Z", "2028-01-31", "2028-02-29"},
		{"2027-03-01T12:00:00Z", "2027-01-30", "2027-02-28"},
		{"2027-01-01T00:00:00Z", "2026-12-02", "2026-12-31"},
		{"2026-11-21T01:00:00+02:00", "2026-10-21", "2026-11-19"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		require.NoError(t, err)
		from, to := activity.Window(now)
		assert.Equal(t, c.from+" "+c.to, from+" "+to, c.now)
	}
}

func TestItemsShowsThirtyCompletedDays(t *testing.T) {
	now := noon
	s, store := newService(t, &now)
	for i := range 40 {
		require.NoError(t, store.Record(t.Context(), []router.Event{event(i, noon.AddDate(0, 0, -i), router.Principal{})}))
	}
	days := func() []string {
		items, err := s.Items(t.Context(), "acme", activity.Query{})
		require.NoError(t, err)
		var list []string
		for _, i := range items {
			list = append(list, i.Date)
		}
		return list
	}
	got := days()
	require.Len(t, got, 30)
	assert.Equal(t, "2026-11-20", got[0], "today is not in it, the newest day is first")
	assert.Equal(t, "2026-10-22", got[29])
	now = noon.Add(12*time.Hour - time.Millisecond)
	assert.Equal(t, "2026-11-20", days()[0])
	now = noon.Add(12 * time.Hour)
	assert.Equal(t, "2026-11-21", days()[0], "midnight completes a day")
}

func TestItemsChecksItsQuery(t *testing.T) {
	now := noon
	s, _ := newService(t, &now)
	for name, c := range map[string]struct {
		account string
		query   activity.Query
		path    string // "" is fine
	}{
		"first day":             {"acme", activity.Query{Date: "2026-10-22"}, ""},
		"last day":              {"acme", activity.Query{Date: "2026-11-20"}, ""},
		"today":                 {"acme", activity.Query{Date: "2026-11-21"}, "date"},
		"too old":               {"acme", activity.Query{Date: "2026-10-21"}, "date"},
		"no day":                {"acme", activity.Query{Date: "2026-11-31"}, "date"},
		"not written that way":  {"acme", activity.Query{Date: "2026-11-2"}, "date"},
		"a time":                {"acme", activity.Query{Date: "2026-11-20T00:00:00Z"}, "date"},
		"a hash":                {"acme", activity.Query{KeyHash: strings.Repeat("0f", 32)}, ""},
		"short hash":            {"acme", activity.Query{KeyHash: "0f"}, "api_key_hash"},
		"no hexadecimal digits": {"acme", activity.Query{KeyHash: strings.Repeat("x", 64)}, "api_key_hash"},
		"a member":              {"acme", activity.Query{Member: "ann"}, ""},
		"member of a person":    {"me", activity.Query{Member: "ann"}, "user_id"},
		"a workspace":           {"acme", activity.Query{Workspace: side}, ""},
		"no UUID":               {"acme", activity.Query{Workspace: "side"}, "workspace_id"},
	} {
		t.Run(name, func(t *testing.T) {
			items, err := s.Items(t.Context(), c.account, c.query)
			if c.path == "" {
				require.NoError(t, err)
				assert.NotNil(t, items, "no items are an empty list")
				return
			}
			var invalid *systemone.InvalidError
			require.ErrorAs(t, err, &invalid)
			require.Len(t, invalid.Issues, 1)
			assert.Equal(t, c.path, invalid.Issues[0].Path)
		})
	}
	_, err := s.Items(t.Context(), "acme", activity.Query{Workspace: gone})
	require.ErrorIs(t, err, activity.ErrNotFound)
	_, err = s.Items(t.Context(), "broken", activity.Query{})
	require.ErrorIs(t, err, errDirectory)
}

func TestItemsShowsUseWithoutAWorkspaceUnderTheDefaultOne(t *testing.T) {
	now := noon
	s, store := newService(t, &now)
	yesterday := noon.AddDate(0, 0, -1)
	for i, workspace := range []string{"", home, side, gone} {
		require.NoError(t, store.Record(t.Context(), []router.Event{event(i, yesterday, router.Principal{Workspace: workspace})}))
	}
	requests := func(q activity.Query) map[string]int64 {
		items, err := s.Items(t.Context(), "acme", q)
		require.NoError(t, err)
		got := map[string]int64{}
		for _, i := range items {
			got[i.Workspace] += i.Requests
		}
		require.Len(t, got, len(items), "nothing stands twice")
		return got
	}
	assert.Equal(t, map[string]int64{"": 4}, requests(activity.Query{}))
	assert.Equal(t, map[string]int64{home: 3, side: 1}, requests(activity.Query{ByWorkspace: true}))
	assert.Equal(t, map[string]int64{"": 3}, requests(activity.Query{Workspace: home}))
	assert.Equal(t, map[string]int64{side: 1}, requests(activity.Query{Workspace: side, ByWorkspace: true}))
}

func TestItemsAreSorted(t *testing.T) {
	now := noon
	s, store := newService(t, &now)
	var events []router.Event
	for i := range 16 {
		e := event(i, noon.AddDate(0, 0, -1-i&1), router.Principal{Workspace: []string{home, side}[i>>1&1]})
		e.Model = []string{"acme/judge", "acme/a"}[i>>2&1]
		e.Endpoint = uuid.UUID{byte(2 - i>>3&1)}
		events = append(events, e)
	}
	require.NoError(t, store.Record(t.Context(), events))
	items, err := s.Items(t.Context(), "acme", activity.Query{ByWorkspace: true})
	require.NoError(t, err)
	var got []string
	for _, i := range items {
		got = append(got, fmt.Sprint(i.Date[8:], " ", i.Model, " ", i.Endpoint[0], " ", i.Workspace[35:]))
	}
	assert.Equal(t, []string{
		"20 acme/a 1 1", "20 acme/a 1 2", "20 acme/a 2 1", "20 acme/a 2 2",
		"20 acme/judge 1 1", "20 acme/judge 1 2", "20 acme/judge 2 1", "20 acme/judge 2 2",
		"19 acme/a 1 1", "19 acme/a 1 2", "19 acme/a 2 1", "19 acme/a 2 2",
		"19 acme/judge 1 1", "19 acme/judge 1 2", "19 acme/judge 2 1", "19 acme/judge 2 2",
	}, got)
}

// failing is a store whose disk is full.
type failing struct{ activity.Store }

var errFull = errors.New("the disk is full")

func (failing) Record(context.Context, []router.Event) error { return errFull }

func (failing) Items(context.Context, activity.Range) ([]activity.Item, error) { return nil, errFull }

func TestACallThatCannotBeRecordedFails(t *testing.T) {
	s, err := activity.New(activity.Config{Store: failing{}})
	require.NoError(t, err)
	next := func(context.Context, *router.Call) (*router.Result, error) { return &router.Result{}, nil }
	res, err := s.Intercept(next)(t.Context(), &router.Call{Principal: router.Principal{Account: "acme"}})
	assert.Nil(t, res)
	require.ErrorIs(t, err, errFull)
	res, err = s.Intercept(next)(t.Context(), &router.Call{})
	require.NoError(t, err, "the embedding program itself has no activity")
	assert.NotNil(t, res)
	_, err = s.Items(t.Context(), "acme", activity.Query{})
	require.ErrorIs(t, err, errFull)

	errGone := &router.Error{Class: router.Timeout, Err: context.Canceled}
	left := func(_ context.Context, c *router.Call) (*router.Result, error) {
		c.Report.Legs = []*router.Leg{{Attempts: []router.AttemptRecord{{Endpoint: &router.Endpoint{}, Class: router.Timeout, Abandoned: true, Billed: true, Cost: 1}}}}
		return nil, errGone
	}
	_, err = s.Intercept(left)(t.Context(), &router.Call{Principal: router.Principal{Account: "acme"}})
	require.ErrorIs(t, err, errFull)
	require.ErrorIs(t, err, errGone)
}

// A call that its caller ended and that was charged is in the activity with its
// tokens and its cost, but not as a request. A call that failed is not there.
func TestInterceptRecordsAbandonedCalls(t *testing.T) {
	store := memory.New().Activity
	s, err := activity.New(activity.Config{Store: store})
	require.NoError(t, err)
	errGone := &router.Error{Class: router.Timeout, Err: context.Canceled}
	next := func(_ context.Context, c *router.Call) (*router.Result, error) {
		c.Report.Legs = []*router.Leg{{Attempts: []router.AttemptRecord{
			{Endpoint: &router.Endpoint{}, Class: router.ProviderUnavailable},
			{
				Endpoint: &router.Endpoint{}, Class: router.Timeout, Abandoned: true, Billed: true,
				Cost: 3, OwnCost: 2, Usage: systemone.Usage{InputTokens: 7},
			},
		}}}
		return nil, errGone
	}
	call := &router.Call{ID: "gen-dec-1", Principal: router.Principal{Account: "acme"}, Admitted: noon}
	for range 2 {
		res, err := s.Intercept(next)(t.Context(), call)
		assert.Nil(t, res)
		require.ErrorIs(t, err, errGone)
	}
	items, err := store.Items(t.Context(), activity.Range{Account: "acme", From: "2026-01-01", To: "2027-12-31"})
	require.NoError(t, err)
	require.Len(t, items, 1)
	assert.Zero(t, items[0].Requests)
	assert.EqualValues(t, 7, items[0].Prompt)
	assert.Equal(t, router.Amount{Credit: 3, Total: 5}, items[0].Cost)
}

// BenchmarkItems is GET /activity of an account with a thousand keys at twenty
// endpoints over thirty days.
func BenchmarkItems(b *testing.B) {
	store := memory.New().Activity
	var events []router.Event
	id := 0
	for day := range 30 {
		at := noon.AddDate(0, 0, -1-day)
		events = events[:0]
		for key := range 1000 {
			for endpoint := range 20 {
				e := event(id, at, router.Principal{KeyHash: fmt.Sprintf("%064x", key), Member: fmt.Sprint("user_", key%50), Workspace: []string{home, side}[key%2]})
				e.Endpoint = uuid.UUID{byte(endpoint)}
				events = append(events, e)
				id++
			}
		}
		require.NoError(b, store.Record(b.Context(), events))
	}
	s, err := activity.New(activity.Config{Store: store, Directory: directory{}, Now: func() time.Time { return noon }})
	require.NoError(b, err)
	for name, q := range map[string]activity.Query{
		"all": {}, "by workspace": {ByWorkspace: true}, "one key": {KeyHash: fmt.Sprintf("%064x", 7)}, "one member": {Member: "user_7"},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				items, err := s.Items(b.Context(), "acme", q)
				if err != nil || len(items) == 0 {
					b.Fatal(len(items), err)
				}
			}
		})
	}
}
