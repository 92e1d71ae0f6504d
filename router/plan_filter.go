package router

import (
	"slices"

	"github.com/shopspring/decimal"
)

// verdict is why an endpoint is excluded, with the index of the rule that excludes
// it. The zero verdict keeps the endpoint.
type verdict struct {
	reason Filter
	detail Detail
	rule   int32 // index into planner.rules, or noRule
}

const noRule = -1

// byRequest returns a verdict due to the request's own preferences, the last rule.
func (p *planner) byRequest(r Filter) verdict {
	return verdict{reason: r, rule: int32(len(p.rules) - 1)} //nolint:gosec // a short list
}

// judgeModel applies the model lists to a model that is asked for as an entry of
// another, or by itself where via is nowhere. A list that names the other names its
// entry.
func (p *planner) judgeModel(m, via int32) verdict {
	for i, r := range p.rules {
		if r.AllowedModels != nil && !p.namesModel(r.AllowedModels, m) && (via == nowhere || !p.namesModel(r.AllowedModels, via)) {
			return verdict{reason: FilterAllowedModels, rule: int32(i)}
		}
	}
	for i, r := range p.rules {
		if slices.ContainsFunc(r.IgnoredModels, func(name string) bool {
			named := p.modelsNamed(name) // an ambiguous name ignores every model that it may mean
			return slices.Contains(named, m) || slices.Contains(named, via)
		}) {
			return verdict{reason: FilterIgnoredModels, rule: int32(i)}
		}
	}
	return verdict{}
}

// namesModel reports whether a list allows a model. An ambiguous name allows none.
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
		if r := judgeLimits(s.endpoint, &p.in.Shape, p.in.InParts); r != keep {
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

// refusal returns the verdict of the first filter that refuses one of the traits.
func (p *planner) refusal(t traits) verdict {
	bit, r := t.first()
	return verdict{reason: r, rule: p.refusedBy[bit]}
}

// judgeLimits compares the request's size with the endpoint's limits. A limit of
// zero is no limit. In parts there is none on questions and, where options can be
// split, on options.
func judgeLimits(e *Endpoint, s *Shape, inParts bool) Filter {
	switch l := &e.Limits; {
	case e.ContextLength > 0 && s.StateTokens > int64(e.ContextLength):
		return FilterContextLength
	case l.Questions > 0 && s.Questions > l.Questions && !inParts:
		return FilterQuestions
	case l.Options > 0 && s.Options > l.Options && (!inParts || !e.splitsOptions()):
		return FilterOptions
	case l.Levels > 0 && s.Levels > l.Levels:
		return FilterLevels
	case l.NoNulls && s.Nulls, l.OptionNullsOnly && s.OtherNulls:
		return FilterNulls
	}
	return keep
}

// finest is the coarsest rounding with which a choice may be asked in parts: the
// merged distribution is off by at most this times the options times the rounds.
const finest = 1e-4

// splitsOptions reports whether a choice may be asked here in parts.
func (e *Endpoint) splitsOptions() bool {
	return e.Limits.Options > 1 && !e.Tolerance.NoDistribution && e.Tolerance.Rounding <= finest
}

// capOf returns the largest USD within a cap, its whole nano-dollars. A USD is
// within the result exactly when it is within the cap. No cap is the largest USD,
// and a negative cap is -1, because no price is within it.
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
	switch whole := digits + shift; { // whole is the number of digits of the result
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

// capOfLong is capOf for numbers that may overflow an int64 on the way. It is
// called only for results of at most 19 digits, so no number is longer than the
// cap's text.
func capOfLong(d *decimal.Decimal, shift int64) USD {
	n := decimal.NewFromBigInt(d.Coefficient(), int32(shift)).BigInt() //nolint:gosec // exponent plus nine, and small
	if !n.IsInt64() {
		return maxUSD
	}
	return USD(n.Int64())
}
