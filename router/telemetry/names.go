package telemetry

import "go.opentelemetry.io/otel/attribute"

// Names of the OpenTelemetry conventions. They are our own constants, because the Go
// package of conventions has no gen_ai names after 1.41.
const (
	operationName  = attribute.Key("gen_ai.operation.name")
	providerName   = attribute.Key("gen_ai.provider.name")
	requestModel   = attribute.Key("gen_ai.request.model")
	responseModel  = attribute.Key("gen_ai.response.model")
	responseID     = attribute.Key("gen_ai.response.id")
	inputTokens    = attribute.Key("gen_ai.usage.input_tokens")
	outputTokens   = attribute.Key("gen_ai.usage.output_tokens")
	tokenType      = attribute.Key("gen_ai.token.type")
	errorType      = attribute.Key("error.type")
	serverAddress  = attribute.Key("server.address")
	serverPort     = attribute.Key("server.port")
	httpRoute      = attribute.Key("http.route")
	responseStatus = attribute.Key("http.response.status_code")
	sessionID      = attribute.Key("session.id")
	userID         = attribute.Key("user.id")
)

// Names of our own.
const (
	ownRequestID    = attribute.Key("signalbox.request_id")
	ownAccount      = attribute.Key("signalbox.account")
	ownWorkspace    = attribute.Key("signalbox.workspace")
	ownKey          = attribute.Key("signalbox.key")
	ownSeed         = attribute.Key("signalbox.seed")
	ownCost         = attribute.Key("signalbox.cost")
	ownHold         = attribute.Key("signalbox.hold")
	ownGuardrails   = attribute.Key("signalbox.guardrails")
	ownStopped      = attribute.Key("signalbox.stopped")
	ownReplayed     = attribute.Key("signalbox.replayed")
	ownDryRun       = attribute.Key("signalbox.dry_run")
	ownCanceled     = attribute.Key("signalbox.canceled")
	ownEscalated    = attribute.Key("signalbox.escalated")
	ownReason       = attribute.Key("signalbox.reason")
	ownStage        = attribute.Key("signalbox.stage")
	ownTriggeredBy  = attribute.Key("signalbox.triggered_by")
	ownStrategy     = attribute.Key("signalbox.strategy")
	ownQuestions    = attribute.Key("signalbox.questions")
	ownSkipped      = attribute.Key("signalbox.skipped")
	ownKept         = attribute.Key("signalbox.kept")
	ownEndpoint     = attribute.Key("signalbox.endpoint")
	ownClass        = attribute.Key("signalbox.class")
	ownUpstreamCost = attribute.Key("signalbox.upstream_cost")
	ownBilled       = attribute.Key("signalbox.billed")
	ownBYOK         = attribute.Key("signalbox.byok")
	ownSharers      = attribute.Key("signalbox.sharers")
	ownRemembered   = attribute.Key("signalbox.remembered")
	ownEstimated    = attribute.Key("signalbox.estimated")
	ownState        = attribute.Key("signalbox.content.state")
	ownInstructions = attribute.Key("signalbox.content.instructions")
	ownAnswers      = attribute.Key("signalbox.content.answers")
)

const (
	operation      = "decide" // the value of operationName, and the name of the root span without a model
	metadataPrefix = "trace.metadata."
	scope          = "github.com/signalbox/signalbox/router/telemetry"
)
