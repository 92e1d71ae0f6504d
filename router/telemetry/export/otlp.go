package export

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/signalbox/signalbox/router/telemetry"
)

// The members of OTLP in its JSON encoding. 64-bit integers are texts, enumerations are
// numbers, and ids are hex.
type (
	otlpRequest struct {
		ResourceSpans []otlpResourceSpans `json:"resourceSpans"`
	}
	otlpResourceSpans struct {
		Resource   otlpResource     `json:"resource"`
		ScopeSpans []otlpScopeSpans `json:"scopeSpans"`
	}
	otlpResource struct {
		Attributes []otlpAttribute `json:"attributes"`
	}
	otlpScopeSpans struct {
		Scope otlpScope  `json:"scope"`
		Spans []otlpSpan `json:"spans"`
	}
	otlpScope struct {
		Name string `json:"name"`
	}
	otlpSpan struct {
		TraceID    string          `json:"traceId"`
		SpanID     string          `json:"spanId"`
		TraceState string          `json:"traceState,omitempty"`
		Parent     string          `json:"parentSpanId,omitempty"`
		Flags      uint32          `json:"flags"`
		Name       string          `json:"name"`
		Kind       int             `json:"kind"`
		Start      string          `json:"startTimeUnixNano"`
		End        string          `json:"endTimeUnixNano"`
		Attributes []otlpAttribute `json:"attributes"`
		Status     otlpStatus      `json:"status"`
	}
	otlpStatus struct {
		Message string `json:"message,omitempty"`
		Code    int    `json:"code,omitempty"`
	}
	otlpAttribute struct {
		Key   string    `json:"key"`
		Value otlpValue `json:"value"`
	}
	otlpValue struct {
		String *string    `json:"stringValue,omitempty"`
		Bool   *bool      `json:"boolValue,omitempty"`
		Int    *string    `json:"intValue,omitempty"`
		Double *float64   `json:"doubleValue,omitempty"`
		Array  *otlpArray `json:"arrayValue,omitempty"`
	}
	otlpArray struct {
		Values []otlpValue `json:"values"`
	}
)

// otlpError is the code of a status. The codes of the API have other numbers.
const otlpError = 2

// encoder writes spans of one process.
type encoder struct{ resource []otlpAttribute }

// newEncoder returns an encoder. service is the value of service.name.
func newEncoder(service string) encoder {
	if service == "" {
		service = "signalbox"
	}
	return encoder{attributesOf([]attribute.KeyValue{attribute.String("service.name", service)})}
}

// encode returns an ExportTraceServiceRequest.
func (e encoder) encode(spans []telemetry.Span) ([]byte, error) {
	list := make([]otlpSpan, len(spans))
	for i := range spans {
		list[i] = otlpOf(&spans[i])
	}
	return json.Marshal(otlpRequest{[]otlpResourceSpans{{
		Resource:   otlpResource{e.resource},
		ScopeSpans: []otlpScopeSpans{{Scope: otlpScope{"github.com/signalbox/signalbox/router/telemetry"}, Spans: list}},
	}}})
}

func otlpOf(s *telemetry.Span) otlpSpan {
	traceID, spanID := s.Context.TraceID(), s.Context.SpanID()
	out := otlpSpan{
		TraceID: hex.EncodeToString(traceID[:]), SpanID: hex.EncodeToString(spanID[:]),
		TraceState: s.Context.TraceState().String(), Flags: uint32(s.Context.TraceFlags()),
		Name: s.Name, Kind: kindOf(s.Kind), Start: nanos(s.Start), End: nanos(s.End),
		Attributes: attributesOf(s.Attributes),
	}
	if s.Parent.IsValid() {
		out.Parent = hex.EncodeToString(s.Parent[:])
	}
	if s.Status == codes.Error {
		out.Status = otlpStatus{s.Description, otlpError}
	}
	return out
}

// kindOf returns the number of a kind in OTLP.
func kindOf(k trace.SpanKind) int {
	switch k {
	case trace.SpanKindServer:
		return 2
	case trace.SpanKindClient:
		return 3
	default:
		return 1
	}
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func attributesOf(list []attribute.KeyValue) []otlpAttribute {
	out := make([]otlpAttribute, len(list))
	for i, kv := range list {
		out[i] = otlpAttribute{string(kv.Key), otlpValueOf(kv.Value)}
	}
	return out
}

// otlpValueOf returns a value of the types that telemetry uses; any other as text.
func otlpValueOf(v attribute.Value) otlpValue {
	switch v.Type() {
	case attribute.BOOL:
		return otlpValue{Bool: new(v.AsBool())}
	case attribute.INT64:
		return otlpValue{Int: new(strconv.FormatInt(v.AsInt64(), 10))}
	case attribute.FLOAT64:
		return otlpValue{Double: new(v.AsFloat64())}
	case attribute.STRINGSLICE:
		texts := v.AsStringSlice()
		values := make([]otlpValue, len(texts))
		for i := range texts {
			values[i] = otlpValue{String: &texts[i]}
		}
		return otlpValue{Array: &otlpArray{values}}
	default:
		return otlpValue{String: new(v.Emit())}
	}
}
