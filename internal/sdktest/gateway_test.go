package sdktest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/systemonehttp"
	"github.com/signalbox/signalbox/store/memory"
)

// gateway is a router with its HTTP interface, as a program embeds it, in front of two
// scripted upstreams: "lab", with the display name Scripted Lab, and "careless", which
// is cheaper and collects data.
type gateway struct {
	url                             string // of the server, without a path
	inference, management, disabled string
	lab, careless                   *upstream
}

// Models whose requests never reach an upstream. This gateway has no budgets and no
// internal failures, so an interceptor returns the errors for 402 and 500.
const (
	modelUnpaid = "lab/unpaid"
	modelBroken = "lab/broken"
	innerText   = "hunter2" // must not be in any reply
)

func refuse(next router.Decider) router.Decider {
	return func(ctx context.Context, c *router.Call) (*router.Result, error) {
		switch c.Request.Model {
		case modelUnpaid:
			return nil, &router.Error{Class: router.PaymentRequired, Message: "Insufficient credits"}
		case modelBroken:
			return nil, errors.New(innerText)
		}
		return next(ctx, c)
	}
}

func newGateway(t *testing.T) *gateway {
	t.Helper()
	g := &gateway{lab: newUpstream(t, labScript), careless: newUpstream(t, carelessScript)}
	set := memory.New()
	ks, err := keys.New(keys.Config{Store: set.Keys})
	require.NoError(t, err)
	g.inference = newKey(t, ks, keys.Key{Name: "inference", Account: "a", Creator: "user-1"})
	g.management = newKey(t, ks, keys.Key{Name: "management", Account: "a", Creator: "user-1", Management: true})
	g.disabled = newKey(t, ks, keys.Key{Name: "disabled", Account: "a", Creator: "user-1", Disabled: true})
	saved, err := presets.New(presets.Config{Store: set.Presets, Workspace: oneWorkspace})
	require.NoError(t, err)
	rt, err := router.New(router.Config{
		Catalog:        g.catalog(t),
		UserKey:        []byte("for tests"), // without it no user is sent upstream
		Interceptors:   []router.Interceptor{ks.Intercept, saved.Intercept, refuse},
		AttemptTimeout: 3 * time.Second, // for the upstream that hangs
	})
	require.NoError(t, err)
	api, err := httpapi.New(httpapi.Config{Router: rt, Keys: ks, Brand: "openrouter", Presets: saved})
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/api/v1/", http.StripPrefix("/api/v1", api))
	mux.Handle("/v1/", http.StripPrefix("/v1", api.Native()))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	g.url = server.URL
	return g
}

// oneWorkspace implements the Workspace functions for a program with one workspace.
func oneWorkspace(_ context.Context, _, id string) (string, error) {
	if id != "" && id != workspaceID {
		return "", presets.ErrNotFound
	}
	return workspaceID, nil
}

const workspaceID = "0190f5a0-0000-7000-8000-000000000001"

func newKey(t *testing.T, ks *keys.Service, k keys.Key) string {
	t.Helper()
	_, secret, err := ks.Create(t.Context(), router.Actor{}, k)
	require.NoError(t, err)
	return string(secret)
}

// catalog has one model for each scripted behaviour, named after it.
func (g *gateway) catalog(t *testing.T) *router.Catalog {
	t.Helper()
	providers := []router.ProviderInfo{
		{Slug: "lab", Name: "Scripted Lab", Client: client(t, g.lab), PrivacyPolicyURL: "https://lab.example/privacy"},
		{Slug: "careless", Name: "Careless", Client: client(t, g.careless)},
		{Slug: "closed", Name: "Closed", Client: client(t, g.careless)},
	}
	var models []router.Model
	var endpoints []router.Endpoint
	add := func(provider, name string, e router.Endpoint) {
		e.Provider, e.Model, e.UpstreamModel = provider, "lab/"+name, name
		endpoints = append(endpoints, e)
	}
	sound := router.Endpoint{
		Pricing:      router.Pricing{Prompt: router.Dollars("1"), Completion: router.Dollars("2"), Request: router.Dollars("0.001")},
		Quantization: "fp8", ZDR: true, Parameters: []string{"user"}, ContextLength: 8192,
	}
	for name := range labScript {
		var categories []string
		if name == "answer" {
			categories = []string{"finance", "legal"}
		}
		models = append(models, router.Model{
			Categories: categories,
			ID:         "lab/" + name, Permaslug: "lab/" + name + "-20261101", Name: "Lab " + name,
			Aliases: []string{name + "-latest"}, Distillable: true, ContextLength: 8192,
			Created: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
		})
		add("lab", name, sound)
	}
	for _, name := range []string{"unpaid", "broken", "guarded", "off"} {
		models = append(models, router.Model{ID: "lab/" + name, Permaslug: "lab/" + name + "-20261101"})
	}
	add("lab", "unpaid", sound)
	add("lab", "broken", sound)
	add("lab", "guarded", sound) // its author does not allow distillation
	add("closed", "off", router.Endpoint{Off: true})
	cheap := router.Endpoint{Pricing: router.Pricing{Prompt: router.Dollars("0.5")}, CollectsData: true}
	add("careless", "answer", cheap)
	add("careless", "half", cheap)
	catalog, err := router.NewCatalog(models, providers, endpoints)
	require.NoError(t, err)
	return catalog
}

func client(t *testing.T, u *upstream) router.Provider {
	t.Helper()
	profile, ok := systemonehttp.ProfileByName("systemone")
	require.True(t, ok)
	c, err := systemonehttp.New(systemonehttp.Config{BaseURL: u.url + "/v1", APIKey: "upstream-key", Profile: profile})
	require.NoError(t, err)
	return c
}
