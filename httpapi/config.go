package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// ErrConfig is the error of every invalid [Config].
var ErrConfig = errors.New("httpapi: invalid configuration")

// Authenticator returns the principal that a key belongs to. Its errors are those of
// keys.Service.Authenticate: keys.ErrRefused, keys.ErrExpired and keys.ErrDisabled are
// answered with 401, router.ErrUnavailable with 503, anything else with 500. It must be
// safe for concurrent use.
type Authenticator interface {
	Authenticate(ctx context.Context, secret router.Secret) (router.Principal, error)
}

// Admitter limits how often a key is used. If an Authenticator is an Admitter too,
// every route calls Admit as soon as the key is known, before the body is read. Its
// errors are those of keys.Service.Admit. The handler calls release exactly once, when
// the exchange has ended for whatever reason. With an error, release may be nil. It
// must be safe for concurrent use.
type Admitter interface {
	Admit(p router.Principal) (release func(), err error)
}

// Config configures a [Handler]. Write it with field names, because minor versions add
// fields.
type Config struct {
	Router *router.Router // required
	// Keys checks credentials, and limits rates if it is an [Admitter]. One of Keys,
	// SignIn and Open is required, so that a forgotten field does not open a router to
	// the world.
	Keys Authenticator
	// SignIn returns the principal of a caller that the embedding program knows by
	// itself: by single sign-on, by a client certificate, or by a header that its
	// gateway sets and strips from incoming requests. It is called before the key is
	// checked and before the body is read. It must not read the body, and must be safe
	// for concurrent use. The path that it sees lacks the prefix of the mount.
	//
	// A Principal with an Account is the caller, and a key in the request is ignored.
	// With Management it administers the account, without Management it asks for
	// decisions. The limits are those of the account, the workspace and the member.
	// Nothing checks that the Member belongs to the account, or may administer it. The
	// zero Principal means that Keys decides. Any other Principal without an Account,
	// and one with a KeyHash, is answered with 500. In a signalbox.Service the account
	// must exist (organization.Service.CreateAccount), otherwise the answer is 401 with
	// the message for an invalid key.
	//
	// An error is answered with 401, with 503 if it wraps router.ErrUnavailable, and with
	// 500 if it is a router.Error of the class router.Server. Its text is never in a reply,
	// and in the log only where the status is 500 or more. For callers known by a cookie,
	// SignIn must refuse requests that pages of other sites send
	// (http.CrossOriginProtection).
	SignIn func(r *http.Request) (router.Principal, error)
	// Open serves every caller as the embedding program itself and ignores credentials.
	// Routes for management keys stay closed. Open excludes Keys and SignIn.
	Open bool
	// ManagedKeys creates, lists and changes keys; nil leaves its routes out. It is the
	// service behind Keys, or another service with the same store.
	ManagedKeys *keys.Service
	// Activity reports usage; nil leaves its route out.
	Activity *activity.Service
	// Guardrails restricts which models and providers requests may use, what they may
	// spend and what they may contain; nil leaves its routes out.
	Guardrails *guardrails.Service
	// Presets stores named settings for requests; nil leaves its routes out.
	Presets *presets.Service
	// Organization administers accounts, workspaces, budgets and credits; nil
	// leaves its routes out.
	Organization *organization.Service
	// Credentials stores the accounts' own credentials at providers; nil leaves its
	// routes out.
	Credentials *keys.Credentials
	// Policy returns the rules that apply to a caller beyond the preferences of a
	// request: guardrails, and the settings of account and workspace. GET /models/user
	// and GET /endpoints/zdr list what these rules allow. Nil allows everything.
	Policy func(ctx context.Context, p router.Principal) ([]router.Rule, error)
	// FilteredCatalog reports whether GET /models lists only what Policy allows, too,
	// if the request has a key of the account. Nil means no.
	FilteredCatalog func(ctx context.Context, account string) (bool, error)
	// Brand is the word in the names of the metadata member and of headers: "router"
	// (the default) gives router_metadata and X-Router-Metadata. It is 1 to 32 lower-case
	// letters and digits, and may have hyphens inside. "ai-gateway" gives
	// ai_gateway_metadata and X-Ai-Gateway-Decision-Fallback-Triggered.
	Brand string
	// MaxBytes is the size of the largest accepted body; default 4 MiB.
	MaxBytes int64
	// MaxInFlightBytes bounds the memory that the bodies of all requests of a Handler
	// hold together until they are answered; default 256 MiB. The native and alpha
	// handlers share this bound. A body counts the bytes that have arrived, never those
	// announced. A decision counts the memory of its decoded questions instead, if that
	// is more. A body that needs more than is left is refused with 503. A body larger
	// than the bound is always refused, so set the bound to many times MaxBytes. Copies
	// that the clients of upstreams make are not counted.
	MaxInFlightBytes int64
	// MaxInFlightPerKey and MaxInFlightPerAccount bound the share of MaxInFlightBytes
	// that the bodies of one key, and of all keys of one account, hold. They keep room
	// for other callers. The defaults are a quarter and a half of MaxInFlightBytes, and
	// at least MaxBytes. A body beyond its share is refused with 429, because only the
	// caller's own requests use that room. A value of MaxInFlightBytes or more removes
	// the bound. Callers without a key, where the handler is Open, have no shares.
	MaxInFlightPerKey, MaxInFlightPerAccount int64
	// MinBodyRate is the lowest accepted speed of a body, in bytes per second; default
	// 1 KiB. It is checked every ten seconds until the body is complete. A slower body
	// is refused with 400. To bound the total time of a request, set the ReadTimeout of
	// the http.Server.
	MinBodyRate int64
	// Limits bound the number and size of a request's parts; set them to those of the
	// Router.
	Limits systemone.Limits
	// DualErrors adds a detail member next to error, as clients of the native API
	// expect. The native handler always adds it.
	DualErrors bool
	// CreditsURL is the address at which callers buy credits. The refusal of a request
	// for lack of credits names it; "" names none.
	CreditsURL string
	// Origins are the origins of browser pages that may send requests, as browsers
	// write them: https://app.example, http://localhost:3000. By default there are
	// none, and no page of another origin can read a reply. Preflights of these origins
	// are answered without a key.
	Origins []string
	// NativeTimeout is the total deadline of a native request, counted from its head,
	// so reading the body is included. The default is 9 s, because those clients give
	// up after 10 s.
	NativeTimeout time.Duration
	// Logger receives failures of the server and of upstreams, with the request id and
	// without credentials; default slog.Default().
	Logger *slog.Logger
	// NewRequestID returns an id for a request that has none: 1 to 128 visible ASCII
	// characters. The default is "req_" and 32 random hex digits. It must be safe for
	// concurrent use.
	NewRequestID func() string
	// Observe gets the outcome of every request, after its reply was written: also of
	// those that were refused before a decision began, because of the path, the key or a
	// rate. It must be safe for concurrent use and must not block. The exchange ends, and
	// gives back its share of rates, when Observe has returned. Its context has the values
	// of the request's, but is not cancelled with it. Nil observes nothing.
	Observe func(ctx context.Context, o Outcome)
	// Now returns the current time; default time.Now. It must be safe for concurrent
	// use.
	Now func() time.Time
}

// The defaults of Config.
const (
	defaultBrand         = "router"
	defaultMaxBytes      = 4 << 20
	defaultMaxInFlight   = 256 << 20
	defaultMinBodyRate   = 1 << 10
	defaultNativeTimeout = 9 * time.Second
)

// withDefaults checks c and fills in the defaults.
func (c Config) withDefaults() (Config, error) {
	if name := typednil.Field(c); name != "" {
		return c, fmt.Errorf("%w: %s holds a nil", ErrConfig, name)
	}
	switch {
	case c.Router == nil:
		return c, fmt.Errorf("%w: Router is required", ErrConfig)
	case c.Keys == nil && c.SignIn == nil && !c.Open:
		return c, fmt.Errorf("%w: Keys or SignIn is required; set Open to serve without keys", ErrConfig)
	case (c.Keys != nil || c.SignIn != nil) && c.Open:
		return c, fmt.Errorf("%w: Open excludes Keys and SignIn", ErrConfig)
	case c.MaxBytes < 0:
		return c, fmt.Errorf("%w: MaxBytes is negative", ErrConfig)
	case c.MaxInFlightBytes < 0, c.MaxInFlightPerKey < 0, c.MaxInFlightPerAccount < 0:
		return c, fmt.Errorf("%w: MaxInFlightBytes, MaxInFlightPerKey and MaxInFlightPerAccount must not be negative", ErrConfig)
	case c.MinBodyRate < 0:
		return c, fmt.Errorf("%w: MinBodyRate is negative", ErrConfig)
	case c.NativeTimeout < 0:
		return c, fmt.Errorf("%w: NativeTimeout is negative", ErrConfig)
	case !validBrand(c.Brand):
		return c, fmt.Errorf("%w: Brand must be 1 to 32 lower-case letters and digits, with hyphens inside", ErrConfig)
	}
	if err := checkOrigins(c.Origins); err != nil {
		return c, err
	}
	c.Origins = slices.Clone(c.Origins)
	if c.Brand == "" {
		c.Brand = defaultBrand
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultMaxBytes
	}
	if c.MaxInFlightBytes == 0 {
		c.MaxInFlightBytes = defaultMaxInFlight
	}
	one := mostRead(c.MaxBytes)
	if c.MaxInFlightPerKey == 0 {
		c.MaxInFlightPerKey = max(c.MaxInFlightBytes/4, one)
	}
	if c.MaxInFlightPerAccount == 0 {
		c.MaxInFlightPerAccount = max(c.MaxInFlightBytes/2, one)
	}
	if c.MinBodyRate == 0 {
		c.MinBodyRate = defaultMinBodyRate
	}
	if c.NativeTimeout == 0 {
		c.NativeTimeout = defaultNativeTimeout
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.NewRequestID == nil {
		c.NewRequestID = newRequestID
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, nil
}

// validBrand reports whether s may be part of a member name and a header name. "" is
// the default.
func validBrand(s string) bool {
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return len(s) <= 32 && strings.Trim(s, "-") == s
}

// newRequestID returns an id that cannot be guessed.
func newRequestID() string {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails
	var text [36]byte
	hex.Encode(text[copy(text[:], "req_"):], raw[:])
	return string(text[:])
}

// Handler serves the HTTP interface. Its paths begin at "/". The zero value is not
// ready for use, see [New]. It is safe for concurrent use.
type Handler struct {
	api, alpha, native *surface
}

// New returns a handler for cfg. A mistake in cfg is reported as [ErrConfig].
func New(cfg Config) (*Handler, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := newServer(cfg)
	decide := route{method: http.MethodPost, path: "/systemone", keys: inference, serve: (*exchange).decide}
	alpha, decisions := decide, decide
	alpha.path, decisions.path = "/decisions", "/decisions"
	doors := map[string]door{decisions.path: openAI{}}
	return &Handler{
		api: newSurface(s, surface{name: "api", doors: doors, dualErrors: cfg.DualErrors}, slices.Concat([]route{
			decide,
			decisions,
			{method: http.MethodGet, path: "/models", keys: public, serve: (*exchange).listModels},
			{method: http.MethodGet, path: "/models/count", keys: public, serve: (*exchange).countModels},
			{method: http.MethodGet, path: "/model/{author}/{slug}", keys: public, serve: (*exchange).getModel},
			{method: http.MethodGet, path: "/models/user", keys: anyKey, serve: (*exchange).listUserModels},
			{method: http.MethodGet, path: "/endpoints/zdr", keys: anyKey, serve: (*exchange).listZDREndpoints},
			{method: http.MethodGet, path: "/models/{author}/{slug}/endpoints", keys: public, serve: (*exchange).listEndpoints},
			{method: http.MethodGet, path: "/providers", keys: public, serve: (*exchange).listProviders},
		}, s.managementRoutes())),
		alpha: newSurface(s, surface{name: "alpha", dualErrors: cfg.DualErrors}, []route{alpha}),
		native: newSurface(s, surface{name: "native", doors: doors, native: true, dualErrors: true, dialect: systemone.Native, timeout: cfg.NativeTimeout}, []route{
			decide,
			decisions,
			{method: http.MethodGet, path: "/models", keys: public, serve: (*exchange).listNativeModels},
		}),
	}, nil
}

// ServeHTTP serves POST /systemone, POST /decisions, GET /models,
// GET /models/{author}/{slug}/endpoints and GET /providers, and the routes of each
// service in [Config]. docs/openapi.yaml describes all of them. Any other path or method is answered with 404 or 405 in the
// error envelope, before credentials are checked.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.api.ServeHTTP(w, r) }

// Alpha returns the handler to be mounted at /api/alpha, beside /api/v1. Its POST
// /decisions is POST /systemone under the name that clients of the hosted service's
// alpha interface use. The AI SDK provider is such a client: with the base URL
// <prefix>/v1 it asks <prefix>/alpha/decisions.
func (h *Handler) Alpha() http.Handler { return h.alpha }

// Native returns the handler for clients of the native System One API, to be mounted at
// /v1. It serves POST /systemone, POST /decisions and GET /models. It accepts null guidance, and replies
// with dual error bodies and x-typesafe-request-id. Its deadline is shorter than that
// of those clients, see [Config].
func (h *Handler) Native() http.Handler { return h.native }
