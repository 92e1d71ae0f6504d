package telemetry

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/signalbox/signalbox/router"
)

// longestName is the most bytes of a span's name that a caller chose.
const longestName = 256

// asked is what a caller asks of the trace of a call.
type asked struct {
	// parent is where the call belongs. It may have a trace id without a span id. The
	// zero value is a new trace.
	parent trace.SpanContext
	local  bool // parent is a span of this process

	traceName, spanName, generationName string

	metadata []attribute.KeyValue
}

// askedBy reads the trace of a call: the span of the context, else the headers, else the
// trace object. A trace object that is no object was not validated, and is ignored.
func askedBy(ctx context.Context, c *router.Call) (a asked) {
	if a.parent = trace.SpanContextFromContext(ctx); a.parent.IsValid() {
		a.local = true
	} else {
		a.parent = remote(ctx, c.Trace)
	}
	if c.Request == nil || len(c.Request.Trace) == 0 {
		return a
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(c.Request.Trace, &members) != nil {
		return a
	}
	used := a.place(text(members["trace_id"]), text(members["parent_span_id"]))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch value := members[name]; name {
		case "trace_name":
			a.traceName = cut(text(value), longestName)
		case "span_name":
			a.spanName = cut(text(value), longestName)
		case "generation_name":
			a.generationName = cut(text(value), longestName)
		default:
			if !slices.Contains(used, name) {
				a.metadata = append(a.metadata, attribute.KeyValue{Key: attribute.Key(metadataPrefix + name), Value: valueOf(value)})
			}
		}
	}
	return a
}

// remote reads the headers of W3C Trace Context. ctx has no span.
func remote(ctx context.Context, t router.TraceContext) trace.SpanContext {
	if t.Parent == "" {
		return trace.SpanContext{}
	}
	headers := propagation.MapCarrier{"traceparent": t.Parent, "tracestate": t.State}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(ctx, headers))
}

// place sets the parent from the ids of a trace object, unless it is set. It returns the
// members whose ids are used as they are.
func (a *asked) place(traceID, spanID string) (used []string) {
	if a.parent.IsValid() || traceID == "" {
		return nil
	}
	at := trace.SpanContextConfig{TraceFlags: trace.FlagsSampled, Remote: true}
	var err error
	if at.TraceID, err = trace.TraceIDFromHex(strings.ToLower(traceID)); err != nil {
		sum := sha256.Sum256([]byte(traceID))
		copy(at.TraceID[:], sum[:])
	} else {
		used = append(used, "trace_id")
		if at.SpanID, err = trace.SpanIDFromHex(strings.ToLower(spanID)); err == nil {
			used = append(used, "parent_span_id")
		}
	}
	a.parent = trace.NewSpanContext(at)
	return used
}

// text returns a JSON string, or "" for anything else.
func text(raw json.RawMessage) (s string) {
	if len(raw) > 0 && json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// valueOf returns a JSON value as an attribute: texts, numbers and booleans as such,
// anything else as JSON.
func valueOf(raw json.RawMessage) attribute.Value {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return attribute.StringValue(string(raw))
	}
	switch v := v.(type) {
	case string:
		return attribute.StringValue(v)
	case bool:
		return attribute.BoolValue(v)
	case float64:
		if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			return attribute.Int64Value(n)
		}
		return attribute.Float64Value(v)
	}
	return attribute.StringValue(string(raw))
}

// cut returns the first bytes of a text that a caller chose.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
