package router

import (
	"context"

	"github.com/shopspring/decimal"

	"github.com/signalbox/signalbox/systemone"
)

// share is what one walk holds of its call's reservation: the most that a candidate
// which it has asked may cost.
type share struct {
	of   *reservation
	size size // of what is asked
	held Amount
}

// reserve holds the most that a candidate may cost. It returns the budget that has
// no room for it, or an error of the ledger. A hold is only ever raised.
func (m *share) reserve(ctx context.Context, by *Candidate, provider string) (*Budget, error) {
	if !m.of.counts && m.of.ceiling == nil {
		return nil, nil //nolint:nilnil // no budget refuses, and nothing is wrong
	}
	return m.hold(ctx, by, provider, priced(by.Endpoint.Pricing.Bound(m.size.at(by.Endpoint)), by.Credential))
}

// hold is reserve for an amount.
func (m *share) hold(ctx context.Context, by *Candidate, provider string, most Amount) (*Budget, error) {
	s := m.of
	s.mu.Lock()
	defer s.mu.Unlock()
	others := s.spent.plus(s.taken).minus(m.held)
	if b := s.ceiling; b != nil && most.Credit > 0 && most.Credit > b.Max-others.Credit {
		return b, nil
	}
	wants := m.held.Max(most)
	switch amount := s.hold.Amount.Max(others.plus(wants)); {
	case !s.counts:
	case most.Total == 0:
		return nil, s.reach(ctx)
	case s.held && amount == s.hold.Amount: // a hold that suffices cannot be refused
	default:
		refused, err := s.raise(ctx, amount, by, provider)
		if refused != nil {
			return m.short(refused, by, most, others), nil
		}
		if err != nil {
			return nil, err
		}
	}
	m.held, s.taken = wants, s.taken.minus(m.held).plus(wants)
	return nil, nil //nolint:nilnil // it fits
}

// spend notes what an attempt of the walk costs, in place of what the walk held for it.
// Answers that turn out to be of no use count as well, because a caller that hangs up is
// charged for them.
func (m *share) spend(cost Amount) {
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	m.of.spent = m.of.spent.plus(cost)
	m.of.taken, m.held = m.of.taken.minus(m.held), Amount{}
}

// giveBack frees what the walk holds for other walks of the call.
func (m *share) giveBack() {
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	m.of.taken, m.held = m.of.taken.minus(m.held), Amount{}
}

// atMost returns cost, at most what the walk holds.
func (m *share) atMost(cost Amount) Amount {
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	if m.of.held || m.of.ceiling != nil {
		cost.Credit = min(cost.Credit, m.held.Credit)
		cost.Total = min(cost.Total, m.held.Total)
	}
	return cost
}

// ceilingOf returns the limit that a request sets itself, or nil.
func ceilingOf(q *systemone.Request) *Budget {
	if q.Routing == nil || q.Routing.MaxCost == "" {
		return nil
	}
	most, err := decimal.NewFromString(q.Routing.MaxCost)
	if err != nil { // unreachable: the request was validated
		most = decimal.Zero
	}
	return &Budget{
		Check: Check{Word: "max_cost"}, Max: capOf(&most),
		Refusal: &Error{Class: PaymentRequired, Message: "Request cost limit exceeded"},
	}
}
