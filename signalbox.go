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
	"github.com/signalbox/signalbox/store"
)

// ErrConfig is what every mistake in a [Config] is.
var ErrConfig = errors.New("signalbox: invalid configuration")

// Config says what a [Service] is made of. Only Catalog is required. Write it
// with field names: fields are added in minor versions.
type Config struct {
	Catalog *router.Catalog // required
	// Stores keeps everything. The zero value is memory.New(), which forgets it
	// when the process ends; any other Set must be whole: only Audit and Pruner
	// may be nil.
	Stores store.Set
	// SealingKeys encrypt the provider credentials that accounts store, 32 bytes
	// each: the first one seals, all of them open. Required with Stores, because
	// the credentials must be readable after a restart; otherwise random.
	SealingKeys []router.Secret
	// Retention is how long [Service.Run] keeps events, records of changes and
	// past windows of budgets: 0 is for ever, else at least [MinRetention].
	Retention time.Duration
	// Interceptors are the program's own.
	Interceptors Interceptors
	Logger       *slog.Logger     // default slog.Default()
	Now          func() time.Time // the clock of all parts; default time.Now
	NewID        func() uuid.UUID // makes ids that were never used before; default UUIDs

	// The settings of the parts: timeouts and attempts, sign-in, origins and brand,
	// rates, and so on. A field that joins a part to the others, such as
	// Router.Ledger, is set by New: a value in it is a mistake.
	Router     router.Config
	API        httpapi.Config
	Keys       keys.Config
	Presets    presets.Config
	Guardrails guardrails.Config
}

// Interceptors are the program's own policies, by their place among those of the
// service. Within a list the outermost is first.
type Interceptors struct {
	// First stand before everything. They see every call, also one that is refused
	// later. Of a call with a Secret the Principal is not known yet.
	First []router.Interceptor
	// AfterPolicies stand behind the guardrails. They know the caller, see the request
	// as it may go upstream, with its preset applied and redacted, and see the reply
	// when its activity has been recorded.
	AfterPolicies []router.Interceptor
	// Last stand next to the engine, and see its reply before anything else does.
	Last []router.Interceptor
}

// Service is a whole service. Its parts may be used and mounted directly; they are
// not to be replaced. It is safe for concurrent use.
type Service struct {
	Router       *router.Router
	Keys         *keys.Service
	Credentials  *keys.Credentials
	Organization *organization.Service
	Presets      *presets.Service
	Guardrails   *guardrails.Service
	Activity     *activity.Service
	API          *httpapi.Handler
	// Handler serves API under /api/v1, API.Alpha() under /api/alpha and
	// API.Native() under /v1.
	Handler http.Handler

	stores    store.Set
	retention time.Duration
	logger    *slog.Logger
	now       func() time.Time
}

// New puts a service together. It starts nothing: see [Service.Run]. Every error is
// [ErrConfig], and that of the part whose settings are wrong.
func New(cfg Config) (*Service, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Service{stores: cfg.Stores, retention: cfg.Retention, logger: cfg.Logger, now: cfg.Now}
	for _, join := range []func(Config) error{s.joinServices, s.joinRouter, s.joinAPI} {
		if err := join(cfg); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
	}
	return s, nil
}

// Decide answers a call of the program. Without a Principal and a Secret it is the
// program's own: no account's limits hold it and none is charged, and it has no
// presets or guardrails. With a Principal it is that account's, with the budgets,
// presets and guardrails of the account, the workspace and the member, and of the
// key if there is a KeyHash. A Workspace of "" is the account's default one, or the
// key's. With a Secret it is that of the key's holder, whatever the Principal is.
//
// A Principal without an Account and a KeyHash is refused, as is one with the KeyHash
// of another account or workspace than it names. Nobody checks whether the program may
// act for a Principal: what comes from outside goes through Handler, which
// authenticates first.
//
// Rates hold calls with a Secret, not those with a Principal. For errors see
// [router.Router.Decide].
func (s *Service) Decide(ctx context.Context, c *router.Call) (*router.Result, error) {
	return s.Router.Decide(ctx, c)
}

// Ready reads one record from the storage and returns the storage's error, or nil
// if it answered. It is for readiness probes.
func (s *Service) Ready(ctx context.Context) error {
	_, err := s.stores.Organization.Account(ctx, "")
	if errors.Is(err, organization.ErrNotFound) {
		return nil
	}
	return err
}
