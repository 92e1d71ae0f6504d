package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

const (
	activityHome = "0190f5a0-0000-7000-8000-000000000001"
	activitySide = "0190f5a0-0000-7000-8000-000000000002"
)

// activityDirectory gives every account two workspaces; acme is an organization.
type activityDirectory struct{}

func (activityDirectory) Workspaces(context.Context, string) ([]string, error) {
	return []string{activityHome, activitySide}, nil
}

func (activityDirectory) IsOrganization(_ context.Context, account string) (bool, error) {
	return account == "acme", nil
}

// newActivity returns a service with three events of the account acme and one of
// another account. Two of acme's are on the twentieth, by different keys in different
// workspaces; one is on the day before. Today is the twenty-first.
func newActivity(tb testing.TB) option {
	tb.Helper()
	store := memory.New().Activity
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	event := func(id string, daysAgo int, p router.Principal) router.Event {
		return router.Event{
			ID: id, Admitted: now.AddDate(0, 0, -daysAgo), Principal: p,
			Model: "acme/judge", Permaslug: "acme/judge-20260901", Endpoint: uuid.UUID{15: 1}, Provider: "Ant Cloud",
			Requests: 1, Prompt: 10, Completion: 5, Reasoning: 2, Cached: 1,
			Cost: router.Amount{Credit: router.Dollar / 4, Total: 3 * router.Dollar / 4},
		}
	}
	require.NoError(tb, store.Record(tb.Context(), []router.Event{
		event("1", 1, router.Principal{Account: "acme", Workspace: activityHome, KeyHash: strings.Repeat("a", 64), Member: "user_2"}),
		event("2", 1, router.Principal{Account: "acme", Workspace: activitySide, KeyHash: strings.Repeat("b", 64), Member: "bob"}),
		event("3", 2, router.Principal{Account: "acme", Workspace: activityHome, KeyHash: strings.Repeat("a", 64), Member: "user_2"}),
		event("4", 0, router.Principal{Account: "acme", Workspace: activityHome}),
		event("5", 1, router.Principal{Account: "other", Workspace: activityHome}),
	}))
	return withActivity(tb, store, now)
}

func withActivity(tb testing.TB, store activity.Store, now time.Time) option {
	tb.Helper()
	s, err := activity.New(activity.Config{Store: store, Directory: activityDirectory{}, Now: func() time.Time { return now }})
	require.NoError(tb, err)
	return func(c *httpapi.Config, _ *router.Config) { c.Activity = s }
}

// failingActivity is a storage that cannot be read.
type failingActivity struct{ activity.Store }

func (failingActivity) Items(context.Context, activity.Range) ([]activity.Item, error) {
	return nil, errors.New("the storage is down: " + canary)
}

func activityScenarios(tb testing.TB) []scenario {
	tb.Helper()
	const path, home, side = "/activity", activityHome, activitySide
	list := []scenario{
		{name: "all", status: 200, want: map[string]any{
			"data.0": map[string]any{
				"date": "2026-11-20", "model": "acme/judge", "model_permaslug": "acme/judge-20260901", "endpoint_id": uuid.UUID{15: 1}.String(), "provider_name": "Ant Cloud",
				"requests": 2.0, "prompt_tokens": 20.0, "completion_tokens": 10.0, "reasoning_tokens": 4.0, "cached_tokens": 2.0, "usage": 0.5, "byok_usage_inference": 1.0,
			},
			"data.1.date": "2026-11-19", "data.1.requests": 1.0,
		}, absent: []string{"data.2"}},
		{name: "?date=2026-11-19", status: 200, want: map[string]any{"data.0.date": "2026-11-19"}, absent: []string{"data.1"}},
		{name: "?date=2026-11-18", status: 200, want: map[string]any{"data": []any{}}},
		{name: "?group_by=workspace", status: 200, want: map[string]any{"data.0.workspace_id": home, "data.1.workspace_id": side, "data.0.requests": 1.0, "data.2.date": "2026-11-19"}, absent: []string{"data.3"}},
		{name: "?workspace_id=" + strings.ToUpper(side), status: 200, want: map[string]any{"data.0.requests": 1.0}, absent: []string{"data.1", "data.0.workspace_id"}},
		{name: "?user_id=user_2", status: 200, want: map[string]any{"data.0.requests": 1.0, "data.1.requests": 1.0}, absent: []string{"data.2"}},
		{name: "?api_key_hash=" + strings.Repeat("b", 64), status: 200, want: map[string]any{"data.0.requests": 1.0}, absent: []string{"data.1"}},
		{name: "?workspace_id=" + uuid.Max.String(), status: 404, message: "Resource not found", kind: "not_found"},
	}
	for query, issue := range map[string]string{
		"date=2026-11-21": "date", "date=yesterday": "date", "api_key_hash=x": "api_key_hash", "workspace_id=x": "workspace_id",
		"group_by=day": "group_by", "date=2026-11-20&date=2026-11-20": "date",
	} {
		list = append(list, scenario{name: "?" + query, status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": issue}})
	}
	for i := range list {
		s := &list[i]
		s.method, s.key, s.path, s.options = http.MethodGet, "management", path, []option{account("acme")}
		if strings.HasPrefix(s.name, "?") {
			s.path += s.name
		}
		s.name = "activity " + s.name
	}
	list = append(list, scenario{
		name: "activity of a member of nothing", method: http.MethodGet, path: path + "?user_id=user_2", key: "management", options: []option{account("pat")},
		status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "user_id"},
	})
	return slices.Concat(list, managedRefusals(http.MethodGet, path, "", withActivity(tb, failingActivity{}, time.Unix(0, 0))))
}
