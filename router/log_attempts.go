package router

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/signalbox/signalbox/systemone"
)

// logAttempts writes a line for every failed attempt of the call, except for one
// that ended because the caller hung up.
func logAttempts(ctx context.Context, l *slog.Logger, c *Call) {
	for a := range c.Report.Attempts() {
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

// causeOf returns what a log may contain of an attempt's error. By contract the
// text of an [UpstreamError] contains neither secrets nor an upstream's text, and
// neither do the router's own errors. Of any other error it returns the type,
// because the text may contain a transport's address.
func causeOf(err error) string {
	if bad, ok := errors.AsType[*systemone.AnswerError](err); ok {
		// Without the question's name, which the caller chose.
		return (&systemone.AnswerError{Problem: bad.Problem}).Error()
	}
	if up, ok := errors.AsType[*UpstreamError](err); ok {
		return up.Error()
	}
	for _, own := range []error{errUsage, errContext, errNoUsage, errRefused, errInvented, context.DeadlineExceeded} {
		if errors.Is(err, own) {
			return own.Error()
		}
	}
	return fmt.Sprintf("router: the provider returned a %T", err)
}
