package router_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// caseInput makes a plan's input from the notation of the routing cases.
func caseInput(t *testing.T, catalog, state, request string) router.PlanInput {
	t.Helper()
	_, named := readCases(t)
	in, _, err := routingCase{catalog: catalog, state: state}.input(t, named, request)
	require.NoError(t, err)
	return in
}

// A seed draws the same in every release, so that a logged decision can be
// replayed.
func TestSeedsNeverChangeTheirMeaning(t *testing.T) {
	in := caseInput(t, "ant:M 1; bee:M 1; cat:M 1; dog:M 1", "–", "–")
	var winners []string
	for _, in.Seed = range []uint64{0, 1, 2, 3, 4, 5, 6, 7, 42, 1 << 63, math.MaxUint64} {
		plan := router.NewPlan(in)
		assert.Equal(t, in.Seed, plan.Seed)
		winners = append(winners, plan.Candidates[0].Endpoint.Tag())
	}
	assert.Equal(t, []string{"ant", "cat", "cat", "bee", "ant", "bee", "ant", "bee", "dog", "ant", "bee"}, winners)
}

// An exclusion names the rule's source and, for a price, the part.
func TestExclusionsNameTheirSource(t *testing.T) {
	for name, c := range map[string]struct {
		catalog, state, request string
		want                    router.Exclusion // of ant
	}{
		"only":     {"K1", "–", `{"only":["bee"]}`, router.Exclusion{Reason: router.FilterAllowedProviders, Source: router.SourceRequest}},
		"ignore":   {"K1", "–", `{"ignore":["ant"]}`, router.Exclusion{Reason: router.FilterIgnoredProviders, Source: router.SourceRequest}},
		"deny":     {"K1 + ant col", "–", `{"data_collection":"deny"}`, router.Exclusion{Reason: router.FilterTraining, Source: router.SourceRequest}},
		"zdr":      {"K1 + bee zdr", "–", `{"zdr":true}`, router.Exclusion{Reason: router.FilterZDR, Source: router.SourceRequest}},
		"quant":    {"K1 + bee q=fp8", "–", `{"quantizations":["fp8"]}`, router.Exclusion{Reason: router.FilterQuantization, Source: router.SourceRequest}},
		"prompt":   {"ant:M 9/9+9; bee:M 1", "–", `{"max_price":{"prompt":"2","completion":"2","request":"2"}}`, router.Exclusion{Reason: router.FilterMaxPrice, Detail: router.DetailPrompt, Source: router.SourceRequest}},
		"complete": {"ant:M 1/9+9; bee:M 1", "–", `{"max_price":{"prompt":"2","completion":"2","request":"2"}}`, router.Exclusion{Reason: router.FilterMaxPrice, Detail: router.DetailCompletion, Source: router.SourceRequest}},
		"fee":      {"ant:M 1/1+9; bee:M 1", "–", `{"max_price":{"prompt":"2","completion":"2","request":"2"}}`, router.Exclusion{Reason: router.FilterMaxPrice, Detail: router.DetailRequest, Source: router.SourceRequest}},
		"order":    {"K1", "–", `{"order":["bee"],"allow_fallbacks":false}`, router.Exclusion{Reason: router.FilterOrder, Source: router.SourceRequest}},
		"behind":   {"K1", "–", `{"order":["bee","ant"],"allow_fallbacks":false}`, router.Exclusion{Reason: router.FilterFallbacks, Source: router.SourceRequest}},
		"account":  {"K1", "account ignores ant", `{"ignore":["ant"]}`, router.Exclusion{Reason: router.FilterIgnoredProviders, Source: router.SourceAccount}},
		"guard":    {"K1", "account allows bee; key guardrail allowed_providers bee", `{"only":["bee"]}`, router.Exclusion{Reason: router.FilterAllowedProviders, Source: router.SourceKey}},
		"member":   {"K2", "member guardrail ignored_models acme/judge", "models N,M –", router.Exclusion{Reason: router.FilterIgnoredModels, Source: router.SourceMember}},
		"models":   {"K2", "workspace guardrail allowed_models JUDGE-MINI-LATEST", "models N,M –", router.Exclusion{Reason: router.FilterAllowedModels, Source: router.SourceWorkspace}},
		"training": {"K1 + ant col", "key guardrail enable_paid_model_training false", `{"data_collection":"deny"}`, router.Exclusion{Reason: router.FilterTraining, Source: router.SourceKey}},
		"group":    {"K1 + bee zdr", "member guardrail enforce_zdr_other; account zdr", `{"zdr":true}`, router.Exclusion{Reason: router.FilterZDR, Source: router.SourceMember}},
		"size":     {"K1 + ant opt=1", "–", "–", router.Exclusion{Reason: router.FilterOptions}},
		"off":      {"K1 + ant off", "–", "–", router.Exclusion{Reason: router.FilterOffline}},
		// The filters have an order, whichever rule they are from.
		"both lists":  {"K1 + ant off", "account ignores ant", `{"only":["bee"],"ignore":["ant"]}`, router.Exclusion{Reason: router.FilterAllowedProviders, Source: router.SourceRequest}},
		"price first": {"K1 + ant off, ant opt=1, ant que=1", "–", `{"max_price":{"prompt":"0.5"}}`, router.Exclusion{Reason: router.FilterMaxPrice, Detail: router.DetailPrompt, Source: router.SourceRequest}},
	} {
		t.Run(name, func(t *testing.T) {
			plan := router.NewPlan(caseInput(t, c.catalog, c.state, c.request))
			for _, got := range plan.Excluded {
				if got.Endpoint.Tag() == "ant" && got.Endpoint.Model == "acme/judge" {
					c.want.Endpoint = got.Endpoint
					assert.Equal(t, c.want, got)
					return
				}
			}
			t.Fatalf("ant is not excluded: %v", plan.Excluded)
		})
	}
}

func TestCandidatesSayWhy(t *testing.T) {
	for name, c := range map[string]struct {
		catalog, state, request, strategy string
		reasons                           []router.Reason
	}{
		"balance": {"K1 + cat outage", "–", `{"only":["ant","cat"]}`, "load-balancing", []router.Reason{router.ReasonPrice, router.ReasonOutage}},
		"free":    {"ant:M 1; bee:M 0", "–", "–", "load-balancing", []router.Reason{router.ReasonPrice, router.ReasonPrice}},
		"outage":  {"K1 + ant outage", "–", `{"only":["ant"]}`, "load-balancing", []router.Reason{router.ReasonOutage}},
		"drawn":   {"ant:M 1; bee:M 1", "–", "–", "load-balancing", []router.Reason{router.ReasonDrawn, router.ReasonPrice}},
		"order":   {"K1 + bee outage", "–", `{"order":["cat"]}`, "order", []router.Reason{router.ReasonOrder, router.ReasonPrice, router.ReasonOutage}},
		"none of": {"K1", "–", `{"order":["nobody"]}`, "order", []router.Reason{router.ReasonPrice, router.ReasonPrice, router.ReasonPrice}},
		"sort":    {"K1 + bee outage", "–", `{"sort":"price"}`, "sort:price", []router.Reason{router.ReasonSort, router.ReasonSort, router.ReasonSort}},
		"nitro":   {"K1", "–", "judge:nitro –", "sort:throughput", []router.Reason{router.ReasonSort, router.ReasonSort, router.ReasonSort}},
		"fast":    {"K1", "–", `{"sort":"latency"}`, "sort:latency", []router.Reason{router.ReasonSort, router.ReasonSort, router.ReasonSort}},
		"exacto":  {"K1", "–", "judge:exacto –", "sort:exacto", []router.Reason{router.ReasonSort, router.ReasonSort, router.ReasonSort}},
		"default": {"K1", "workspace sort price", "–", "sort:price", []router.Reason{router.ReasonSort, router.ReasonSort, router.ReasonSort}},
		"pinned":  {"K1", "pin cat; workspace sort price", "–", "sticky", []router.Reason{router.ReasonPinned, router.ReasonSort, router.ReasonSort}},
		"sticky":  {"K1 + bee outage", "pin cat", "–", "sticky", []router.Reason{router.ReasonPinned, router.ReasonPrice, router.ReasonOutage}},
		"behind":  {"ant:M 1; bee:M 2 lat=1", "pin ant", `{"preferred_max_latency":1}`, "load-balancing", []router.Reason{router.ReasonPrice, router.ReasonPinned}},
		"second":  {"ant:M 1; bee:N 2", "–", `models M,judge-mini:floor {"ignore":["ant"]}`, "sort:price", []router.Reason{router.ReasonSort}},
		"own":     {"K1 + bee outage", "own bee; own ant fallback", `{"sort":"price"}`, "sort:price", []router.Reason{router.ReasonOwn, router.ReasonSort, router.ReasonSort, router.ReasonSort, router.ReasonOwnFallback}},
		"one own": {"K1", "own bee #1; own bee #2", `{"only":["bee"]}`, "load-balancing", []router.Reason{router.ReasonOwn, router.ReasonOwn, router.ReasonPrice}},
		"own pin": {"K1", "own bee; pin bee", `{"only":["ant","bee"]}`, "sticky", []router.Reason{router.ReasonPinned, router.ReasonPinned, router.ReasonPrice}},
		"own lot": {"ant:M 1; bee:M 1", "own bee; own ant", `{"only":["bee","ant"]}`, "load-balancing", []router.Reason{router.ReasonDrawn, router.ReasonOwn, router.ReasonPrice, router.ReasonPrice}},
		"nobody":  {"K1", "–", `{"only":["nobody"],"sort":"price"}`, "sort:price", nil},
	} {
		t.Run(name, func(t *testing.T) {
			plan := router.NewPlan(caseInput(t, c.catalog, c.state, c.request))
			assert.Equal(t, c.strategy, plan.Strategy)
			var got []router.Reason
			for _, candidate := range plan.Candidates {
				got = append(got, candidate.Reason)
			}
			assert.Equal(t, c.reasons, got)
		})
	}
}

// A credential is sent with its secret, and only where its provider is named by
// slug. One without a secret is not used, because the operator would pay.
func TestOwnCredentialsNeedASlugAndASecret(t *testing.T) {
	in := caseInput(t, "K1", "own bee", `{"sort":"price"}`)
	assert.Same(t, &in.Credentials[0], router.NewPlan(in).Candidates[0].Credential)
	in.Credentials = []router.Credential{{Provider: "bee"}, {Provider: "Cat Labs", Secret: "s"}, {Provider: "cat", Models: []string{}, Secret: "s"}}
	assert.Equal(t, []string{"ant", "bee", "cat"}, candidates(router.NewPlan(in), 1))
}

func TestTiers(t *testing.T) {
	plan := router.NewPlan(caseInput(t, "ant:M 1 lat=3; bee:M 2; cat:M 3 lat=1", "–", `{"preferred_max_latency":1}`))
	var tiers []router.Tier
	for _, c := range plan.Candidates {
		tiers = append(tiers, c.Tier)
	}
	assert.Equal(t, []router.Tier{router.TierMeets, router.TierUnknown, router.TierMisses}, tiers)
	assert.Equal(t, "drawn", router.ReasonDrawn.String())
	text, err := json.Marshal(router.ReasonOutage)
	require.NoError(t, err)
	assert.Equal(t, `"outage"`, string(text))
	assert.Equal(t, "last_resort", router.Reason(200).String(), "no reason beyond the last")
}

// Meaningless figures neither win nor break the order.
func TestSenselessFigures(t *testing.T) {
	in := caseInput(t, "ant:M 1 lat=1 thr=1; bee:M 2 lat=1 thr=1; cat:M 3 lat=1 thr=1; dog:M 4", "–", `{"sort":"throughput"}`)
	in.Stats[0].Throughput.P50, in.Stats[0].Latency.P50 = math.NaN(), math.NaN()
	in.Stats[1].Throughput.P50, in.Stats[1].Latency.P50 = 0, math.Inf(1)
	in.Stats[2].Throughput.P50, in.Stats[2].Latency.P50 = math.Inf(1), -1
	assert.Equal(t, []string{"cat", "bee", "ant", "dog"}, candidates(router.NewPlan(in), 1))
	in.Preferences.Sort.By = systemone.SortLatency
	assert.Equal(t, []string{"cat", "bee", "ant", "dog"}, candidates(router.NewPlan(in), 1))
}

func TestPlanWithoutInput(t *testing.T) {
	plan := router.NewPlan(router.PlanInput{Seed: 3})
	assert.Equal(t, router.Plan{Seed: 3, Strategy: "load-balancing"}, plan)
	in := caseInput(t, "K1", "–", "–")
	in.Models = nil
	assert.Empty(t, router.NewPlan(in).Candidates)
	in.Models = []router.ModelRef{{Model: &router.Model{ID: "acme/judge"}}, {}} // of no catalog
	plan = router.NewPlan(in)
	require.Error(t, plan.Err([]string{"a", "b"}))
	assert.EqualError(t, plan.Err([]string{"a", "b"}), "router: not_found: No endpoints found for a, b")
}

// A model that is named twice has its endpoints once, at its first place.
func TestPlanOfDoubles(t *testing.T) {
	in := caseInput(t, "K2", "–", `models N,M {"sort":"price"}`)
	in.Models = append(in.Models, in.Models...)
	assert.Equal(t, []string{"ant:N", "cat:N", "bee:M", "ant:M"}, candidates(router.NewPlan(in), 2))
}

// Prices are compared exactly even beyond 64 bits and floats.
func TestHugePricesAreComparedExactly(t *testing.T) {
	in := caseInput(t, "ant:M 9000000000; bee:M 8999999999.999999999; cat:M 9000000000", "–", `{"sort":"price"}`)
	in.Shape.PromptTokens = math.MaxInt64
	assert.Equal(t, []string{"bee", "ant", "cat"}, candidates(router.NewPlan(in), 1))
	in.Preferences = nil
	for in.Seed = range uint64(100) {
		for _, c := range router.NewPlan(in).Candidates {
			require.InDelta(t, 1.0/3, c.Weight, 1e-9)
		}
	}
}

// A cap refuses a billionth too much, however the cap is written.
func TestMaxPriceIsExact(t *testing.T) {
	for _, c := range []struct {
		price, limit string
		within       bool
	}{
		{"2", "2", true},
		{"2.000000001", "2", false},
		{"2.000000001", "2.0000000010000000000000000000", true},
		{"2.000000001", "2.0000000009999999999999999999", false},
		{"0.000000001", "1e-9", true},
		{"0.000000001", "9.9999e-10", false},
		{"0", "1e-10000", true},
		{"0.000000001", "1e-10000", false},
		{"9223372036.854775807", "1e10000", true},
		{"9223372036.854775807", "9223372036.854775807", true},
		{"9223372036.854775807", "9223372036.854775806", false},
		{"9223372036.854775807", "9999999999", true},
		{"5000000000", "5e9", true},
		{"5000000000.000000001", "5e9", false},
		{"0", "0", true},
		{"0", "-1", false},
		{"0.000000001", "0e5", false},
	} {
		in := caseInput(t, "ant:M "+c.price, "–", "–")
		limit, err := decimal.NewFromString(c.limit)
		require.NoError(t, err)
		in.Preferences = &systemone.Preferences{MaxPrice: systemone.MaxPrice{Prompt: &limit}}
		assert.Equal(t, c.within, len(router.NewPlan(in).Candidates) == 1, "%s within %s", c.price, c.limit)
	}
	in := caseInput(t, "ant:M 1", "–", "–")
	for exponent, within := range map[int32]bool{math.MinInt32: false, math.MaxInt32: true} {
		in.Preferences = &systemone.Preferences{MaxPrice: systemone.MaxPrice{Prompt: new(decimal.New(7, exponent))}}
		assert.Equal(t, within, len(router.NewPlan(in).Candidates) == 1, "7e%d", exponent)
	}
}

// A misspelt group must not switch zero retention off.
func TestUnknownGroupIsEveryGroup(t *testing.T) {
	in := caseInput(t, "K1 + bee zdr", "–", "–")
	in.Policy = []router.Rule{{ZDRGroups: []string{"OpenAI"}}}
	assert.Equal(t, []string{"bee"}, candidates(router.NewPlan(in), 1))
}

func TestGroupOfAuthor(t *testing.T) {
	for author, group := range map[string]string{
		"anthropic": "anthropic", "openai": "openai", "google": "google", "x-ai": "xai", "xai": "other", "acme": "other", "X-AI": "xai",
	} {
		m := router.Model{ID: author + "/m", Permaslug: author + "/m-1"}
		c, err := router.NewCatalog([]router.Model{m}, caseProviders(), []router.Endpoint{{Provider: "ant", Model: m.ID}})
		require.NoError(t, err)
		for _, asked := range []string{"anthropic", "openai", "google", "xai", "other"} {
			plan := router.NewPlan(router.PlanInput{
				Catalog: c, Models: []router.ModelRef{{Model: c.Models()[0]}}, Policy: []router.Rule{{ZDRGroups: []string{asked}}},
			})
			assert.Equal(t, asked == group, len(plan.Candidates) == 0, "%s in %s", author, asked)
		}
	}
}

// An empty allow-list allows nothing, in a rule and in hand-built preferences.
func TestEmptyAllowLists(t *testing.T) {
	in := caseInput(t, "K1", "–", "–")
	in.Preferences = &systemone.Preferences{Only: []string{}}
	assert.Equal(t, []router.Filter{router.FilterAllowedProviders}, router.NewPlan(in).ExcludedBy)
	in.Preferences = &systemone.Preferences{Quantizations: []string{}}
	assert.Equal(t, []router.Filter{router.FilterQuantization}, router.NewPlan(in).ExcludedBy)
	in.Preferences = nil
	in.Policy = []router.Rule{{AllowedModels: []string{}}}
	assert.Equal(t, []router.Filter{router.FilterAllowedModels}, router.NewPlan(in).ExcludedBy)
}

// An ambiguous name in a rule allows none of the models that it may mean and
// ignores them all.
func TestAmbiguousNamesInRules(t *testing.T) {
	models := append(caseModels(), router.Model{ID: "other/judge", Permaslug: "other/judge-1"})
	c, err := router.NewCatalog(models, caseProviders(), []router.Endpoint{{Provider: "ant", Model: "acme/judge"}})
	require.NoError(t, err)
	in := router.PlanInput{Catalog: c, Models: []router.ModelRef{{Model: c.Model("acme/judge")}}}
	in.Policy = []router.Rule{{AllowedModels: []string{"judge"}}}
	assert.Equal(t, []router.Filter{router.FilterAllowedModels}, router.NewPlan(in).ExcludedBy)
	in.Policy = []router.Rule{{IgnoredModels: []string{"judge"}}}
	assert.Equal(t, []router.Filter{router.FilterIgnoredModels}, router.NewPlan(in).ExcludedBy)
}

// Pins apply by the place of the model, and the zero UUID pins nothing.
func TestPinsOfFallbackModels(t *testing.T) {
	in := caseInput(t, "K2", "–", "models M,N –")
	in.Pinned = []uuid.UUID{uuid.Nil, in.Catalog.Endpoints()[3].ID} // cat:N
	in.Seed = 1
	got := candidates(router.NewPlan(in), 2)
	assert.ElementsMatch(t, []string{"bee:M", "ant:M"}, got[:2])
	assert.Equal(t, []string{"cat:N", "ant:N"}, got[2:])

	in.Pinned = []uuid.UUID{in.Catalog.Endpoints()[3].ID} // of another model: pins nothing
	assert.Equal(t, "load-balancing", router.NewPlan(in).Strategy)
}

// R24: the provider options that go to an endpoint.
func TestOptionsOfAnEndpoint(t *testing.T) {
	p := sound()
	c, err := p.catalog()
	require.NoError(t, err)
	ant, eu, bee := c.Endpoints()[0], c.Endpoints()[1], c.Endpoints()[2]
	prefs, err := systemone.DecodePreferences([]byte(
		`{"options":{"ant":{"a":1},"ANT/EU":{"b":2},"bee":{"c":3},"dog":{"d":4},"Bee Two":{"e":5}}}`))
	require.NoError(t, err)
	assert.Equal(t, `{"a":1}`, string(c.Options(prefs, ant)))
	assert.Equal(t, `{"b":2}`, string(c.Options(prefs, eu)), "the variant's own, not merged")
	assert.Equal(t, `{"c":3}`, string(c.Options(prefs, bee)))

	prefs, err = systemone.DecodePreferences([]byte(`{"options":{"ant cloud":{"a":1},"Ant":{"b":2},"cat":{"c":3},"bee/eu":{}}}`))
	require.NoError(t, err)
	assert.Equal(t, `{"b":2}`, string(c.Options(prefs, ant)), "the slug wins over the display name")
	assert.Equal(t, `{"a":1}`, string(c.Options(prefs, eu)), "else the first")
	assert.Nil(t, c.Options(prefs, bee))
	assert.Nil(t, c.Options(nil, bee))
}

// R60: a request at the limit fits, one above does not.
func TestLimitsAreInclusive(t *testing.T) {
	for _, flag := range []string{"opt", "que", "lev"} {
		assert.Len(t, router.NewPlan(caseInput(t, "ant:M 1 "+flag+"=2", "–", "–")).Candidates, 1, flag)
		assert.Empty(t, router.NewPlan(caseInput(t, "ant:M 1 "+flag+"=1", "–", "–")).Candidates, flag)
	}
	assert.Len(t, router.NewPlan(caseInput(t, "ant:M 1 ctx=2000", "–", "–")).Candidates, 1)
	assert.Empty(t, router.NewPlan(caseInput(t, "ant:M 1 ctx=1999", "–", "–")).Candidates)
}

// An endpoint has the place of the first entry that means it.
func TestFirstEntryCounts(t *testing.T) {
	in := caseInput(t, "K1", "–", `{"order":["cat","ant","bee","CAT","Cat Labs"]}`)
	assert.Equal(t, []string{"cat", "ant", "bee"}, candidates(router.NewPlan(in), 1))
}

func TestQuantizationFamilies(t *testing.T) {
	catalog := "ant:M 1 q=fp4; bee:M 2 q=mxfp4; cat:M 3 q=nvfp4; dog:M 4 q=mxfp8; elk:M 5 q=fp8"
	for request, want := range map[string][]string{
		`{"sort":"price","quantizations":["fp4"]}`:   {"ant", "bee", "cat"},
		`{"sort":"price","quantizations":["nvfp4"]}`: {"cat"},
		`{"sort":"price","quantizations":["fp8"]}`:   {"dog", "elk"},
	} {
		assert.Equal(t, want, candidates(router.NewPlan(caseInput(t, catalog, "–", request)), 1), request)
	}
}

// Case does not matter beyond ASCII either.
func TestNamesFold(t *testing.T) {
	p := sound()
	p.providers[0].Name = "Ärzte \u212A" // a Kelvin sign
	c, err := p.catalog()
	require.NoError(t, err)
	for _, name := range []string{"ärzte k", "ÄRZTE K", "Ärzte \u212A"} {
		plan := router.NewPlan(router.PlanInput{
			Catalog: c, Models: []router.ModelRef{{Model: c.Model("JUDGE")}}, Preferences: &systemone.Preferences{Only: []string{name}},
		})
		assert.Len(t, plan.Candidates, 2, name)
	}
}

// An endpoint that takes null only as an option's guidance is asked for such
// requests, and excluded for other nulls.
func TestOptionNullsOnly(t *testing.T) {
	p := sound()
	p.endpoints[0].Limits.OptionNullsOnly = true
	c, err := p.catalog()
	require.NoError(t, err)
	refs, err := c.Resolve("judge")
	require.NoError(t, err)
	reasons := func(s router.Shape) (list []string) {
		for _, x := range router.NewPlan(router.PlanInput{Catalog: c, Models: refs, Shape: s}).Excluded {
			list = append(list, x.Endpoint.Tag()+" "+x.Reason.String())
		}
		return list
	}
	assert.Empty(t, reasons(router.Shape{}))
	assert.Empty(t, reasons(router.Shape{Nulls: true}))
	assert.Equal(t, []string{p.endpoints[0].Tag() + " limits:nulls"}, reasons(router.Shape{Nulls: true, OtherNulls: true}))
}

func TestTiersHaveNames(t *testing.T) {
	for tier, want := range map[router.Tier]string{router.TierMeets: "meets", router.TierUnknown: "unknown", router.TierMisses: "misses"} {
		text, err := tier.MarshalText()
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
		assert.Equal(t, want, tier.String())
	}
}

// TestCandidatesHaveTheFiguresTheyWereComparedBy: a candidate has the figures that
// a sort, a cutoff and load balancing compared, not those of another instant.
func TestCandidatesHaveTheFiguresTheyWereComparedBy(t *testing.T) {
	t.Parallel()
	in := market(t, 100)
	for _, preferences := range []*systemone.Preferences{
		nil,
		{Sort: systemone.Sort{By: systemone.SortLatency}},
		{Sort: systemone.Sort{By: systemone.SortThroughput}, PreferredMaxLatency: systemone.Cutoffs{P90: new(1.0)}},
	} {
		in.Preferences = preferences
		plan := router.NewPlan(in)
		require.Len(t, plan.Candidates, 100)
		for i, c := range plan.Candidates {
			index := slices.Index(in.Catalog.Endpoints(), c.Endpoint)
			require.Same(t, &in.Stats[index], c.Stats)
			require.Equal(t, c.Endpoint.Pricing.Cost(in.Shape.PromptTokens, in.Shape.CompletionTokens), c.Price)
			if preferences == nil || i == 0 {
				continue
			}
			before := plan.Candidates[i-1]
			known := c.Stats.Latency.Known && before.Stats.Latency.Known && c.Tier == before.Tier
			if preferences.Sort.By == systemone.SortLatency && known {
				require.LessOrEqual(t, before.Stats.Latency.P50, c.Stats.Latency.P50)
			}
			if preferences.Sort.By == systemone.SortThroughput && known {
				require.GreaterOrEqual(t, before.Stats.Throughput.P50, c.Stats.Throughput.P50)
			}
		}
	}
	in.Stats = nil
	for _, c := range router.NewPlan(in).Candidates {
		require.Equal(t, &router.Stats{}, c.Stats, "nothing known is no nil")
	}
}
