package router

import (
	"slices"

	"github.com/shopspring/decimal"
)

// verdict is what a plan says of an endpoint that is out, with the rule that it
// is for. The zero verdict keeps.
type verdict struct {
	reason Filter
	detail Detail
	rule   int32 // index into planner.rules, or noRule
}

const noRule = -1

// byRequest is a verdict that the request itself asked for.
func (p *planner) byRequest(r Filter) verdict {
	return verdict{reason: r, rule: int32(len(p.rules) - 1)} //nolint:gosec // a short list
}

// judgeModel applies the model lists.
func (p *planner) judgeModel(m int32) verdict {
	for i, r := range p.rules {
		if r.AllowedModels != nil && !p.namesModel(r.AllowedModels, m) {
			return verdict{reason: FilterAllowedModels, rule: int32(i)}
		}
	}
	for i, r := range p.rules {
		if slices.ContainsFunc(r.IgnoredModels, func(name string) bool {
			return slices.Contains(p.modelsNamed(name), m) // and ignores all that it may mean
		}) {
			return verdict{reason: FilterIgnoredModels, rule: int32(i)}
		}
	}
	return verdict{}
}

// namesModel reports whether a list allows a model. A name that may mean
// several allows none of them.
func (p *planner) namesModel(names []string, m int32) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		found := p.modelsNamed(name)
		return len(found) == 1 && found[0] == m
	})
}

// judge applies the filters that look at one endpoint, in their order.
func (p *planner) judge(s *spec) verdict {
	if v := p.lists.judge(s); v.reason != keep {
		return v
	}
	refused := s.traits & p.refused
	if before := refused & (1<<takesNoUserBit - 1); before != 0 {
		return p.refusal(before)
	}
	if p.capped {
		pricing := &s.endpoint.Pricing
		parts := prices{pricing.Prompt.usd, pricing.Completion.usd, pricing.Request.usd}
		for part, price := range parts {
			if price > p.caps[part] {
				v := p.byRequest(FilterMaxPrice)
				v.detail = DetailPrompt + Detail(part)
				return v
			}
		}
	}
	if refused != 0 {
		return p.refusal(refused)
	}
	if s.traits&(1<<limitedBit) != 0 {
		if r := judgeLimits(s.endpoint, &p.in.Shape); r != keep {
			return verdict{reason: r, rule: noRule}
		}
	}
	switch {
	case p.alone && len(p.prefs.Order) > 0 && p.entry(s) == noEntry:
		return p.byRequest(FilterOrder)
	case s.traits&(1<<offBit) != 0:
		return verdict{reason: FilterOffline, rule: noRule}
	}
	return verdict{}
}

// refusal is the verdict of the first filter that refuses one of the traits.
func (p *planner) refusal(t traits) verdict {
	bit, r := t.first()
	return verdict{reason: r, rule: p.refusedBy[bit]}
}

// judgeLimits compares the request's size with what the endpoint can take. A
// limit of zero is none.
func judgeLimits(e *Endpoint, s *Shape) Filter {
	switch l := &e.Limits; {
	case e.ContextLength > 0 && s.StateTokens > int64(e.ContextLength):
		return FilterContextLength
	case l.Questions > 0 && s.Questions > l.Questions:
		return FilterQuestions
	case l.Options > 0 && s.Options > l.Options:
		return FilterOptions
	case l.Levels > 0 && s.Levels > l.Levels:
		return FilterLevels
	case l.NoNulls && s.Nulls, l.OptionNullsOnly && s.OtherNulls:
		return FilterNulls
	}
	return keep
}

// capOf returns the largest USD within a cap, so that comparing with it is
// comparing with the cap exactly: the whole nano-dollars of it. No cap is the
// largest USD; below a negative one there is nothing.
func capOf(d *decimal.Decimal) USD {
	switch {
	case d == nil:
		return maxUSD
	case d.Sign() < 0:
		return -1
	case d.Sign() == 0:
		return 0
	}
	digits := int64(d.NumDigits())
	shift := int64(d.Exponent()) + usdDigits
	switch whole := digits + shift; { // digits of the result
	case whole <= 0:
		return 0
	case whole > usdMaxDigits:
		return maxUSD
	case max(digits, whole) == usdMaxDigits || digits > usdMaxDigits:
		return capOfLong(d, shift)
	}
	n := d.CoefficientInt64()
	for ; shift < 0; shift++ {
		n /= 10
	}
	for ; shift > 0; shift-- {
		n *= 10
	}
	return USD(n)
}

// capOfLong does the same for numbers that may not fit on the way. It is
// called for results of at most 19 digits only, so it never makes a number
// longer than the cap's text.
func capOfLong(d *decimal.Decimal, shift int64) USD {
	n := decimal.NewFromBigInt(d.Coefficient(), int32(shift)).BigInt() //nolint:gosec // exponent plus nine, and small
	if !n.IsInt64() {
		return maxUSD
	}
	return USD(n.Int64())
}
