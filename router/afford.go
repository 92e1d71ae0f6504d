package router

import (
	"fmt"
	"math/bits"

	"github.com/signalbox/signalbox/systemone"
)

// short returns the budget that refused a candidate, with a refusal that says what
// the request may cost there and what can be afforded. It tells nothing new: a
// caller can find what a limit leaves by sending larger and smaller requests.
func (m *share) short(refused *LimitError, by *Candidate, most, others Amount) *Budget {
	s := m.of
	b := *s.budgets[refused.Cap]
	left := max(refused.Left, 0)
	if s.held { // what the call holds beside its other legs is available to this candidate, too
		left += max(s.hold.Amount.Of(b.BYOK)-others.Of(b.BYOK), 0)
	}
	prompt, completion := m.size.at(by.Endpoint)
	issue := systemone.Issue{Message: fmt.Sprintf("may cost up to %s USD for %d prompt tokens at %s, and the limit leaves %s USD",
		most.Of(b.BYOK), prompt, by.Endpoint.Tag(), left)}
	if n := by.Endpoint.Pricing.affords(left, completion); n > 0 && n < prompt {
		issue.Message += fmt.Sprintf(": enough for %d prompt tokens", n)
	}
	b.Refusal = b.refusal()
	b.Refusal.Issues = []systemone.Issue{issue}
	return &b
}

// affords returns the most prompt tokens that an amount pays for, beside the
// request fee and the completion. It returns 0 where the amount does not pay for
// these two, or where prompt tokens are free.
func (p Pricing) affords(left USD, completion int64) int64 {
	used, price := p.amount(0, completion), count(p.Prompt.usd)
	all := amount{}.plus(tokensPerUSD, count(left))
	lo, borrow := bits.Sub64(all.lo, used.lo, 0)
	hi, borrow := bits.Sub64(all.hi, used.hi, borrow)
	switch {
	case borrow != 0 || price == 0:
		return 0
	case hi >= price:
		return maxTokens
	}
	n, _ := bits.Div64(hi, lo, price)
	return int64(min(n, maxTokens))
}
