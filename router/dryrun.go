package router

import (
	"cmp"
	"context"

	"github.com/signalbox/signalbox/internal/split"
)

// Bound is what a candidate of a dry run may cost.
type Bound struct {
	// Max is the most that an attempt may cost. A real call would hold that amount
	// first.
	Max Amount
	// Refused is the first budget without room for Max; nil where all have room.
	Refused *Budget
}

// dryRun plans a leg for each group, with all questions, and notes what its
// candidates may cost and which limits have no room for them, each candidate by
// itself. The first group that has an endpoint is the first stage. It asks no
// provider, and only reads the ledger's balances.
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
	q := query{reason: LegFirst}
	for q.group = range k.groups {
		plan, inParts := k.plan(ctx, q.group, k.call.Request, k.shape, nil)
		switch err := plan.Err(k.names(q.group)); {
		case err != nil:
			w := k.leg(q, k.call.Request, k.shape, plan)
			if first = cmp.Or(first, err); q.reason == LegEscalated {
				w.leg.Kept = KeptNoEndpoint
			}
		case inParts:
			k.dryParts(q, plan, balances)
			q.reason = LegEscalated
		default:
			w := k.leg(q, k.call.Request, k.shape, plan)
			w.leg.Bounds = k.bounds(plan.Candidates, w.money.size, balances)
			q.reason = LegEscalated
		}
		if k.alone {
			break
		}
	}
	if q.reason == LegFirst { // no group has an endpoint
		return nil, first
	}
	res := &Result{}
	res.Response.ID = k.call.ID
	return res, nil
}

// bounds returns what each candidate may cost for a sheet of a size.
func (k *course) bounds(candidates []Candidate, sheet size, balances []Balance) []Bound {
	bounds := make([]Bound, len(candidates))
	for i := range candidates {
		by := &candidates[i]
		most := priced(by.Endpoint.Pricing.Bound(sheet.at(by.Endpoint)), by.Credential)
		bounds[i] = Bound{Max: most, Refused: k.money.without(most, balances)}
	}
	return bounds
}

// dryParts adds a leg for every sheet that the first candidate would be asked, of
// all rounds. The options of a later round are not known yet; those that stand for
// them are no smaller.
func (k *course) dryParts(q query, plan Plan, balances []Balance) {
	q.reason = LegSplit
	by := &plan.Candidates[0]
	sheets, ok := split.New(k.call.Request.Questions, k.call.Request.Questions, limitsOf(by.Endpoint))
	if !ok { // unreachable: such an endpoint is no candidate
		return
	}
	for _, questions := range sheets.Bounds(largest) {
		request, shape := k.part(questions)
		part := plan
		part.Candidates = plan.Candidates[:1:1]
		w := k.leg(q, request, shape, part)
		w.leg.asked = sourcesOf(sheets, questions)
		w.leg.Bounds = k.bounds(part.Candidates, w.money.size, balances)
	}
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
