package router

import (
	"log/slog"
)

// Overrun is an answer that cost more than was held for it. It is charged in full,
// so a limit may be exceeded by the difference.
type Overrun struct {
	Endpoint   *Endpoint // of the attempt that is charged
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

// overrun notes a cost above the call's hold, or above what the request allows.
func (s *reservation) overrun(report *Report, at *Endpoint, cost Amount) {
	held := s.hold.Amount
	over := Amount{}
	if s.held {
		over = cost.minus(held)
	}
	if b := s.ceiling; b != nil && cost.Credit-b.Max > over.Credit {
		over.Credit, held = cost.Credit-b.Max, Amount{Credit: b.Max, Total: b.Max}
	}
	if most := max(over.Credit, over.Total); most > 0 {
		s.router.overruns.add(most)
		report.Overrun = &Overrun{Endpoint: at, Held: held, Cost: cost}
	}
}

// Overruns returns how many answers since the router was made cost more than was
// held for them, and by how much in total. They were charged in full, so a limit
// may be exceeded by that much; the next call under that limit is refused. It is 0
// unless an upstream counts more tokens than its request and its reply have bytes,
// or than its endpoint's [Counting] says. Each is also in its call's Report and in
// the log ([Log]). It is safe for concurrent use.
func (r *Router) Overruns() (count int64, amount USD) {
	return r.overruns.count.Load(), USD(r.overruns.amount.Load())
}
