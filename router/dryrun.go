package router

import "context"

// Bound is what a candidate of a dry run may cost.
type Bound struct {
	// Max is the most that an attempt may cost. A real call would hold that amount
	// first.
	Max Amount
	// Refused is the first budget without room for Max; nil where all have room.
	Refused *Budget
}

// dryRun plans a leg for each group, with all questions, and notes what its
// candidates may cost and which limits have no room for them. It asks no provider,
// and only reads the ledger's balances.
func (k *course) dryRun(ctx context.Context) (*Result, error) {
	caps := k.money.hold.Caps
	lines := make([]Line, len(caps))
	for i := range lines {
		lines[i] = caps[i].Line
	}
	var balances []Balance
	if len(lines) > 0 {
		var err error
		if balances, err = k.router.cfg.Ledger.Balances(ctx, lines); err != nil {
			return nil, Failure(err)
		}
	}
	if err := k.required(ctx); err != nil {
		return nil, err
	}
	var first error
	planned := false
	for g := range k.groups {
		reason := LegEscalated
		if g == 0 {
			reason = LegFirst
		}
		w, out := k.leg(ctx, g, nil, reason, nil, nil)
		if w == nil {
			if g == 0 {
				first = out.err
			}
			continue
		}
		planned = true
		w.leg.Bounds = make([]Bound, len(w.candidates))
		for i := range w.candidates {
			by := &w.candidates[i]
			most := priced(by.Endpoint.Pricing.Bound(w.money.size.at(by.Endpoint)), by.Credential)
			w.leg.Bounds[i] = Bound{Max: most, Refused: k.money.without(most, balances)}
		}
		if k.alone {
			break
		}
	}
	if !planned {
		return nil, first
	}
	res := &Result{}
	res.Response.ID = k.call.ID
	return res, nil
}

// without returns the first budget that has no room for an amount, or nil. A limit
// to which the amount adds nothing never refuses.
func (s *reservation) without(most Amount, balances []Balance) *Budget {
	if b := s.ceiling; b != nil && most.Credit > b.Max {
		return b
	}
	for i, limit := range s.hold.Caps {
		adds := most.Of(limit.BYOK)
		left := limit.Max - balances[i].Spent.Of(limit.BYOK) - balances[i].Held.Of(limit.BYOK)
		if adds > 0 && adds > left {
			return s.budgets[i]
		}
	}
	return nil
}
