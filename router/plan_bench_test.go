package router_test

import (
	"fmt"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// market returns one model at n endpoints of n/4 providers, with varied prices,
// figures and outages.
func market(tb testing.TB, n int) router.PlanInput {
	tb.Helper()
	var providers []router.ProviderInfo
	var endpoints []router.Endpoint
	stats := make([]router.Stats, n)
	words := []string{"", "fp8", "bf16", "int4"}
	for i := range n {
		if i%4 == 0 {
			providers = append(providers, router.ProviderInfo{Slug: fmt.Sprintf("p%03d", i/4), Client: nobody{}})
		}
		x := i * 7919 % 1009
		endpoints = append(endpoints, router.Endpoint{
			Provider: providers[i/4].Slug, Variant: fmt.Sprintf("r%d", i%4), Model: "acme/judge",
			Pricing:      router.Pricing{Prompt: router.USD(50_000_000 + 1_234_567*x).Price(), Completion: router.USD(100_000_000 + 7_654_321*(x%37)).Price()},
			Quantization: words[x%len(words)], CollectsData: x%5 == 0, Parameters: []string{"user"},
		})
		stats[i] = router.Stats{
			Outage:     x%29 == 0,
			Latency:    router.Percentiles{Known: x%7 != 0, P50: 0.1 + float64(x)/500, P75: 0.2 + float64(x)/400, P90: 0.3 + float64(x)/300, P99: 1 + float64(x)/100},
			Throughput: router.Percentiles{Known: x%7 != 0, P50: float64(1100 - x), P75: 900, P90: 500, P99: 100},
		}
	}
	catalog, err := router.NewCatalog(caseModels(), providers, endpoints)
	require.NoError(tb, err)
	refs, err := catalog.Resolve("judge")
	require.NoError(tb, err)
	return router.PlanInput{
		Catalog: catalog, Models: refs, Stats: stats, Seed: 1,
		Shape: router.Shape{Questions: 3, Options: 5, Levels: 5, StateTokens: 250, PromptTokens: 300, CompletionTokens: 12, Parameters: []string{"user"}},
	}
}

func busyPreferences(providers int) *systemone.Preferences {
	p := &systemone.Preferences{
		DataCollection: systemone.DataCollectionDeny, RequireParameters: true,
		Ignore: []string{"p001", "P002/R1", "nobody"}, Quantizations: []string{"fp8", "bf16", "unknown"},
		MaxPrice:            systemone.MaxPrice{Prompt: new(decimal.RequireFromString("1.1"))},
		PreferredMaxLatency: systemone.Cutoffs{P50: new(1.2), P90: new(2.5)},
		Sort:                systemone.Sort{By: systemone.SortLatency},
	}
	for i := range providers {
		p.Only = append(p.Only, fmt.Sprintf("p%03d", i))
	}
	return p
}

func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{100, 1000} {
		plain := market(b, n)
		sorted := plain
		sorted.Preferences = &systemone.Preferences{Sort: systemone.Sort{By: systemone.SortLatency}}
		busy := plain
		busy.Preferences = busyPreferences(20)
		busy.Policy = []router.Rule{{Source: router.SourceAccount, IgnoredProviders: []string{"p003"}}, {Source: router.SourceKey, NoPaidTraining: true}}
		for name, in := range map[string]router.PlanInput{"none": plain, "sort": sorted, "several": busy} {
			b.Run(fmt.Sprintf("endpoints=%d/preferences=%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					in.Seed++
					router.NewPlan(in)
				}
			})
		}
	}
}
