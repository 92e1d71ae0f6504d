package stack

import (
	"context"
	"errors"
	"log/slog"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// causes writes a line for every attempt that failed, with its cause, when
// another endpoint was asked then: a credential that has run out must not stay
// unknown for as long as the fallbacks work. (Of the attempt that a call failed
// with, httpapi logs the cause.) [router.Log] shows none, because it has to be
// right for a provider of any origin; the clients here put neither a secret nor
// an upstream's text into their errors. What ended because the caller hung up is
// no failure.
func (s *Stack) causes(next router.Decider) router.Decider {
	return func(ctx context.Context, c *router.Call) (*router.Result, error) {
		res, err := next(ctx, c)
		for i := range c.Report.Attempts {
			a := &c.Report.Attempts[i]
			if a.Class == "" || errors.Is(err, a.Err) || errors.Is(a.Err, context.Canceled) {
				continue
			}
			s.log.LogAttrs(context.WithoutCancel(ctx), slog.LevelWarn, "attempt failed",
				slog.String("id", c.ID),
				slog.String("request_id", c.RequestID),
				slog.String("endpoint", a.Endpoint.Tag()),
				slog.String("model", a.Endpoint.Model),
				slog.String("class", string(a.Class)),
				slog.Int("status", a.Status),
				slog.Duration("duration", a.Duration),
				slog.Any("cause", nameless(a.Err)))
		}
		return res, err
	}
}

// nameless drops a question's name, which is the caller's, from what is wrong
// with an answer.
func nameless(err error) error {
	if bad, ok := errors.AsType[*systemone.AnswerError](err); ok {
		return &systemone.AnswerError{Problem: bad.Problem}
	}
	return err
}
