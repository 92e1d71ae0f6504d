package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
)

// authenticate lets the caller on, or says why not. It runs before anything of
// the body is read.
func (x *exchange) authenticate(ctx context.Context, need access) error {
	switch {
	case need == nobody:
		return errClosed
	case x.s.Open && need == management:
		return errNotManagement // who asks without a key administers nothing
	case x.s.Open && need == anyKey:
		return errNoCredential
	case x.s.Open:
		return nil
	}
	err := x.signIn()
	if err == nil && x.principal == (router.Principal{}) {
		err = x.keyHolder(ctx, need)
	}
	if err != nil || x.principal == (router.Principal{}) { // of a public route
		return err
	}
	// Every request of a known caller counts, also one that is refused; the kind of
	// key is the first thing to be told.
	tooMany := x.admit()
	switch {
	case need == inference && x.principal.Management:
		return keys.ErrManagement
	case need == management && !x.principal.Management:
		return errNotManagement
	}
	return tooMany
}

// signIn asks the program who the caller is. It leaves the principal empty where
// the program does not know, so that the key decides.
func (x *exchange) signIn() error {
	if x.s.SignIn == nil {
		return nil
	}
	p, err := x.s.SignIn(x.r)
	switch {
	case err != nil:
		// Failures that say that they are one, and documented refusals of a key, are told
		// as such. Any other error says nothing, because its text may hold what was checked.
		re, ok := errors.AsType[*router.Error](err)
		if status := problemOf(err).status; status == http.StatusUnauthorized || status > http.StatusInternalServerError ||
			ok && re.Class == router.Server {
			return err
		}
		return errSignIn
	case p.Account == "" && p != (router.Principal{}):
		// It must not become a call of the program itself, which nothing limits.
		return errNoAccount
	case p.KeyHash != "":
		return errKeyHash
	}
	x.principal = p
	return nil
}

// keyHolder finds the caller by the key of the request. Where none is needed and
// none is sent, the principal stays empty.
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

// admit counts the request of a known caller.
func (x *exchange) admit() error {
	if x.s.admitter == nil {
		return nil
	}
	release, err := x.s.admitter.Admit(x.principal)
	x.release = release
	return err
}

// credential returns the one key text of a request, or "" when there is none.
// It is the only place that looks at credentials: two different ones are
// refused, so that no other place can be made to see another one. Text under a
// scheme other than Bearer is refused like an unknown key.
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
		case text != "": // an empty header is none
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
