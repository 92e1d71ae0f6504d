package prommetrics_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/systemone"
)

// TestMetricsAreThoseDocumented: the names, types and labels of all metrics. Prometheus'
// own linter finds nothing in them.
func TestMetricsAreThoseDocumented(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, 200, w.post(t, w.seeded.Inference, "/api/v1/systemone", asking("acme/cascade")))
	found := families(t, w.registry)
	want := map[string]string{
		"signalbox_decisions_total":           "COUNTER model,outcome",
		"signalbox_decision_duration_seconds": "HISTOGRAM ",
		"signalbox_attempts_total":            "COUNTER class,model,provider",
		"signalbox_attempt_duration_seconds":  "HISTOGRAM provider",
		"signalbox_cost_usd_total":            "COUNTER model,provider",
		"signalbox_held_usd":                  "GAUGE ",
		"signalbox_overruns_total":            "COUNTER ",
		"signalbox_escalations_total":         "COUNTER model,outcome",
		"signalbox_answer_confidence":         "HISTOGRAM model",
		"signalbox_ledger_seconds":            "HISTOGRAM op",
		"signalbox_endpoint_outage":           "GAUGE endpoint",
		"signalbox_http_requests_total":       "COUNTER route,status",
		"signalbox_observer_dropped_total":    "COUNTER ",
	}
	got := map[string]string{}
	for name, family := range found {
		var labels []string
		for _, l := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		got[name] = family.GetType().String() + " " + strings.Join(labels, ",")
	}
	assert.Equal(t, want, got)

	problems, err := promlint.NewWithMetricFamilies(slices.Collect(maps.Values(found))).Lint()
	require.NoError(t, err)
	assert.Empty(t, problems)
}

// TestSeriesExistBeforeTheyCount: what a catalog can lead to is there at 0 before the
// first call, so that no increase is missed.
func TestSeriesExistBeforeTheyCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	values := scrape(t, w.registry)
	for _, series := range []string{
		`decisions_total{model="acme/cascade",outcome="failed"}`,
		`escalations_total{model="acme/cascade",outcome="refused"}`,
		`attempts_total{class="provider_overloaded",model="acme/strong",provider="bee"}`,
		`cost_usd_total{model="acme/first",provider="ant"}`,
		`attempt_duration_seconds_count{provider="bee"}`,
		`answer_confidence_count{model="acme/first"}`,
		`endpoint_outage{endpoint="ant/eu acme/first"}`,
		`ledger_seconds_count{op="expire"}`,
		`overruns_total`, `observer_dropped_total`, `held_usd`,
	} {
		if assert.Contains(t, values, series) {
			assert.Zero(t, values[series], series)
		}
	}
	assert.NotContains(t, values, `answer_confidence_count{model="acme/cascade"}`, "its stages answer")
}

// mostSeries is how many series the documented bounds allow for a catalog of 3 models, 2
// providers, 3 endpoints of 3 pairs, and what does not depend on a catalog. A histogram
// counts as one for each bucket, and two.
const mostSeries = 3*20 + 2*17 + 3*9 + 3 + 8*16 + 17 + 4

// seriesOf counts the series of a scrape as a server would store them.
func seriesOf(found map[string]*dto.MetricFamily, except ...string) (n int) {
	for name, family := range found {
		if slices.Contains(except, name) {
			continue
		}
		for _, m := range family.GetMetric() {
			n++
			if h := m.GetHistogram(); h != nil {
				n += 1 + len(h.GetBucket())
			}
		}
	}
	return n
}

// TestCallersCannotMakeSeries: whatever callers send, and whatever a program passes as a
// route or a status, the number of series is bounded.
func TestCallersCannotMakeSeries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const requests = "signalbox_http_requests_total"
	assert.LessOrEqual(t, seriesOf(families(t, w.registry), requests), mostSeries)
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		word := fmt.Sprintf("a%x", random.Uint64())
		w.post(t, w.seeded.Inference, "/api/v1/systemone", asking("acme/"+word))
		w.post(t, w.seeded.Inference, "/api/v1/systemone", asking("acme/first:"+word))
		w.post(t, router.Secret(word), "/api/v1/systemone", asking("acme/first"))
		w.post(t, "", "/api/v1/"+word, "")
		w.post(t, "", "/v1/models/acme/"+word+"/endpoints", "")
		w.post(t, w.seeded.Management, "/api/v1/presets/"+word+"/systemone", "{}")
		w.post(t, w.seeded.Management, "/api/v1/keys", `{"name":"`+word+`","`+word+`":1}`)
	}
	assert.LessOrEqual(t, len(families(t, w.registry)[requests].GetMetric()), 20, "a few routes with a few statuses each")

	// Outcomes as a broken interceptor or provider might make them.
	for range 300 {
		word := fmt.Sprintf("a%x", random.Uint64())
		endpoint := &router.Endpoint{Provider: word, Model: "acme/" + word}
		w.metrics.Observe(t.Context(), router.Outcome{
			Request: &systemone.Request{Model: word},
			Result:  &router.Result{Response: systemone.Response{Answers: systemone.Answers{{Name: word, Kind: systemone.Noul}}}},
			Report: router.Report{Legs: []*router.Leg{{
				Group: 1, TriggeredBy: []string{word},
				Attempts: []router.AttemptRecord{{Endpoint: endpoint, Class: router.Class(word), Cost: 1}},
			}}},
		})
		w.metrics.Request("GET /"+word, random.IntN(1_000_000)-500_000)
		w.metrics.Request("GET /known", 100+random.IntN(500))
	}
	found := families(t, w.registry)
	// Unknown: a decision with 3 outcomes, an escalation, a pair, a provider and a model.
	assert.LessOrEqual(t, seriesOf(found, requests), mostSeries+3+3+9+17+14)
	assert.LessOrEqual(t, len(found[requests].GetMetric()), 251+501)
	routes := map[string]bool{}
	for _, m := range found[requests].GetMetric() {
		routes[m.GetLabel()[0].GetValue()] = true
	}
	assert.Len(t, routes, 251, "250 and the rest")
	text := fmt.Sprint(scrape(t, w.registry))
	assert.Contains(t, text, `cost_usd_total{model="unknown",provider="unknown"}:3e-07`)
	assert.Contains(t, text, `status="0"`)
}

// newSmaller returns the catalog of newCatalog with nothing but the first endpoint.
func newSmaller(t *testing.T, ant router.Provider) *router.Catalog {
	t.Helper()
	c, err := router.NewCatalog(
		[]router.Model{{ID: "acme/first", Permaslug: "acme/first-20260901"}},
		[]router.ProviderInfo{{Slug: "ant", Client: ant}},
		[]router.Endpoint{{Provider: "ant", Variant: "eu", Model: "acme/first", Pricing: router.Pricing{Request: router.Dollars("0.001")}}},
	)
	require.NoError(t, err)
	return c
}

// TestRemovedEndpointsEndTheirSeries: a model, a provider or an endpoint that leaves the
// catalog leaves the metrics, also while calls of the older catalog are in flight. What
// stays keeps its values. What such a call cost is not lost.
func TestRemovedEndpointsEndTheirSeries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	full := w.Router.Catalog()
	smaller := newSmaller(t, w.ant)
	require.Equal(t, 200, w.post(t, w.seeded.Inference, "/api/v1/systemone", asking("acme/first")))
	reload := func() {
		w.Router.SetCatalog(smaller)
		scrape(t, w.registry)
	}
	w.bee.Add(routertest.Step{Do: func(_ context.Context, a router.Attempt) (router.Reply, error) {
		reload() // while the call is in flight
		return router.Reply{Answers: routertest.Answers(a.Request), Usage: systemone.Usage{InputTokens: 1, OutputTokens: 1}}, nil
	}})
	require.Equal(t, 200, w.post(t, w.seeded.Inference, "/api/v1/systemone", asking("acme/strong")))

	values := scrape(t, w.registry)
	for series := range values {
		for _, gone := range []string{"bee", "acme/strong", "acme/cascade"} {
			assert.NotContains(t, series, gone)
		}
	}
	assert.InDelta(t, 1, values[`attempts_total{class="ok",model="acme/first",provider="ant"}`], 0)
	assert.InDelta(t, 0.001, values[`cost_usd_total{model="acme/first",provider="ant"}`], 0)
	assert.InDelta(t, 0.010001, values[`cost_usd_total{model="unknown",provider="unknown"}`], 0)
	assert.InDelta(t, 1, values[`decisions_total{model="unknown",outcome="answered"}`], 0)

	w.Router.SetCatalog(full)
	values = scrape(t, w.registry)
	assert.Zero(t, values[`attempts_total{class="ok",model="acme/strong",provider="bee"}`], "it begins again")
	assert.InDelta(t, 1, values[`attempts_total{class="ok",model="acme/first",provider="ant"}`], 0)
}

// TestReloadsWhileCallsAreCounted: with calls, scrapes and new catalogs at once, every
// scrape is valid, no call is lost and no series stays.
func TestReloadsWhileCallsAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	full := w.Router.Catalog()
	smaller := newSmaller(t, w.ant)
	const callers, calls = 4, 100
	var running sync.WaitGroup
	for range callers {
		running.Go(func() {
			for range calls {
				request, err := systemone.Decoder{}.Decode([]byte(asking("acme/first")))
				if assert.NoError(t, err) {
					_, err = w.Decide(t.Context(), &router.Call{Request: request})
					assert.NoError(t, err)
				}
			}
		})
	}
	done := make(chan struct{})
	var changing sync.WaitGroup
	changing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
				w.Router.SetCatalog([]*router.Catalog{smaller, full}[i%2])
				_, err := w.registry.Gather() // the registry is pedantic
				assert.NoError(t, err)
			}
		}
	})
	running.Wait()
	close(done)
	changing.Wait()
	w.Router.SetCatalog(smaller)
	values := scrape(t, w.registry)
	assert.InDelta(t, callers*calls, values[`decisions_total{model="acme/first",outcome="answered"}`], 0)
	assert.InDelta(t, callers*calls, values[`decision_duration_seconds_count`], 0)
	assert.InDelta(t, callers*calls, values[`attempts_total{class="ok",model="acme/first",provider="ant"}`], 0)
	assert.InDelta(t, callers*calls/1000.0, values[`cost_usd_total{model="acme/first",provider="ant"}`], 0)
	assert.NotContains(t, fmt.Sprint(values), "bee")
}

// TestCostsAreExact: sums of small amounts lose nothing.
func TestCostsAreExact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	endpoint := w.Router.Catalog().Endpoints()[0]
	for range 1000 {
		w.metrics.Observe(t.Context(), router.Outcome{Result: &router.Result{}, Report: router.Report{Legs: []*router.Leg{{
			Attempts: []router.AttemptRecord{{Endpoint: endpoint, Cost: 100_000_001}},
		}}}})
	}
	//nolint:testifylint // exactly this number
	assert.Equal(t, 100.000001, scrape(t, w.registry)[`cost_usd_total{model="acme/first",provider="ant"}`])
}
