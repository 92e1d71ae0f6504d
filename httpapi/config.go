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

// ErrConfig is what every mistake in a [Config] is.
var ErrConfig = errors.New("httpapi: invalid configuration")

// Authenticator says on whose behalf the holder of a key acts. Its errors are
// those of keys.Service.Authenticate: keys.ErrRefused, keys.ErrExpired and
// keys.ErrDisabled are answered with 401, anything else with 500. It must be
// safe for concurrent use.
type Authenticator interface {
	Authenticate(ctx context.Context, secret router.Secret) (router.Principal, error)
}

// Admitter limits how often the holders of keys ask. An Authenticator that is
// one as well is asked by every route as soon as it knows the key, before the
// body is read. Its refusals are those of keys.Service.Admit; release is called
// once when the exchange ends, however it ends, and may be nil where there is an
// error.
type Admitter interface {
	Admit(p router.Principal) (release func(), err error)
}

// Config says what a [Handler] serves. Write it with field names: fields are
// added in minor versions.
type Config struct {
	Router *router.Router // required
	// Keys checks credentials, and limits rates if it is an [Admitter]. Keys, SignIn or
	// Open is required, so that a field left out does not open a router to the world.
	Keys Authenticator
	// SignIn says on whose behalf a request is made, for callers whom the program knows
	// by itself: by single sign-on, a client certificate, or a header that its gateway
	// sets and strips from what comes in. It runs before the key is looked at and before
	// the body is read, must not read the body, and must be safe for concurrent use. The
	// path that it sees has no prefix of a mount.
	//
	// A Principal with an Account is the caller, and a key that the request has is not
	// looked at. With Management the caller administers the account, without it the
	// caller asks for decisions. Limits are those of the account, the workspace and the
	// member. Nothing checks that the Member belongs to the account, or may administer
	// it. The zero Principal leaves the caller to Keys. Any other one without an Account,
	// and one with a KeyHash, is answered with 500.
	//
	// An error is answered with 401, with 503 if it wraps router.ErrUnavailable, and with
	// 500 if it is a router.Error of the class router.Server. Its text is in no reply, and
	// in the log only where the status is 500 or more. Of a request with a cookie, SignIn
	// must make sure that the program's own page sent it (http.CrossOriginProtection).
	SignIn func(r *http.Request) (router.Principal, error)
	// Open serves every caller as the embedding program itself, without
	// looking at credentials. Routes for management keys stay closed. It
	// excludes Keys and SignIn.
	Open bool
	// ManagedKeys makes, shows and changes keys; nil leaves its routes out. It is
	// the service that Keys asks, or one with the same store in front of it.
	ManagedKeys *keys.Service
	// Activity reports what was used; nil leaves its route out.
	Activity *activity.Service
	// Guardrails restricts what requests may use, spend and say; nil leaves its
	// routes out.
	Guardrails *guardrails.Service
	// Presets keeps the settings that requests name; nil leaves its routes out.
	Presets *presets.Service
	// Organization administers accounts, workspaces, budgets and credits; nil
	// leaves its routes out.
	Organization *organization.Service
	// Credentials keeps the accounts' own credentials at providers; nil leaves
	// its routes out.
	Credentials *keys.Credentials
	// Policy returns what is allowed to a caller beyond the preferences of a
	// request: guardrails and the settings of account and workspace. GET
	// /models/user and GET /endpoints/zdr list what it leaves. nil allows
	// everything.
	Policy func(ctx context.Context, p router.Principal) ([]router.Rule, error)
	// FilteredCatalog says whether GET /models, too, lists only what Policy
	// leaves when it is asked with one of an account's keys. nil says no.
	FilteredCatalog func(ctx context.Context, account string) (bool, error)
	// Brand is the word in the names of the metadata member and of the header
	// that asks for it: "router" (the default) gives router_metadata and
	// X-Router-Metadata. Lower-case letters and digits, 1 to 32.
	Brand string
	// MaxBytes is the largest body that is read; default 4 MiB.
	MaxBytes int64
	// MaxInFlightBytes bounds what the bodies of all requests of a Handler, the
	// native ones among them, hold together until they are answered; default 256
	// MiB. A body counts with the bytes that have arrived, never with those
	// announced; a decision counts with the memory of its questions where that is
	// more. A body that needs more than is left is refused with a 503, one that is
	// larger than all of it always, so make it many times MaxBytes. Clients of
	// upstreams bound their own copies of bodies by themselves.
	MaxInFlightBytes int64
	// MaxInFlightPerKey and MaxInFlightPerAccount bound what the bodies of one key,
	// and of all keys of an account, hold of MaxInFlightBytes, so that the others
	// find room; default a quarter and a half of it, and never less than MaxBytes.
	// A body beyond is refused with a 429, because only the caller's own requests
	// take the room. A value of MaxInFlightBytes sets no bound of its own. Callers whom
	// SignIn knows have the bound of their account alone; callers of a handler that is
	// Open share all of MaxInFlightBytes.
	MaxInFlightPerKey, MaxInFlightPerAccount int64
	// MinBodyRate is how many bytes a second a body must bring; default 1 KiB. It
	// is looked at every ten seconds until the body is whole; one that is too
	// slow is refused with a 400. Bound the whole time of a request by the
	// ReadTimeout of the http.Server.
	MinBodyRate int64
	// Limits bound the shape of a request; they should be those of the Router.
	Limits systemone.Limits
	// DualErrors adds a detail member next to error, as clients of the native
	// API expect. The native handler always does.
	DualErrors bool
	// CreditsURL is where credits are bought; it is named in the refusal of a
	// request that lacks them. "" names none.
	CreditsURL string
	// Origins are the origins of the browser pages that may ask, as browsers
	// send them: https://app.example, http://localhost:3000. Default none, so
	// that no page of another origin reads a reply. Preflights of the origins named
	// are answered without a key.
	Origins []string
	// NativeTimeout is the total deadline of a native request, from its head
	// on, so reading the body counts; default 9 s, below the 10 s after which
	// those clients give up.
	NativeTimeout time.Duration
	// Logger gets failures of the server and of upstreams, with the request id
	// and never with a credential; default slog.Default().
	Logger *slog.Logger
	// NewRequestID makes the ids of requests that bring none: 1 to 128 visible
	// ASCII characters. Default "req_" and 32 random hex digits.
	NewRequestID func() string
	// Now is the clock; default time.Now.
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

// withDefaults checks c and fills in what is not set.
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
		return c, fmt.Errorf("%w: MaxInFlightBytes and the shares of it must not be negative", ErrConfig)
	case c.MinBodyRate < 0:
		return c, fmt.Errorf("%w: MinBodyRate is negative", ErrConfig)
	case c.NativeTimeout < 0:
		return c, fmt.Errorf("%w: NativeTimeout is negative", ErrConfig)
	case !validBrand(c.Brand):
		return c, fmt.Errorf("%w: Brand may hold 1 to 32 lower-case letters and digits", ErrConfig)
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

// validBrand says whether s can be part of a member and of a header name; ""
// is the default.
func validBrand(s string) bool {
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return len(s) <= 32
}

// newRequestID returns an id that nobody can guess.
func newRequestID() string {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails
	var text [36]byte
	hex.Encode(text[copy(text[:], "req_"):], raw[:])
	return string(text[:])
}

// Handler serves the interface to callers with keys. Its paths begin at "/".
// It is safe for concurrent use.
type Handler struct {
	api, alpha, native *surface
}

// New checks cfg and returns a handler. A mistake is [ErrConfig].
func New(cfg Config) (*Handler, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := newServer(cfg)
	decide := route{method: http.MethodPost, path: "/systemone", keys: inference, serve: (*exchange).decide}
	alpha := decide
	alpha.path = "/decisions"
	return &Handler{
		api: newSurface(s, surface{name: "api", dualErrors: cfg.DualErrors}, slices.Concat([]route{
			decide,
			{method: http.MethodGet, path: "/models", keys: public, serve: (*exchange).listModels},
			{method: http.MethodGet, path: "/models/count", keys: public, serve: (*exchange).countModels},
			{method: http.MethodGet, path: "/model/{author}/{slug}", keys: public, serve: (*exchange).getModel},
			{method: http.MethodGet, path: "/models/user", keys: anyKey, serve: (*exchange).listUserModels},
			{method: http.MethodGet, path: "/endpoints/zdr", keys: anyKey, serve: (*exchange).listZDREndpoints},
			{method: http.MethodGet, path: "/models/{author}/{slug}/endpoints", keys: public, serve: (*exchange).listEndpoints},
			{method: http.MethodGet, path: "/providers", keys: public, serve: (*exchange).listProviders},
		}, s.managementRoutes())),
		alpha: newSurface(s, surface{name: "alpha", dualErrors: cfg.DualErrors}, []route{alpha}),
		native: newSurface(s, surface{name: "native", native: true, dualErrors: true, dialect: systemone.Native, timeout: cfg.NativeTimeout}, []route{
			decide,
			{method: http.MethodGet, path: "/models", keys: public, serve: (*exchange).listNativeModels},
		}),
	}, nil
}

// ServeHTTP serves POST /systemone, GET /models,
// GET /models/{author}/{slug}/endpoints and GET /providers, and the routes of
// each part that [Config] has. docs/openapi.yaml describes them all. Everything
// else is answered with 404 or 405 in the error envelope, without a look at
// credentials.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.api.ServeHTTP(w, r) }

// Alpha returns the handler to be mounted at /api/alpha, beside /api/v1: POST
// /decisions is POST /systemone under the name that clients of the hosted
// service's alpha interface know, such as the AI SDK provider, which asks
// <prefix>/alpha/decisions when its base URL is <prefix>/v1.
func (h *Handler) Alpha() http.Handler { return h.alpha }

// Native returns the handler for clients of the native System One API, to be
// mounted at /v1: POST /systemone and GET /models, with null guidance
// accepted, dual error bodies, x-typesafe-request-id and a deadline below
// those clients' own.
func (h *Handler) Native() http.Handler { return h.native }
