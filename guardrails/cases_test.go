package guardrails_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

const (
	modelM = "acme/judge"
	modelN = "acme/judge-mini"
)

// endpoint is an endpoint of model M, or of N, with a price for a million tokens.
func endpoint(tag, model string, price router.USD, more func(*router.Endpoint)) router.Endpoint {
	provider, variant, _ := strings.Cut(tag, "/")
	e := router.Endpoint{Provider: provider, Variant: variant, Model: model, Pricing: router.Pricing{Prompt: (price * router.Dollar).Price()}}
	if more != nil {
		more(&e)
	}
	return e
}

func zdr(group string) func(*router.Endpoint) {
	return func(e *router.Endpoint) { e.ZDR, e.Group = true, group }
}

func group(name string) func(*router.Endpoint) { return func(e *router.Endpoint) { e.Group = name } }
func collects(e *router.Endpoint)              { e.CollectsData = true }

func catalogs() map[string][]router.Endpoint {
	return map[string][]router.Endpoint{
		"K1":  {endpoint("ant", modelM, 1, nil), endpoint("bee", modelM, 2, nil), endpoint("cat", modelM, 3, nil)},
		"K2":  {endpoint("ant", modelM, 4, nil), endpoint("bee", modelM, 2, nil), endpoint("ant", modelN, 1, nil), endpoint("cat", modelN, 3, nil)},
		"K3":  {endpoint("ant", modelM, 3, nil), endpoint("ant/eu", modelM, 2, nil), endpoint("bee", modelM, 1, nil)},
		"R37": {endpoint("ant", modelM, 1, group("openai")), endpoint("bee", modelM, 2, zdr("openai")), endpoint("cat", modelM, 3, nil), endpoint("dog", modelM, 4, zdr(""))},
		"R38": {endpoint("ant", modelM, 1, collects), endpoint("bee", modelM, 0, collects), endpoint("cat", modelM, 3, nil), endpoint("dog", modelM, 4, nil)},
	}
}

func newRouter(t testing.TB, endpoints []router.Endpoint, interceptors ...router.Interceptor) (*router.Router, *json.RawMessage) {
	t.Helper()
	client := upstream{new(json.RawMessage)}
	var providers []router.ProviderInfo
	for _, slug := range []string{"ant", "bee", "cat", "dog"} {
		providers = append(providers, router.ProviderInfo{Slug: slug, Client: client})
	}
	catalog, err := router.NewCatalog([]router.Model{
		{ID: modelM, Permaslug: "acme/judge-20260901", Aliases: []string{"judge-latest"}},
		{ID: modelN, Permaslug: "acme/judge-mini-20260715"},
	}, providers, endpoints)
	require.NoError(t, err)
	r, err := router.New(router.Config{Catalog: catalog, Interceptors: interceptors})
	require.NoError(t, err)
	return r, client.state
}

// outcome formats a plan as "bee 4/5, dog" by slug, followed by each excluded endpoint as
// " - ant data_policy:zdr", or as "404 [reasons]".
func outcome(c *router.Call, err error) string {
	if e, ok := errors.AsType[*router.Error](err); ok && e.ExcludedBy != nil {
		return "404 [" + strings.Join(e.ExcludedBy, ", ") + "]"
	}
	several := len(c.Request.Models) > 1
	name := func(e *router.Endpoint) string {
		if several {
			return e.Tag() + map[string]string{modelM: ":M", modelN: ":N"}[e.Model]
		}
		return e.Tag()
	}
	var candidates, excluded []string
	for _, k := range c.Report.Legs[0].Plan.Candidates {
		candidates = append(candidates, fmt.Sprintf("%s %.4g", name(k.Endpoint), k.Weight))
	}
	slices.Sort(candidates)
	for _, x := range c.Report.Legs[0].Plan.Excluded {
		excluded = append(excluded, name(x.Endpoint)+" "+x.Reason.String())
	}
	s := strings.Join(candidates, ", ")
	if excluded != nil {
		s += " - " + strings.Join(excluded, ", ")
	}
	return s
}

// draw formats the probabilities of load balancing among candidates, given as slug and
// price: proportional to the inverse square of the price.
func draw(candidates ...any) string {
	var sum float64
	for i := 1; i < len(candidates); i += 2 {
		price, _ := candidates[i].(int)
		sum += 1 / float64(price*price)
	}
	var list []string
	for i := 0; i < len(candidates); i += 2 {
		price, _ := candidates[i+1].(int)
		list = append(list, fmt.Sprintf("%s %.4g", candidates[i], 1/float64(price*price)/sum))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

type patches map[router.Source]guardrails.Patch

func TestRoutingCases(t *testing.T) {
	const k, m, w = router.SourceKey, router.SourceMember, router.SourceWorkspace
	models := func(list ...string) router.Update[[]string] { return router.To(list) }
	no := router.To(new(false))
	yes := router.To(new(true))
	openAI := patches{k: {OpenAI: yes}}
	for _, c := range []struct {
		name, catalog string
		guardrails    patches
		account       *router.Rule
		models        []string
		preferences   systemone.Preferences
		want          string
	}{
		{name: "R37a", catalog: "R37", guardrails: openAI, want: draw("bee", 2, "cat", 3, "dog", 4) + " - ant data_policy:zdr"},
		{name: "R37b", catalog: "R37", guardrails: openAI, preferences: systemone.Preferences{ZDR: false}, want: draw("bee", 2, "cat", 3, "dog", 4) + " - ant data_policy:zdr"},
		{name: "R37c", catalog: "R37", guardrails: openAI, preferences: systemone.Preferences{ZDR: true}, want: draw("bee", 2, "dog", 4) + " - ant data_policy:zdr, cat data_policy:zdr"},
		{name: "R37d", catalog: "R37", guardrails: patches{k: {OpenAI: yes}, m: {Other: yes}}, want: draw("bee", 2, "dog", 4) + " - ant data_policy:zdr, cat data_policy:zdr"},
		{name: "R37e", catalog: "R37", account: &router.Rule{ZDR: true}, want: draw("bee", 2, "dog", 4) + " - ant data_policy:zdr, cat data_policy:zdr"},
		{name: "R38a", catalog: "R38", want: "ant 0, bee 1, cat 0, dog 0"},
		{name: "R38b", catalog: "R38", guardrails: patches{k: {PaidTraining: no}}, want: "bee 1, cat 0, dog 0 - ant data_policy:training"},
		{name: "R38c", catalog: "R38", guardrails: patches{k: {FreeTraining: no}}, want: draw("ant", 1, "cat", 3, "dog", 4) + " - bee data_policy:training"},
		{name: "R38d", catalog: "R38", guardrails: patches{k: {FreePublication: no}}, want: draw("ant", 1, "cat", 3, "dog", 4) + " - bee data_policy:training"},
		{name: "R38e", catalog: "R38", guardrails: patches{k: {PaidTraining: no}, m: {FreeTraining: no}}, want: draw("cat", 3, "dog", 4) + " - ant data_policy:training, bee data_policy:training"},
		{name: "R46b", catalog: "K2", guardrails: patches{k: {AllowedModels: models(modelN)}}, models: []string{modelM, modelN}, want: draw("ant:N", 1, "cat:N", 3) + " - ant:M allowed_models, bee:M allowed_models"},
		{name: "R46c", catalog: "K2", guardrails: patches{k: {AllowedModels: models(modelN)}}, want: "404 [allowed_models]"},
		{name: "R46d", catalog: "K2", guardrails: patches{m: {IgnoredModels: models("acme/judge-20260901")}}, models: []string{modelM, modelN}, want: draw("ant:N", 1, "cat:N", 3) + " - ant:M ignored_models, bee:M ignored_models"},
		{
			name: "R87a", catalog: "K1",
			guardrails: patches{w: {AllowedProviders: models("ant", "bee", "cat")}, m: {AllowedProviders: models("ant", "bee")}, k: {AllowedProviders: models("bee", "cat")}},
			want:       draw("bee", 2) + " - ant allowed_providers, cat allowed_providers",
		},
		{name: "R87b", catalog: "K1", guardrails: patches{m: {AllowedProviders: models("ant")}, k: {AllowedProviders: models("bee")}}, want: "404 [allowed_providers]"},
		{name: "R87c", catalog: "K1", guardrails: patches{m: {IgnoredProviders: models("ant")}, k: {IgnoredProviders: models("bee")}}, want: draw("cat", 3) + " - ant ignored_providers, bee ignored_providers"},
		{
			name: "R87d", catalog: "K1", guardrails: patches{k: {AllowedProviders: models("ant", "bee")}}, account: &router.Rule{IgnoredProviders: []string{"ant"}},
			preferences: systemone.Preferences{Only: []string{"ant", "bee"}}, want: draw("bee", 2) + " - ant ignored_providers, cat allowed_providers",
		},
		{name: "R87e", catalog: "K3", guardrails: patches{m: {AllowedProviders: models("ant")}, k: {AllowedProviders: models("ant/eu", "bee")}}, want: draw("ant/eu", 2) + " - ant allowed_providers, bee allowed_providers"},
		{name: "R87f", catalog: "K2", guardrails: patches{m: {AllowedModels: models(modelM)}, k: {AllowedModels: models(modelN)}}, models: []string{modelM, modelN}, want: "404 [allowed_models]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			for scope, p := range c.guardrails {
				r.put(t, scope, p)
			}
			interceptors := []router.Interceptor{r.Intercept}
			if c.account != nil {
				interceptors = append(interceptors, router.Restrict(*c.account))
			}
			engine, _ := newRouter(t, catalogs()[c.catalog], interceptors...)
			if c.models == nil {
				c.models = []string{modelM}
			}
			call := &router.Call{Request: ask(`"x"`, c.models...), Principal: key("a")}
			call.Request.Provider = &c.preferences
			_, err := engine.Decide(t.Context(), call)
			assert.Equal(t, c.want, outcome(call, err))
		})
	}
}

func TestMemberRulesHoldInEveryWorkspace(t *testing.T) {
	r := newRig(t)
	r.put(t, router.SourceMember, guardrails.Patch{IgnoredProviders: router.To([]string{"ant"})})
	r.put(t, router.SourceWorkspace, guardrails.Patch{IgnoredProviders: router.To([]string{"bee"})})
	r.create(t, guardrails.Patch{IgnoredProviders: router.To([]string{"cat"})}) // never assigned
	engine, _ := newRouter(t, catalogs()["K1"], r.Intercept)
	away := key("a")
	away.Workspace = elsewhere
	for name, c := range map[string]struct {
		p    router.Principal
		want string
	}{
		"here":        {key("a"), draw("cat", 3) + " - ant ignored_providers, bee ignored_providers"},
		"there":       {away, draw("bee", 2, "cat", 3) + " - ant ignored_providers"},
		"no creator":  {key("b"), draw("ant", 1, "cat", 3) + " - bee ignored_providers"},
		"the program": {router.Principal{}, draw("ant", 1, "bee", 2, "cat", 3)},
	} {
		t.Run(name, func(t *testing.T) {
			call := &router.Call{Request: ask(`"x"`, modelM), Principal: c.p}
			_, err := engine.Decide(t.Context(), call)
			assert.Equal(t, c.want, outcome(call, err))
			rules, err := r.Policy(t.Context(), c.p)
			require.NoError(t, err)
			assert.Equal(t, call.Policy, rules)
		})
	}
}
