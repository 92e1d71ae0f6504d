package keys

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/router"
)

// Intercept refuses calls with a key that is not usable for inference, and puts the
// key's limit on the others. A call with a Secret is authenticated by it and counted
// by [Service.Admit]. A call whose Principal has a KeyHash was authenticated and
// counted before, so its key is only looked up. It is refused like an unknown key where
// the Principal names another account or workspace than the key's. A call with neither
// passes unchanged, unless its Principal has Management: it is the embedding program's
// own, or that of an account whose member was authenticated in another way.
//
// Where the ledger keeps versions, a change of a key (its limit, or that it was
// disabled or deleted) acts in every process on the next call that holds money. For
// calls that cost nothing the change acts when [Service.Authenticate] sees it.
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
		k, err := s.lookup(ctx, d)
		if err != nil {
			return nil, refusal(err)
		}
		if !brought && !holds(c.Principal, k.principal) {
			return nil, refusal(ErrRefused)
		}
		if brought {
			release, tooMany := s.Admit(k.principal)
			defer release()
			err = tooMany
		}
		if k.key.Management { // takes precedence over the rate
			err = ErrManagement
		}
		if err != nil {
			return nil, refusal(err)
		}
		c.Principal, c.KeyLabel = k.principal, k.key.Label
		c.Limit(k.limits)
		return next(ctx, c)
	}
}

// holds reports whether a caller can be the holder of a key: where the caller's account
// or workspace is known, it is the holder's.
func holds(caller, holder router.Principal) bool {
	return (caller.Account == "" || caller.Account == holder.Account) &&
		(caller.Workspace == "" || caller.Workspace == holder.Workspace)
}

// limits returns the limits of a key. When the ledger finds them old, the key is
// read again, and the call is refused if the key may no longer be used.
func (s *Service) limits(d digest, k *known) *router.Limits {
	l := &router.Limits{
		Versions: []router.Version{{Line: router.OwnerKey.Line(k.principal, "ever"), N: k.key.Version}},
		Again: func(ctx context.Context) (*router.Limits, error) {
			now, err := s.admit(s.cache.Renew(ctx, d, func(kept *known) bool { return kept.key.Version == k.key.Version }))
			if err != nil {
				return nil, refusal(err)
			}
			return now.limits, nil
		},
	}
	if k := &k.key; k.Limit != nil {
		l.Budgets = []router.Budget{{
			Check: router.Check{Order: 20, Word: "key_limit"}, Owner: router.OwnerKey, Interval: k.Reset, Max: *k.Limit, BYOK: k.IncludeBYOK,
			Refusal: &router.Error{Class: router.PaymentRequired, Message: "Key limit exceeded"},
		}}
	}
	return l
}

// refusal returns the [router.Error] that the caller gets for err.
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
