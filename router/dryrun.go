package router

import (
	"context"
	"time"
)

// Bound is what a candidate of a dry run may cost.
type Bound struct {
	// Max is the most that an attempt may cost. A real call would hold that amount
	// first.
	Max Amount
	// Refused is the first budget without room for Max; nil where all have room.
	Refused *Budget
}

// dryRun notes what the candidates of the plan may cost and which limits have no
// room for them. It asks no provider, and only reads the ledger's balances.
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

// without returns the first budget that has no room for an amount, or nil. A limit
// to which the amount adds nothing never refuses.
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
