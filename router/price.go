package router

import "strings"

// Price is what an endpoint charges for one unit; [Pricing] says which unit. The
// zero Price is free.
//
// Price is a struct so that a bare number does not compile: as a [USD], the 10 in
// Pricing{Prompt: 10} would silently be ten nano-dollars. Write Dollars("10") or
// (10 * Dollar).Price().
type Price struct {
	usd   USD
	wrong string // why the text is no price; "" for a price
}

// Dollars returns the price that a text such as "0.042" states in dollars, as
// [ParseUSD] reads it. It returns no error, so that the literal of an endpoint can
// contain prices. [NewCatalog] refuses the Price of a text that is no amount, with
// an error that quotes the text. Elsewhere such a Price counts as zero.
func Dollars(text string) Price {
	usd, err := ParseUSD(text)
	if err != nil {
		return Price{wrong: strings.TrimPrefix(err.Error(), "router: ")}
	}
	return Price{usd: usd}
}

// Price returns the amount as a price.
func (u USD) Price() Price { return Price{usd: u} }

// USD returns the price as an amount.
func (p Price) USD() USD { return p.usd }

// String returns the price in dollars, as [USD.String] does.
func (p Price) String() string { return p.usd.String() }

// MarshalJSON writes the price in dollars, as [USD.MarshalJSON] does.
func (p Price) MarshalJSON() ([]byte, error) { return p.usd.MarshalJSON() }

// Pricing is what an endpoint charges. All prices are exact to a billionth of a
// dollar; the zero value is free.
type Pricing struct {
	Prompt     Price // per million input tokens
	Completion Price // per million output tokens
	Request    Price // per request
}

// Cost returns the cost of an attempt with these token counts: the exact sum,
// rounded once to the nearest nano-dollar, halves to even. It never overflows: a
// larger amount is returned as the largest USD. Negative counts and prices count as
// zero.
func (p Pricing) Cost(prompt, completion int64) USD {
	return p.amount(prompt, completion).round(false)
}

// Bound returns the exact cost of an attempt with these token counts, rounded up to
// a whole nano-dollar. Holds use it because it is never below [Pricing.Cost].
func (p Pricing) Bound(prompt, completion int64) USD {
	return p.amount(prompt, completion).round(true)
}

// free reports whether all prices are zero.
func (p Pricing) free() bool { return p == Pricing{} }

// problem says why an endpoint cannot have these prices; "" where it can.
func (p Pricing) problem() string {
	for _, part := range []struct {
		name string
		Price
	}{{"prompt", p.Prompt}, {"completion", p.Completion}, {"request", p.Request}} {
		switch {
		case part.wrong != "":
			return part.name + " price: " + part.wrong
		case part.usd < 0:
			return "negative price"
		}
	}
	return ""
}

func (p Pricing) amount(prompt, completion int64) amount {
	return amount{}.plus(tokensPerUSD, count(p.Request.usd)).plus(count(prompt), count(p.Prompt.usd)).plus(count(completion), count(p.Completion.usd))
}
