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

// Not in net/http.
const (
	statusEdgeTimeout = 524
	statusOverloaded  = 529
)

// Class returns the class of a failed attempt that ended with an HTTP status.
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

// What is wrong with a reply, or with the way to it. The texts are for the
// operator's log and hold nothing of the upstream's.
var (
	errCredential = errors.New("the caller's own credential cannot be shown to this upstream")
	errRequestID  = errors.New("the request id cannot stand in a header")
	errStatus     = errors.New("upstream refused the request")
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

// BadReply reports a 200 that cannot be trusted. The error must hold nothing
// of the upstream's text.
func BadReply(err error) *router.UpstreamError {
	return &router.UpstreamError{Status: http.StatusOK, Class: router.ProviderUnavailable, BadReply: true, Err: err}
}

// BadAnswer is a [BadReply] that could be read, and whose answers are wrong.
func BadAnswer(err error) *router.UpstreamError {
	bad := BadReply(err)
	bad.Checked = true
	return bad
}

// BadResponse classes an error of [systemone.DecodeResponse]. It drops the name that
// stands in the error, because the upstream chose it. A reply with an answer of which
// something can be said was in the dialect, and is a [BadAnswer].
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

// failure reports an attempt that got no reply. The text of err is not kept:
// the transport quotes malformed replies in its errors.
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

// cause names what went wrong below HTTP in words of our own.
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
