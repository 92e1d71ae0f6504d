package telemetry_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/signalbox/signalbox/router/telemetry"
	"github.com/signalbox/signalbox/router/telemetry/export"
)

// hexID undoes what protojson does to an id: OTLP has hex where JSON of protobuf has
// base64.
func hexID(id []byte) string { return base64.StdEncoding.EncodeToString(id) }

// TestOTLPOfACascadeWithAFailover sends the spans to a receiver that decodes them into
// the collector's own types, strictly, and compares every field.
func TestOTLPOfACascadeWithAFailover(t *testing.T) {
	var began time.Time
	to := &tape{}
	synctest.Test(t, func(t *testing.T) {
		began = time.Now()
		_ = cascadeSpans(t, telemetry.Config{Sinks: to.sinks})
	})
	var got tracepb.TracesData
	var at, contentType string
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if assert.NoError(t, err) {
			assert.NoError(t, protojson.Unmarshal(body, &got), "%s", body)
		}
		at, contentType = r.URL.Path, r.Header.Get("Content-Type")
	}))
	defer receiver.Close()
	collector, err := export.NewCollector(export.HTTPConfig{URL: receiver.URL, Service: "mail"})
	require.NoError(t, err)
	require.NoError(t, collector.Export(t.Context(), to.calls[0]))
	assert.Equal(t, "/v1/traces", at)
	assert.Equal(t, "application/json", contentType)

	require.Len(t, got.GetResourceSpans(), 1)
	from := got.GetResourceSpans()[0]
	assert.Equal(t, map[attribute.Key]any{"service.name": "mail"}, plainValues(from.GetResource().GetAttributes()))
	require.Len(t, from.GetScopeSpans(), 1)
	assert.Equal(t, "github.com/signalbox/signalbox/router/telemetry", from.GetScopeSpans()[0].GetScope().GetName())
	spans, want := from.GetScopeSpans()[0].GetSpans(), wantCascade()
	require.Len(t, spans, len(want))
	for i, span := range spans {
		where := fmt.Sprintf("span %d, %s", i, span.GetName())
		parent := ""
		if want[i].parent >= 0 {
			parent = hexID(spans[want[i].parent].GetSpanId())
		}
		assert.Equal(t, want[i].name, span.GetName(), where)
		assert.Equal(t, map[trace.SpanKind]tracepb.Span_SpanKind{
			trace.SpanKindInternal: tracepb.Span_SPAN_KIND_INTERNAL, trace.SpanKindServer: tracepb.Span_SPAN_KIND_SERVER,
			trace.SpanKindClient: tracepb.Span_SPAN_KIND_CLIENT,
		}[want[i].kind], span.GetKind(), where)
		assert.Equal(t, to.calls[0][i].Context.TraceID().String(), hexID(span.GetTraceId()), where)
		assert.Equal(t, to.calls[0][i].Context.SpanID().String(), hexID(span.GetSpanId()), where)
		assert.Equal(t, parent, hexID(span.GetParentSpanId()), where)
		assert.Equal(t, uint32(1), span.GetFlags(), where)
		assert.Empty(t, span.GetTraceState(), where)
		assert.Equal(t, want[i].start, time.Unix(0, int64(span.GetStartTimeUnixNano())).Sub(began), where)
		assert.Equal(t, want[i].end, time.Unix(0, int64(span.GetEndTimeUnixNano())).Sub(began), where)
		code, message := tracepb.Status_STATUS_CODE_UNSET, ""
		if want[i].status == codes.Error {
			code, message = tracepb.Status_STATUS_CODE_ERROR, "no_capacity"
		}
		assert.Equal(t, code, span.GetStatus().GetCode(), where)
		assert.Equal(t, message, span.GetStatus().GetMessage(), where)
		assert.Equal(t, want[i].attributes, plainValues(span.GetAttributes()), where)
		assert.Empty(t, span.GetEvents(), where)
		assert.Empty(t, span.GetLinks(), where)
	}
}

// plainValues returns attributes as values does.
func plainValues(list []*commonpb.KeyValue) map[attribute.Key]any {
	m := map[attribute.Key]any{}
	for _, kv := range list {
		key := attribute.Key(kv.GetKey())
		switch v := kv.GetValue().GetValue().(type) {
		case *commonpb.AnyValue_StringValue:
			m[key] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			m[key] = v.IntValue
		case *commonpb.AnyValue_BoolValue:
			m[key] = v.BoolValue
		case *commonpb.AnyValue_DoubleValue:
			m[key] = v.DoubleValue
		case *commonpb.AnyValue_ArrayValue:
			texts := []string{}
			for _, text := range v.ArrayValue.GetValues() {
				texts = append(texts, text.GetStringValue())
			}
			m[key] = texts
		}
	}
	delete(m, "user.id")
	return m
}
