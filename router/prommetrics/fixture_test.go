package prommetrics_test

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/prommetrics"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/systemone"
)

// clock is a clock that moves only when a test says so.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// upstreamTime is how long each scripted attempt takes, by the clock.
const upstreamTime = 20 * time.Millisecond

// world is a measured service with two scripted providers.
type world struct {
	*signalbox.Service

	seeded   demo.Seeded
	metrics  *prommetrics.Metrics
	registry *prometheus.Registry
	server   *httptest.Server
	clock    *clock
	ant, bee *routertest.Script
}

// slow lets the clock pass before each attempt at a provider.
type slow struct {
	router.Provider

	clock *clock
}

func (s slow) Decide(ctx context.Context, a router.Attempt) (router.Reply, error) {
	s.clock.pass(upstreamTime)
	return s.Provider.Decide(ctx, a)
}

func newWorld(tb testing.TB, with ...func(*signalbox.Config)) *world {
	tb.Helper()
	w := &world{
		registry: prometheus.NewPedanticRegistry(), ant: routertest.NewScript(tb), bee: routertest.NewScript(tb),
		clock: &clock{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)},
	}
	w.metrics = prommetrics.New(prommetrics.Config{Registerer: w.registry, Now: w.clock.Now})
	cfg := signalbox.Config{
		Catalog: newCatalog(tb, slow{w.ant, w.clock}, slow{w.bee, w.clock}),
		Logger:  slog.New(slog.DiscardHandler), Now: w.clock.Now, Metrics: w.metrics,
	}
	cfg.Router.Seed = func() uint64 { return 7 }
	for _, f := range with {
		f(&cfg)
	}
	var err error
	w.Service, err = signalbox.New(cfg)
	require.NoError(tb, err)
	w.seeded, err = demo.Seed(tb.Context(), w.Service)
	require.NoError(tb, err)
	w.server = httptest.NewServer(w.Handler)
	tb.Cleanup(w.server.Close)
	return w
}

// newCatalog has a cheap model at two providers, a strong one at bee, and a model that
// asks the strong one where the cheap one is unsure.
func newCatalog(tb testing.TB, ant, bee router.Provider) *router.Catalog {
	tb.Helper()
	below := 0.6
	c, err := router.NewCatalog([]router.Model{
		{ID: "acme/first", Permaslug: "acme/first-20260901", Aliases: []string{"first-latest"}},
		{ID: "acme/strong", Permaslug: "acme/strong-20260901"},
		{ID: "acme/cascade", Permaslug: "acme/cascade-20260901", Stages: []systemone.Entry{
			{Model: "acme/first"},
			{Model: "acme/strong", When: &systemone.Condition{ConfidenceBelow: &below}},
		}},
	}, []router.ProviderInfo{{Slug: "ant", Name: "Ant Cloud", Client: ant}, {Slug: "bee", Client: bee}}, []router.Endpoint{
		{Provider: "ant", Variant: "eu", Model: "acme/first", Pricing: router.Pricing{Request: router.Dollars("0.001")}},
		{Provider: "bee", Model: "acme/first", Pricing: router.Pricing{Request: router.Dollars("0.002")}},
		{Provider: "bee", Model: "acme/strong", Pricing: router.Pricing{Request: router.Dollars("0.01"), Prompt: router.Dollars("1")}},
	})
	require.NoError(tb, err)
	return c
}

// post sends a body and returns the status.
func (w *world) post(tb testing.TB, key router.Secret, path, body string, header ...string) int {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, w.server.URL+path, strings.NewReader(body))
	require.NoError(tb, err)
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+string(key))
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := w.server.Client().Do(r)
	require.NoError(tb, err)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(tb, err)
	require.NoError(tb, resp.Body.Close())
	return resp.StatusCode
}

// families returns what a scrape exposes, as Prometheus' own parser reads it.
func families(tb testing.TB, g prometheus.Gatherer) map[string]*dto.MetricFamily {
	tb.Helper()
	rec := httptest.NewRecorder()
	handler := promhttp.HandlerFor(g, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError})
	handler.ServeHTTP(rec, httptest.NewRequestWithContext(tb.Context(), http.MethodGet, "/metrics", nil))
	require.Equal(tb, http.StatusOK, rec.Code, rec.Body.String())
	parser := expfmt.NewTextParser(model.UTF8Validation)
	found, err := parser.TextToMetricFamilies(rec.Body)
	require.NoError(tb, err)
	return found
}

// scrape returns the value of each series, by its text without the namespace. A histogram
// has its count and its sum; its buckets are left out.
func scrape(tb testing.TB, g prometheus.Gatherer) map[string]float64 {
	tb.Helper()
	values := map[string]float64{}
	for name, family := range families(tb, g) {
		name = strings.TrimPrefix(name, "signalbox_")
		for _, m := range family.GetMetric() {
			labels := labelsOf(m)
			switch family.GetType() {
			case dto.MetricType_COUNTER:
				values[name+labels] = m.GetCounter().GetValue()
			case dto.MetricType_GAUGE:
				values[name+labels] = m.GetGauge().GetValue()
			default:
				values[name+"_count"+labels] = float64(m.GetHistogram().GetSampleCount())
				values[name+"_sum"+labels] = m.GetHistogram().GetSampleSum()
			}
		}
	}
	return values
}

func labelsOf(m *dto.Metric) string {
	var list []string
	for _, l := range m.GetLabel() {
		list = append(list, l.GetName()+"="+strconv.Quote(l.GetValue()))
	}
	if len(list) == 0 {
		return ""
	}
	return "{" + strings.Join(list, ",") + "}"
}

// changes returns what differs between two scrapes, as "series difference" in order.
func changes(before, after map[string]float64) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if d := after[name] - before[name]; d != 0 {
			list = append(list, name+" "+strconv.FormatFloat(d, 'g', 6, 64))
		}
	}
	return list
}
