package prommetrics_test

import (
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/prommetrics"
	"github.com/signalbox/signalbox/router/routertest"
)

// TestMistakesAreReportedByNew: a mistake in the metrics is an error of signalbox.New, and
// the same metrics can be used once it is mended.
func TestMistakesAreReportedByNew(t *testing.T) {
	t.Parallel()
	catalog := newCatalog(t, routertest.NewScript(t), routertest.NewScript(t))
	start := func(m signalbox.Metrics) error {
		_, err := signalbox.New(signalbox.Config{Catalog: catalog, Metrics: m, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			require.ErrorIs(t, err, signalbox.ErrConfig)
		}
		return err
	}
	require.ErrorContains(t, start(prommetrics.New(prommetrics.Config{})), "Metrics: prommetrics: Config.Registerer is required")
	var none *prometheus.Registry
	require.ErrorContains(t, start(prommetrics.New(prommetrics.Config{Registerer: none})), "Config.Registerer is required")
	require.ErrorContains(t, start((*prommetrics.Metrics)(nil)), "Metrics holds a nil")

	registry := prometheus.NewRegistry()
	m := prommetrics.New(prommetrics.Config{Registerer: registry})
	require.NoError(t, start(m))
	require.ErrorContains(t, start(m), "measure a router already")
	second := prommetrics.New(prommetrics.Config{Registerer: registry})
	require.ErrorAs(t, start(second), new(prometheus.AlreadyRegisteredError))
}

// TestTwoServicesShareARegistry under different constant labels.
func TestTwoServicesShareARegistry(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewPedanticRegistry()
	for _, name := range []string{"eu", "us"} {
		wrapped := prometheus.WrapRegistererWith(prometheus.Labels{"region": name}, registry)
		_, err := signalbox.New(signalbox.Config{
			Catalog: newCatalog(t, routertest.NewScript(t), routertest.NewScript(t)), Logger: slog.New(slog.DiscardHandler),
			Metrics: prommetrics.New(prommetrics.Config{Registerer: wrapped}),
		})
		require.NoError(t, err)
	}
	assert.Contains(t, scrape(t, registry), `overruns_total{region="us"}`)
}

// TestDroppedIsTheSumOfTheQueues that the program names.
func TestDroppedIsTheSumOfTheQueues(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewPedanticRegistry()
	m := prommetrics.New(prommetrics.Config{
		Registerer: registry, Dropped: []func() int64{func() int64 { return 3 }, func() int64 { return 4 }},
	})
	rt, err := router.New(router.Config{Catalog: newCatalog(t, routertest.NewScript(t), routertest.NewScript(t))})
	require.NoError(t, err)
	m.Observe(t.Context(), router.Outcome{}) // before Register it does nothing
	require.NoError(t, m.Register(rt))
	values := scrape(t, registry)
	assert.InDelta(t, 7, values["observer_dropped_total"], 0)
	assert.Zero(t, values["decision_duration_seconds_count"])
}
