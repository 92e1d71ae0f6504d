package router

import (
	"slices"

	"github.com/shopspring/decimal"
)

// reason is why an endpoint is out. The filters stand in their order: the
// first one that removes an endpoint is its reason.
type reason uint8

const (
	keep reason = iota
	allowedModels
	ignoredModels
	allowedProviders
	ignoredProviders
	training
	zeroRetention
	distillable
	quantization
	maxPrice
	requireParameters
	contextLength
	limitQuestions
	limitOptions
	limitLevels
	limitNulls
	order
	offline
	filters // how many there are

	fallbacks = filters // no filter: behind the only candidate
)

//nolint:gochecknoglobals // a constant table
var reasonWords = [...]string{
	allowedModels:     "allowed_models",
	ignoredModels:     "ignored_models",
	allowedProviders:  "allowed_providers",
	ignoredProviders:  "ignored_providers",
	training:          "data_policy:training",
	zeroRetention:     "data_policy:zdr",
	distillable:       "distillable",
	quantization:      "quantization",
	maxPrice:          "max_price",
	requireParameters: "require_parameters",
	contextLength:     "context_length",
	limitQuestions:    "limits:questions",
	limitOptions:      "limits:options",
	limitLevels:       "limits:levels",
	limitNulls:        "limits:nulls",
	order:             "order",
	offline:           "offline",
	fallbacks:         "allow_fallbacks",
}

// priceParts are the members of max_price; the position is verdict.part.
//
//nolint:gochecknoglobals // a constant table
var priceParts = [...]string{"max_price.prompt", "max_price.completion", "max_price.request", "max_price.image", "max_price.audio"}

// verdict is a reason with its detail and its rule. The zero verdict keeps.
type verdict struct {
	reason reason
	part   uint8 // of a maxPrice
	rule   int32 // index into planner.rules, or noRule
}

const noRule = -1

// byRequest is a verdict that the request itself asked for.
func (p *planner) byRequest(r reason) verdict {
	return verdict{reason: r, rule: int32(len(p.rules) - 1)} //nolint:gosec // a short list
}

// judgeModel applies the model lists.
func (p *planner) judgeModel(m int32) verdict {
	for i, r := range p.rules {
		if r.AllowedModels != nil && !p.namesModel(r.AllowedModels, m) {
			return verdict{reason: allowedModels, rule: int32(i)}
		}
	}
	for i, r := range p.rules {
		if slices.ContainsFunc(r.IgnoredModels, func(name string) bool {
			return slices.Contains(p.modelsNamed(name), m) // and ignores all that it may mean
		}) {
			return verdict{reason: ignoredModels, rule: int32(i)}
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
		prices := [len(priceParts)]USD{pricing.Prompt, pricing.Completion, pricing.Request}
		for part, price := range prices {
			if price > p.caps[part] {
				v := p.byRequest(maxPrice)
				v.part = uint8(part)
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
		return p.byRequest(order)
	case s.traits&(1<<offBit) != 0:
		return verdict{reason: offline, rule: noRule}
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
func judgeLimits(e *Endpoint, s *Shape) reason {
	switch l := &e.Limits; {
	case e.ContextLength > 0 && s.StateTokens > int64(e.ContextLength):
		return contextLength
	case l.Questions > 0 && s.Questions > l.Questions:
		return limitQuestions
	case l.Options > 0 && s.Options > l.Options:
		return limitOptions
	case l.Levels > 0 && s.Levels > l.Levels:
		return limitLevels
	case l.NoNulls && s.Nulls, l.OptionNullsOnly && s.OtherNulls:
		return limitNulls
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
