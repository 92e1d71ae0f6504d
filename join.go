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
	settings.Interceptors = s.policies(cfg.Interceptors)
	s.Router, err = router.New(settings)
	return err
}

// policies lists the interceptors around every decision, outermost first. If several
// checks would refuse a request, the reply names the first one in this order: key,
// preset, model names, content. httpapi checks rates and body before; the router
// checks filters, credits, key limit, workspace budgets and guardrail budgets
// afterwards. The log is outside the keys, so that it records refused keys.
func (s *Service) policies(own Interceptors) []router.Interceptor {
	return slices.Concat(
		own.First,
		[]router.Interceptor{
			router.Log(s.logger),
			s.Keys.Intercept,
			s.settle,
			s.Presets.Intercept,
			s.Organization.Intercept,
			s.Credentials.Intercept,
			s.Guardrails.Intercept,
		},
		own.AfterPolicies,
		[]router.Interceptor{s.Activity.Intercept},
		own.Last,
	)
}

// settle sets the account's default workspace on a call that names none, so that
// the limits of that workspace apply.
func (s *Service) settle(next router.Decider) router.Decider {
	return func(ctx context.Context, c *router.Call) (*router.Result, error) {
		var err error
		if c.Principal, err = s.settled(ctx, c.Principal); err != nil {
			return nil, router.Failure(err)
		}
		return next(ctx, c)
	}
}

// settled returns p with a workspace, unless p has no account. An account that does
// not exist is refused like an unknown key.
func (s *Service) settled(ctx context.Context, p router.Principal) (router.Principal, error) {
	if p.Account == "" || p.Workspace != "" {
		return p, nil
	}
	home, err := s.Organization.DefaultWorkspace(ctx, p.Account)
	if errors.Is(err, organization.ErrNotFound) {
		return p, &router.Error{Class: router.Authentication, Message: "Invalid API key", Err: err}
	}
	p.Workspace = home
	return p, err
}

// joinAPI makes the HTTP interface, which authenticates every caller.
func (s *Service) joinAPI(cfg Config) (err error) {
	settings := cfg.API
	settings.Router, settings.Limits = s.Router, s.Router.Limits()
	settings.Keys, settings.ManagedKeys, settings.Credentials = s.Keys, s.Keys, s.Credentials
	settings.Organization, settings.Presets, settings.Guardrails, settings.Activity = s.Organization, s.Presets, s.Guardrails, s.Activity
	settings.Policy, settings.FilteredCatalog = s.rules, s.Organization.FilteredCatalog
	settings.Logger, settings.Now = cfg.Logger, cfg.Now
	if signIn := cfg.API.SignIn; signIn != nil {
		settings.SignIn = func(r *http.Request) (router.Principal, error) {
			p, err := signIn(r)
			if err != nil {
				return p, err
			}
			return s.settled(r.Context(), p)
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
