package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// signedIn sets Config.SignIn to f.
func signedIn(f func(*http.Request) (router.Principal, error)) option {
	return func(c *httpapi.Config, _ *router.Config) { c.SignIn = f }
}

func as(p router.Principal, err error) option {
	return signedIn(func(*http.Request) (router.Principal, error) { return p, err })
}

func TestSignIn(t *testing.T) {
	ann := router.Principal{Account: "acme", Member: "ann"}
	admin := router.Principal{Account: "acme", Member: "ada", Management: true}
	for _, c := range []struct {
		name    string
		as      option
		route   string // default POST /systemone
		key     string
		status  int
		message string
	}{
		{name: "a principal needs no key", as: as(ann, nil), status: 200},
		{name: "a principal's key is not looked at", as: as(ann, nil), key: "expired", status: 200},
		{name: "nobody, without a key", as: as(router.Principal{}, nil), status: 401, message: "Missing Authentication header"},
		{name: "nobody, with a key", as: as(router.Principal{}, nil), key: "inference", status: 200},
		{name: "nobody, with a bad key", as: as(router.Principal{}, nil), key: "expired", status: 401, message: "API key expired"},
		{name: "nobody, where all may look", as: as(router.Principal{}, nil), route: "GET /models", status: 200},
		{name: "no account", as: as(router.Principal{Member: "ann"}, nil), key: "inference", status: 500, message: "Internal Server Error"},
		{
			name: "a key's hash, which nothing has checked", as: as(router.Principal{Account: "acme", KeyHash: strings.Repeat("a", 64)}, nil),
			route: "GET /key", status: 500, message: "Internal Server Error",
		},
		{name: "an error", as: as(ann, errCanary), status: 401, message: "Invalid API key"},
		{name: "an error, with a key", as: as(ann, errCanary), key: "inference", status: 401, message: "Invalid API key"},
		{name: "an error, where all may look", as: as(ann, errCanary), route: "GET /models", status: 401, message: "Invalid API key"},
		{
			name:   "an error that says what is wrong",
			as:     as(ann, &systemone.InvalidError{Issues: []systemone.Issue{{Path: canary, Message: canary}}}),
			status: 401, message: "Invalid API key",
		},
		{name: "an error of a part", as: as(ann, fmt.Errorf("%w: %w", keys.ErrNotFound, errCanary)), status: 401, message: "Invalid API key"},
		{name: "away", as: as(ann, fmt.Errorf("%w: %w", router.ErrUnavailable, errCanary)), status: 503, message: "Service temporarily unavailable"},
		{name: "a failure", as: as(ann, router.Failure(errCanary)), status: 500, message: "Internal Server Error"},
		{name: "expired", as: as(ann, keys.ErrExpired), status: 401, message: "API key expired"},
		{name: "a panic", as: signedIn(func(*http.Request) (router.Principal, error) { panic(canary) }), status: 500, message: "Internal Server Error"},
		{name: "an admin does not decide", as: as(admin, nil), status: 403, message: "Management keys cannot be used for inference"},
		{name: "an admin administers", as: as(admin, nil), route: "GET /keys", status: 200},
		{name: "a member does not", as: as(ann, nil), route: "GET /keys", status: 403, message: "Only management keys can perform this operation"},
		{name: "there is no key to show", as: as(ann, nil), route: "GET /key", status: 401, message: "Missing Authentication header"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, c.as)
			method, path, body := http.MethodPost, "/systemone", sound
			if c.route != "" {
				_, err := fmt.Sscan(c.route, &method, &path)
				require.NoError(t, err)
				body = ""
			}
			r := g.request(t, method, path, body, c.key)
			if c.status != 200 {
				r.Body = io.NopCloser(unread{t})
			}
			w := g.serve(t, g.handler, r)
			assert.Equal(t, c.status, w.Code, "%s", w.Body)
			if c.status != 200 {
				assert.Equal(t, c.message, at(t, w.Body.Bytes(), "error.message"))
				assert.Nil(t, at(t, w.Body.Bytes(), "error.metadata.issues"))
				assert.Empty(t, g.ant.seen, "nothing goes upstream")
			}
		})
	}
}

// TestSignInSeesTheRequest: SignIn gets the path, the headers and the context of the
// request.
func TestSignInSeesTheRequest(t *testing.T) {
	var called router.Principal
	g := newRig(t, signedIn(func(r *http.Request) (router.Principal, error) {
		if r.URL.Path != "/systemone" || r.Context() == nil || r.Header.Get("Authorization") != "" {
			return router.Principal{}, errors.New("not what was sent")
		}
		return router.Principal{Account: "acme", Member: r.Header.Get("X-Gateway-User")}, nil
	}), func(_ *httpapi.Config, c *router.Config) {
		c.Interceptors = append(c.Interceptors, func(next router.Decider) router.Decider {
			return func(ctx context.Context, c *router.Call) (*router.Result, error) {
				called = c.Principal
				return next(ctx, c)
			}
		})
	})
	r := g.request(t, http.MethodPost, "/systemone", sound, "")
	r.Header.Set("X-Gateway-User", "ann")
	assert.Equal(t, 200, g.serve(t, g.handler, r).Code)
	assert.Equal(t, router.Principal{Account: "acme", Member: "ann"}, called)
}

// nameless is an authenticator that accepts every key and returns the zero Principal.
type nameless struct{}

func (nameless) Authenticate(context.Context, router.Secret) (router.Principal, error) {
	return router.Principal{}, nil
}

// TestNobodyIsTheProgramOverHTTP: the zero Principal is the embedding program, which
// has no limits. No way of authenticating may lead to it.
func TestNobodyIsTheProgramOverHTTP(t *testing.T) {
	for name, o := range map[string]option{
		"an empty principal of a key": func(c *httpapi.Config, _ *router.Config) { c.Keys = nameless{} },
		"a workspace alone":           as(router.Principal{Workspace: "w"}, nil),
		"management alone":            as(router.Principal{Management: true}, nil),
		"a key alone":                 as(router.Principal{KeyHash: "h"}, nil),
	} {
		g := newRig(t, o)
		assert.Equal(t, 500, g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", sound, "inference")).Code, name)
		assert.Empty(t, g.ant.seen, name)
		assert.Contains(t, g.log.String(), "a principal without an account", name)
	}
}

// TestSignInAlone: a program whose SignIn knows all callers needs no keys.
func TestSignInAlone(t *testing.T) {
	alone := func(c *httpapi.Config, _ *router.Config) { c.Keys = nil }
	g := newRig(t, alone, as(router.Principal{Account: "acme"}, nil))
	assert.Equal(t, 200, g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", sound, "")).Code)
	g = newRig(t, alone, as(router.Principal{}, nil))
	assert.Equal(t, 401, g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", sound, "")).Code)
	assert.Equal(t, 401, g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", sound, "inference")).Code)
}
