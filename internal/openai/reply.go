package openai

import (
	"strconv"

	"github.com/signalbox/signalbox/internal/jsontext"
	"github.com/signalbox/signalbox/systemone"
)

// AppendReply appends the reply to the request: an object with one answer for
// each question, in the order of the body. id, provider and usage.cost are additions to
// the dialect, which its clients ignore. An answer without a distribution has an empty
// list of probabilities and no confidence.
func (a *Asked) AppendReply(dst []byte, r *systemone.Response) []byte {
	dst = append(dst, '{')
	if r.ID != "" {
		dst = append(jsontext.AppendString(append(dst, `"id":`...), r.ID), ',')
	}
	dst = jsontext.AppendString(append(dst, `"model":`...), r.Model)
	if r.Provider != "" {
		dst = jsontext.AppendString(append(dst, `,"provider":`...), r.Provider)
	}
	dst = append(dst, `,"answers":[`...)
	for i := range a.questions {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = a.questions[i].appendAnswer(dst, answerTo(r.Answers, i, a.questions[i].Name))
	}
	return append(appendUsage(append(dst, `],"usage":`...), &r.Usage), '}')
}

// answerTo returns the answer to the question at index; nil without one.
func answerTo(answers systemone.Answers, index int, name string) *systemone.Answer {
	if index < len(answers) && answers[index].Name == name {
		return &answers[index]
	}
	for i := range answers {
		if answers[i].Name == name {
			return &answers[i]
		}
	}
	return nil
}

// appendAnswer appends the answer to q. A question without an answer was refused.
func (q *question) appendAnswer(dst []byte, a *systemone.Answer) []byte {
	kind := Type(q.Kind)
	if a == nil || a.Refusal != "" {
		kind = Refusal
	}
	dst = append(append(append(dst, `{"type":"`...), kind...), `","name":`...)
	if q.sent != nil {
		dst = append(dst, q.sent...)
	} else {
		dst = append(dst, "null"...)
	}
	switch kind {
	case Predicate:
		dst = appendNumber(append(dst, `,"probability":`...), a.Noul)
	case Choice:
		dst = append(append(dst, `,"choice":`...), q.value(0, a.Choice)...)
		dst = q.appendDistribution(dst, a)
	case Score:
		dst = appendNumber(append(dst, `,"score":`...), a.Score)
		dst = q.appendDistribution(dst, a)
	}
	return append(dst, '}')
}

// appendDistribution appends the members confidence and probabilities.
func (q *question) appendDistribution(dst []byte, a *systemone.Answer) []byte {
	if len(a.Probabilities) > 0 {
		dst = appendNumber(append(dst, `,"confidence":`...), a.Confidence)
	}
	dst = append(dst, `,"probabilities":[`...)
	for i, p := range a.Probabilities {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"value":`...)
		if q.Kind == systemone.Score {
			dst = append(strconv.AppendInt(dst, int64(i), 10), `,"label":`...)
			dst = append(dst, q.labels[i]...)
		} else {
			dst = append(dst, q.value(i, p.Label)...)
		}
		dst = append(appendNumber(append(dst, `,"probability":`...), p.P), '}')
	}
	return append(dst, ']')
}

// value returns the value as sent of the option with this name, which is probably the
// one at index.
func (q *question) value(index int, name string) []byte {
	if index < len(q.Options) && q.Options[index].Name == name {
		return q.values[index]
	}
	for i := range q.Options {
		if q.Options[i].Name == name {
			return q.values[i]
		}
	}
	return quoted(name)
}

func appendNumber(dst []byte, x float64) []byte { return strconv.AppendFloat(dst, x, 'g', -1, 64) }

// appendUsage appends the counts of the dialect. A router knows nothing of tokens
// written to a cache.
func appendUsage(dst []byte, u *systemone.Usage) []byte {
	dst = u.AppendJSON(dst)
	dst = append(dst[:len(dst)-1], `,"total_tokens":`...)
	dst = strconv.AppendInt(dst, u.InputTokens+u.OutputTokens, 10)
	dst = append(dst, `,"input_tokens_details":{"cached_tokens":`...)
	dst = strconv.AppendInt(dst, u.CachedTokens, 10)
	dst = append(dst, `,"cache_write_tokens":0},"output_tokens_details":{"reasoning_tokens":`...)
	return append(strconv.AppendInt(dst, u.ReasoningTokens, 10), `}}`...)
}
