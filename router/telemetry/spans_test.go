package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/telemetry"
	"github.com/signalbox/signalbox/systemone"
)

// wanted is a span as it should be.
type wanted struct {
	name       string
	kind       trace.SpanKind
	parent     int // index in the list; -1 for none
	start, end time.Duration
	status     codes.Code
	attributes map[attribute.Key]any
}

// wantCascade are the spans of a cascade whose second stage fails over. The first
// attempt takes 20 ms, the failed one and the last one too.
func wantCascade() []wanted {
	const ms = time.Millisecond
	return []wanted{
		{"decide acme/mini, acme/judge", trace.SpanKindServer, -1, 0, 60 * ms, codes.Unset, map[attribute.Key]any{
			"gen_ai.operation.name": "decide", "gen_ai.request.model": "acme/mini, acme/judge", "gen_ai.response.model": "acme/judge-2",
			"gen_ai.response.id": "gen-dec-1", "gen_ai.provider.name": "cat", "gen_ai.usage.input_tokens": int64(200), "gen_ai.usage.output_tokens": int64(6),
			"signalbox.request_id": "req-1", "signalbox.account": "acc", "signalbox.workspace": "ws", "signalbox.key": "hash", "signalbox.seed": "7",
			"signalbox.cost": int64(4_000_000), "signalbox.hold": int64(4_000_000), "signalbox.escalated": int64(1),
			"session.id": "s-1", "http.route": "/systemone",
		}},
		{"leg first", trace.SpanKindInternal, 0, 0, 20 * ms, codes.Unset, map[attribute.Key]any{
			"signalbox.reason": "first", "signalbox.stage": int64(0), "signalbox.strategy": "sort:price", "signalbox.questions": []string{"team"},
		}},
		{"decide acme/mini", trace.SpanKindClient, 1, 0, 20 * ms, codes.Unset, map[attribute.Key]any{
			"gen_ai.operation.name": "decide", "gen_ai.provider.name": "ant", "gen_ai.request.model": "acme/mini", "gen_ai.response.model": "acme/mini-1",
			"gen_ai.usage.input_tokens": int64(100), "gen_ai.usage.output_tokens": int64(3),
			"http.response.status_code": int64(200), "server.address": "ant.example", "server.port": int64(8443), "signalbox.endpoint": "ant",
			"signalbox.class": "ok", "signalbox.cost": int64(1_000_000), "signalbox.upstream_cost": int64(1_000_000), "signalbox.billed": true,
		}},
		{"leg escalated", trace.SpanKindInternal, 0, 20 * ms, 60 * ms, codes.Unset, map[attribute.Key]any{
			"signalbox.reason": "escalated", "signalbox.stage": int64(1), "signalbox.strategy": "sort:price", "signalbox.questions": []string{"team"},
			"signalbox.triggered_by": []string{"team"},
		}},
		{"decide acme/judge", trace.SpanKindClient, 3, 20 * ms, 40 * ms, codes.Error, map[attribute.Key]any{
			"gen_ai.operation.name": "decide", "gen_ai.provider.name": "bee", "gen_ai.request.model": "acme/judge", "error.type": "no_capacity",
			"http.response.status_code": int64(503), "server.address": "bee.example", "server.port": int64(8443), "signalbox.endpoint": "bee",
			"signalbox.class": "no_capacity", "signalbox.cost": int64(0), "signalbox.upstream_cost": int64(0), "signalbox.billed": false,
		}},
		{"decide acme/judge", trace.SpanKindClient, 3, 40 * ms, 60 * ms, codes.Unset, map[attribute.Key]any{
			"gen_ai.operation.name": "decide", "gen_ai.provider.name": "cat", "gen_ai.request.model": "acme/judge", "gen_ai.response.model": "acme/judge-2",
			"gen_ai.usage.input_tokens": int64(100), "gen_ai.usage.output_tokens": int64(3),
			"http.response.status_code": int64(200), "server.address": "cat.example", "server.port": int64(8443), "signalbox.endpoint": "cat/eu",
			"signalbox.class": "ok", "signalbox.cost": int64(3_000_000), "signalbox.upstream_cost": int64(3_000_000), "signalbox.billed": true,
		}},
	}
}

// values returns attributes as a map, without user.id, which is a hash.
func values(list []attribute.KeyValue) map[attribute.Key]any {
	m := map[attribute.Key]any{}
	for _, kv := range list {
		if kv.Key != "user.id" {
			m[kv.Key] = kv.Value.AsInterface()
		}
	}
	return m
}

// cascadeSpans decides a cascade whose second stage fails over, in a bubble.
func cascadeSpans(t *testing.T, cfg telemetry.Config) *world {
	t.Helper()
	w := newWorld(t, cfg)
	w.bee.status = 503
	c := cascade()
	c.Route = "/systemone"
	_, err := w.Decide(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, c.Report.Legs, 2)
	return w
}

// TestSpansOfACascadeWithAFailover: a sink and an SDK get the same spans, and an upstream
// the id of its own attempt.
func TestSpansOfACascadeWithAFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		exporter := tracetest.NewInMemoryExporter()
		sdk := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter), sdktrace.WithIDGenerator(telemetry.IDs{}))
		to := &tape{}
		w := cascadeSpans(t, telemetry.Config{TracerProvider: sdk, Sinks: to.sinks})
		require.Len(t, to.calls, 1)
		spans, want := to.calls[0], wantCascade()
		require.Len(t, spans, len(want))
		recorded := map[trace.SpanID]tracetest.SpanStub{}
		for _, stub := range exporter.GetSpans() {
			recorded[stub.SpanContext.SpanID()] = stub
		}
		require.Len(t, recorded, len(want))
		for i, span := range spans {
			where := fmt.Sprintf("span %d, %s", i, span.Name)
			var parent trace.SpanID
			if want[i].parent >= 0 {
				parent = spans[want[i].parent].Context.SpanID()
			}
			assert.Equal(t, want[i].name, span.Name, where)
			assert.Equal(t, want[i].kind, span.Kind, where)
			assert.Equal(t, parent, span.Parent, where)
			assert.Equal(t, want[i].start, span.Start.Sub(began), where)
			assert.Equal(t, want[i].end, span.End.Sub(began), where)
			assert.Equal(t, want[i].status, span.Status, where)
			assert.Equal(t, want[i].attributes, values(span.Attributes), where)
			assert.Equal(t, spans[0].Context.TraceID(), span.Context.TraceID(), where)

			stub, ok := recorded[span.Context.SpanID()]
			require.True(t, ok, where)
			assert.Equal(t, span.Name, stub.Name, where)
			assert.Equal(t, span.Kind, stub.SpanKind, where)
			assert.Equal(t, span.Parent, stub.Parent.SpanID(), where)
			assert.Equal(t, span.Context.TraceID(), stub.SpanContext.TraceID(), where)
			assert.True(t, span.Start.Equal(stub.StartTime) && span.End.Equal(stub.EndTime), where)
			assert.Equal(t, span.Status, stub.Status.Code, where)
			assert.Equal(t, want[i].attributes, values(stub.Attributes), where)
		}
		for i, p := range map[int]*provider{2: w.ant, 4: w.bee, 5: w.cat} {
			sc := spans[i].Context
			assert.Equal(t, "00-"+sc.TraceID().String()+"-"+sc.SpanID().String()+"-01", p.attempts()[0].Trace.Parent)
		}
		assert.Contains(t, userOf(spans[0]), w.cat.attempts()[0].User, "the user as upstreams know it")
		assert.Len(t, userOf(spans[0]), 64)
	})
}

func userOf(s telemetry.Span) string {
	for _, kv := range s.Attributes {
		if kv.Key == "user.id" {
			return kv.Value.AsString()
		}
	}
	return ""
}

// TestAnotherGeneratorOfIDs: upstreams then see the root span, which the SDK knows.
func TestAnotherGeneratorOfIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exporter := tracetest.NewInMemoryExporter()
		w := cascadeSpans(t, telemetry.Config{TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))})
		stubs := exporter.GetSpans()
		require.Len(t, stubs, 6)
		root := stubs[5].SpanContext // it ends last
		for _, p := range []*provider{w.ant, w.bee, w.cat} {
			assert.Equal(t, "00-"+root.TraceID().String()+"-"+root.SpanID().String()+"-01", p.attempts()[0].Trace.Parent)
		}
		for _, stub := range stubs[:5] {
			assert.Equal(t, root.TraceID(), stub.SpanContext.TraceID())
		}
	})
}

// TestTheSamplerDecidesForTheTracerOnly: a destination gets what the sampler drops, and
// upstreams learn that the trace is not sampled.
func TestTheSamplerDecidesForTheTracerOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exporter, to := tracetest.NewInMemoryExporter(), &tape{}
		sdk := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter), sdktrace.WithSampler(sdktrace.NeverSample()), sdktrace.WithIDGenerator(telemetry.IDs{}))
		w := cascadeSpans(t, telemetry.Config{TracerProvider: sdk, Sinks: to.sinks})
		assert.Empty(t, exporter.GetSpans())
		require.Len(t, to.calls, 1)
		assert.Regexp(t, "-00$", w.ant.attempts()[0].Trace.Parent)
	})
}

// TestContentIsInSpansOnlyWithTheSwitch plants canaries in everything that a caller or an
// upstream says.
func TestContentIsInSpansOnlyWithTheSwitch(t *testing.T) {
	for _, on := range []bool{false, true} {
		t.Run(strconv.FormatBool(on), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				to := &tape{}
				_ = cascadeSpans(t, telemetry.Config{Sinks: to.sinks, Content: on})
				var out strings.Builder
				fmt.Fprintf(&out, "%+v", to.calls)
				for _, span := range to.calls[0] {
					for _, kv := range span.Attributes {
						out.WriteString(kv.Value.String())
					}
				}
				text := out.String()
				for _, canary := range []string{canaryState, canaryInstruction, canaryOption, "up-ant.example"} {
					if on {
						assert.Contains(t, text, canary)
					} else {
						assert.NotContains(t, text, canary)
					}
				}
				assert.NotContains(t, text, canaryUser)
				assert.NotContains(t, text, canaryUpstream)
			})
		})
	}
}

// TestRefusedCalls: a refusal is no error of the span, a failure is.
func TestRefusedCalls(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		status codes.Code
		class  string
	}{
		{"refused", &router.Error{Class: router.PaymentRequired}, codes.Unset, "payment_required"},
		{"failed", &router.Error{Class: router.ProviderUnavailable}, codes.Error, "provider_unavailable"},
		{"storage", errors.New(canaryState), codes.Error, "server"},
		{"hung up", &router.Error{Class: router.Timeout, Err: context.Canceled}, codes.Unset, "timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			to := &tape{}
			refuse := func(router.Decider) router.Decider {
				return func(context.Context, *router.Call) (*router.Result, error) { return nil, c.err }
			}
			_, err := newWorld(t, telemetry.Config{Sinks: to.sinks}, refuse).Decide(t.Context(), plain())
			require.Error(t, err)
			require.Len(t, to.calls, 1)
			root := to.calls[0][0]
			assert.Equal(t, c.status, root.Status)
			assert.Equal(t, c.class, values(root.Attributes)["error.type"])
			assert.NotContains(t, root.Description, canaryState)
		})
	}
}

// TestAnUnknownModelIsNotInSpans: the name may be a secret in the wrong place.
func TestAnUnknownModelIsNotInSpans(t *testing.T) {
	to := &tape{}
	c := plain()
	c.Request.Model = "sk-hunter2"
	_, err := newWorld(t, telemetry.Config{Sinks: to.sinks}).Decide(t.Context(), c)
	require.Error(t, err)
	assert.Equal(t, "decide", to.calls[0][0].Name)
	assert.NotContains(t, fmt.Sprint(values(to.calls[0][0].Attributes)), "hunter2")
}

// TestAPanicEndsTheSpan: a server may recover and go on.
func TestAPanicEndsTheSpan(t *testing.T) {
	to := &tape{}
	bad := func(router.Decider) router.Decider {
		return func(context.Context, *router.Call) (*router.Result, error) { panic("boom") }
	}
	w := newWorld(t, telemetry.Config{Sinks: to.sinks}, bad)
	assert.Panics(t, func() { _, _ = w.Decide(t.Context(), plain()) })
	require.Len(t, to.calls, 1)
	assert.Equal(t, codes.Error, to.calls[0][0].Status)
}

// TestMetrics: the published names, units, attributes and buckets.
func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := metric.NewManualReader()
		_ = cascadeSpans(t, telemetry.Config{MeterProvider: metric.NewMeterProvider(metric.WithReader(reader))})
		var got metricdata.ResourceMetrics
		require.NoError(t, reader.Collect(t.Context(), &got))
		require.Len(t, got.ScopeMetrics, 1)
		require.Len(t, got.ScopeMetrics[0].Metrics, 2)
		for _, m := range got.ScopeMetrics[0].Metrics {
			switch data := m.Data.(type) {
			case metricdata.Histogram[float64]:
				assert.Equal(t, "gen_ai.client.operation.duration", m.Name)
				assert.Equal(t, "s", m.Unit)
				require.Len(t, data.DataPoints, 3, "one for each endpoint and class")
				assert.Equal(t, []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}, data.DataPoints[0].Bounds)
				for _, point := range data.DataPoints {
					assert.InDelta(t, 0.02, point.Sum, 1e-9)
					of := values(point.Attributes.ToSlice())
					assert.Equal(t, "decide", of["gen_ai.operation.name"])
					assert.Equal(t, of["gen_ai.provider.name"] == "bee", of["error.type"] == "no_capacity")
					assert.Equal(t, fmt.Sprint(of["gen_ai.provider.name"], ".example"), of["server.address"])
				}
			case metricdata.Histogram[int64]:
				assert.Equal(t, "gen_ai.client.token.usage", m.Name)
				assert.Equal(t, "{token}", m.Unit)
				require.Len(t, data.DataPoints, 4, "input and output of two answers")
				assert.Equal(t, []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}, data.DataPoints[0].Bounds)
				for _, point := range data.DataPoints {
					want := map[any]int64{"input": 100, "output": 3}[values(point.Attributes.ToSlice())["gen_ai.token.type"]]
					assert.Equal(t, want, point.Sum)
				}
			default:
				t.Errorf("%s has another type", m.Name)
			}
		}
	})
}

// TestConfig: mistakes are errors, and everything is optional.
func TestConfig(t *testing.T) {
	var none *sdktrace.TracerProvider
	_, err := telemetry.New(telemetry.Config{TracerProvider: none})
	require.ErrorIs(t, err, telemetry.ErrConfig)
	_, err = newWorld(t, telemetry.Config{}).Decide(t.Context(), plain())
	require.NoError(t, err)
}

// TestANameThatAGuardrailRedactedIsNotInSpans: the report has it again, for the reply.
func TestANameThatAGuardrailRedactedIsNotInSpans(t *testing.T) {
	to := &tape{}
	redact := func(next router.Decider) router.Decider {
		return func(ctx context.Context, c *router.Call) (*router.Result, error) {
			redacted := *c.Request
			redacted.Questions = slices.Clone(redacted.Questions)
			redacted.Questions[0].Name = "[EMAIL]"
			c.Request = &redacted
			res, err := next(ctx, c)
			c.Report.Rename(func(string) string { return "ann@example.com" }, func(a systemone.Answers) systemone.Answers { return a })
			return res, err
		}
	}
	_, err := newWorld(t, telemetry.Config{Sinks: to.sinks}, redact).Decide(t.Context(), plain())
	require.NoError(t, err)
	assert.NotContains(t, fmt.Sprint(values(to.calls[0][0].Attributes)), "ann@example.com")
}
