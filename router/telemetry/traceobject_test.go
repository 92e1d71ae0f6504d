package telemetry_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/telemetry"
)

const (
	hexTrace    = "0af7651916cd43dd8448eb211c80319c"
	hexSpan     = "b7ad6b7169203331"
	otherTrace  = "11111111111111111111111111111111"
	otherSpan   = "2222222222222222"
	parentOther = "00-" + otherTrace + "-" + otherSpan + "-01"
)

// hashed is the trace id of a text that is no id.
func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// metadata returns the attributes trace.metadata.*, without the prefix.
func metadata(list []attribute.KeyValue) map[string]any {
	m := map[string]any{}
	for k, v := range values(list) {
		if name, ok := strings.CutPrefix(string(k), "trace.metadata."); ok {
			m[name] = v
		}
	}
	return m
}

// TestTheTraceObject is the table of interface.md 2.8. It holds with and without an SDK.
func TestTheTraceObject(t *testing.T) {
	for _, c := range []struct {
		name, object string
		header       router.TraceContext
		trace        string // "" is a new one
		parent       string // "" is none
		metadata     map[string]any
	}{
		{name: "none"},
		{name: "empty", object: `{}`},
		{name: "hex", object: `{"trace_id":"` + hexTrace + `"}`, trace: hexTrace},
		{name: "hex in capitals", object: `{"trace_id":"` + strings.ToUpper(hexTrace) + `"}`, trace: hexTrace},
		{name: "hex with a parent", object: `{"trace_id":"` + hexTrace + `","parent_span_id":"` + hexSpan + `"}`, trace: hexTrace, parent: hexSpan},
		{name: "hex with a parent that is no id", object: `{"trace_id":"` + hexTrace + `","parent_span_id":"p"}`, trace: hexTrace, metadata: map[string]any{"parent_span_id": "p"}},
		{name: "parent alone", object: `{"parent_span_id":"` + hexSpan + `"}`, metadata: map[string]any{"parent_span_id": hexSpan}},
		{name: "text", object: `{"trace_id":"run 7"}`, trace: hashed("run 7"), metadata: map[string]any{"trace_id": "run 7"}},
		{
			name: "text with a parent", object: `{"trace_id":"run 7","parent_span_id":"` + hexSpan + `"}`, trace: hashed("run 7"),
			metadata: map[string]any{"trace_id": "run 7", "parent_span_id": hexSpan},
		},
		{name: "zeros are no id", object: `{"trace_id":"` + strings.Repeat("0", 32) + `"}`, trace: hashed(strings.Repeat("0", 32)), metadata: map[string]any{"trace_id": strings.Repeat("0", 32)}},
		{name: "UUID", object: `{"trace_id":"0af76519-16cd-43dd-8448-eb211c80319c"}`, trace: hashed("0af76519-16cd-43dd-8448-eb211c80319c"), metadata: map[string]any{"trace_id": "0af76519-16cd-43dd-8448-eb211c80319c"}},
		{
			name: "other members", object: `{"env":"prod","n":3,"big":12345678901234567,"share":0.5,"on":true,"tags":["a",1],"deep":{"a":null},"none":null}`,
			metadata: map[string]any{
				"env": "prod", "n": int64(3), "big": int64(12345678901234567), "share": 0.5, "on": true, "tags": `["a",1]`, "deep": `{"a":null}`, "none": "null",
			},
		},
		{name: "header", header: router.TraceContext{Parent: parentOther}, trace: otherTrace, parent: otherSpan},
		{
			name: "header wins", header: router.TraceContext{Parent: parentOther}, object: `{"trace_id":"` + hexTrace + `","parent_span_id":"` + hexSpan + `"}`,
			trace: otherTrace, parent: otherSpan, metadata: map[string]any{"trace_id": hexTrace, "parent_span_id": hexSpan},
		},
		{name: "header that is not valid", header: router.TraceContext{Parent: "00-" + otherTrace + "-0000000000000000-01"}, object: `{"trace_id":"` + hexTrace + `"}`, trace: hexTrace},
		{name: "not validated", object: `[1]`},
	} {
		for sdk, provider := range map[string]trace.TracerProvider{"": nil, " with an SDK": sdktrace.NewTracerProvider()} {
			t.Run(c.name+sdk, func(t *testing.T) {
				to := &tape{}
				call := plain()
				call.Request.Trace, call.Trace, call.Validated = json.RawMessage(c.object), c.header, call.Request
				_, err := newWorld(t, telemetry.Config{Sinks: to.sinks, TracerProvider: provider}).Decide(t.Context(), call)
				require.NoError(t, err)
				root := to.calls[0][0]
				if c.trace != "" {
					assert.Equal(t, c.trace, root.Context.TraceID().String())
				} else {
					assert.True(t, root.Context.IsValid())
				}
				if c.parent != "" {
					assert.Equal(t, c.parent, root.Parent.String())
				} else {
					assert.False(t, root.Parent.IsValid())
				}
				if c.metadata == nil {
					c.metadata = map[string]any{}
				}
				assert.Equal(t, c.metadata, metadata(root.Attributes))
			})
		}
	}
}

// TestTheTraceObjectNamesSpans: a name for legs makes a span of the only leg, too.
func TestTheTraceObjectNamesSpans(t *testing.T) {
	to := &tape{}
	c := plain()
	c.Request.Trace = json.RawMessage(`{"trace_name":"triage","span_name":"ask","generation_name":"` + strings.Repeat("é", 200) + `"}`)
	_, err := newWorld(t, telemetry.Config{Sinks: to.sinks}).Decide(t.Context(), c)
	require.NoError(t, err)
	spans := to.calls[0]
	require.Len(t, spans, 3)
	assert.Equal(t, []string{"triage", "ask", strings.Repeat("é", 128)}, []string{spans[0].Name, spans[1].Name, spans[2].Name})
	assert.Equal(t, spans[0].Context.SpanID(), spans[1].Parent)
	assert.Equal(t, spans[1].Context.SpanID(), spans[2].Parent)
	assert.Empty(t, metadata(spans[0].Attributes))
}

// TestASpanOfTheProgramWins: the call is then inside the program's own span, so it is
// INTERNAL even if httpapi received it.
func TestASpanOfTheProgramWins(t *testing.T) {
	to := &tape{}
	id, err := trace.TraceIDFromHex(hexTrace)
	require.NoError(t, err)
	span, err := trace.SpanIDFromHex(hexSpan)
	require.NoError(t, err)
	ctx := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: span}))
	c := plain()
	c.Route, c.Trace = "/systemone", router.TraceContext{Parent: parentOther}
	_, err = newWorld(t, telemetry.Config{Sinks: to.sinks}).Decide(ctx, c)
	require.NoError(t, err)
	root := to.calls[0][0]
	assert.Equal(t, hexTrace, root.Context.TraceID().String())
	assert.Equal(t, hexSpan, root.Parent.String())
	assert.Equal(t, trace.SpanKindInternal, root.Kind)
}

// TestTheStateOfATraceGoesOn: tracestate of the caller reaches attempts.
func TestTheStateOfATraceGoesOn(t *testing.T) {
	c := plain()
	c.Trace = router.TraceContext{Parent: "00-" + otherTrace + "-" + otherSpan + "-00", State: "a=1,b=2"}
	w := newWorld(t, telemetry.Config{})
	_, err := w.Decide(t.Context(), c)
	require.NoError(t, err)
	got := w.ant.attempts()[0].Trace
	assert.Equal(t, "a=1,b=2", got.State)
	assert.Regexp(t, "^00-"+otherTrace+"-[0-9a-f]{16}-00$", got.Parent)
	assert.NotContains(t, got.Parent, otherSpan)
}

// TestLogsCarryTheTrace: the router's log, inside the interceptor, and no other line.
func TestLogsCarryTheTrace(t *testing.T) {
	for name, provider := range map[string]trace.TracerProvider{"without an SDK": nil, "with an SDK": sdktrace.NewTracerProvider()} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			log := slog.New(telemetry.Handler(slog.NewJSONHandler(&out, nil))).With(slog.Int("a", 1))
			to := &tape{}
			_, err := newWorld(t, telemetry.Config{Sinks: to.sinks, TracerProvider: provider}, router.Log(log)).Decide(t.Context(), plain())
			require.NoError(t, err)
			var line map[string]any
			require.NoError(t, json.Unmarshal(out.Bytes(), &line))
			root := to.calls[0][0].Context
			assert.Equal(t, root.TraceID().String(), line["trace_id"])
			assert.Equal(t, root.SpanID().String(), line["span_id"])

			out.Reset()
			log.WithGroup("g").InfoContext(context.Background(), "x")
			assert.NotContains(t, out.String(), "trace_id")
		})
	}
}
