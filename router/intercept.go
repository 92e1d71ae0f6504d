package router

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/systemone"
)

// Restrict applies a rule to every call, such as an account-wide list of providers.
// A rule without a Source gets [SourceAccount]. [Catalog.Unknown] finds the rule's
// names that mean nothing in a catalog.
func Restrict(rule Rule) Interceptor {
	if rule.Source == 0 {
		rule.Source = SourceAccount
	}
	return func(next Decider) Decider {
		return func(ctx context.Context, c *Call) (*Result, error) {
			c.Policy = append(slices.Clip(c.Policy), rule)
			return next(ctx, c)
		}
	}
}

// Log writes one line for every call. The level is Info for an answer and Warn for
// a refusal or an upstream's failure. It is Error, with the cause, for a failure of
// the program or its storage. A nil logger is slog.Default at the time of the call.
//
// Before it comes a line at Warn for each failed attempt, with its cause, even
// where another endpoint answered. Otherwise fallbacks would hide an expired
// credential. A call whose answer cost more than was held has a further line at
// Warn, with the key's label, the endpoint, the amount held and the cost. Once an
// hour a line warns of each endpoint whose answers are charged by an estimate,
// because its upstream reports no usage, and one of each model made of stages whose
// MaxEscalated keeps first answers.
//
// The line of a call counts its legs and attempts. That of a call with several legs
// counts the later stages that answered (escalated) and, by reason, those that kept
// earlier answers (kept). The line of a failed call says why no further candidate
// was asked ([Report.Stopped]), and what was charged in all because its caller ended
// it (charged). Lines contain ids, models, providers, classes, statuses, the seed,
// the cost and the duration. They never contain a key's text, a state, a question's
// name, an answer, a user or an upstream's text, as long as providers keep these out
// of an [UpstreamError]. Of any other error of a provider only the type is logged.
// Models are logged only if the catalog has them, because an unknown name may be a
// misplaced secret.
func Log(l *slog.Logger) Interceptor {
	return func(next Decider) Decider {
		var warned hourly[uuid.UUID]
		var capped hourly[string]
		return func(ctx context.Context, c *Call) (*Result, error) {
			started := c.now()
			res, err := next(ctx, c)
			out := l
			if out == nil {
				out = slog.Default()
			}
			ctx = context.WithoutCancel(ctx)
			if out.Enabled(ctx, slog.LevelWarn) {
				logAttempts(ctx, out, c)
			}
			if level := levelOf(err); out.Enabled(ctx, level) {
				out.LogAttrs(ctx, level, "decision", attrs(c, res, err, c.now().Sub(started))...)
			}
			for a := range c.Report.Attempts() {
				if a.UsageEstimated && warned.first(a.Endpoint.ID, c.now()) {
					out.LogAttrs(ctx, slog.LevelWarn, "usage estimated",
						slog.String("endpoint", a.Endpoint.Tag()), slog.String("model", a.Endpoint.Model))
				}
			}
			for _, l := range c.Report.Legs {
				if m := l.Capped; m != nil && capped.first(m.ID, c.now()) {
					out.LogAttrs(ctx, slog.LevelWarn, "first answers kept: the model escalates too many calls",
						slog.String("model", m.ID), slog.Float64("max_escalated", m.MaxEscalated))
				}
			}
			if o := c.Report.Overrun; o != nil {
				out.LogAttrs(ctx, slog.LevelWarn, "a call cost more than was set aside for it", o.attrs(c)...)
			}
			return res, err
		}
	}
}

func levelOf(err error) slog.Level {
	if err == nil {
		return slog.LevelInfo
	}
	if !isOurs(err) {
		return slog.LevelWarn
	}
	return slog.LevelError
}

// isOurs reports whether the program or its storage failed, in contrast to the
// caller or an upstream.
func isOurs(err error) bool { return classOf(err) == Server || errors.Is(err, ErrUnavailable) }

// classOf returns the class of an error. A deadline error that is no [*Error]
// counts as a failure of the program, although the caller is told of a timeout.
func classOf(err error) Class {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	if errors.Is(err, systemone.ErrInvalid) {
		return InvalidRequest
	}
	return Server
}

func attrs(c *Call, res *Result, err error, took time.Duration) []slog.Attr {
	list := []slog.Attr{
		slog.String("id", c.ID),
		slog.String("request_id", c.RequestID),
		slog.String("account", c.Principal.Account),
		slog.String("workspace", c.Principal.Workspace),
		slog.String("key", c.Principal.KeyHash),
		slog.String("requested", cut(c.Known())),
		slog.Int("legs", len(c.Report.Legs)),
		slog.Int("attempts", c.Report.attempts()),
		slog.String("tried", tried(&c.Report)),
		slog.Uint64("seed", c.Seed),
		slog.Duration("duration", max(took, 0)),
	}
	if len(c.Report.Legs) > 1 {
		list = append(list, slog.Int("escalated", c.Report.Escalated()), slog.String("kept", c.Report.kept()))
	}
	if err != nil {
		class := classOf(err)
		list = append(list,
			slog.String("class", string(class)),
			slog.Bool("canceled", errors.Is(err, context.Canceled)))
		if c.Report.Stopped != "" {
			list = append(list, slog.String("stopped", string(c.Report.Stopped)))
		}
		if events := c.Events(nil); len(events) > 0 {
			var charged USD
			for i := range events {
				charged += events[i].Cost.Credit
			}
			list = append(list, slog.String("charged", charged.String()))
		}
		if isOurs(err) {
			list = append(list, slog.Any("error", err))
		}
		return list
	}
	if res == nil {
		return list
	}
	return append(list,
		slog.String("model", res.Response.Model),
		slog.String("provider", res.Response.Provider),
		slog.Int64("input_tokens", res.Response.Usage.InputTokens),
		slog.Int64("output_tokens", res.Response.Usage.OutputTokens),
		slog.String("cost", res.Cost.String()))
}

// Known returns the models that the request names, joined by ", ", if the catalog has
// all of them, else "". In contrast to [Report.Requested] it may be shown to operators,
// because an unknown name may be a misplaced secret. It is complete when Decide has
// returned.
func (c *Call) Known() string {
	if c.resolved.err != nil {
		return ""
	}
	return c.Report.Requested
}

// tried formats attempts as "ant 429, bee/eu 200". A semicolon stands between legs.
func tried(r *Report) string {
	var b strings.Builder
	for _, l := range r.Legs {
		for i := range l.Attempts {
			switch {
			case i > 0:
				b.WriteString(", ")
			case b.Len() > 0:
				b.WriteString("; ")
			}
			a := &l.Attempts[i]
			b.WriteString(a.Endpoint.Tag())
			if a.Status == 0 {
				b.WriteString(" " + string(a.Class))
			} else {
				b.WriteString(" " + strconv.Itoa(a.Status))
			}
		}
	}
	return b.String()
}

// cut bounds the length of a text that a caller chose.
func cut(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// now returns the time by the router's clock.
func (c *Call) now() time.Time {
	if c.clock == nil {
		return c.Admitted
	}
	return c.clock()
}
