package signalbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/hooks"
	"github.com/signalbox/signalbox/store"
)

// ErrConfig is wrapped by every error that [New] returns.
var ErrConfig = errors.New("signalbox: invalid configuration")

// Config holds the settings of a [Service]. Only Catalog is required. Write it
// with field names, because minor versions add fields.
type Config struct {
	Catalog *router.Catalog // required
	// Stores holds all data. The zero value means memory.New(), whose data ends
	// with the process. In any other Set only Audit, Pruner and Alerts may be
	// nil.
	Stores store.Set
	// SealingKeys encrypt the provider credentials that accounts store. Each has
	// 32 bytes. The first one encrypts; every one of them decrypts. They are
	// required with Stores, because a restart must be able to decrypt what is
	// stored. Without Stores the default is one random key.
	SealingKeys []router.Secret
	// Retention is how long [Service.Run] keeps events, records of changes and
	// past windows of budgets: at least [MinRetention], or 0 for ever.
	Retention    time.Duration
	Interceptors Interceptors // the program's own policies
	Logger       *slog.Logger // default slog.Default()
	// Metrics measures the service. prommetrics.New makes metrics for Prometheus. Nil
	// measures nothing.
	Metrics Metrics
	Now     func() time.Time // the clock of all parts; default time.Now
	NewID   func() uuid.UUID // makes unique ids; default random UUIDs

	// The settings of the parts: timeouts and attempts, sign-in, origins and brand,
	// rates, and so on. New itself sets each field that connects one part to
	// another, such as Router.Ledger, and refuses a Config that sets it.
	Router     router.Config
	API        httpapi.Config
	Keys       keys.Config
	Presets    presets.Config
	Guardrails guardrails.Config
	// Hooks has the receivers of alerts of budgets, outages and changes. They need
	// [Service.Run].
	Hooks hooks.Config
}

// Interceptors are the program's own policies, by their place among those of the
// service. Within a list the outermost is first.
type Interceptors struct {
	// First run before all policies of the service. They see every call, also one
	// that a policy refuses. A call with a Secret has no Principal yet.
	First []router.Interceptor
	// AfterPolicies run after the guardrails. They see the Principal and the request
	// as it may go upstream: with its preset applied, and redacted. They see the
	// reply after its activity has been recorded.
	AfterPolicies []router.Interceptor
	// Last run next to the engine and are the first to see its reply.
	Last []router.Interceptor
}

// Service is a complete decision service. Use and mount its parts directly, but do
// not assign to the fields. The zero value is not usable: call [New]. A Service is
// safe for concurrent use.
type Service struct {
	Router       *router.Router
	Keys         *keys.Service
	Credentials  *keys.Credentials
	Organization *organization.Service
	Presets      *presets.Service
	Guardrails   *guardrails.Service
	Activity     *activity.Service
	Hooks        *hooks.Hooks
	API          *httpapi.Handler
	// Handler serves API under /api/v1, API.Alpha() under /api/alpha and
	// API.Native() under /v1.
	Handler http.Handler

	stores    store.Set
	retention time.Duration
	logger    *slog.Logger
	now       func() time.Time
}

// New builds a service. It starts no goroutine: see [Service.Run]. Every error
// wraps [ErrConfig] and, if the settings of a part are wrong, that part's error.
func New(cfg Config) (*Service, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if cfg.Metrics != nil {
		cfg.Stores.Ledger = cfg.Metrics.Ledger(cfg.Stores.Ledger)
	}
	s := &Service{stores: cfg.Stores, retention: cfg.Retention, logger: cfg.Logger, now: cfg.Now}
	if err := s.joinHooks(&cfg); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	for _, join := range []func(Config) error{s.joinServices, s.joinRouter, s.joinAPI} {
		if err := join(cfg); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
	}
	if cfg.Metrics != nil {
		if err := cfg.Metrics.Register(s.Router); err != nil {
			return nil, fmt.Errorf("%w: Metrics: %w", ErrConfig, err)
		}
	}
	return s, nil
}

// Decide answers a call that the program makes itself. Three kinds of call differ
// in which limits apply and which account is charged:
//
//   - Without a Principal and a Secret, the call is the program's own. No limits,
//     presets or guardrails apply, and no account is charged.
//   - With a Principal, it is a call of that account. The budgets, presets and
//     guardrails of the account, workspace and member apply, and those of the key
//     if KeyHash is set. An empty Workspace means the key's or else the account's
//     default one.
//   - With a Secret, it is a call with that key, and the Principal is ignored.
//
// Decide refuses a Principal with neither Account nor KeyHash, and one whose KeyHash
// belongs to another account or workspace than it names. It does not check whether the
// program may act for a Principal. Send requests from outside through Handler, which
// authenticates them first. Rates apply to calls with a Secret, not to those with a
// Principal. For errors see [router.Router.Decide].
func (s *Service) Decide(ctx context.Context, c *router.Call) (*router.Result, error) {
	return s.Router.Decide(ctx, c)
}

// Ready is for readiness probes: it reads one record from the storage and returns
// the storage's error, or nil if the storage answered.
func (s *Service) Ready(ctx context.Context) error {
	_, err := s.stores.Organization.Account(ctx, "")
	if errors.Is(err, organization.ErrNotFound) {
		return nil
	}
	return err
}
