package router

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// Class is the kind of a failure. The class of an attempt decides whether another
// endpoint is asked, and the class of a request decides the caller's HTTP status.
// The values are the error_type vocabulary of the HTTP interface.
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
	// BadReply says that the upstream replied, but that the reply is malformed or
	// wrong. The attempt then counts as ProviderUnavailable with status 502.
	BadReply bool
	// Checked says of a BadReply that it could be read and that its answers failed
	// the check: one is missing, invented, of the wrong type or with an unknown
	// label. The reply then counts in the endpoint's share of passed checks
	// ([Stats]).
	Checked bool
	// Local says that this side caused the failure, such as too many reply bytes in
	// flight. It does not count against the endpoint.
	Local bool
	// Err is for the operator's log. It must hold neither secrets nor the
	// upstream's text.
	Err error
}

// Error returns class, status and cause, for the operator's log.
func (e *UpstreamError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("router: upstream %s (status %d)", e.Class, e.Status)
	}
	return fmt.Sprintf("router: upstream %s (status %d): %v", e.Class, e.Status, e.Err)
}

// Unwrap returns Err.
func (e *UpstreamError) Unwrap() error { return e.Err }

// ErrNotSent must be wrapped by the error of a [Provider] that sent nothing of an
// attempt, for want of memory, say. That is no attempt then: the endpoint is passed
// over, like one at its concurrency limit.
var ErrNotSent = errors.New("router: the attempt was not sent")

// ErrUnavailable must be wrapped by the error of a store that cannot work at the
// moment. Reasons are a missing or broken connection, a server that starts or
// stops, a full disk. The caller gets a 503 and may retry. Any other error of a
// store is a 500.
var ErrUnavailable = errors.New("router: the storage is unavailable")

// unavailableFor is the RetryAfter of a refusal while the storage is unavailable.
const unavailableFor = 5 * time.Second

// Failure turns the error of something that a call needs, such as a policy's store,
// into the caller's error. An [*Error] is returned as it is. [ErrUnavailable] and a
// deadline that passed become [NoCapacity] with a RetryAfter, anything else becomes
// [Server].
func Failure(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		return &Error{Class: NoCapacity, RetryAfter: unavailableFor, Err: err}
	}
	return &Error{Class: Server, Err: err}
}

// Error says why a request was not answered. Every field but Err may be shown to
// the caller.
type Error struct {
	Class Class
	// Message is a documented sentence of the interface; "" selects the sentence of
	// the class.
	Message string
	// Issues are the mistakes of an InvalidRequest, or what can be afforded where a
	// budget refuses.
	Issues []systemone.Issue
	// ExcludedBy lists the filters that removed endpoints, in filter order, where a
	// NotFound found no endpoint. It is never nil there.
	ExcludedBy []string
	RetryAfter time.Duration // 0: unknown
	// Metadata are further members of error.metadata in the reply.
	Metadata map[string]any
	// Err is the cause, for the operator's log only.
	Err error
}

// Error returns the text for logs. It may contain the text of Err.
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

// ErrConfig is wrapped by every error about a mistake in a configuration.
var ErrConfig = errors.New("router: invalid configuration")
