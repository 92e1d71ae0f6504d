package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
)

// authenticate sets the principal of the caller, or returns why the request is refused.
// It runs before the body is read.
func (x *exchange) authenticate(ctx context.Context, need access) error {
	switch {
	case need == nobody:
		return errClosed
	case x.s.Open && need == management:
		return errNotManagement // the handler is Open: callers have no management key
	case x.s.Open && need == anyKey:
		return errNoCredential
	case x.s.Open:
		return nil
	}
	err := x.signIn()
	if err == nil && x.principal == (router.Principal{}) {
		err = x.keyHolder(ctx, need)
	}
	if err != nil || x.principal == (router.Principal{}) { // a public route without a key
		return err
	}
	// Every request of a known caller counts towards its rate, even a refused one. The
	// wrong kind of key is reported first.
	tooMany := x.admit()
	switch {
	case need == inference && x.principal.Management:
		return keys.ErrManagement
	case need == management && !x.principal.Management:
		return errNotManagement
	}
	return tooMany
}

// signIn asks Config.SignIn for the caller. The principal stays empty if SignIn does
// not know the caller; then the key decides.
func (x *exchange) signIn() error {
	if x.s.SignIn == nil {
		return nil
	}
	p, err := x.s.SignIn(x.r)
	switch {
	case err != nil:
		// Errors of the server, such as unavailable storage, and the documented refusals
		// of a key keep their reply. Any other error becomes errSignIn, because its text
		// may contain credentials.
		re, ok := errors.AsType[*router.Error](err)
		if status := problemOf(err).status; status == http.StatusUnauthorized || status > http.StatusInternalServerError ||
			ok && re.Class == router.Server {
			return err
		}
		return errSignIn
	case p.Account == "" && p != (router.Principal{}):
		// It must not reach the router: a principal without an account is the embedding
		// program, which has no limits.
		return errNoAccount
	case p.KeyHash != "":
		return errKeyHash
	}
	x.principal = p
	return nil
}

// keyHolder sets the principal from the request's key. The principal stays empty if the
// route needs no key and the request has none.
func (x *exchange) keyHolder(ctx context.Context, need access) error {
	secret, err := credential(x.r.Header["Authorization"], x.r.Header["X-Api-Key"])
	switch {
	case err != nil:
		return err
	case secret == "" && need == public:
		return nil
	case secret == "":
		return errNoCredential
	case x.s.Keys == nil:
		return keys.ErrRefused
	}
	p, err := x.s.Keys.Authenticate(ctx, secret)
	switch {
	case err != nil:
		return err
	case p.Account == "" && p.KeyHash == "":
		return errNoAccount
	}
	x.principal = p
	return nil
}

// admit counts a request of a known caller towards its rate.
func (x *exchange) admit() error {
	if x.s.admitter == nil {
		return nil
	}
	release, err := x.s.admitter.Admit(x.principal)
	x.release = release
	return err
}

// credential returns the key in the headers of a request, or "" if there is none. No
// other code reads credentials. Two different credentials are refused, because another
// reader, such as a proxy, might pick the other one. Text under a scheme other than
// Bearer is refused like an unknown key.
func credential(authorization, apiKey []string) (router.Secret, error) {
	var found string
	add := func(text string) bool {
		if text == "" || text == found {
			return true
		}
		if found != "" {
			return false
		}
		found = text
		return true
	}
	for _, v := range authorization {
		text := strings.TrimSpace(v)
		scheme := text
		if end := strings.IndexAny(text, " \t"); end >= 0 {
			scheme = text[:end]
		}
		switch {
		case strings.EqualFold(scheme, "bearer"):
			text = strings.TrimSpace(text[len(scheme):])
		case text != "": // an empty header counts as absent
			text = "\n" + text // cannot be a key, because no key has a line feed
		}
		if !add(text) {
			return "", errTwoCredentials()
		}
	}
	for _, v := range apiKey {
		if !add(strings.TrimSpace(v)) {
			return "", errTwoCredentials()
		}
	}
	return router.Secret(found), nil
}

func errTwoCredentials() error {
	return badRequest("authorization", "two different credentials were sent")
}
