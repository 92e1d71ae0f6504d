package signalbox_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

func emptyCatalog(t *testing.T) *router.Catalog {
	t.Helper()
	c, err := router.NewCatalog(nil, nil, nil)
	require.NoError(t, err)
	return c
}

func TestNewRefusesMistakes(t *testing.T) {
	t.Parallel()
	kept := func(cfg *signalbox.Config) { cfg.Stores, cfg.SealingKeys = memory.New(), demo.SealingKeys() }
	var nilLedger *lossyLedger
	for name, c := range map[string]struct {
		spoil func(*signalbox.Config)
		want  string
	}{
		"nothing":           {func(cfg *signalbox.Config) { cfg.Catalog = nil }, "Catalog is required"},
		"no sealing keys":   {func(cfg *signalbox.Config) { cfg.Stores = memory.New() }, "SealingKeys is required with Stores"},
		"a short key":       {func(cfg *signalbox.Config) { cfg.SealingKeys = []router.Secret{"hunter2"} }, "a key has 32 bytes, not 7"},
		"a store missing":   {func(cfg *signalbox.Config) { kept(cfg); cfg.Stores.Presets = nil }, "Stores.Presets is missing"},
		"a nil in a store":  {func(cfg *signalbox.Config) { kept(cfg); cfg.Stores.Ledger = nilLedger }, "Stores.Ledger holds a nil"},
		"a short retention": {func(cfg *signalbox.Config) { cfg.Retention = time.Hour }, "Retention of 1h0m0s is less than 960h0m0s"},
		"before now":        {func(cfg *signalbox.Config) { cfg.Retention = -1 }, "Retention of -1ns"},
		"no pruner": {func(cfg *signalbox.Config) {
			kept(cfg)
			cfg.Stores.Pruner, cfg.Retention = nil, signalbox.MinRetention
		}, "Retention needs Stores.Pruner"},
		"of the router":   {func(cfg *signalbox.Config) { cfg.Router.Timeout = -1 }, "router: invalid configuration: Timeout"},
		"of the API":      {func(cfg *signalbox.Config) { cfg.API.Brand = "A b" }, "httpapi: invalid configuration: Brand"},
		"of the keys":     {func(cfg *signalbox.Config) { cfg.Keys.Prefix = "é" }, "keys: invalid configuration: Prefix"},
		"a nil intercept": {func(cfg *signalbox.Config) { cfg.Interceptors.Last = []router.Interceptor{nil} }, "configuration: Interceptors.Last[0] is nil"},
		"a nil between": {func(cfg *signalbox.Config) {
			cfg.Interceptors.AfterPolicies = []router.Interceptor{router.Log(discard()), nil}
		}, "configuration: Interceptors.AfterPolicies[1] is nil"},
	} {
		cfg := signalbox.Config{Catalog: emptyCatalog(t), Logger: discard()}
		c.spoil(&cfg)
		_, err := signalbox.New(cfg)
		require.ErrorIs(t, err, signalbox.ErrConfig, name)
		require.ErrorContains(t, err, c.want, name)
		assert.NotContains(t, err.Error(), "hunter2")
	}
}

// TestOptionalStores: a service works without Audit and Pruner.
func TestOptionalStores(t *testing.T) {
	t.Parallel()
	set := memory.New()
	set.Audit, set.Pruner = nil, nil
	_, err := signalbox.New(signalbox.Config{Catalog: emptyCatalog(t), Stores: set, SealingKeys: demo.SealingKeys(), Logger: discard()})
	require.NoError(t, err)
}

// TestWhatJoinsThePartsIsSetByNew: each field of the parts' settings either acts or
// is refused because New sets it. A new field of a part fails this test until it is
// refused or listed here as one that acts.
func TestWhatJoinsThePartsIsSetByNew(t *testing.T) {
	t.Parallel()
	acts := map[string]string{
		"Router":     "Timeout AttemptTimeout MaxAttempts RetryPercent RetryReserve Abandoned Limits UserKey Sessions FreeWithoutLedger Seed Share Remember",
		"API":        "SignIn Brand MaxBytes MaxInFlightBytes MaxInFlightPerKey MaxInFlightPerAccount MinBodyRate DualErrors CreditsURL Origins NativeTimeout NewRequestID",
		"Keys":       "Rates Prefix Random",
		"Presets":    "MaxVersions MaxPresets",
		"Guardrails": "Engine Staleness MaxCached",
	}
	for part, names := range acts {
		own := reflect.ValueOf(signalbox.Config{}).FieldByName(part).Type()
		for field := range own.Fields() {
			if slices.Contains(strings.Fields(names), field.Name) {
				continue
			}
			cfg := signalbox.Config{Catalog: emptyCatalog(t), Logger: discard()}
			something(t, reflect.ValueOf(&cfg).Elem().FieldByName(part).FieldByName(field.Name))
			_, err := signalbox.New(cfg)
			require.ErrorContains(t, err, part+"."+field.Name+" is set by New", "a setting that New overwrites must be refused")
		}
	}
}

// something sets v to a nonzero value.
func something(t *testing.T, v reflect.Value) {
	t.Helper()
	set := memory.New()
	service, err := signalbox.New(signalbox.Config{Catalog: emptyCatalog(t), Logger: discard()})
	require.NoError(t, err)
	for _, candidate := range []any{
		true, discard(), emptyCatalog(t),
		[]router.Interceptor{router.Log(discard())},
		systemone.Limits{Questions: 1},
		town{},
		set.Ledger, set.Keys, set.Presets, set.Guardrails, service.Router, service.Keys, service.Credentials, service.Organization,
		service.Presets, service.Guardrails, service.Activity,
	} {
		if reflect.TypeOf(candidate).AssignableTo(v.Type()) {
			v.Set(reflect.ValueOf(candidate))
			return
		}
	}
	require.Equal(t, reflect.Func, v.Kind(), "no value of type %s is at hand", v.Type())
	v.Set(reflect.MakeFunc(v.Type(), func([]reflect.Value) []reflect.Value { panic("not called") }))
}

// town is a directory.
type town struct{ keys.Directory }

// TestTheSettingsOfThePartsAct: the settings in Config reach the parts.
func TestTheSettingsOfThePartsAct(t *testing.T) {
	t.Parallel()
	g := answering(t, func(cfg *signalbox.Config) {
		cfg.Router.Limits.Questions, cfg.Router.Limits.Options = 1, 300
		cfg.API.Brand, cfg.API.Origins, cfg.API.DualErrors = "acme", []string{"https://app.example"}, true
		cfg.Keys.Prefix = "sk-acme"
	})
	assert.True(t, strings.HasPrefix(string(g.seeded.Inference), "sk-acme-v1-"))
	ask := func(questions string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/systemone",
			strings.NewReader(`{"model":"acme/judge","state":"x","questions":{`+questions+`}}`))
		r.Header.Set("Authorization", "Bearer "+string(g.seeded.Inference))
		r.Header.Set("Origin", "https://app.example")
		r.Header.Set("X-Acme-Metadata", "enabled")
		return g.serve(r)
	}
	const noul = `{"type":"noul","instructions":"?"}`
	w := ask(`"a":` + noul)
	assert.Equal(t, 200, w.Code, w.Body)
	assert.Equal(t, "https://app.example", w.Header().Get("Access-Control-Allow-Origin"))
	assert.Contains(t, w.Body.String(), `"acme_metadata":`)
	options := make([]string, 300) // more than the default
	for i := range options {
		options[i] = fmt.Sprintf(`"o%d":null`, i)
	}
	w = ask(`"a":{"type":"choice","instructions":"?","criteria":{` + strings.Join(options, ",") + `}}`)
	assert.Equal(t, 200, w.Code, w.Body)
	w = ask(`"a":` + noul + `,"b":` + noul)
	assert.Equal(t, 400, w.Code, "the API has the limits of the router")
	assert.Contains(t, w.Body.String(), `"detail":`)
}

// TestUsersHashTheSameAfterARestart: the hash of a user that is sent upstream depends
// on the sealing key.
func TestUsersHashTheSameAfterARestart(t *testing.T) {
	t.Parallel()
	sent := func(cfg signalbox.Config) string {
		var user string
		catalog, err := router.NewCatalog([]router.Model{{ID: "a/b", Permaslug: "a/b-1"}},
			[]router.ProviderInfo{{Slug: "ant", Client: &echo{user: &user}}}, []router.Endpoint{{Provider: "ant", Model: "a/b", Parameters: []string{"user"}}})
		require.NoError(t, err)
		cfg.Catalog, cfg.Logger = catalog, discard()
		s, err := signalbox.New(cfg)
		require.NoError(t, err)
		q := request()
		q.Model, q.User = "a/b", "ann"
		_, err = s.Decide(t.Context(), &router.Call{Request: q})
		require.Error(t, err)
		require.NotEmpty(t, user)
		require.NotContains(t, user, "ann")
		return user
	}
	kept := signalbox.Config{SealingKeys: demo.SealingKeys()}
	before, after := sent(kept), sent(kept)
	assert.Equal(t, before, after)
	assert.NotEqual(t, sent(kept), sent(signalbox.Config{}), "random without one")
	assert.NotEqual(t, sent(kept), sent(signalbox.Config{SealingKeys: demo.SealingKeys(), Router: router.Config{UserKey: []byte("own")}}))
}

// TestInterceptorsStandWhereTheyAreNamed: each list runs at its place among the
// policies.
func TestInterceptorsStandWhereTheyAreNamed(t *testing.T) {
	t.Parallel()
	var seen []string
	position := func(name string) []router.Interceptor {
		return []router.Interceptor{func(next router.Decider) router.Decider {
			return func(ctx context.Context, c *router.Call) (*router.Result, error) {
				seen = append(seen, fmt.Sprintf("%s account=%q preset=%q", name, c.Principal.Account, c.Request.Preset))
				return next(ctx, c)
			}
		}}
	}
	g := answering(t, func(cfg *signalbox.Config) {
		cfg.Interceptors = signalbox.Interceptors{First: position("first"), AfterPolicies: position("after"), Last: position("last")}
	})
	g.manage(t, http.MethodPost, "/presets/p/chat/completions", `{"model":"acme/judge","messages":[{"role":"user","content":"x"}]}`)
	q := request()
	q.Model, q.Preset = "", "p"
	_, err := g.Decide(t.Context(), &router.Call{Secret: g.seeded.Inference, Request: q})
	require.NoError(t, err)
	assert.Equal(t, []string{
		`first account="" preset="p"`, `after account="demo" preset=""`, `last account="demo" preset=""`,
	}, seen)
	seen = nil
	_, err = g.Decide(t.Context(), &router.Call{Secret: "sk-rt-v1-nobodys", Request: request()})
	require.Error(t, err)
	assert.Equal(t, []string{`first account="" preset=""`}, seen, "what the keys refuse")
}

// TestActivityIsRecordedBetweenTheLastTwo: an answer is recorded after Last and before
// AfterPolicies see it.
func TestActivityIsRecordedBetweenTheLastTwo(t *testing.T) {
	t.Parallel()
	recorded := map[string]int{}
	g := answering(t, func(cfg *signalbox.Config) {
		cfg.Stores.Ledger = plain{cfg.Stores.Ledger}
		look := func(name string) []router.Interceptor {
			return []router.Interceptor{func(next router.Decider) router.Decider {
				return func(ctx context.Context, c *router.Call) (*router.Result, error) {
					res, err := next(ctx, c)
					items, failed := cfg.Stores.Activity.Items(ctx, activity.Range{Account: demo.Account, From: "2026-11-21", To: "2026-11-21"})
					recorded[name] = len(items)
					return res, errors.Join(err, failed)
				}
			}}
		}
		cfg.Interceptors.AfterPolicies, cfg.Interceptors.Last = look("after"), look("last")
	})
	_, err := g.Decide(t.Context(), &router.Call{Secret: g.seeded.Inference, Request: request()})
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"last": 0, "after": 1}, recorded)
}

// plain is a ledger that records nothing by itself.
type plain struct{ router.Ledger }

// echo notes the user that reaches it.
type echo struct{ user *string }

func (e *echo) Decide(_ context.Context, a router.Attempt) (router.Reply, error) {
	*e.user = a.User
	return router.Reply{}, errDown
}

func TestReadyReadsTheStorage(t *testing.T) {
	t.Parallel()
	set := memory.New()
	s, err := signalbox.New(signalbox.Config{Catalog: emptyCatalog(t), Stores: set, SealingKeys: demo.SealingKeys(), Logger: discard()})
	require.NoError(t, err)
	require.NoError(t, s.Ready(t.Context()), "also before anything is kept")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, s.Ready(ended))
}
