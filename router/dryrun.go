package router

import (
	"context"
	"time"
)

// Bound is what a candidate of a dry run may cost.
type Bound struct {
	// Max is the most that an attempt may cost, which would be set aside first.
	Max Amount
	// Refused is the first budget that has no room for it; nil where all have.
	Refused *Budget
}

// dryRun notes what the candidates of the plan may cost and which limits have no
// room for them. It asks no provider, and of the ledger only what stands there.
func (r *Router) dryRun(ctx context.Context, c *Call, now time.Time) (*Result, error) {
	money := r.reservation(c, now)
	lines := make([]Line, len(money.hold.Caps))
	for i := range lines {
		lines[i] = money.hold.Caps[i].Line
	}
	var balances []Balance
	if len(lines) > 0 {
		var err error
		if balances, err = r.cfg.Ledger.Balances(ctx, lines); err != nil {
			return nil, Failure(err)
		}
	}
	size := sizeOf(c.Request)
	c.Report.Bounds = make([]Bound, len(c.Report.Plan.Candidates))
	for i := range c.Report.Plan.Candidates {
		by := &c.Report.Plan.Candidates[i]
		most := priced(by.Endpoint.Pricing.Bound(size.at(by.Endpoint)), by.Credential)
		c.Report.Bounds[i] = Bound{Max: most, Refused: money.without(most, balances)}
	}
	res := &Result{}
	res.Response.ID = c.ID
	return res, nil
}

// without returns the first budget that has no room for an amount, or nil. What
// adds nothing to a limit is never refused by it.
func (s *reservation) without(most Amount, balances []Balance) *Budget {
	for i, limit := range s.hold.Caps {
		adds := most.Of(limit.BYOK)
		left := limit.Max - balances[i].Spent.Of(limit.BYOK) - balances[i].Held.Of(limit.BYOK)
		if adds > 0 && adds > left {
			return s.budgets[i]
		}
	}
	return nil
}
