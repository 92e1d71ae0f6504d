package telemetry

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// Handler adds trace_id and span_id, of the span in a record's context, to what h
// handles. A record without a span is unchanged. Inside a group of attributes they are
// members of that group.
func Handler(h slog.Handler) slog.Handler { return handler{h} }

type handler struct{ slog.Handler }

// Handle adds the ids.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		r = r.Clone()
		r.AddAttrs(slog.String("trace_id", sc.TraceID().String()), slog.String("span_id", sc.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps the ids.
func (h handler) WithAttrs(list []slog.Attr) slog.Handler { return handler{h.Handler.WithAttrs(list)} }

// WithGroup keeps the ids.
func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
