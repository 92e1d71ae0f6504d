package signalbox

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

// joinRouter makes the router, wrapped in all policies.
func (s *Service) joinRouter(cfg Config) (err error) {
	settings := cfg.Router
	settings.Catalog, settings.Ledger = cfg.Catalog, cfg.Stores.Ledger
	settings.Now, settings.NewID = cfg.Now, cfg.NewID
	settings.Interceptors = s.policies(cfg)
	s.Router, err = router.New(settings)
	return err
}

// policies lists the interceptors around every decision, outermost first. If several
// checks would refuse a request, the reply names the first one in this order: key or
// Principal, preset, model names, content. httpapi checks rates and body before; the
// router checks filters, credits, key limit, workspace budgets and guardrail budgets
// afterwards. The log is outside the keys, so that it records refused keys. The metrics
// are outermost, so that they count what the program's own policies refuse, too.
func (s *Service) policies(cfg Config) []router.Interceptor {
	own := cfg.Interceptors
	return slices.Concat(
		[]router.Interceptor{router.Observe(cfg.Metrics)},
		own.First,
		[]router.Interceptor{
			router.Log(s.logger),
			s.Keys.Intercept,
			s.checkPrincipal,
			s.Presets.Intercept,
			s.Organization.Intercept,
			s.Credentials.Intercept,
			s.Guardrails.Intercept,
		},
		own.AfterPolicies,
		[]router.Interceptor{s.Hooks.Intercept},
		[]router.Interceptor{s.Activity.Intercept},
		own.Last,
	)
}

// checkPrincipal checks the Principal of a call without a key. If it names no workspace
// it gets the account's default one, so that the limits of that workspace apply. A
// Principal without an account is refused, because it would pass as a call of the
// program's own, which has no limits.
func (s *Service) checkPrincipal(next router.Decider) router.Decider {
	return func(ctx context.Context, c *router.Call) (*router.Result, error) {
		if p := &c.Principal; *p != (router.Principal{}) && (p.KeyHash == "" || p.Workspace == "") {
			var err error
			if c.Principal, err = s.checked(ctx, *p); err != nil {
				return nil, err
			}
		}
		return next(ctx, c)
	}
}

// maxMember is the longest id of a member, in bytes, as in organization.
const maxMember = 256

var (
	errNoAccount = errors.New("signalbox: a Principal without an Account")
	errText      = errors.New("signalbox: a text of the Principal is too long, is not UTF-8 or contains a zero byte")
)

// checked returns p with a workspace. It refuses an account that does not exist, a
// workspace of another account, and a text that no store can keep, like an unknown key.
// Every error is a [router.Error].
func (s *Service) checked(ctx context.Context, p router.Principal) (router.Principal, error) {
	var err error
	switch {
	case p.Account == "":
		return p, router.Failure(errNoAccount)
	case !router.Storable(p.Account), !router.Storable(p.Workspace), !router.Storable(p.Member), len(p.Member) > maxMember:
		err = errText
	case p.Workspace == "":
		p.Workspace, err = s.Organization.DefaultWorkspace(ctx, p.Account)
	default:
		_, err = s.Organization.Rules(ctx, p.Account, p.Workspace)
	}
	switch {
	case err == nil:
		return p, nil
	case errors.Is(err, organization.ErrNotFound), errors.Is(err, errText):
		return p, &router.Error{Class: router.Authentication, Message: "Invalid API key", Err: err}
	}
	return p, router.Failure(err)
}

// joinAPI makes the HTTP interface, which authenticates every caller.
func (s *Service) joinAPI(cfg Config) (err error) {
	settings := cfg.API
	settings.Router, settings.Limits = s.Router, s.Router.Limits()
	settings.Keys, settings.ManagedKeys, settings.Credentials = s.Keys, s.Keys, s.Credentials
	settings.Organization, settings.Presets, settings.Guardrails, settings.Activity = s.Organization, s.Presets, s.Guardrails, s.Activity
	settings.Policy, settings.FilteredCatalog = s.rules, s.Organization.FilteredCatalog
	settings.Logger, settings.Now = cfg.Logger, cfg.Now
	settings.Observe = observeRequests(cfg)
	if signIn := cfg.API.SignIn; signIn != nil {
		settings.SignIn = func(r *http.Request) (router.Principal, error) {
			p, err := signIn(r)
			if err != nil || p.Account == "" { // a key decides, or the API refuses p
				return p, err
			}
			return s.checked(r.Context(), p)
		}
	}
	if s.API, err = httpapi.New(settings); err != nil {
		return err
	}
	s.Handler = mount(s.API)
	return nil
}

// mount routes each prefix to its handler. It does not use http.ServeMux, because
// that redirects an unusual path such as /api/v1//models, and under these prefixes
// every reply must come from the handler.
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
