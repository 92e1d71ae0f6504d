package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// newOrganization returns a service with the organization acme and the personal account
// pat. In acme user_2 is the owner, bob is a member with keys in the workspace east,
// and the workspace empty has nothing. Each reading of the clock adds a minute; ids are
// counted from 1.
func newOrganization(tb testing.TB) *organization.Service {
	tb.Helper()
	now, ids, east := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), byte(0), ""
	set := memory.New()
	s, err := organization.New(organization.Config{
		Store: set.Organization, Audit: set.Audit, Ledger: set.Ledger,
		KeysIn: func(_ context.Context, _, workspace string) (int, error) {
			if workspace == east {
				return 2, nil
			}
			return 0, nil
		},
		KeysOf: func(_ context.Context, _, workspace, member string) (int, error) {
			if workspace == east && member == "bob" {
				return 2, nil
			}
			return 0, nil
		},
		NewID: func() uuid.UUID {
			ids++
			return uuid.UUID{15: ids}
		},
		Now: func() time.Time {
			now = now.Add(time.Minute)
			return now
		},
	})
	require.NoError(tb, err)
	ctx, by := tb.Context(), router.Actor{Principal: router.Principal{Account: "acme", Member: "user_2"}}
	_, err = s.CreateAccount(ctx, by, organization.NewAccount{ID: "acme", Name: "Acme", Owner: organization.Member{ID: "user_2", Email: "u@acme.example", FirstName: "Una"}})
	require.NoError(tb, err)
	_, err = s.CreateAccount(ctx, router.Actor{}, organization.NewAccount{ID: "pat", Name: "Pat", Personal: true, Owner: organization.Member{ID: "pat", Email: "p@x"}})
	require.NoError(tb, err)
	_, err = s.AddMember(ctx, by, organization.Member{ID: "bob", Email: "b@acme.example", Role: organization.RoleMember})
	require.NoError(tb, err)
	for _, slug := range []string{"east", "empty"} {
		w, err := s.CreateWorkspace(ctx, by, organization.NewWorkspace{Name: strings.ToUpper(slug), Slug: slug})
		require.NoError(tb, err)
		if slug == "east" {
			east = w.ID
		}
	}
	_, _, err = s.AddToWorkspace(ctx, by, "east", []string{"bob"})
	require.NoError(tb, err)
	for i, limit := range map[router.Interval]router.USD{router.Monthly: 500 * router.Dollar, router.Daily: 50_500_000_000} {
		_, err = s.SetBudget(ctx, by, "east", i, limit, router.Update[bool]{})
		require.NoError(tb, err)
	}
	_, err = s.TopUp(ctx, by, "p", 12_500_000_000)
	require.NoError(tb, err)
	return s
}

func withOrganization(s *organization.Service) option {
	return func(c *httpapi.Config, _ *router.Config) { c.Organization = s }
}

// account makes all keys belong to one account.
func account(id string) option {
	return func(c *httpapi.Config, _ *router.Config) { c.Keys = inAccount{c.Keys, id} }
}

type inAccount struct {
	httpapi.Authenticator

	id string
}

func (a inAccount) Authenticate(ctx context.Context, secret router.Secret) (router.Principal, error) {
	p, err := a.Authenticator.Authenticate(ctx, secret)
	p.Account = a.id
	return p, err
}

// failingOrganization is a store in which every call fails.
type failingOrganization struct {
	organization.Store

	err error
}

func (s failingOrganization) Account(context.Context, string) (organization.Account, error) {
	return organization.Account{}, s.err
}

func (s failingOrganization) Workspace(context.Context, string, string) (organization.Workspace, error) {
	return organization.Workspace{}, s.err
}

func (s failingOrganization) Workspaces(context.Context, string, int, int) ([]organization.Workspace, int, error) {
	return nil, 0, s.err
}

func (s failingOrganization) CreateWorkspace(context.Context, organization.Workspace, router.Change) error {
	return s.err
}

// noOrganization gives a rig an organization whose store always fails.
func noOrganization(err error) option {
	return func(c *httpapi.Config, _ *router.Config) {
		s, wrong := organization.New(organization.Config{Store: failingOrganization{err: err}})
		if wrong == nil {
			c.Organization = s
		}
	}
}

// managed is a route for management keys and a request that it accepts.
type managed struct {
	method, path, body string
	paged, conflicts   bool
	allow              string // the Allow header of the path; set only on its first method
}

var organizationRoutes = []managed{
	{method: "GET", path: "/organization/settings", allow: "GET, HEAD, PATCH"},
	{method: "PATCH", path: "/organization/settings", body: `{"is_filtered_model_catalog_enabled":true}`, conflicts: true},
	{method: "GET", path: "/organization/members", paged: true, allow: "GET, HEAD"},
	{method: "GET", path: "/credits", allow: "GET, HEAD"},
	{method: "GET", path: "/workspaces", paged: true, allow: "GET, HEAD, POST"},
	{method: "POST", path: "/workspaces", body: `{"name":"N","slug":"n"}`},
	{method: "DELETE", path: "/workspaces/empty", allow: "DELETE, GET, HEAD, PATCH"},
	{method: "GET", path: "/workspaces/east"},
	{method: "PATCH", path: "/workspaces/east", body: `{"name":"N"}`, conflicts: true},
	{method: "GET", path: "/workspaces/east/members", paged: true, allow: "GET, HEAD"},
	{method: "POST", path: "/workspaces/east/members/add", body: `{"user_ids":["bob"]}`, allow: "POST"},
	{method: "POST", path: "/workspaces/east/members/remove", body: `{"user_ids":["user_2"]}`, allow: "POST"},
	{method: "GET", path: "/workspaces/east/budgets", allow: "GET, HEAD"},
	{method: "DELETE", path: "/workspaces/east/budgets/daily", conflicts: true, allow: "DELETE, GET, HEAD, PUT"},
	{method: "GET", path: "/workspaces/east/budgets/daily"},
	{method: "PUT", path: "/workspaces/east/budgets/weekly", body: `{"limit_usd":100}`, conflicts: true},
}

// refusals are the refusals that every such route has.
func (m managed) refusals() []scenario {
	const resource = "Resource not found"
	list := []scenario{
		{name: "no header", key: "-", status: 401, message: "Missing Authentication header", kind: "authentication"},
		{name: "unknown key", key: "unknown", status: 401, message: "Invalid API key", kind: "authentication"},
		{name: "inference key", key: "inference", status: 403, message: "Only management keys can perform this operation", kind: "permission_denied"},
		{name: "storage down", options: []option{noOrganization(errors.New(canary))}, status: 500, message: "Internal Server Error", kind: "server"},
		{name: "storage slow", options: []option{noOrganization(context.DeadlineExceeded)}, status: 524, message: "Request timed out. Please try again later.", kind: "timeout"},
	}
	if m.path != "/workspaces" || m.method == "POST" {
		list = append(list, scenario{name: "no account", options: []option{account("nobody")}, status: 404, message: resource, kind: "not_found"})
	}
	if strings.HasPrefix(m.path, "/workspaces/") {
		list = append(list, scenario{name: "another account", options: []option{account("pat")}, status: 404, message: resource, kind: "not_found"})
	}
	if m.conflicts {
		list = append(list, scenario{name: "race", options: []option{noOrganization(organization.ErrConflict)}, status: 409, message: "Resource conflict. Please try again later.", kind: "conflict"})
	}
	if m.paged {
		list = append(list, scenario{name: "page", path: m.path + "?limit=101", status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "limit"}})
	}
	if m.allow != "" {
		list = append(list, scenario{name: "method", method: "OPTIONS", status: 405, message: "Method not allowed", kind: "method_not_allowed", headers: map[string]string{"Allow": m.allow}})
	}
	if m.body != "" {
		list = append(list, []scenario{
			{name: "list for a body", body: "[]", status: 400, message: invalid, kind: "invalid_request"},
			{name: "too large", options: []option{sized(5)}, status: 413, message: "Request payload too large", kind: "payload_too_large"},
			{name: "no room", options: []option{func(c *httpapi.Config, _ *router.Config) { c.MaxInFlightBytes = 5 }}, status: 503, message: "Service temporarily unavailable", kind: "no_capacity"},
		}...)
	}
	for i := range list {
		s := &list[i]
		s.name = m.method + " " + m.path + ": " + s.name
		s.method, s.path, s.key, s.body = orText(s.method, m.method), orText(s.path, m.path), orText(s.key, "management"), orText(s.body, m.body)
		if len(s.options) == 0 {
			s.options = []option{account("acme")}
		}
	}
	return list
}

func organizationScenarios() []scenario {
	list := organizationAnswers()
	for i := range list {
		s := &list[i]
		s.name = s.method + " " + s.path + ": " + orText(s.name, s.body)
		s.key = "management"
		if s.options == nil {
			s.options = []option{account("acme")}
		}
	}
	for _, m := range organizationRoutes {
		list = append(list, m.refusals()...)
	}
	return append(list, badWorkspaces()...)
}

// TestWhatTheServiceHoldsIsWhatWasAnswered makes changes over HTTP and compares the
// service's state.
func TestWhatTheServiceHoldsIsWhatWasAnswered(t *testing.T) {
	s := newOrganization(t)
	g := newRig(t, withOrganization(s), account("acme"))
	ask := func(method, path, body string, status int) []byte {
		w := g.serve(t, g.handler, g.request(t, method, path, body, "management"))
		require.Equal(t, status, w.Code, "%s", w.Body)
		return w.Body.Bytes()
	}
	body := ask("POST", "/workspaces", `{"name":"West","slug":"west","description":"d","default_provider_sort":"exacto"}`, 201)
	w, err := s.Workspace(t.Context(), "acme", "west")
	require.NoError(t, err)
	assert.Equal(t, w.ID, at(t, body, "data.id"))
	assert.Equal(t, w.DefaultGuardrail, at(t, body, "data.default_guardrail_id"))
	assert.Equal(t, "user_2", w.CreatedBy)
	assert.Equal(t, "d", *w.Description)
	assert.EqualValues(t, "exacto", w.DefaultSort)

	ask("PATCH", "/workspaces/"+strings.ToUpper(w.ID), `{"slug":"far-west","default_provider_sort":null,"description":null}`, 200)
	w, err = s.Workspace(t.Context(), "acme", "far-west")
	require.NoError(t, err)
	assert.Empty(t, w.DefaultSort)
	assert.Nil(t, w.Description)
	assert.Equal(t, "West", w.Name)

	body = ask("PUT", "/workspaces/far-west/budgets/lifetime", `{"limit_usd":0.000000001,"include_byok_in_budgets":true}`, 200)
	assert.Contains(t, string(body), `"limit_usd":0.000000001,"reset_interval":null`)
	assert.Contains(t, string(body), `"include_byok_in_budgets":true`)
	ask("DELETE", "/workspaces/far-west/budgets/lifetime", "", 200)
	ask("GET", "/workspaces/far-west/budgets/lifetime", "", 404)
	w, err = s.Workspace(t.Context(), "acme", "far-west")
	require.NoError(t, err)
	assert.Empty(t, w.Budgets)
	assert.True(t, w.IncludeBYOK)

	ask("DELETE", "/workspaces/far-west", "", 200)
	ask("GET", "/workspaces/far-west", "", 404)
	ask("PATCH", "/organization/settings", `{"is_filtered_model_catalog_enabled":true}`, 200)
	settings, err := s.Settings(t.Context(), "acme")
	require.NoError(t, err)
	assert.True(t, settings.FilteredCatalog)

	changes, _, err := s.Changes(t.Context(), "acme", 0, 1)
	require.NoError(t, err)
	assert.Equal(t, "user_2", changes[0].Actor.Principal.Member)
	assert.NotEmpty(t, changes[0].Actor.RequestID)
	assert.NotEmpty(t, changes[0].Actor.Principal.KeyHash)
}

// TestForeignAndMissingAreAnsweredAlike compares whole bodies.
func TestForeignAndMissingAreAnsweredAlike(t *testing.T) {
	for _, m := range organizationRoutes {
		if !strings.HasPrefix(m.path, "/workspaces/") {
			continue
		}
		foreign := scenario{method: m.method, path: m.path, body: m.body, key: "management", options: []option{account("pat")}}
		missing := scenario{method: m.method, path: strings.NewReplacer("/east", "/none", "/empty", "/none").Replace(m.path), body: m.body, key: "management", options: []option{account("acme")}}
		_, _, a := foreign.play(t)
		_, _, b := missing.play(t)
		assert.Equal(t, http.StatusNotFound, a.status)
		assert.Equal(t, string(a.body), string(b.body), "%s %s", m.method, m.path)
	}
}
