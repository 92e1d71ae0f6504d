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
	// KeyLabel is how the caller's key is shown, "sk-rt-v1-abc...9f86", for logs;
	// the interceptor that finds the key sets it.
	KeyLabel string
	Policy   []Rule // what is allowed beyond the request's own preferences; interceptors append
	// Budgets are the limits on what the call may spend; interceptors append, or
	// call [Call.Limit].
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
	// UsualTimeout is the total deadline that the program gives calls like this
	// one, where it is not the router's; 0 or less is the router's. Timeout or ctx
	// may end the call earlier. An attempt that therefore gets less time than
	// UsualTimeout would leave it, and runs out of it, does not count against its
	// endpoint and is charged as [Config.Abandoned] says.
	UsualTimeout time.Duration
	// Idempotency makes this call and others with the same one. Nil: every call is
	// answered anew, and nothing of it is kept. A dry run goes without.
	Idempotency *Idempotency
	// Seed replays a draw; 0 draws a fresh one. The one used is in Report.
	Seed uint64
	// DryRun makes a plan, notes in Report.Bounds what it may cost and which limits
	// would refuse it, and asks no provider: the result has no answers and no
	// Endpoint, and nothing is charged. Interceptors run, and refuse, as ever.
	DryRun bool
	// Report is filled while the call proceeds, also when it fails.
	Report Report

	clock     func() time.Time // the router's, for interceptors
	world     *world           // that the call began in
	limits    systemone.Limits
	usualEnd  time.Time       // by the real clock; zero where the caller has set no deadline
	holdID    uuid.UUID       // of what the call sets aside
	once      *once           // where it has claimed an idempotency key, else nil
	gone      <-chan struct{} // closed when the caller of a call with an idempotency key has gone
	recorder  Recorder        // that has the call's events; nil where none has
	limited   []*Limits       // by [Call.Limit]
	limitRoom [4]*Limits      // of limited: most calls have three
	resolved  resolved
	outages   []OutageObserver // that the call has passed
}

// Principal says on whose behalf a call is made, so that policies can find
// their settings without knowing each other.
type Principal struct {
	Account   string // the account or organization
	Workspace string // a UUID, or ""
	KeyHash   string // of the key that the caller used, or ""
	Member    string // user id of the key's creator, or of the caller where there is no key, or ""
	// Management marks a caller who administers the account, who may not ask for
	// decisions.
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
	// Stopped says why no further candidate was asked. It is "" where one answered,
	// where there was none to be asked, and where the ledger failed.
	Stopped  Stop
	Skipped  []Skip  // candidates that were passed over, in the order of the plan
	Bounds   []Bound // of a dry run, by candidate of the plan; nil otherwise
	Pipeline []Stage
	// Replayed says that the reply, also an error, is that of an earlier call with the
	// same [Idempotency]. Of this one there is no plan, and there are no attempts.
	Replayed bool
	Overrun  *Overrun // where the answer cost more than was set aside for it, else nil
}

// Skip is a candidate that was passed over.
type Skip struct {
	Endpoint   *Endpoint
	Credential *Credential // the caller's own that it would have been asked with, or nil
	Reason     SkipReason
	Check      Check // whose budget refused, of SkipLimit
}

// String returns why in a word: that of the Check whose budget refused, or that of
// the reason.
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
	SkipRetries                   // it has failed a lot of late, and its retry budget is spent
	SkipBusy                      // its endpoint has no place free, or its client could not send
	SkipTime                      // what was left of the call's time was kept for a last resort
)

// String returns the reason in a word: limit, retry_budget, busy or time.
func (r SkipReason) String() string {
	words := [...]string{"limit", "retry_budget", "busy", "time"}
	return words[min(int(r), len(words)-1)]
}

// MarshalText returns the word.
func (r SkipReason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

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
	// UsageEstimated says that counts of Usage are the router's estimate, because
	// the upstream gave none.
	UsageEstimated bool
	Cost           USD // what the caller is charged for this attempt; 0 with a credential of theirs
	// Credential is the caller's own that the attempt was made with, or nil.
	Credential *Credential
	// OwnCost is the list price of an attempt with Credential: what Cost would
	// have been.
	OwnCost USD
	// Abandoned says that the attempt was running when its caller ended the call.
	// What it is charged then, where [Config.Abandoned] says so, is an estimate.
	Abandoned  bool
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
