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

// filter gives every endpoint that is out its verdict.
func (p *planner) filter() {
	p.filterProviders()
	for i := range p.asked {
		a := &p.asked[i]
		s := p.spec(a)
		dataRule := s.collects && p.training || !s.zdr && p.groups != 0
		if a.why.reason == keep && (dataRule || p.picky || s.limited || s.off) {
			a.why = p.judge(a, s)
		}
	}
}

// filterProviders applies the provider lists of all rules, allow-lists first,
// and finds each endpoint's entry in the request's order.
func (p *planner) filterProviders() {
	for i, r := range p.rules {
		if r.AllowedProviders != nil {
			p.mark(r.AllowedProviders)
			p.remove(false, verdict{reason: allowedProviders, rule: int32(i)})
		}
	}
	for i, r := range p.rules {
		if len(r.IgnoredProviders) > 0 {
			p.mark(r.IgnoredProviders)
			p.remove(true, verdict{reason: ignoredProviders, rule: int32(i)})
		}
	}
	if len(p.prefs.Order) > 0 {
		p.mark(p.prefs.Order)
		for i := range p.asked {
			p.asked[i].entry = p.marked(p.spec(&p.asked[i]))
		}
	}
}

// remove gives a verdict to the endpoints that are marked, or to those that
// are not.
func (p *planner) remove(marked bool, v verdict) {
	for i := range p.asked {
		a := &p.asked[i]
		if a.why.reason == keep && (p.marked(p.spec(a)) != noEntry) == marked {
			a.why = v
		}
	}
}

// judge applies the filters that look at one endpoint alone, in their order.
func (p *planner) judge(a *asked, s *spec) verdict {
	if v := p.judgeData(s); v.reason != keep {
		return v
	}
	if v := p.judgePreferences(s); v.reason != keep {
		return v
	}
	if s.limited {
		if r := judgeLimits(s.endpoint, &p.in.Shape); r != keep {
			return verdict{reason: r, rule: noRule}
		}
	}
	switch {
	case p.alone && len(p.prefs.Order) > 0 && a.entry == noEntry:
		return p.byRequest(order)
	case s.off:
		return verdict{reason: offline, rule: noRule}
	}
	return verdict{}
}

func (p *planner) judgeData(s *spec) verdict {
	if s.collects {
		for i, r := range p.rules {
			if r.NoPaidTraining && !s.free || r.NoFreeTraining && s.free {
				return verdict{reason: training, rule: int32(i)}
			}
		}
	}
	if !s.zdr {
		for i, r := range p.rules {
			if r.groups>>s.group&1 == 1 {
				return verdict{reason: zeroRetention, rule: int32(i)}
			}
		}
	}
	return verdict{}
}

func (p *planner) judgePreferences(s *spec) verdict {
	if p.prefs.EnforceDistillableText && !s.distillable {
		return p.byRequest(distillable)
	}
	if p.prefs.Quantizations != nil && s.quant&p.quants == 0 {
		return p.byRequest(quantization)
	}
	if p.capped {
		prices := [len(priceParts)]USD{s.pricing.Prompt, s.pricing.Completion, s.pricing.Request}
		for part, price := range prices {
			if price > p.caps[part] {
				v := p.byRequest(maxPrice)
				v.part = uint8(part)
				return v
			}
		}
	}
	if p.prefs.RequireParameters {
		for _, parameter := range p.in.Shape.Parameters {
			if p.in.NoUser && parameter == parameterUser || !slices.Contains(s.endpoint.Parameters, parameter) {
				return p.byRequest(requireParameters)
			}
		}
	}
	return verdict{}
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
