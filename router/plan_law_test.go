package router_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// law is the drawn input of a plan, which can be built again in another order.
type law struct {
	endpoints []router.Endpoint
	stats     []router.Stats
	names     []string
	prefs     *systemone.Preferences
	policy    []router.Rule
	pins      []string // "tag model", by place of the model
	owned     []router.Credential
	shape     router.Shape
	seed      uint64
}

func some[T any](t *rapid.T, label string, chance int, g *rapid.Generator[T]) (v T, ok bool) {
	if rapid.IntRange(1, 100).Draw(t, label+"?") > chance {
		return v, false
	}
	return g.Draw(t, label), true
}

func nameList(t *rapid.T, label string, chance int, pool ...string) []string {
	list, _ := some(t, label, chance, rapid.SliceOfN(rapid.SampledFrom(pool), 1, 4))
	return list
}

func drawLaw(t *rapid.T) law {
	l := law{seed: rapid.Uint64().Draw(t, "seed")}
	seen := map[string]bool{}
	for range rapid.IntRange(0, 14).Draw(t, "endpoints") {
		e := drawEndpoint(t)
		if place := e.Tag() + " " + e.Model; !seen[place] {
			seen[place] = true
			l.endpoints, l.stats = append(l.endpoints, e), append(l.stats, drawStats(t))
		}
	}
	ids := []string{"acme/judge", "acme/judge-mini", "zeta/arbiter"}
	for _, id := range rapid.Permutation(ids).Draw(t, "models")[:rapid.IntRange(1, 3).Draw(t, "asked")] {
		l.names = append(l.names, id+rapid.SampledFrom([]string{"", "", "", ":floor", ":nitro", ":exacto"}).Draw(t, "suffix"))
		pin := ""
		if len(l.endpoints) > 0 && rapid.IntRange(0, 2).Draw(t, "pin") == 0 {
			e := rapid.SampledFrom(l.endpoints).Draw(t, "pinned")
			pin = e.Tag() + " " + e.Model
		}
		l.pins = append(l.pins, pin)
	}
	l.prefs = drawPreferences(t)
	for range rapid.IntRange(0, 2).Draw(t, "rules") {
		l.policy = append(l.policy, drawRule(t))
	}
	if rapid.Bool().Draw(t, "own?") {
		l.owned = rapid.SliceOfN(rapid.Custom(drawCredential), 0, 4).Draw(t, "own")
	}
	l.shape = router.Shape{
		Questions: 2, Options: 2, Levels: 2, StateTokens: 10,
		PromptTokens:     rapid.Int64Range(0, 3).Draw(t, "in"),
		CompletionTokens: rapid.Int64Range(0, 2).Draw(t, "out"),
	}
	return l
}

func drawCredential(t *rapid.T) router.Credential {
	return router.Credential{
		Provider: rapid.SampledFrom([]string{"ant", "bee", "CAT", "nobody"}).Draw(t, "provider"),
		Models:   nameList(t, "models", 30, "judge-latest", "acme/judge-mini", "zeta/arbiter-20260601"),
		Fallback: rapid.Bool().Draw(t, "fallback"),
		Secret:   "sk",
	}
}

func drawEndpoint(t *rapid.T) router.Endpoint {
	price := rapid.Custom(func(t *rapid.T) router.USD {
		return router.USD(rapid.SampledFrom([]int64{0, 1, 2, 3, 1_000_000_000, 1 << 62}).Draw(t, "price"))
	})
	e := router.Endpoint{
		Provider:     rapid.SampledFrom([]string{"ant", "bee", "cat", "dog"}).Draw(t, "provider"),
		Variant:      rapid.SampledFrom([]string{"", "", "eu", "us"}).Draw(t, "variant"),
		Model:        rapid.SampledFrom([]string{"acme/judge", "acme/judge-mini", "zeta/arbiter"}).Draw(t, "model"),
		Pricing:      router.Pricing{Prompt: price.Draw(t, "prompt").Price(), Completion: price.Draw(t, "completion").Price(), Request: price.Draw(t, "request").Price()},
		Quantization: rapid.SampledFrom([]string{"", "fp8", "mxfp8"}).Draw(t, "quantization"),
		Off:          rapid.IntRange(0, 9).Draw(t, "off") == 0,
		LastResort:   rapid.IntRange(0, 7).Draw(t, "last") == 0,
	}
	switch rapid.IntRange(0, 3).Draw(t, "data") {
	case 0:
		e.CollectsData = true
	case 1:
		e.ZDR = true
	}
	e.Limits.Questions = rapid.IntRange(0, 3).Draw(t, "que")
	return e
}

func drawStats(t *rapid.T) router.Stats {
	figures := rapid.Custom(func(t *rapid.T) router.Percentiles {
		p := rapid.SampledFrom([]float64{0, 0.1, 1, 1.0 / 3, 50}).Draw(t, "p50")
		return router.Percentiles{Known: rapid.Bool().Draw(t, "known"), P50: p, P75: 2 * p, P90: 3 * p, P99: 4 * p}
	})
	checked := rapid.Int64Range(0, 3).Draw(t, "checked")
	return router.Stats{
		Outage:  rapid.IntRange(0, 3).Draw(t, "outage") == 0,
		Latency: figures.Draw(t, "latency"), Throughput: figures.Draw(t, "throughput"),
		Passed: rapid.Int64Range(0, checked).Draw(t, "passed"), Checked: checked,
	}
}

func drawPreferences(t *rapid.T) *systemone.Preferences {
	if rapid.IntRange(0, 4).Draw(t, "preferences?") == 0 {
		return nil
	}
	providers := []string{"ant", "ANT/eu", "bee", "Cat Labs", "dog/us", "nobody"}
	p := &systemone.Preferences{
		Order:         nameList(t, "order", 30, providers...),
		Only:          nameList(t, "only", 30, providers...),
		Ignore:        nameList(t, "ignore", 30, providers...),
		Quantizations: nameList(t, "quantizations", 20, "fp8", "unknown"),
		ZDR:           rapid.IntRange(0, 9).Draw(t, "zdr") == 0,
		Sort: systemone.Sort{
			By:        rapid.SampledFrom([]systemone.SortBy{"", "", "", "price", "latency", "throughput", "exacto"}).Draw(t, "by"),
			Partition: rapid.SampledFrom([]systemone.Partition{"", "none", "model"}).Draw(t, "partition"),
		},
	}
	if v, ok := some(t, "fallbacks", 40, rapid.Bool()); ok {
		p.AllowFallbacks = &v
	}
	if v, ok := some(t, "max price", 20, rapid.Int64Range(0, 3)); ok {
		p.MaxPrice.Prompt = new(decimal.New(v, -9))
	}
	if v, ok := some(t, "max latency", 30, rapid.Float64Range(0, 2)); ok {
		p.PreferredMaxLatency.P50 = &v
	}
	if v, ok := some(t, "min throughput", 30, rapid.Float64Range(0, 200)); ok {
		p.PreferredMinThroughput.P90 = &v
	}
	return p
}

func drawRule(t *rapid.T) router.Rule {
	return router.Rule{
		Source:           rapid.SampledFrom([]router.Source{router.SourceAccount, router.SourceWorkspace, router.SourceKey, 0}).Draw(t, "source"),
		AllowedProviders: nameList(t, "allowed", 20, "ant", "bee", "cat/eu"),
		IgnoredProviders: nameList(t, "ignored", 20, "ant/us", "Bee"),
		AllowedModels:    nameList(t, "allowed models", 10, "judge-latest", "acme/judge-mini"),
		IgnoredModels:    nameList(t, "ignored models", 10, "arbiter", "judge-20260901"),
		NoPaidTraining:   rapid.IntRange(0, 9).Draw(t, "paid") == 0,
		Sort:             rapid.SampledFrom([]systemone.SortBy{"", "", "price"}).Draw(t, "default sort"),
	}
}

// input builds the plan's input with the catalog's endpoints in this order.
func (l law) input(t require.TestingT, order []int) router.PlanInput {
	endpoints, stats := make([]router.Endpoint, len(order)), make([]router.Stats, len(order))
	for to, from := range order {
		endpoints[to], stats[to] = l.endpoints[from], l.stats[from]
	}
	c, err := router.NewCatalog(caseModels(), caseProviders(), endpoints)
	require.NoError(t, err)
	refs, err := c.Resolve("", l.names...)
	require.NoError(t, err)
	in := router.PlanInput{
		Catalog: c, Models: refs, Shape: l.shape, Preferences: l.prefs, Policy: l.policy, Stats: stats, Seed: l.seed,
		Credentials: l.owned, Pinned: make([]uuid.UUID, len(refs)),
	}
	for i, pin := range l.pins {
		for _, e := range c.Endpoints() {
			if e.Tag()+" "+e.Model == pin {
				in.Pinned[i] = e.ID
			}
		}
	}
	return in
}

func (l law) inOrder() []int {
	order := make([]int, len(l.endpoints))
	for i := range order {
		order[i] = i
	}
	return order
}

// own returns the credential of a candidate as a text.
func own(c router.Candidate) string {
	if c.Credential == nil {
		return "shared"
	}
	return fmt.Sprint(c.Credential.Provider, c.Credential.Models, c.Credential.Fallback)
}

// payer ranks the credentials: own ones, shared ones, own fallbacks.
func payer(c router.Candidate) int {
	switch {
	case c.Credential == nil:
		return 1
	case c.Credential.Fallback:
		return 2
	}
	return 0
}

// describe formats a plan without its pointers.
func describe(p router.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s %v\n", p.Seed, p.Strategy, p.ExcludedBy)
	for _, c := range p.Candidates {
		fmt.Fprintln(&b, c.Endpoint.Tag(), c.Model().ID, own(c), c.Tier, c.Reason, c.Weight)
	}
	for _, e := range p.Excluded {
		fmt.Fprintln(&b, e.Endpoint.Tag(), e.Endpoint.Model, e.Reason, e.Detail, e.Source)
	}
	return b.String()
}

func TestSameInputSamePlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLaw(t)
		in := l.input(t, l.inOrder())
		first := router.NewPlan(in)
		require.Equal(t, first, router.NewPlan(in))
	})
}

func TestCatalogOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLaw(t)
		shuffled := rapid.Permutation(l.inOrder()).Draw(t, "order")
		require.Equal(t, describe(router.NewPlan(l.input(t, l.inOrder()))), describe(router.NewPlan(l.input(t, shuffled))))
	})
}

// matching counts the credentials for an endpoint.
func matching(in router.PlanInput, e *router.Endpoint) (n int) {
	for _, c := range in.Credentials {
		if strings.EqualFold(c.Provider, e.Provider) && (c.Models == nil || slices.ContainsFunc(c.Models, func(name string) bool {
			return in.Catalog.Model(name).ID == e.Model
		})) {
			n++
		}
	}
	return n
}

func TestEveryEndpointStandsInThePlanOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLaw(t)
		in := l.input(t, l.inOrder())
		plan := router.NewPlan(in)
		var want, got []*router.Endpoint
		for _, ref := range in.Models {
			want = append(want, in.Catalog.EndpointsOf(ref.Model)...)
		}
		alone := l.prefs != nil && l.prefs.AllowFallbacks != nil && !*l.prefs.AllowFallbacks
		times := map[*router.Endpoint]int{} // as a candidate with an own credential
		for _, c := range plan.Candidates {
			require.Equal(t, c.Model().ID, c.Endpoint.Model)
			if c.Credential == nil || alone {
				got = append(got, c.Endpoint)
			}
			if c.Credential != nil {
				times[c.Endpoint]++
				require.True(t, strings.EqualFold(c.Credential.Provider, c.Endpoint.Provider))
				require.True(t, c.Credential.Models == nil || slices.ContainsFunc(c.Credential.Models, func(name string) bool {
					return in.Catalog.Model(name) == c.Model()
				}))
			}
		}
		for _, c := range plan.Candidates {
			if c.Credential == nil && !alone {
				require.Equal(t, matching(in, c.Endpoint), times[c.Endpoint], "once for each credential")
			}
		}
		for _, e := range plan.Excluded {
			got = append(got, e.Endpoint)
			require.NotEmpty(t, e.Reason)
			require.Equal(t, e.Reason != router.FilterFallbacks, slices.Contains(plan.ExcludedBy, e.Reason))
		}
		require.ElementsMatch(t, want, got)
		require.Equal(t, len(plan.Candidates) == 0, plan.Err(l.names) != nil)
		if alone {
			require.LessOrEqual(t, len(plan.Candidates), 1)
		}
	})
}

// means reports whether a drawn provider name means an endpoint, independently of
// the planner.
func means(name string, e *router.Endpoint) bool {
	displayed := map[string]string{"ant": "Ant Cloud", "bee": "Bee", "cat": "Cat Labs", "dog": "Dog"}[e.Provider]
	if strings.Contains(name, "/") {
		return strings.EqualFold(name, e.Tag())
	}
	return strings.EqualFold(name, e.Provider) || strings.EqualFold(name, displayed)
}

func TestListsAreObeyed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLaw(t)
		plan := router.NewPlan(l.input(t, l.inOrder()))
		prefs := systemone.Preferences{}
		if l.prefs != nil {
			prefs = *l.prefs
		}
		policy := append(slices.Clone(l.policy), router.Rule{AllowedProviders: prefs.Only, IgnoredProviders: prefs.Ignore})
		for _, c := range plan.Candidates {
			is := func(name string) bool { return means(name, c.Endpoint) }
			for _, rule := range policy {
				require.True(t, rule.AllowedProviders == nil || slices.ContainsFunc(rule.AllowedProviders, is))
				require.False(t, slices.ContainsFunc(rule.IgnoredProviders, is))
				require.False(t, rule.NoPaidTraining && c.Endpoint.CollectsData && c.Endpoint.Pricing != router.Pricing{})
			}
			require.False(t, c.Endpoint.Off)
			require.True(t, c.Endpoint.ZDR || !prefs.ZDR)
			require.True(t, prefs.MaxPrice.Prompt == nil || decimal.New(int64(c.Endpoint.Pricing.Prompt.USD()), -9).LessThanOrEqual(*prefs.MaxPrice.Prompt))
		}
	})
}

// No candidate stands ahead of one that the strong keys of the rules put before it.
// All pairs are compared.
func TestStrongKeysDecide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLaw(t)
		in := l.input(t, l.inOrder())
		plan := router.NewPlan(in)
		grouped := l.prefs == nil || l.prefs.Sort.Partition != "none" || len(l.prefs.Order) > 0
		place := func(c router.Candidate) int {
			return slices.IndexFunc(in.Models, func(r router.ModelRef) bool { return r.Model == c.Model() })
		}
		sum := 0.0
		for i, c := range plan.Candidates {
			sum += c.Weight
			if i == 0 {
				continue
			}
			before := plan.Candidates[i-1]
			if last := c.Endpoint.LastResort; before.Endpoint.LastResort != last || last && place(before) != place(c) {
				continue // see TestLastResortsStandLast
			}
			require.LessOrEqual(t, before.Tier, c.Tier)
			if before.Tier < c.Tier || grouped && place(before) < place(c) {
				continue
			}
			require.True(t, !grouped || place(before) == place(c))
			require.LessOrEqual(t, payer(before), payer(c))
			if payer(before) < payer(c) {
				continue
			}
			if i > 1 && before.Reason == c.Reason && (c.Reason == router.ReasonPrice || c.Reason == router.ReasonOutage) {
				cost := func(c router.Candidate) int {
					return exactCost(c.Endpoint.Pricing, l.shape.PromptTokens, l.shape.CompletionTokens).
						Cmp(exactCost(before.Endpoint.Pricing, l.shape.PromptTokens, l.shape.CompletionTokens))
				}
				require.GreaterOrEqual(t, cost(c), 0, "dearer before cheaper")
			}
			require.False(t, before.Reason == router.ReasonOutage && c.Reason == router.ReasonPrice, "an outage before a sound one")
			require.NotEqual(t, router.ReasonDrawn, c.Reason)
		}
		alone := l.prefs != nil && l.prefs.AllowFallbacks != nil && !*l.prefs.AllowFallbacks
		if plan.Strategy == "load-balancing" && len(plan.Candidates) > 0 && !alone {
			require.InDelta(t, 1, sum, 1e-9)
		}
	})
}
