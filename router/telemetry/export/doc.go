// Package export sends the spans of router/telemetry to destinations: webhooks,
// OpenTelemetry collectors, files, or anything that implements [Destination]. It needs no
// SDK.
//
// Each destination has a [Queue], which is a telemetry.Sink. The program chooses the
// queues of an account:
//
//	t, err := telemetry.New(telemetry.Config{
//		Sinks: func(p router.Principal) []telemetry.Sink { return sinks[p.Account] },
//	})
//
// A queue costs callers nothing: it takes a span by appending to a list, up to a bound in
// bytes, and drops and counts what does not fit. Its Run sends from one goroutine, and
// tries again with growing pauses. A span may arrive twice, where a reply was lost. If the
// process ends, at most the queue is lost, and Run says how much.
//
// Spans are sent as OTLP in its JSON encoding, as resourceSpans. Ids in it are in hex.
package export
