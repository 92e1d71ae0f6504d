// Package stack puts every part of Signalbox together: what an embedding
// program writes once. The server and the tour of the examples stand on it.
//
// The one thing to know first: the order of [Stack.policies] is the order in
// which a request is checked.
package stack

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"strings"
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
	"github.com/signalbox/signalbox/store/memory"
)

// Config says what a [Stack] is made of. Only Catalog is required.
type Config struct {
	Catalog *router.Catalog // required
	Stores  store.Set       // default: in memory, forgotten at the end
	// SealingKey is what provider credentials are sealed with, 32 bytes; default
	// random, so that what was stored cannot be opened by another process.
	SealingKey []byte
	// UserKey is what users are hashed with before they go upstream; default
	// random.
	UserKey []byte
	Rates   keys.RateLimits // off by default
	// Bodies bounds what the bodies of all requests hold together, KeyBodies and
	// AccountBodies those of one key and of one account, in bytes; defaults are
	// those of httpapi.Config.
	Bodies, KeyBodies, AccountBodies int64
	// Abandoned says what becomes of an attempt whose caller ends the call; default
	// router.AbandonEstimate.
	Abandoned router.Abandon
	// Origins are those of the pages that may ask from a browser; default none.
	Origins []string
	// CreditsURL is where credits are bought; "" names no place.
	CreditsURL string
	Log        *slog.Logger     // default slog.Default()
	Now        func() time.Time // default time.Now
}

// Stack is a whole service.
type Stack struct {
	Router       *router.Router
	Keys         *keys.Service
	Credentials  *keys.Credentials
	Organization *organization.Service
	Presets      *presets.Service
	Guardrails   *guardrails.Service
	Activity     *activity.Service
	API          *httpapi.Handler
	// Handler serves API in all its forms under their default mounts.
	Handler http.Handler

	stores store.Set
	log    *slog.Logger
	now    func() time.Time
}

// New puts a stack together.
func New(cfg Config) (*Stack, error) {
	cfg = cfg.withDefaults()
	s := &Stack{stores: cfg.Stores, log: cfg.Log, now: cfg.Now}
	if err := s.services(cfg); err != nil {
		return nil, err
	}
	var err error
	if s.Router, err = router.New(router.Config{
		Catalog:      cfg.Catalog,
		Interceptors: s.policies(),
		Ledger:       cfg.Stores.Ledger,
		UserKey:      cfg.UserKey,
		Abandoned:    cfg.Abandoned,
		Now:          cfg.Now,
	}); err != nil {
		return nil, err
	}
	if s.API, err = httpapi.New(httpapi.Config{
		Router:          s.Router,
		Keys:            s.Keys,
		ManagedKeys:     s.Keys,
		Credentials:     s.Credentials,
		Organization:    s.Organization,
		Presets:         s.Presets,
		Guardrails:      s.Guardrails,
		Activity:        s.Activity,
		Policy:          s.rules,
		FilteredCatalog: s.Organization.FilteredCatalog,

		MaxInFlightBytes: cfg.Bodies, MaxInFlightPerKey: cfg.KeyBodies, MaxInFlightPerAccount: cfg.AccountBodies,
		Origins:    cfg.Origins,
		CreditsURL: cfg.CreditsURL,
		Logger:     cfg.Log,
		Now:        cfg.Now,
	}); err != nil {
		return nil, err
	}
	s.Handler = mount(s.API)
	return s, nil
}

func (cfg Config) withDefaults() Config {
	if cfg.Stores == (store.Set{}) {
		cfg.Stores = memory.New()
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	for _, key := range []*[]byte{&cfg.SealingKey, &cfg.UserKey} {
		if *key == nil {
			*key = make([]byte, 32)
			_, _ = rand.Read(*key) // never fails
		}
	}
	return cfg
}

// policies lists what is around every decision, outermost first. What a request
// is refused for first is what stands first here: the key, the preset, the
// names of its models and what its content holds, which guardrails look at in
// this order. (Rates and the body come before, in httpapi; what follows, the
// filters of the plan and then credits, key limit, workspace budgets and
// guardrail budgets, the router asks in this order by itself.) What the keys
// refuse is in the log too; activity stands nearest to the answer.
func (s *Stack) policies() []router.Interceptor {
	return []router.Interceptor{
		router.Log(s.log),
		s.Keys.Intercept,
		s.Presets.Intercept,
		s.Organization.Intercept,
		s.Credentials.Intercept,
		s.Guardrails.Intercept,
		s.Activity.Intercept,
	}
}

// Ready reads one record from the storage and returns the storage's error, or nil
// if it answered.
func (s *Stack) Ready(ctx context.Context) error {
	_, err := s.stores.Organization.Account(ctx, Account)
	if errors.Is(err, organization.ErrNotFound) {
		return nil // before Seed
	}
	return err
}

// mount puts the handlers under their prefixes. It is no http.ServeMux, which
// would answer an unusual path such as /api/v1//models with a redirect: under
// the mounts every answer is the handler's own.
func mount(api *httpapi.Handler) http.Handler {
	const documented, alpha, native = "/api/v1", "/api/alpha", "/v1"
	under := func(path, prefix string) bool {
		rest, ok := strings.CutPrefix(path, prefix)
		return ok && (rest == "" || rest[0] == '/')
	}
	documentedAPI, nativeAPI := http.StripPrefix(documented, api), http.StripPrefix(native, api.Native())
	alphaAPI := http.StripPrefix(alpha, api.Alpha())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case under(r.URL.Path, documented):
			documentedAPI.ServeHTTP(w, r)
		case under(r.URL.Path, alpha):
			alphaAPI.ServeHTTP(w, r)
		case under(r.URL.Path, native):
			nativeAPI.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	})
}

// directory tells the other parts what the organization knows.
type directory struct{ *organization.Service }

// Membership is for keys.
func (d directory) Membership(ctx context.Context, account, user string) (keys.Membership, error) {
	a, err := d.Account(ctx, account)
	if errors.Is(err, organization.ErrNotFound) {
		return keys.Membership{}, nil
	}
	if err != nil {
		return keys.Membership{}, err
	}
	m, err := d.Member(ctx, account, user)
	if err != nil && !errors.Is(err, organization.ErrNotFound) {
		return keys.Membership{}, err
	}
	return keys.Membership{
		Organization: !a.Personal, Member: err == nil, Admin: err == nil && m.Role == organization.RoleAdmin,
	}, nil
}

// workspace returns the id of an account's workspace, of its default one for
// "". absent is what there is none is called where it is asked.
func (d directory) workspace(ctx context.Context, account, id string, absent error) (string, error) {
	if id == "" {
		found, err := d.DefaultWorkspace(ctx, account)
		if errors.Is(err, organization.ErrNotFound) {
			err = absent
		}
		return found, err
	}
	switch has, err := d.HasWorkspace(ctx, account, id); {
	case err != nil:
		return "", err
	case !has:
		return "", absent
	}
	return id, nil
}

// Workspace is for keys.
func (d directory) Workspace(ctx context.Context, account, id string) (string, error) {
	return d.workspace(ctx, account, id, keys.ErrNotFound)
}

// Workspaces is for activity.
func (d directory) Workspaces(ctx context.Context, account string) ([]string, error) {
	first, err := d.DefaultWorkspace(ctx, account)
	if err != nil {
		return nil, err
	}
	live, err := d.LiveWorkspaces(ctx, account)
	return append([]string{first}, live...), err
}

// defaultOf returns the workspace whose default guardrail this is.
func (d directory) defaultOf(ctx context.Context, account string, guardrail uuid.UUID) (string, error) {
	live, err := d.LiveWorkspaces(ctx, account)
	if err != nil {
		return "", err
	}
	for _, workspace := range live {
		id, err := d.DefaultGuardrail(ctx, account, workspace)
		if err != nil {
			return "", err
		}
		if id == guardrail.String() {
			return workspace, nil
		}
	}
	return "", guardrails.ErrNotFound
}

// IsOrganization is for activity.
func (d directory) IsOrganization(ctx context.Context, account string) (bool, error) {
	a, err := d.Account(ctx, account)
	return !a.Personal, err
}
