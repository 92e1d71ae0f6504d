package router

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/systemone"
)

// Call is one request on its way through the interceptors and the engine. It
// belongs to the goroutine that serves it; nothing may keep it after
// [Router.Decide] has returned, except what Report points to.
type Call struct {
	Request *systemone.Request // required; interceptors may replace it, not change it in place
	// Validated is Request where that was held to the router's limits before,
	// as [systemone.Decoder] does; the router then does not do it again. A
	// request that replaces it is not the one validated.
	Validated *systemone.Request
	// Secret is the caller's key text where an interceptor is to authenticate
	// it; "" where Principal is known already.
	Secret Secret
	// Principal is who asks. The zero value is the embedding program itself.
	Principal Principal
	Policy    []Rule // what is allowed beyond the request's own preferences; interceptors append
	// Budgets are the limits on what the call may spend; interceptors append.
	Budgets []Budget
	// Credentials are the caller's own at providers, oldest first; interceptors
	// append.
	Credentials []Credential
	RequestID   string // ties logs together; made when empty
	// ID is the generation id, "gen-dec-…"; made when empty. No other call may
	// have it: what was recorded of it once is not recorded again.
	ID string
	// Admitted is the instant that the request belongs to, for limits, usage
	// and activity; set by the router when zero. Those that a router sets never
	// step back, even where its clock does.
	Admitted time.Time
	// Timeout is the total deadline; 0 or less is the router's.
	Timeout time.Duration
	// Seed replays a draw; 0 draws a fresh one. The one used is in Report.
	Seed uint64
	// DryRun makes a plan, notes in Report.Bounds what it may cost and which limits
	// would refuse it, and asks nobody: the result has no answers and no Endpoint,
	// and nothing is charged. Interceptors run, and refuse, as ever.
	DryRun bool
	// Report is filled while the call proceeds, also when it fails.
	Report Report

	clock    func() time.Time // the router's, for interceptors
	world    *world           // that the call began in
	limits   systemone.Limits
	holdID   uuid.UUID // of what the call sets aside
	recorder Recorder  // that has the call's events; nil where none has
	resolved resolved
}

// Principal says on whose behalf a call is made, so that policies can find
// their settings without knowing each other.
type Principal struct {
	Account   string // the account or organization
	Workspace string // a UUID, or ""
	KeyHash   string
	Member    string // user id of the key's creator, or ""
	// Management marks a key for administration, which may not ask for decisions.
	Management bool
}

// Secret is a text that never shows itself in logs, formats or JSON. The text
// itself is string(s).
type Secret string

const redacted = "[redacted]"

// String returns a placeholder.
func (Secret) String() string { return redacted }

// GoString returns a placeholder.
func (Secret) GoString() string { return redacted }

// MarshalText returns a placeholder, also for JSON and slog.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Report is what is known of a call: its plan, its attempts and what policies
// did on the way. It can be read when Decide has returned.
type Report struct {
	Requested string // the models as sent, joined by ", "
	Plan      Plan
	Attempts  []AttemptRecord
	Skipped   []Skip  // candidates that a limit on spending had no room for
	Bounds    []Bound // of a dry run, by candidate of the plan; nil otherwise
	Pipeline  []Stage
}

// Skip is a candidate that was not asked because a limit had no room for what
// it may cost.
type Skip struct {
	Endpoint   *Endpoint
	Credential *Credential // the caller's own that it would have been asked with, or nil
	Check      Check       // whose budget refused
}

// AttemptRecord is one attempt as it happened.
type AttemptRecord struct {
	Endpoint   *Endpoint
	Model      *Model
	Provider   string // display name
	Started    time.Time
	Duration   time.Duration
	Class      Class // "" for an attempt that was answered
	Status     int   // HTTP status: 200 for an answer, 502 for a 200 that failed the check, 0 without a reply
	RetryAfter time.Duration
	Usage      systemone.Usage // the upstream's counts; Cost is what it said that it charged
	Cost       USD             // what the caller is charged for this attempt; 0 with a credential of theirs
	// Credential is the caller's own that the attempt was made with, or nil.
	Credential *Credential
	// OwnCost is the list price of an attempt with Credential: what Cost would
	// have been.
	OwnCost    USD
	UpstreamID string
	Answers    systemone.Answers // as the upstream gave them, for its own confidence figures; nil on failure
	Err        error             // for the operator's log
}

// Stage is something a policy did to a call.
type Stage struct {
	Type, Name, Summary string
	Data                map[string]any
	GuardrailID         *uuid.UUID
	GuardrailScope      string
}

// Result is an answered call.
type Result struct {
	Response systemone.Response // checked; Usage is the sum over the billed attempts
	Endpoint *Endpoint          // that answered (most)
	Cost     USD
}

// Decider answers a call, or returns an [*Error].
type Decider func(ctx context.Context, c *Call) (*Result, error)

// Interceptor wraps a Decider in a policy.
type Interceptor func(next Decider) Decider
