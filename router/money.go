package router

// USD is an amount of money in nano-dollars (1e-9 USD). Sums are plain integer
// sums; there is no float anywhere.
type USD int64

// Dollar is one USD.
const Dollar USD = 1_000_000_000

// Pricing is what an endpoint charges. All three are exact to a billionth of a
// dollar; the zero value is free.
type Pricing struct {
	Prompt     USD // per million input tokens
	Completion USD // per million output tokens
	Request    USD // per request
}
