package export

import (
	"encoding/hex"
	"math"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/signalbox/signalbox/internal/jsontext"
	"github.com/signalbox/signalbox/router/telemetry"
)

// encoder writes OTLP in its JSON encoding: 64-bit integers are texts, enumerations are
// numbers, and ids are hex. It appends by hand, because encoding/json takes three times
// as long, and that is processor time of the machine that decides.
type encoder struct{ head []byte }

// foot ends what a head begins.
const foot = `]}]}]}`

// newEncoder returns an encoder. service is the value of service.name.
func newEncoder(service string) encoder {
	if service == "" {
		service = "signalbox"
	}
	head := appendAttributes([]byte(`{"resourceSpans":[{"resource":{"attributes":`), []attribute.KeyValue{attribute.String("service.name", service)})
	return encoder{append(head, `},"scopeSpans":[{"scope":{"name":"github.com/signalbox/signalbox/router/telemetry"},"spans":[`...)}
}

// append appends an ExportTraceServiceRequest.
func (e encoder) append(dst []byte, spans []telemetry.Span) []byte {
	dst = append(dst, e.head...)
	for i := range spans {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendSpan(dst, &spans[i])
	}
	return append(dst, foot...)
}

func appendSpan(dst []byte, s *telemetry.Span) []byte {
	traceID, spanID := s.Context.TraceID(), s.Context.SpanID()
	dst = hex.AppendEncode(append(dst, `{"traceId":"`...), traceID[:])
	dst = hex.AppendEncode(append(dst, `","spanId":"`...), spanID[:])
	if s.Parent.IsValid() {
		dst = hex.AppendEncode(append(dst, `","parentSpanId":"`...), s.Parent[:])
	}
	dst = append(dst, `","flags":`...)
	dst = strconv.AppendUint(dst, uint64(s.Context.TraceFlags()), 10)
	if state := s.Context.TraceState().String(); state != "" {
		dst = jsontext.AppendString(append(dst, `,"traceState":`...), state)
	}
	dst = jsontext.AppendString(append(dst, `,"name":`...), s.Name)
	dst = strconv.AppendInt(append(dst, `,"kind":`...), kindOf(s.Kind), 10)
	dst = appendNanos(append(dst, `,"startTimeUnixNano":`...), s.Start)
	dst = appendNanos(append(dst, `,"endTimeUnixNano":`...), s.End)
	dst = appendAttributes(append(dst, `,"attributes":`...), s.Attributes)
	if s.Status == codes.Error { // 2 in OTLP; the codes of the API have other numbers
		dst = jsontext.AppendString(append(dst, `,"status":{"code":2,"message":`...), s.Description)
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// kindOf returns the number of a kind in OTLP.
func kindOf(k trace.SpanKind) int64 {
	switch k {
	case trace.SpanKindServer:
		return 2
	case trace.SpanKindClient:
		return 3
	default:
		return 1
	}
}

func appendNanos(dst []byte, t time.Time) []byte {
	return append(strconv.AppendInt(append(dst, '"'), t.UnixNano(), 10), '"')
}

func appendAttributes(dst []byte, list []attribute.KeyValue) []byte {
	dst = append(dst, '[')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsontext.AppendString(append(dst, `{"key":`...), string(list[i].Key))
		dst = appendValue(append(dst, `,"value":`...), list[i].Value)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// appendValue appends a value of the types that telemetry uses; any other as text.
func appendValue(dst []byte, v attribute.Value) []byte {
	switch v.Type() {
	case attribute.BOOL:
		dst = strconv.AppendBool(append(dst, `{"boolValue":`...), v.AsBool())
	case attribute.INT64:
		dst = strconv.AppendInt(append(dst, `{"intValue":"`...), v.AsInt64(), 10)
		dst = append(dst, '"')
	case attribute.FLOAT64:
		if f := v.AsFloat64(); math.IsNaN(f) || math.IsInf(f, 0) {
			dst = append(strconv.AppendFloat(append(dst, `{"stringValue":"`...), f, 'g', -1, 64), '"')
		} else {
			dst = strconv.AppendFloat(append(dst, `{"doubleValue":`...), f, 'g', -1, 64)
		}
	case attribute.STRINGSLICE:
		dst = append(dst, `{"arrayValue":{"values":[`...)
		for i, text := range v.AsStringSlice() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(jsontext.AppendString(append(dst, `{"stringValue":`...), text), '}')
		}
		dst = append(dst, "]}"...)
	default:
		dst = jsontext.AppendString(append(dst, `{"stringValue":`...), v.String())
	}
	return append(dst, '}')
}
