package router

import (
	"cmp"
	"errors"

	"github.com/signalbox/signalbox/systemone"
)

// maxTokens is more than any decision can take. A larger count is refused because
// money is computed from it.
const maxTokens = 1_000_000_000

var (
	errUsage   = errors.New("router: the upstream's usage is impossible")
	errContext = errors.New("router: the upstream counts more input than its context holds")
	errNoUsage = errors.New("router: the upstream does not report its usage")
)

// Counting says what is known about how an endpoint's upstream counts tokens. The
// zero value assumes nothing.
type Counting struct {
	// UsageRequired makes an answer a bad reply when it lacks a count for which the
	// endpoint has a price. Without it the count is estimated.
	UsageRequired bool
	// InputTokens is the largest plausible count of input tokens; 0 is the
	// endpoint's ContextLength. A larger count is a bad reply. Set it above
	// ContextLength where the context limits the state alone, or where the upstream
	// reads the state once for each question.
	InputTokens int
	// TokensPerByte is the most tokens that the upstream counts for a byte of a
	// prompt; 0 is 1.
	TokensPerByte float64
	// CompletionTokens is the largest count of output tokens; 0 is one token for
	// each byte of the longest reply.
	CompletionTokens int
	// Verbatim says that the dialect writes the texts and values of a request
	// unchanged and once each, with no more around them than System One. Without it
	// a value may be written as a JSON text within a JSON text.
	Verbatim bool
}

// missing returns the counts that must be estimated.
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

// estimate fills in missing counts by the plan's estimate. No count exceeds the
// bound from which the hold was computed, so the cost does not exceed the hold.
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

// note counts an answer whose usage was estimated, and adds its cost.
func (a *amounts) note(rec *AttemptRecord) {
	if rec.UsageEstimated {
		a.add(rec.Cost + rec.OwnCost)
	}
}

// Estimates returns how many answers since the router was made lacked a count that
// they are charged by, and what they cost by the router's estimate. The amount
// includes what callers paid their own providers. [Log] warns once an hour of each
// such endpoint. It is safe for concurrent use.
func (r *Router) Estimates() (count int64, amount USD) {
	return r.estimates.count.Load(), USD(r.estimates.amount.Load())
}
