package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/signalbox/signalbox/router"
)

// call is what a Telemetry knows of a call under way.
type call struct {
	t     *Telemetry
	c     *router.Call
	asked asked
	kind  trace.SpanKind
	start time.Time
	root  trace.SpanContext
	live  trace.Span // the root span of the tracer; nil without a tracer
	// ours says that the tracer takes the ids that this package chooses, or that there
	// is no tracer.
	ours bool

	mu      sync.Mutex // attemptTrace may be called by several legs at once
	made    uint64     // ids of spans below the root
	servers []server   // that attempts called, one for each provider
}

// server is the address of a provider.
type server struct {
	provider string // slug
	host     string
	port     int
}

// begin starts the root span of a call and returns the context that has it.
func (t *Telemetry) begin(ctx context.Context, c *router.Call) (context.Context, *call) {
	s := &call{t: t, c: c, asked: askedBy(ctx, c), kind: trace.SpanKindInternal, start: t.cfg.Now(), ours: true}
	if c.Route != "" && !s.asked.local {
		s.kind = trace.SpanKindServer
	}
	s.root = s.newRoot()
	if t.tracer != nil {
		s.live = s.startRoot(ctx)
		s.ours = s.live.SpanContext().SpanID() == s.root.SpanID()
		s.root = s.live.SpanContext()
		ctx = trace.ContextWithSpan(ctx, s.live)
	} else {
		ctx = trace.ContextWithSpanContext(ctx, s.root)
	}
	c.AttemptTrace = s.attemptTrace
	return ctx, s
}

// newRoot chooses the ids of the root span.
func (s *call) newRoot() trace.SpanContext {
	parent := s.asked.parent
	own := trace.SpanContextConfig{TraceID: parent.TraceID(), TraceFlags: trace.FlagsSampled, TraceState: parent.TraceState()}
	if parent.IsValid() {
		own.TraceFlags = parent.TraceFlags()
	}
	var ids [len(own.TraceID) + len(own.SpanID)]byte
	fill(s.t.cfg.Rand.Read, ids[:])
	if !own.TraceID.IsValid() {
		copy(own.TraceID[:], ids[:])
	}
	copy(own.SpanID[:], ids[len(own.TraceID):])
	return trace.NewSpanContext(own)
}

// startRoot starts the root span at the tracer. Its name and most of its attributes are
// known at the end.
func (s *call) startRoot(ctx context.Context) trace.Span {
	if !s.asked.local {
		ctx = trace.ContextWithRemoteSpanContext(ctx, s.asked.parent)
	}
	_, span := s.t.tracer.Start(choose(ctx, s.root), operation,
		trace.WithSpanKind(s.kind), trace.WithTimestamp(s.start), trace.WithAttributes(operationName.String(operation)))
	return span
}

// attemptTrace chooses the id of an attempt's span, and notes whom it calls.
func (s *call) attemptTrace(at *router.Endpoint, client router.Provider) router.TraceContext {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := client.(Addressed); ok && s.server(at.Provider) == nil {
		host, port := a.Address()
		s.servers = append(s.servers, server{at.Provider, host, port})
	}
	if !s.ours {
		return header(s.root)
	}
	return header(s.root.WithSpanID(s.newID()))
}

// newID returns the next id of a span below the root.
func (s *call) newID() trace.SpanID {
	s.made++
	return numbered(s.root.SpanID(), s.made)
}

// server returns the address of a provider, or nil.
func (s *call) server(provider string) *server {
	for i := range s.servers {
		if s.servers[i].provider == provider {
			return &s.servers[i]
		}
	}
	return nil
}

// end reports the call to the tracer, the sinks and the metrics.
func (s *call) end(ctx context.Context, res *router.Result, err error) {
	end := s.t.cfg.Now()
	if end.Before(s.start) { // the clock may step back
		end = s.start
	}
	if m := s.t.metrics; m != nil {
		m.record(ctx, s)
	}
	var sinks []Sink
	if s.t.cfg.Sinks != nil {
		sinks = s.t.cfg.Sinks(s.c.Principal)
	}
	recording := s.live != nil && s.live.IsRecording()
	if len(sinks) > 0 || recording {
		spans := s.spans(res, err, end)
		if recording {
			s.record(ctx, spans)
		}
		for _, sink := range sinks {
			sink.Offer(spans)
		}
	}
	if s.live != nil {
		s.live.End(trace.WithTimestamp(end))
	}
}

// record gives the spans to the tracer. A parent stands before its children.
func (s *call) record(ctx context.Context, spans []Span) {
	root := &spans[0]
	s.live.SetName(root.Name)
	s.live.SetAttributes(root.Attributes...)
	s.live.SetStatus(root.Status, root.Description)
	made := map[trace.SpanID]trace.Span{root.Context.SpanID(): s.live}
	for i := range spans[1:] {
		span := &spans[i+1]
		under := choose(trace.ContextWithSpan(ctx, made[span.Parent]), span.Context)
		_, live := s.t.tracer.Start(under, span.Name, trace.WithSpanKind(span.Kind),
			trace.WithTimestamp(span.Start), trace.WithAttributes(span.Attributes...))
		live.SetStatus(span.Status, span.Description)
		live.End(trace.WithTimestamp(span.End))
		made[span.Context.SpanID()] = live
	}
}
