package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Statuses that are not in net/http.
const (
	statusEdgeTimeout = 524
	statusOverloaded  = 529
)

// Class returns the class of a failed attempt with an HTTP status.
func Class(status int) router.Class {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return router.InvalidRequest
	case http.StatusRequestEntityTooLarge:
		return router.PayloadTooLarge
	case http.StatusTooManyRequests:
		return router.RateLimitExceeded
	case http.StatusServiceUnavailable:
		return router.NoCapacity
	case statusOverloaded:
		return router.ProviderOverloaded
	case http.StatusRequestTimeout, http.StatusGatewayTimeout, statusEdgeTimeout:
		return router.Timeout
	default:
		return router.ProviderUnavailable
	}
}

// Problems of an attempt. The texts are for the operator's log and contain nothing
// of the upstream's.
var (
	errCredential = errors.New("the caller's own credential cannot be shown to this upstream")
	errRequestID  = errors.New("the request id cannot stand in a header")
	errStatus     = errors.New("upstream replied with an error")
	errForm       = errors.New("reply is not in the System One form")
	errNotOK      = errors.New("reply has an unexpected status")
	errTooLarge   = errors.New("reply is larger than allowed")
	errEncoded    = errors.New("reply is compressed, which was not asked for")
	errCut        = errors.New("reply was cut off")
	errInFlight   = errors.New("too many bytes in flight")
	errTimedOut   = errors.New("upstream did not answer in time")
	errTLS        = errors.New("TLS handshake failed")
	errNoHost     = errors.New("host name cannot be resolved")
	errConnection = errors.New("connection failed")
)

// BadReply returns the failure for a 200 that cannot be trusted. err must contain
// nothing of the upstream's text.
func BadReply(err error) *router.UpstreamError {
	return &router.UpstreamError{Status: http.StatusOK, Class: router.ProviderUnavailable, BadReply: true, Err: err}
}

// BadAnswer is a [BadReply] that could be read, but whose answers are wrong.
func BadAnswer(err error) *router.UpstreamError {
	bad := BadReply(err)
	bad.Checked = true
	return bad
}

// BadResponse returns the failure for an error of [systemone.DecodeResponse], without
// the name that the upstream chose for an answer. If the problem is that of one answer,
// the reply was in the dialect and is a [BadAnswer].
func BadResponse(err error) *router.UpstreamError {
	bad, ok := errors.AsType[*systemone.AnswerError](err)
	switch {
	case !ok:
		return BadReply(errForm)
	case bad.Question != "":
		return BadAnswer(&systemone.AnswerError{Problem: bad.Problem})
	default:
		return BadReply(&systemone.AnswerError{Problem: bad.Problem})
	}
}

// failure returns the failure of an attempt without a reply. It drops the text of
// err, because the transport quotes malformed replies in its errors.
func failure(ctx context.Context, err error) *router.UpstreamError {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return &router.UpstreamError{Class: router.ProviderUnavailable, Err: context.Canceled}
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return &router.UpstreamError{Class: router.Timeout, Err: context.DeadlineExceeded}
	case timedOut(err):
		return &router.UpstreamError{Class: router.Timeout, Err: errTimedOut}
	default:
		return &router.UpstreamError{Class: router.ProviderUnavailable, Err: cause(err)}
	}
}

func timedOut(err error) bool {
	t, ok := errors.AsType[net.Error](err)
	return ok && t.Timeout()
}

// cause names what failed below HTTP in our own words.
func cause(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return fmt.Errorf("%w: %w", errConnection, errno)
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return errNoHost
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return errTLS
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return errTLS
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return errTLS
	}
	return errConnection
}
