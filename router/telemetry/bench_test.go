package telemetry_test

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/telemetry"
	"github.com/signalbox/signalbox/router/telemetry/export"
)

// BenchmarkDecide measures a call of one model with each part of telemetry, the
// exporter's goroutine included. "none" is the same call without telemetry.
func BenchmarkDecide(b *testing.B) {
	queue, err := export.NewQueue(export.Config{Destination: export.NewFile(io.Discard, ""), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() { defer close(done); queue.Run(ctx) }()
	defer func() { cancel(); <-done }()
	sinks := []telemetry.Sink{queue}
	sdk := sdktrace.NewTracerProvider(sdktrace.WithBatcher(tracetest.NewNoopExporter()), sdktrace.WithIDGenerator(telemetry.IDs{}))
	defer func() { require.NoError(b, sdk.Shutdown(context.WithoutCancel(b.Context()))) }()
	for _, c := range []struct {
		name string
		cfg  *telemetry.Config
	}{
		{"none", nil},
		{"ids alone", &telemetry.Config{}},
		{"metrics", &telemetry.Config{MeterProvider: metric.NewMeterProvider(metric.WithReader(metric.NewManualReader()))}},
		{"file", &telemetry.Config{Sinks: func(router.Principal) []telemetry.Sink { return sinks }}},
		{"SDK", &telemetry.Config{TracerProvider: sdk}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var all []router.Interceptor
			if c.cfg != nil {
				t, err := telemetry.New(*c.cfg)
				require.NoError(b, err)
				all = append(all, t.Intercept)
			}
			w := wrapped(b, all...)
			w.ant.busy = true
			b.ReportAllocs()
			for b.Loop() {
				call := plain()
				call.ID = ""
				if _, err := w.Decide(b.Context(), call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.ReportMetric(float64(queue.Stats().Dropped), "dropped")
}
