package httpapi

import (
	"context"
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
	secret, err := credential(x.r.Header["Authorization"], x.r.Header["X-Api-Key"])
	switch {
	case err != nil:
		return err
	case secret == "" && need == public:
		return nil
	case secret == "":
		return errNoCredential
	}
	p, err := x.s.Keys.Authenticate(ctx, secret)
	if err != nil {
		return err
	}
	x.principal = p
	// Every request of a key counts, also one that is refused; the kind of key
	// is the first thing to be told.
	tooMany := x.admit()
	switch {
	case need == inference && p.Management:
		return keys.ErrManagement
	case need == management && !p.Management:
		return errNotManagement
	}
	return tooMany
}

// admit counts the request of a known key.
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
// refused, so that no other place can be made to see another one. A scheme
// other than Bearer is a key that nobody has.
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
			text = "\n" + text // no key has a line feed, so nobody has this one
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
