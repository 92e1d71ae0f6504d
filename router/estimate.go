package router

import (
	"cmp"
	"errors"

	"github.com/signalbox/signalbox/systemone"
)

// maxTokens is more than any decision can take. An upstream that claims
// more is wrong, and must not be believed where money is counted.
const maxTokens = 1_000_000_000

var (
	errUsage   = errors.New("router: the upstream's usage is impossible")
	errContext = errors.New("router: the upstream counts more input than its context holds")
	errNoUsage = errors.New("router: the upstream does not say what was used")
)

// Counting says what is known of the tokens that an endpoint's upstream counts.
// The zero value is that of an upstream of which nothing is known.
type Counting struct {
	// UsageRequired makes an answer a bad reply that lacks a count which the
	// endpoint has a price for. Without it the count is estimated.
	UsageRequired bool
	// InputTokens is the largest count of input tokens that is believed; 0 is the
	// endpoint's ContextLength. It is larger where the state alone is limited, or an
	// upstream reads it once for each question. A larger count is a bad reply.
	InputTokens int
	// TokensPerByte is the most tokens that the upstream counts for a byte of a
	// prompt; 0 is 1, a token for each byte.
	TokensPerByte float64
	// CompletionTokens is the largest count of output tokens; 0 is a token for each
	// byte that a reply can have.
	CompletionTokens int
	// Verbatim says that the dialect writes the texts and values of a request as
	// they are, once each, and no more around them than System One does. A value
	// may else be written as a JSON text within a JSON text.
	Verbatim bool
}

// missing returns the counts that have to be estimated.
func (e *Endpoint) missing(u Uncounted) Uncounted {
	if u.Input && u.Output {
		return u
	}
	return Uncounted{Input: u.Input && e.Pricing.Prompt.usd > 0, Output: u.Output && e.Pricing.Completion.usd > 0}
}

func (e *Endpoint) checkUsage(u systemone.Usage, missing Uncounted) error {
	for _, n := range []int64{u.InputTokens, u.OutputTokens, u.ReasoningTokens, u.CachedTokens} {
		if n < 0 || n > maxTokens {
			return errUsage
		}
	}
	most := cmp.Or(e.Counting.InputTokens, e.ContextLength)
	switch {
	case most > 0 && u.InputTokens > int64(most):
		return errContext
	case e.Counting.UsageRequired && missing != (Uncounted{}):
		return errNoUsage
	}
	return nil
}

// estimate puts the plan's estimate in the place of counts that are missing. No
// count is above the bound that its hold was made of, so the cost is not above
// the hold.
func (rec *AttemptRecord) estimate(q *systemone.Request, missing Uncounted) {
	if missing == (Uncounted{}) {
		return
	}
	shape, size := ShapeOf(q), sizeOf(q)
	prompt, completion := size.at(rec.Endpoint)
	if missing.Input {
		rec.Usage.InputTokens = min(shape.PromptTokens, prompt)
	}
	if missing.Output {
		rec.Usage.OutputTokens = min(shape.CompletionTokens, completion)
	}
	rec.UsageEstimated = true
}

// note counts an answer whose usage was estimated, and what it costs.
func (a *amounts) note(rec *AttemptRecord) {
	if rec.UsageEstimated {
		a.add(rec.Cost + rec.OwnCost)
	}
}

// Estimates returns how many answers came without the counts that they are
// charged by, and what they cost by the router's own estimate, since the router
// was made; what callers paid their own providers is part of it. [Log] warns of
// each endpoint once an hour.
func (r *Router) Estimates() (count int64, amount USD) {
	return r.estimates.count.Load(), USD(r.estimates.amount.Load())
}
