package router

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// Class says what kind of failure something is: an attempt's decides whether
// another endpoint is asked, a request's decides the caller's status. The
// values are the error_type vocabulary of the interface.
type Class string

// Every class. Attempts use InvalidRequest, PayloadTooLarge,
// RateLimitExceeded, ProviderUnavailable, NoCapacity, Timeout and
// ProviderOverloaded.
const (
	InvalidRequest      Class = "invalid_request"      // 400
	Authentication      Class = "authentication"       // 401
	PaymentRequired     Class = "payment_required"     // 402
	PermissionDenied    Class = "permission_denied"    // 403
	NotFound            Class = "not_found"            // 404
	Conflict            Class = "conflict"             // 409
	PayloadTooLarge     Class = "payload_too_large"    // 413
	RateLimitExceeded   Class = "rate_limit_exceeded"  // 429
	Server              Class = "server"               // 500
	ProviderUnavailable Class = "provider_unavailable" // 502
	NoCapacity          Class = "no_capacity"          // 503
	Timeout             Class = "timeout"              // 524
	ProviderOverloaded  Class = "provider_overloaded"  // 529
)

// UpstreamError is how a [Provider] reports a failed attempt.
type UpstreamError struct {
	Status     int           // the HTTP status, 0 without an HTTP reply
	Class      Class         // one of the attempt classes; "" is ProviderUnavailable
	RetryAfter time.Duration // 0 when the upstream gave no hint
	// BadReply says that the upstream did answer, but not in a form that can be
	// trusted.
	BadReply bool
	// Checked says of a BadReply that it could be read, and that its answers
	// failed the check: one is missing, invented, of the wrong type or with an
	// unknown label. It counts where replies are compared by quality, as those
	// do that the router finds wrong itself.
	Checked bool
	// Local says that the attempt failed for want of something on this side.
	// It counts against nothing that is known of the endpoint.
	Local bool
	// Err is for the operator's log. It must hold neither secrets nor the
	// upstream's text.
	Err error
}

// Error says what happened, for the operator's log.
func (e *UpstreamError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("router: upstream %s (status %d)", e.Class, e.Status)
	}
	return fmt.Sprintf("router: upstream %s (status %d): %v", e.Class, e.Status, e.Err)
}

// Unwrap returns Err.
func (e *UpstreamError) Unwrap() error { return e.Err }

// ErrNotSent is what the error of a [Provider] wraps when nothing of an attempt
// was sent, for want of memory, say. That is no attempt then: the endpoint is
// passed over, like one at its concurrency limit.
var ErrNotSent = errors.New("router: the attempt was not sent")

// ErrUnavailable is what a store wraps in an error when it cannot be reached, or
// cannot do anything just now: no connection, one that broke, a server that is
// starting or going, a disk that is full. The caller is told to come back (503);
// of any other error of a store it is told that the program failed (500).
var ErrUnavailable = errors.New("router: the storage is unavailable")

// unavailableFor is the RetryAfter of a refusal while the storage is away.
const unavailableFor = 5 * time.Second

// Failure is what a caller is told of the failure of something that a call needs,
// as a policy's store: an [*Error] stays what it is. [ErrUnavailable], and what
// took longer than it was given, is [NoCapacity] with a RetryAfter; anything else
// is [Server].
func Failure(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		return &Error{Class: NoCapacity, RetryAfter: unavailableFor, Err: err}
	}
	return &Error{Class: Server, Err: err}
}

// Error is why a request was not answered. Everything but Err may be shown to
// the caller.
type Error struct {
	Class Class
	// Message is a documented sentence of the interface, or "" for the one
	// that belongs to the class.
	Message string
	// Issues are those of an InvalidRequest, or what can be afforded where a budget
	// refuses.
	Issues []systemone.Issue
	// ExcludedBy lists the reasons that removed endpoints, in filter order, of
	// a NotFound that found no endpoint; never nil there.
	ExcludedBy []string
	RetryAfter time.Duration // 0: unknown
	// Metadata are further members of error.metadata.
	Metadata map[string]any
	// Err is the cause, for the operator's log only.
	Err error
}

// Error returns the message for logs: it may hold the cause's text.
func (e *Error) Error() string {
	s := "router: " + string(e.Class)
	if e.Message != "" {
		s += ": " + e.Message
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// ErrConfig is what every mistake in a configuration is.
var ErrConfig = errors.New("router: invalid configuration")
