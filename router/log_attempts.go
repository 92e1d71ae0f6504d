package router

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/signalbox/signalbox/systemone"
)

// logAttempts writes a line for every attempt of the call that failed. What ended
// because the caller hung up is no failure.
func logAttempts(ctx context.Context, l *slog.Logger, c *Call) {
	for i := range c.Report.Attempts {
		a := &c.Report.Attempts[i]
		if a.Class == "" || errors.Is(a.Err, context.Canceled) {
			continue
		}
		l.LogAttrs(ctx, slog.LevelWarn, "attempt failed",
			slog.String("id", c.ID),
			slog.String("request_id", c.RequestID),
			slog.String("endpoint", a.Endpoint.Tag()),
			slog.String("model", a.Endpoint.Model),
			slog.String("class", string(a.Class)),
			slog.Int("status", a.Status),
			slog.Duration("duration", a.Duration),
			slog.String("cause", causeOf(a.Err)))
	}
}

// causeOf is what a log may say of why an attempt failed. The text of an
// [UpstreamError] holds neither a secret nor an upstream's text by contract, nor
// do the router's own; of any other error, which a provider should not have
// returned and which may be a transport's with an address in it, it says the type.
func causeOf(err error) string {
	if bad, ok := errors.AsType[*systemone.AnswerError](err); ok {
		// The question's name is the caller's.
		return (&systemone.AnswerError{Problem: bad.Problem}).Error()
	}
	if up, ok := errors.AsType[*UpstreamError](err); ok {
		return up.Error()
	}
	for _, own := range []error{errUsage, errContext, errNoUsage, errRefused, context.DeadlineExceeded} {
		if errors.Is(err, own) {
			return own.Error()
		}
	}
	return fmt.Sprintf("router: the provider returned a %T", err)
}
