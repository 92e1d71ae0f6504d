package router

import (
	"cmp"
	"encoding/json"
	"math"
	"unicode/utf8"

	"github.com/signalbox/signalbox/systemone"
)

// The most that a request may cost at an endpoint is derived from its size and the
// endpoint's prices. Every token of a tokenizer over bytes represents at least one
// byte, so bytes bound tokens:
//
//   - Prompt: every text of the request at its longest JSON encoding. A value that
//     is no text counts twice, because a dialect may write it as a JSON text in a
//     JSON string. A fixed part is added for what dialects write around a request,
//     a question and a label, including the model's name and the user's hash.
//   - Completion: a reply in full precision with every name, label and legend, and
//     the chosen label once more.
//
// An endpoint's [Counting] may state less. A larger count of input is a bad reply,
// which costs nothing, so the bound need not cover it.
//
// Nothing bounds the usage that an upstream reports. A cost above its hold is
// charged in full and counted ([Router.Overruns]). The ledger then has it, so the
// next request is refused where the limit is exceeded.
const (
	requestFrame  = 512
	questionFrame = 160
	labelFrame    = 64

	// What System One writes around a question and a label is
	// "":{"type":"choice","instructions":null,"criteria":{}}, and "":null. What its
	// hosted models are known to count fits as well: 8 tokens a question, 21 an
	// option, 261 a request.
	verbatimQuestion = 64
	verbatimLabel    = 24

	maxTokensPerByte = 1000
)

// size holds upper bounds of a request's parts, in bytes.
type size struct {
	texts, values     int64 // names and texts as JSON; values that are no text
	questions, labels int64
	reply             int64
}

// sizeOf measures a request.
func sizeOf(q *systemone.Request) size {
	s := size{reply: requestFrame}
	s.value(q.State)
	for i := range q.Questions {
		s.question(&q.Questions[i])
	}
	if q.Provider != nil {
		for _, o := range q.Provider.Options {
			s.value(o.Options)
		}
	}
	return s
}

// at returns the most prompt and completion tokens that the request takes at an
// endpoint.
func (s *size) at(e *Endpoint) (prompt, completion int64) {
	c := &e.Counting
	prompt = requestFrame + s.texts
	if c.Verbatim {
		prompt += s.values + verbatimQuestion*s.questions + verbatimLabel*s.labels
	} else {
		prompt += 2*s.values + questionFrame*s.questions + labelFrame*s.labels
	}
	if c.TokensPerByte > 0 {
		prompt = int64(math.Ceil(float64(prompt) * c.TokensPerByte))
	}
	if most := cmp.Or(c.InputTokens, e.ContextLength); most > 0 {
		prompt = min(prompt, int64(most))
	}
	completion = s.reply
	if c.CompletionTokens > 0 {
		completion = int64(c.CompletionTokens)
	}
	return prompt, completion
}

func (s *size) question(q *systemone.Question) {
	s.questions++
	s.label(q.Name, questionFrame)
	s.value(q.Instructions)
	s.value(q.True)
	s.value(q.False)
	s.labels += int64(len(q.Options) + len(q.Levels))
	var chosen int64
	for i := range q.Options {
		chosen = max(chosen, s.label(q.Options[i].Name, labelFrame))
		s.value(q.Options[i].Guidance)
	}
	s.reply += chosen // the chosen label once more
	for _, level := range q.Levels {
		s.reply += labelFrame + int64(len(level)) // its legend
		s.value(level)
	}
}

// label adds a name that a reply repeats, with frame bytes around it.
func (s *size) label(name string, frame int64) (reply int64) {
	n := jsonSize(name)
	s.texts += n
	s.reply += frame + n
	return frame + n
}

// value adds raw JSON.
func (s *size) value(raw json.RawMessage) {
	if isText(raw) {
		s.texts += int64(len(raw))
	} else {
		s.values += int64(len(raw))
	}
}

// isText reports whether raw is a JSON string, after leading space.
func isText(raw json.RawMessage) bool {
	for _, c := range raw {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return c == '"'
		}
	}
	return false
}

// jsonSize returns the most bytes that s takes within a JSON string.
func jsonSize(s string) int64 {
	n := int64(len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ':
			n += 5 // \u0000
		case c == '"', c == '\\':
			n++
		case c >= utf8.RuneSelf:
			n += 2 // a byte that is not UTF-8 is written as three bytes
		}
	}
	return n
}
