package keys

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/router"
)

// Intercept lets only inference keys through. A call that brings a Secret is
// authenticated by it; one whose Principal is known is taken at its word. A
// call with neither is refused: a program that routes without keys leaves this
// interceptor out.
func (s *Service) Intercept(next router.Decider) router.Decider {
	return func(ctx context.Context, c *router.Call) (*router.Result, error) {
		if c.Secret != "" {
			p, err := s.Authenticate(ctx, c.Secret)
			if err != nil {
				return nil, refusal(err)
			}
			c.Principal, c.Secret = p, ""
		}
		switch {
		case c.Principal.KeyHash == "":
			return nil, &router.Error{Class: router.Authentication, Message: "Missing Authentication header"}
		case c.Principal.Management:
			return nil, refusal(ErrManagement)
		}
		return next(ctx, c)
	}
}

// refusal is what a caller is told of err.
func refusal(err error) error {
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
	return &router.Error{Class: router.Server, Err: err}
}
