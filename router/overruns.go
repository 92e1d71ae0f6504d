package router

import (
	"log/slog"
)

// Overrun is an answer that cost more than was set aside for it. It is charged in
// full, so that a limit may be passed by the difference.
type Overrun struct {
	Endpoint   *Endpoint // of the last attempt that is charged
	Held, Cost Amount
}

func (o *Overrun) attrs(c *Call) []slog.Attr {
	return []slog.Attr{
		slog.String("id", c.ID),
		slog.String("request_id", c.RequestID),
		slog.String("account", c.Principal.Account),
		slog.String("key_label", c.KeyLabel),
		slog.String("endpoint", o.Endpoint.Tag()),
		slog.String("model", o.Endpoint.Model),
		slog.String("held", o.Held.Total.String()),
		slog.String("cost", o.Cost.Total.String()),
		slog.String("charged", o.Cost.Credit.String()),
	}
}

// overrun notes a cost above what was set aside for it.
func (s *reservation) overrun(report *Report, at *Endpoint, cost Amount) {
	over := max(cost.Credit-s.hold.Amount.Credit, cost.Total-s.hold.Amount.Total)
	if over > 0 {
		s.router.overruns.add(over)
		report.Overrun = &Overrun{Endpoint: at, Held: s.hold.Amount, Cost: cost}
	}
}

// Overruns returns how many answers cost more than was set aside for them, and
// how much more, since the router was made. They were charged in full, so that
// a limit may be passed by that much; whatever comes next is refused. It is 0
// unless an upstream counts more tokens than its request and its reply have
// bytes, or than its endpoint's [Counting] says. Each is in the log as well ([Log]), and in its call's Report.
func (r *Router) Overruns() (count int64, amount USD) {
	return r.overruns.count.Load(), USD(r.overruns.amount.Load())
}
