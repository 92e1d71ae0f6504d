package telemetry

import (
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Span is a finished span. It must not be changed.
type Span struct {
	Context     trace.SpanContext
	Parent      trace.SpanID // zero where the span has no parent
	Name        string
	Kind        trace.SpanKind
	Start, End  time.Time // End is not before Start
	Attributes  []attribute.KeyValue
	Status      codes.Code
	Description string // of the status; a class of error
}

// spans returns the spans of a finished call. A parent stands before its children.
func (s *call) spans(res *router.Result, err error, end time.Time) []Span {
	legs := s.c.Report.Legs
	n := 1 + len(legs)
	for range s.c.Report.Attempts() {
		n++
	}
	spans := make([]Span, 1, n)
	spans[0] = s.rootSpan(res, err, end)
	several := len(legs) > 1 || len(legs) == 1 && s.asked.spanName != ""
	last := s.start
	for _, leg := range legs {
		parent := spans[0].Context.SpanID()
		if several {
			spans = append(spans, s.legSpan(leg, last))
			last, parent = spans[len(spans)-1].End, spans[len(spans)-1].Context.SpanID()
		} else {
			spans[0].Attributes = s.appendLeg(spans[0].Attributes, leg)
		}
		for i := range leg.Attempts {
			spans = append(spans, s.attemptSpan(&leg.Attempts[i], parent))
		}
	}
	return spans
}

func (s *call) rootSpan(res *router.Result, err error, end time.Time) Span {
	root := Span{
		Context: s.root, Parent: s.asked.parent.SpanID(), Name: s.asked.traceName,
		Kind: s.kind, Start: s.start, End: end,
		Attributes: s.rootAttributes(res, err),
	}
	if root.Name == "" {
		root.Name = operation
		if model := s.c.Known(); model != "" {
			root.Name += " " + cut(model, longestName)
		}
	}
	if err != nil && !canceled(err) && failed(classOf(err)) {
		root.Status, root.Description = codes.Error, string(classOf(err))
	}
	return root
}

// legSpan returns the span of a leg: from its first attempt to the end of its last, or
// an instant where it made none.
func (s *call) legSpan(leg *router.Leg, last time.Time) Span {
	span := Span{
		Context: s.root.WithSpanID(s.newID()), Parent: s.root.SpanID(), Name: s.asked.spanName,
		Kind: trace.SpanKindInternal, Start: last, End: last,
	}
	if span.Name == "" {
		span.Name = "leg " + string(leg.Reason)
	}
	if n := len(leg.Attempts); n > 0 {
		first, final := &leg.Attempts[0], &leg.Attempts[n-1]
		span.Start = first.Started
		if span.End = final.Started.Add(final.Duration); span.End.Before(span.Start) { // the clock may step back
			span.End = span.Start
		}
		if final.Class != "" {
			span.Status, span.Description = codes.Error, string(final.Class)
		}
	}
	span.Attributes = s.appendLeg(make([]attribute.KeyValue, 0, legAttributes), leg)
	return span
}

func (s *call) attemptSpan(a *router.AttemptRecord, parent trace.SpanID) Span {
	span := Span{
		Context: s.root.WithSpanID(s.idOf(a)), Parent: parent, Name: s.asked.generationName,
		Kind: trace.SpanKindClient, Start: a.Started, End: a.Started.Add(a.Duration),
		Attributes: s.attemptAttributes(a),
	}
	if span.Name == "" {
		span.Name = operation + " " + a.Endpoint.Model
	}
	if a.Class != "" {
		span.Status, span.Description = codes.Error, string(a.Class)
	}
	return span
}

// idOf returns the id of an attempt's span: the one that the attempt was made with, if
// it was its own.
func (s *call) idOf(a *router.AttemptRecord) trace.SpanID {
	if s.ours && len(a.Trace.Parent) == headerLength {
		if id, err := trace.SpanIDFromHex(a.Trace.Parent[headerSpan : headerSpan+2*len(trace.SpanID{})]); err == nil {
			return id
		}
	}
	return s.newID()
}

// classOf returns the class of a call's error.
func classOf(err error) router.Class {
	if e, ok := errors.AsType[*router.Error](err); ok {
		return e.Class
	}
	if errors.Is(err, systemone.ErrInvalid) {
		return router.InvalidRequest
	}
	return router.Server
}

// failed reports whether a class of error is a failure of this side or of an upstream,
// in contrast to a refusal.
func failed(c router.Class) bool {
	switch c {
	case router.InvalidRequest, router.Authentication, router.PaymentRequired, router.PermissionDenied,
		router.NotFound, router.Conflict, router.PayloadTooLarge, router.RateLimitExceeded:
		return false
	default:
		return true
	}
}
