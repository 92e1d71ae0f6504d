package keys

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/router"
)

// Intercept lets only usable inference keys through, and puts the key's limit
// on the call. A call that brings a Secret is authenticated by it and counted
// by [Service.Admit]; where the Principal has a KeyHash, both were done before, and
// the key is only looked up. A key of another account or workspace than the Principal
// names is refused like an unknown one. A call with neither passes as it is, unless its
// Principal has Management: it is the embedding program's own, or one of an account
// whose member was authenticated in another way.
//
// Where the ledger keeps versions, a change of a key acts on the next call that
// something is set aside for, in every process that shares the store: a limit as
// well as that the key was disabled or deleted. What costs nothing is admitted by
// what [Service.Authenticate] believes.
func (s *Service) Intercept(next router.Decider) router.Decider {
	return func(ctx context.Context, c *router.Call) (*router.Result, error) {
		brought := c.Secret != ""
		d, ok := digestOf(c.Principal.KeyHash)
		switch {
		case brought:
			d, c.Secret = digestOfText(string(c.Secret)), ""
		case c.Principal.KeyHash == "" && c.Principal.Management:
			return nil, refusal(ErrManagement)
		case c.Principal.KeyHash == "":
			return next(ctx, c)
		case !ok:
			return nil, refusal(ErrRefused)
		}
		e, err := s.lookup(ctx, &d)
		if err != nil {
			return nil, refusal(err)
		}
		if !brought && !holds(c.Principal, e.principal) {
			return nil, refusal(ErrRefused)
		}
		if brought {
			release, tooMany := s.Admit(e.principal)
			defer release()
			err = tooMany
		}
		if e.key.Management { // comes before the rate, in whatever order they are found
			err = ErrManagement
		}
		if err != nil {
			return nil, refusal(err)
		}
		c.Principal, c.KeyLabel = e.principal, e.key.Label
		c.Limit(e.limits)
		return next(ctx, c)
	}
}

// holds reports whether a caller can have the key of a holder: where the caller's
// account or workspace is known, it is the holder's.
func holds(caller, holder router.Principal) bool {
	return (caller.Account == "" || caller.Account == holder.Account) &&
		(caller.Workspace == "" || caller.Workspace == holder.Workspace)
}

// limits are those of a key. When they turn out to be old the key is read again,
// and a call is refused that may no longer use it.
func (s *Service) limits(e *entry) *router.Limits {
	l := &router.Limits{
		Versions: []router.Version{{Line: router.OwnerKey.Line(e.principal, "ever"), N: e.key.Version}},
		Again: func(ctx context.Context) (*router.Limits, error) {
			now, err := s.cache.renew(ctx, e)
			if err == nil {
				err = now.usable(s.cfg.Now)
			}
			if err != nil {
				return nil, refusal(err)
			}
			return now.limits, nil
		},
	}
	if k := &e.key; k.Limit != nil {
		l.Budgets = []router.Budget{{
			Check: router.Check{Order: 20, Word: "key_limit"}, Owner: router.OwnerKey, Interval: k.Reset, Max: *k.Limit, BYOK: k.IncludeBYOK,
			Refusal: &router.Error{Class: router.PaymentRequired, Message: "Key limit exceeded"},
		}}
	}
	return l
}

// refusal is what a caller is told of err.
func refusal(err error) error {
	if e, ok := errors.AsType[*RateLimitError](err); ok {
		return &router.Error{Class: router.RateLimitExceeded, Message: "Rate limit exceeded", RetryAfter: e.RetryAfter, Err: err}
	}
	for _, r := range []struct {
		is      error
		class   router.Class
		message string
	}{
		{ErrRefused, router.Authentication, "Invalid API key"},
		{ErrDisabled, router.Authentication, "API key disabled"},
		{ErrExpired, router.Authentication, "API key expired"},
		{ErrManagement, router.PermissionDenied, "Management keys cannot be used for inference"},
	} {
		if errors.Is(err, r.is) {
			return &router.Error{Class: r.class, Message: r.message, Err: err}
		}
	}
	return router.Failure(err)
}
