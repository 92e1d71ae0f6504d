package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// The refusals that this package makes itself.
var (
	errNoCredential  = errors.New("httpapi: no credential")
	errSignIn        = errors.New("httpapi: Config.SignIn refused the caller")
	errKeyHash       = errors.New("httpapi: Config.SignIn returned a KeyHash, which nothing has checked")
	errNoAccount     = errors.New("httpapi: a principal without an account was authenticated")
	errNotManagement = errors.New("httpapi: not a management key")
	errClosed        = errors.New("httpapi: the route accepts no key")
	errNotFound      = errors.New("httpapi: no such resource")
	errNoUpdate      = errors.New("httpapi: no accepted member in the body")
	errMethod        = errors.New("httpapi: method not allowed")
	errTooLarge      = errors.New("httpapi: body too large")
	errTooSlow       = errors.New("httpapi: body too slow")
	errNoRoom        = errors.New("httpapi: the bodies in flight hold all of MaxInFlightBytes")
	errShare         = errors.New("httpapi: the bodies in flight of this key or account hold all of its share")
	errPanic         = errors.New("httpapi: panic")
)

// methodNotAllowed is an error_type that is not a class of the router.
const methodNotAllowed router.Class = "method_not_allowed"

// invalidPattern is the error_type of guardrail patterns that cannot be used.
const invalidPattern router.Class = "invalid_regex_pattern"

// Statuses without a name in net/http.
const (
	statusTimeout    = 524
	statusOverloaded = 529
)

// maxRetryAfter is the longest wait that a reply asks for.
const maxRetryAfter = time.Hour

// retryRoom is the wait that a reply asks for when the room for bodies is taken. When
// room becomes free is not known.
const retryRoom = time.Second

// problem is the part of an error that callers may see.
type problem struct {
	status  int
	class   router.Class
	message string
}

// refusals is the one table from errors to replies. For a [router.Error] the row of its
// class applies, otherwise the first row whose error matches, otherwise the last row.
// No other code in this package sets the status or the sentence of a refusal. A
// [router.Error] may bring its own sentence in Message, which replaces the row's
// sentence below status 500.
//
//nolint:gochecknoglobals // a lookup table that is never written
var refusals = []struct {
	is error
	problem
}{
	{nil, problem{http.StatusBadRequest, router.InvalidRequest, "Invalid request parameters"}},
	{nil, problem{http.StatusUnauthorized, router.Authentication, "Missing Authentication header"}},
	{nil, problem{http.StatusPaymentRequired, router.PaymentRequired, insufficientCredits}},
	{nil, problem{http.StatusForbidden, router.PermissionDenied, "Only management keys can perform this operation"}},
	{nil, problem{http.StatusNotFound, router.NotFound, "Resource not found"}},
	{nil, problem{http.StatusConflict, router.Conflict, "Resource conflict. Please try again later."}},
	{nil, problem{http.StatusRequestEntityTooLarge, router.PayloadTooLarge, "Request payload too large"}},
	{nil, problem{http.StatusTooManyRequests, router.RateLimitExceeded, "Rate limit exceeded"}},
	{nil, problem{http.StatusBadGateway, router.ProviderUnavailable, "Provider returned error"}},
	{nil, problem{http.StatusServiceUnavailable, router.NoCapacity, "Service temporarily unavailable"}},
	{nil, problem{statusTimeout, router.Timeout, "Request timed out. Please try again later."}},
	{nil, problem{statusOverloaded, router.ProviderOverloaded, "Provider returned error"}},

	{router.ErrUnavailable, problem{http.StatusServiceUnavailable, router.NoCapacity, "Service temporarily unavailable"}},
	{content.ErrPattern, problem{http.StatusBadRequest, invalidPattern, "Invalid request parameters"}},
	{guardrails.ErrNoUpdate, problem{http.StatusBadRequest, router.InvalidRequest, "No update fields provided"}},
	{guardrails.ErrNotFound, problem{http.StatusNotFound, router.NotFound, "Resource not found"}},
	{guardrails.ErrConflict, problem{http.StatusConflict, router.Conflict, "Resource conflict. Please try again later."}},
	{systemone.ErrInvalid, problem{http.StatusBadRequest, router.InvalidRequest, "Invalid request parameters"}},
	{errNoUpdate, problem{http.StatusBadRequest, router.InvalidRequest, "No update fields provided"}},
	{organization.ErrNotFound, problem{http.StatusNotFound, router.NotFound, "Resource not found"}},
	{organization.ErrConflict, problem{http.StatusConflict, router.Conflict, "Resource conflict. Please try again later."}},
	{activity.ErrNotFound, problem{http.StatusNotFound, router.NotFound, "Resource not found"}},
	{errNoCredential, problem{http.StatusUnauthorized, router.Authentication, "Missing Authentication header"}},
	{errSignIn, problem{http.StatusUnauthorized, router.Authentication, "Invalid API key"}},
	{keys.ErrRefused, problem{http.StatusUnauthorized, router.Authentication, "Invalid API key"}},
	{keys.ErrExpired, problem{http.StatusUnauthorized, router.Authentication, "API key expired"}},
	{keys.ErrDisabled, problem{http.StatusUnauthorized, router.Authentication, "API key disabled"}},
	{keys.ErrManagement, problem{http.StatusForbidden, router.PermissionDenied, "Management keys cannot be used for inference"}},
	{keys.ErrRateLimited, problem{http.StatusTooManyRequests, router.RateLimitExceeded, "Rate limit exceeded"}},
	{keys.ErrNotFound, problem{http.StatusNotFound, router.NotFound, "Resource not found"}},
	{keys.ErrConflict, problem{http.StatusConflict, router.Conflict, "Resource conflict. Please try again later."}},
	{keys.ErrProvisioned, problem{http.StatusForbidden, router.PermissionDenied, "The key was provisioned by a connect client and cannot be changed"}},
	{errNotManagement, problem{http.StatusForbidden, router.PermissionDenied, "Only management keys can perform this operation"}},
	{errClosed, problem{http.StatusForbidden, router.PermissionDenied, "Only management keys can perform this operation"}},
	{presets.ErrNotFound, problem{http.StatusNotFound, router.NotFound, "Resource not found"}},
	{presets.ErrConflict, problem{http.StatusConflict, router.Conflict, "Resource conflict. Please try again later."}},
	{keys.ErrNoCredential, problem{http.StatusNotFound, router.NotFound, "Resource not found"}},
	{errNotFound, problem{http.StatusNotFound, router.NotFound, "Resource not found"}},
	{errMethod, problem{http.StatusMethodNotAllowed, methodNotAllowed, "Method not allowed"}},
	{errTooLarge, problem{http.StatusRequestEntityTooLarge, router.PayloadTooLarge, "Request payload too large"}},
	{errNoRoom, problem{http.StatusServiceUnavailable, router.NoCapacity, "Service temporarily unavailable"}},
	{errShare, problem{http.StatusTooManyRequests, router.RateLimitExceeded, "Rate limit exceeded"}},
	{context.DeadlineExceeded, problem{statusTimeout, router.Timeout, "Request timed out. Please try again later."}},

	{nil, problem{http.StatusInternalServerError, router.Server, "Internal Server Error"}},
}

const insufficientCredits = "Insufficient credits"

// Status returns the HTTP status that a [Handler] answers err with: 200 for nil, 500
// for an unknown error. It is safe for concurrent use.
func Status(err error) int {
	if err == nil {
		return http.StatusOK
	}
	return problemOf(err).status
}

// problemOf returns the problem that the table has for err.
func problemOf(err error) problem {
	re, isRouter := errors.AsType[*router.Error](err)
	for _, row := range refusals {
		switch {
		case isRouter && row.class == re.Class:
			// The cause of a 5xx is not shown to the caller.
			if re.Message != "" && row.status < http.StatusInternalServerError {
				row.message = re.Message
			}
			return row.problem
		case !isRouter && row.is != nil && errors.Is(err, row.is):
			return row.problem
		}
	}
	return refusals[len(refusals)-1].problem
}

// linked adds to the sentence of a 402 where to buy credits, unless url is empty.
func (p problem) linked(url string) problem {
	if url != "" && p.status == http.StatusPaymentRequired && p.message == insufficientCredits {
		p.message += ". Add more at " + url
	}
	return p
}

// retrySeconds returns d in whole seconds, rounded up and bounded, if the status allows
// a Retry-After, otherwise 0.
func retrySeconds(status int, d time.Duration) int {
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, statusOverloaded:
		return int((min(max(d, 0), maxRetryAfter) + time.Second - 1) / time.Second)
	}
	return 0
}
