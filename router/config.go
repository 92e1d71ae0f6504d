package router

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/systemone"
)

// Config configures a [Router]. Only Catalog is required.
type Config struct {
	Catalog *Catalog // required
	// Interceptors are the policies around every call, outermost first.
	Interceptors []Interceptor
	// Timeout is the total deadline of a call that has none of its own.
	// Default 30 s.
	Timeout time.Duration
	// AttemptTimeout is the longest time of one attempt at an endpoint that states
	// none of its own. Default 10 s. While further candidates may follow, an
	// attempt gets at most half of the call's remaining time.
	AttemptTimeout time.Duration
	// MaxAttempts is the most attempts of one leg, together with the legs that ask
	// elsewhere what it refused. Those at last resorts do not count. Default 4.
	MaxAttempts int
	// RetryPercent and RetryReserve limit further attempts at an endpoint that
	// fails often: in the last thirty seconds at least three attempts and more than
	// a fifth of all. In any ten seconds it gets RetryPercent further attempts for
	// each hundred calls that began at its model, plus RetryReserve. Beyond that
	// the next candidate is asked. Defaults 20 and 100; less than 0 is none.
	RetryPercent, RetryReserve int
	// Abandoned says what happens to an attempt whose caller ends the call while it
	// runs. Default [AbandonEstimate].
	Abandoned Abandon
	Limits    systemone.Limits // of a request; default those of systemone
	// UserKey is the secret with which the caller's user is hashed before it goes
	// upstream. Without it no user goes upstream, not even hashed. A request with a
	// user that requires all of its parameters then finds no endpoint.
	UserKey []byte
	// Sessions remembers sticky sessions. The default keeps them in this process:
	// the last 32,768 at least, 65,536 at most.
	Sessions Sessions
	// Ledger counts what calls spend and enforces their budgets. Before each
	// attempt the most that it can cost is held on all lines of the call's
	// principal, and an answer is charged to them. Nil counts and limits nothing.
	//
	// The program must call [Ledger.Expire] regularly, because a process that dies
	// leaves its holds open. While the ledger fails to close a hold, the router
	// retries for up to ten seconds. The caller waits that long, even for the error
	// that no upstream answered.
	Ledger Ledger
	// FreeWithoutLedger answers calls that cost nothing, such as those of free
	// endpoints, even while the Ledger cannot be reached. By default they are
	// refused like all others; such a call reads the ledger if no call has reached
	// it for a second. Calls that cost nothing make no hold. Their limits and keys
	// may therefore be as old as the policies' caches.
	FreeWithoutLedger bool
	// Now is the clock. Default time.Now. It may step back.
	Now func() time.Time
	// NewID returns a unique ID for a call or a request. Default UUIDv7, which
	// sorts by time.
	NewID func() uuid.UUID
	// Seed returns random seeds for plans and for pauses between retries. Default
	// math/rand/v2.
	Seed func() uint64
	// Share makes calls of one account that ask the same sheet of questions at the same
	// time one call of the provider, if the endpoint, its dated model, the upstream
	// credential and all that goes upstream are equal. They split what it uses to the
	// nano-dollar; a remainder, and what exceeds one caller's hold, goes to the first.
	//
	// A caller that leaves does not end the call for the others. One that hangs up
	// waits until the call has ended, and pays its part. One whose deadline passes gets
	// its reply at once and pays its part of the estimate; the others pay the rest.
	// With [AbandonVoid] a caller that leaves pays nothing.
	//
	// A panic of the provider in a shared call ends one of its callers' calls with an
	// error of class [Server]; the others ask their next candidates.
	//
	// Calls that demand zero retention, by their request or by a rule, are not shared.
	// The provider may read a call's request after Decide has returned, so it must not
	// be changed then. By default nothing is shared.
	Share bool
	// Remember keeps answers for a while, and uses them for later calls of the same
	// account that ask the same of the same endpoint, where that endpoint may be used
	// for the call. Such an answer costs nothing. By default no answer is remembered.
	//
	// Calls that demand zero retention, by their request or by a rule, are neither
	// answered from memory nor remembered. [Router.Forget] deletes.
	Remember *Remembering
}

func (cfg Config) withDefaults() Config {
	cfg.Interceptors = slices.Clone(cfg.Interceptors)
	cfg.UserKey = slices.Clone(cfg.UserKey)
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.AttemptTimeout == 0 {
		cfg.AttemptTimeout = defaultAttemptTimeout
	}
	if cfg.MaxAttempts == 0 {
		cfg.MaxAttempts = defaultMaxAttempts
	}
	if cfg.RetryPercent == 0 {
		cfg.RetryPercent = defaultRetryPercent
	}
	if cfg.RetryReserve == 0 {
		cfg.RetryReserve = defaultRetryReserve
	}
	if cfg.Sessions == nil {
		cfg.Sessions = newMemorySessions(sessionsKept)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NewID == nil {
		// Must cannot panic here, because crypto/rand never fails.
		cfg.NewID = func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
	}
	if cfg.Seed == nil {
		cfg.Seed = rand.Uint64
	}
	return cfg
}
