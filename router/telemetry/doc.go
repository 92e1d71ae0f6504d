// Package telemetry makes OpenTelemetry spans and metrics of decisions, and implements
// the trace object of a request.
//
// A [Telemetry] is one interceptor. List it first, so that it sees refused calls and so
// that the log inside it gets the trace id:
//
//	signalbox.Config{Interceptors: signalbox.Interceptors{First: []router.Interceptor{t.Intercept}}}
//
// The package imports the API of OpenTelemetry only. The program brings the SDK, or needs
// none: router/telemetry/export sends spans to webhooks, collectors and files by itself.
//
// # Spans
//
// A call is a root span, "decide {model}". Its kind is SERVER if httpapi received the
// call and the context has no span yet, else INTERNAL. Every attempt is a CLIENT span
// below it. A call with several legs, or one that names its legs in span_name, has an
// INTERNAL span for each leg between them. Spans are made when the call is over, with the
// times of its report; only the root span is started before.
//
// Attributes of the GenAI conventions, under the names of semantic conventions 1.41:
//
//	gen_ai.operation.name       decide
//	gen_ai.provider.name        slug of the provider, of a root span that which answered most
//	gen_ai.request.model        as requested, only if the catalog has it; of an attempt the catalog's name
//	gen_ai.response.model       permanent name of the model that answered
//	gen_ai.response.id          generation id; of an attempt the upstream's id, with Config.Content
//	gen_ai.usage.input_tokens   of a root span the sum of what is billed
//	gen_ai.usage.output_tokens
//	error.type                  class of the error, as in error_type of the HTTP interface
//	server.address, server.port of an attempt, if its client is [Addressed]
//	http.route                  of a SERVER span
//	http.response.status_code   of an attempt with a reply
//
// Attributes of our own. Amounts are integers in nano-dollars:
//
//	signalbox.request_id, .account, .workspace, .key    whose call it is; key is the hash
//	signalbox.seed              as text, because it has 64 bits
//	signalbox.cost, .hold       what was charged, and the most that was held
//	signalbox.guardrails        steps of policies as "type:name"
//	signalbox.stopped, .replayed, .dry_run, .canceled, .escalated
//	signalbox.reason, .stage, .triggered_by, .strategy, .questions, .skipped, .kept, .remembered    of a leg; on the root span if that has no spans of legs
//	signalbox.endpoint, .class, .cost, .upstream_cost, .billed, .byok, .estimated, .sharers    of an attempt
//	session.id, user.id         user.id is the keyed hash that upstreams get
//	trace.metadata.*            members of the trace object
//
// Nothing of an error's text is in a span, and no name of a question that a guardrail
// redacted. The state, the instructions and the answers
// are in spans only with [Config.Content], each cut at 16 KiB, and after guardrails
// redacted them.
//
// # The trace object
//
// A request may place itself in a trace by its member trace. The span of the context and
// the header traceparent win over it. A trace_id of 32 hex digits is used as it is, and
// parent_span_id of 16 only beside it. Any other trace_id becomes the first 16 bytes of
// its SHA-256, so that calls with the same text are in one trace. trace_name,
// span_name and generation_name replace the names of the root span, of the legs and of
// the attempts. Every other member, and every id that is not used as it is, becomes an
// attribute trace.metadata.{member}: texts, numbers and booleans as such, anything else
// as JSON.
//
// # Metrics
//
// gen_ai.client.operation.duration and gen_ai.client.token.usage, per attempt, with the
// published buckets. Models and providers are the catalog's, so their number is bounded.
package telemetry
