package router

import "github.com/signalbox/signalbox/systemone"

// used is what an upstream's call used, or a caller's share of it.
type used struct {
	cost                             USD // at list price
	input, output, reasoning, cached int64
}

// usedOf returns what an answer with this usage used.
func usedOf(cost USD, u systemone.Usage) used {
	return used{cost: cost, input: u.InputTokens, output: u.OutputTokens, reasoning: u.ReasoningTokens, cached: u.CachedTokens}
}

func (u used) plus(v used) used {
	return used{
		cost: u.cost + v.cost, input: u.input + v.input, output: u.output + v.output,
		reasoning: u.reasoning + v.reasoning, cached: u.cached + v.cached,
	}
}

// portion is a caller's place among those that split what one upstream call used.
type portion struct {
	place, of int   // the place-th of that many callers; the first is 0
	paid      used  // by callers that left before the split
	fixed     *used // the share of a caller that left, else nil
}

// shared reports whether others pay a part, too.
func (p portion) shared() bool { return p.of > 1 || p.paid != used{} }

// part returns the caller's share of what a call used in all. What is left after the
// shares of callers that left is split evenly, and remainders go to the first. So
// does what exceeds most, which every caller has set aside by itself: a share of
// the others is never above most. The sum of all shares is total, or what callers
// that left have paid where that is more.
func (p portion) part(total used, most USD) used {
	if p.fixed != nil {
		return *p.fixed
	}
	return used{
		cost:      USD(p.split(int64(total.cost), int64(p.paid.cost), int64(most))),
		input:     p.split(total.input, p.paid.input, total.input),
		output:    p.split(total.output, p.paid.output, total.output),
		reasoning: p.split(total.reasoning, p.paid.reasoning, total.reasoning),
		cached:    p.split(total.cached, p.paid.cached, total.cached),
	}
}

func (p portion) split(total, paid, most int64) int64 {
	each := max(min(total, most)-paid, 0) / int64(p.of)
	if p.place > 0 {
		return each
	}
	return max(total-paid, 0) - each*int64(p.of-1)
}
