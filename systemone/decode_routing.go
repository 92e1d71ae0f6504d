package systemone

import "github.com/shopspring/decimal"

const (
	maxDeadline = 600_000       // milliseconds
	maxCost     = 9_000_000_000 // USD
	usdDigits   = 9             // decimals of an amount

	mustBeCost     = `must be an amount in USD from 0 to 9000000000 with at most nine decimals, such as "0.05"`
	mustBeDeadline = "must be a whole number from 1 to 600000"
)

// routing reads a closed object.
func (p *problems) routing(value []byte) (r Routing) {
	p.members(value, func(name string, value []byte) bool {
		switch name {
		case "max_cost":
			if value != nil {
				r.MaxCost = p.cost(value)
			}
		case "deadline_ms":
			if value != nil {
				r.DeadlineMS = p.deadline(value)
			}
		case "split":
			r.Split = word(p, value, SplitAuto, SplitNever)
		case "remember":
			r.Remember = word(p, value, RememberOff, RememberRead, RememberWrite)
		default:
			return false
		}
		return true
	})
	return r
}

// cost reads an amount, as a number or as text, and returns all its digits without
// an exponent.
func (p *problems) cost(value []byte) string {
	text := string(value)
	if value[0] == '"' {
		text = p.text(value)
	}
	cost, ok := parseDecimal(text)
	if !ok || !isCost(cost) {
		p.fail(mustBeCost)
		return ""
	}
	return cost.String()
}

// isCost reports whether the router can count an amount exactly.
func isCost(d decimal.Decimal) bool {
	return !d.IsNegative() && !d.GreaterThan(decimal.NewFromInt(maxCost)) && d.Equal(d.Truncate(usdDigits))
}

// deadline reads a number of milliseconds. 0, which means none in [Routing], is a
// problem here.
func (p *problems) deadline(value []byte) int {
	n, ok := ParseCount(value)
	if !ok || n < 1 || n > maxDeadline {
		p.fail(mustBeDeadline)
		return 0
	}
	return int(n)
}

// routing notes the problems of a request's routing.
func (v *validator) routing(r *Routing) {
	if r == nil {
		return
	}
	v.enter("routing")
	defer v.leave()
	if cost, ok := parseDecimal(r.MaxCost); r.MaxCost != "" && (!ok || !isCost(cost)) {
		v.failAt("max_cost", mustBeCost)
	}
	if r.DeadlineMS < 0 || r.DeadlineMS > maxDeadline {
		v.failAt("deadline_ms", mustBeDeadline)
	}
	oneOf(v, "split", r.Split, SplitAuto, SplitNever)
	oneOf(v, "remember", r.Remember, RememberOff, RememberRead, RememberWrite)
}
