package router

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/systemone"
)

// Call is one request on its way through the interceptors and the engine. It
// belongs to the goroutine that serves it. After [Router.Decide] has returned,
// nothing may keep it, except what Report points to.
type Call struct {
	Request *systemone.Request // required; interceptors may replace it, not change it in place
	// Validated is Request where that was already validated against the router's
	// limits, as [systemone.Decoder] does. The router then does not validate it
	// again. A request that replaces it is validated anew.
	Validated *systemone.Request
	// Secret is the text of the caller's key, for an interceptor to authenticate;
	// "" where Principal is already known.
	Secret Secret
	// Principal is the caller. The zero value is the embedding program itself.
	Principal Principal
	// KeyLabel is how logs show the caller's key, such as "sk-rt-v1-abc...9f86".
	// The interceptor that finds the key sets it.
	KeyLabel string
	Policy   []Rule // restrictions beyond the request's own preferences; interceptors append
	// Budgets are the limits on what the call may spend; interceptors append, or
	// call [Call.Limit].
	Budgets []Budget
	// Credentials are the caller's own credentials at providers, oldest first;
	// interceptors append.
	Credentials []Credential
	RequestID   string // ties logs together; made when empty
	// ID is the generation id, "gen-dec-…"; made when empty. It must be unique,
	// because a ledger records an event of the same ID only once.
	ID string
	// Admitted is the instant to which the request belongs, for limits, usage and
	// activity. The router sets it when it is zero; the instants that one router
	// sets never step back, even where its clock does.
	Admitted time.Time
	// Timeout is the total deadline; 0 or less is the router's. A deadline of the
	// request itself can only shorten it, as the caller's own.
	Timeout time.Duration
	// UsualTimeout is the total deadline that the program gives calls like this
	// one; 0 or less is the router's. Timeout or ctx may end the call earlier. An
	// attempt may therefore get less time than UsualTimeout would leave it. If such
	// an attempt runs out of time, it does not count against its endpoint and is
	// charged as [Config.Abandoned] says.
	UsualTimeout time.Duration
	// Idempotency makes this call and earlier ones with the same key one call: the
	// reply of the first is returned to all. With nil every call is answered anew
	// and no reply is kept. A dry run ignores it.
	Idempotency *Idempotency
	// Seed repeats the random choice of an earlier plan; 0 draws a new seed. After
	// the call Seed, like the seed of its plans, is the one used.
	Seed uint64
	// DryRun makes a plan and asks no provider. [Leg.Bounds] says what each
	// candidate may cost and which limits would refuse it. The result has no
	// answers and no Endpoint, and nothing is charged. Interceptors run, and may
	// refuse the call, as usual.
	DryRun bool
	// Trace is the trace context that came with the call. It goes to no provider: see
	// AttemptTrace.
	Trace TraceContext
	// Route is the route of the HTTP interface that received the call, such as
	// "/systemone"; "" for a call that the program makes itself.
	Route string
	// AttemptTrace, which an interceptor may set, returns the trace context of an attempt
	// at an endpoint, whose provider has that client. It is called before each attempt,
	// and at once where legs run at once.
	AttemptTrace func(at *Endpoint, client Provider) TraceContext
	// Report is filled while the call proceeds, also when it fails.
	Report Report

	clock     func() time.Time // the router's, for interceptors
	world     *world           // that the call began in
	limits    systemone.Limits
	usualEnd  time.Time       // the program's own deadline, by the real clock; zero where the caller has set none
	holdID    uuid.UUID       // of the call's hold
	once      *once           // the claim of an idempotency key, or nil
	gone      <-chan struct{} // closed when the caller of a call with an idempotency key has hung up
	recorder  Recorder        // the recorder that has the call's events, or nil
	limited   []*Limits       // added by [Call.Limit]
	limitRoom [4]*Limits      // of limited: most calls have three
	resolved  resolved
	userKey   []byte           // the router's
	leg       Leg              // the first
	legRoom   [1]*Leg          // of Report.Legs
	outages   []OutageObserver // those that the call has passed on its way in
}

// Principal says on whose behalf a call is made. Policies find their settings by
// it, without knowing each other.
type Principal struct {
	Account   string // the account or organization
	Workspace string // a UUID, or ""
	KeyHash   string // of the key that the caller used, or ""
	Member    string // user id of the key's creator, or of the caller without a key, or ""
	// Management marks a caller that administers the account and must not ask for
	// decisions.
	Management bool
}

// Secret is a text that logs, formatting and JSON show as a placeholder only.
// string(s) is the text itself.
type Secret string

const redacted = "[redacted]"

// String returns a placeholder.
func (Secret) String() string { return redacted }

// GoString returns a placeholder.
func (Secret) GoString() string { return redacted }

// MarshalText returns a placeholder, also for JSON and slog.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Report says what happened to a call: its legs, and what policies did. It is
// complete when Decide has returned.
type Report struct {
	Requested string // the models as sent, joined by ", "
	// Legs are the question sheets that the call asked for, in the order in which
	// they were planned. A call of one model has one. It is nil where the call
	// ended before its first plan.
	Legs []*Leg
	// Stopped says why no further candidate was asked. It is "" where the call was
	// answered, where there were no candidates, and where the ledger failed.
	Stopped  Stop
	Pipeline []Step
	// Replayed says that the reply or error is that of an earlier call with the
	// same [Idempotency]. This call then has no legs.
	Replayed bool
	Overrun  *Overrun // where the call cost more than was set aside for it, else nil
	Held     Amount   // the most that the ledger set aside for the call; zero where it set nothing aside

	sources []Provenance // by index of the answers; nil where one attempt gave them all
}

// Skip is a candidate that was passed over without an attempt.
type Skip struct {
	Endpoint   *Endpoint
	Credential *Credential // the caller's own credential of the candidate, or nil
	Reason     SkipReason
	Check      Check // of the budget that refused; for SkipLimit only
}

// String returns the reason in a word: the Check's for SkipLimit, else the
// reason's.
func (s Skip) String() string {
	if s.Reason == SkipLimit {
		return s.Check.String()
	}
	return s.Reason.String()
}

// SkipReason says why a candidate was passed over.
type SkipReason uint8

// Every reason.
const (
	SkipLimit   SkipReason = iota // a limit on spending had no room for what it may cost
	SkipRetries                   // it has failed often in the last 30 s, and its retry budget is spent
	SkipBusy                      // its endpoint is at its concurrency limit, or its client could not send
	SkipTime                      // the call's remaining time is reserved for a last resort, or less than a second opinion usually needs
)

// String returns the reason in a word: limit, retry_budget, busy or time.
func (r SkipReason) String() string {
	words := [...]string{"limit", "retry_budget", "busy", "time"}
	return words[min(int(r), len(words)-1)]
}

// MarshalText returns the word.
func (r SkipReason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// AttemptRecord is one attempt and its outcome.
type AttemptRecord struct {
	Endpoint   *Endpoint
	Model      *Model
	Provider   string // display name
	Started    time.Time
	Duration   time.Duration
	Class      Class // "" for an attempt that was answered
	Status     int   // HTTP status: 200 for an answer, 502 for a 200 that failed the check, 0 without a reply
	RetryAfter time.Duration
	Usage      systemone.Usage // the upstream's counts; Usage.Cost is what the upstream says that it charged
	// UsageEstimated says that some counts of Usage are the router's estimate,
	// because the upstream gave none.
	UsageEstimated bool
	// Billed says that the caller is charged for the attempt: its answers are in the
	// reply or decided what was asked next, or the caller ended the call.
	Billed bool
	Cost   USD // what the caller is charged; 0 with Credential and where not Billed
	// Credential is the caller's own credential that the attempt was made with, or
	// nil.
	Credential *Credential
	// OwnCost is the list price of a billed attempt with Credential, which Cost
	// would be without it.
	OwnCost USD
	// UpstreamCost is the list price of what the upstream counted, whether or not
	// the caller is charged for it.
	UpstreamCost USD
	// Sharers is how many callers split what one upstream call used ([Config.Share]),
	// this one included. Usage, Cost, OwnCost and UpstreamCost are this one's part. 0
	// is an attempt for this call alone.
	Sharers int
	// Abandoned says that the attempt was running when its caller ended the call. A
	// charge for it is an estimate ([Config.Abandoned]).
	Abandoned  bool
	UpstreamID string
	Trace      TraceContext      // of the attempt; a shared call has that of the caller that began it
	Answers    systemone.Answers // as the upstream gave them, with its own confidence figures; nil on failure
	Refused    []Refusal         // the questions that the upstream declined to answer
	Err        error             // for the operator's log

	charge Amount // what the caller is charged if the attempt is billed
	used   bool   // its answers are in the reply or decided what was asked next
}

// Step is one thing that a policy did to a call.
type Step struct {
	Type, Name, Summary string
	Data                map[string]any
	GuardrailID         *uuid.UUID
	GuardrailScope      string
}

// Result is an answered call.
type Result struct {
	Response systemone.Response // checked; Usage is the sum of the billed attempts
	Endpoint *Endpoint          // the endpoint that answered most questions; of several the first
	Cost     USD
}

// Decider answers a call, or returns an error, usually an [*Error].
type Decider func(ctx context.Context, c *Call) (*Result, error)

// Interceptor wraps a Decider in a policy. It may refuse the call by returning an
// error without calling next.
type Interceptor func(next Decider) Decider
