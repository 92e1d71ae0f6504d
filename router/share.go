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

// share is a caller's place among those that split what one upstream call used.
type share struct {
	place, of int   // the place-th of that many callers; the first is 0
	paid      used  // by callers that left before the split
	fixed     *used // the share of a caller that left, else nil
}

// part returns the caller's share of what a call used in all. What is left after the
// shares of callers that left is split evenly, and remainders go to the first. So
// does what exceeds most, which every caller has set aside by itself: a share of
// the others is never above most. The sum of all shares is total, or what callers
// that left have paid where that is more.
func (s share) part(total used, most USD) used {
	if s.fixed != nil {
		return *s.fixed
	}
	return used{
		cost:      USD(s.split(int64(total.cost), int64(s.paid.cost), int64(most))),
		input:     s.split(total.input, s.paid.input, total.input),
		output:    s.split(total.output, s.paid.output, total.output),
		reasoning: s.split(total.reasoning, s.paid.reasoning, total.reasoning),
		cached:    s.split(total.cached, s.paid.cached, total.cached),
	}
}

func (s share) split(total, paid, most int64) int64 {
	each := max(min(total, most)-paid, 0) / int64(s.of)
	if s.place > 0 {
		return each
	}
	return max(total-paid, 0) - each*int64(s.of-1)
}
