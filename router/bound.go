package router

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/signalbox/signalbox/systemone"
)

// What a request may cost at most at an endpoint is derived from its size and
// the endpoint's prices. Every token of a tokenizer over bytes stands for at
// least one byte, so tokens are bounded by bytes:
//
//   - Prompt: every text of the request as its longest JSON, twice where it is
//     no text but a value, because a dialect may write that as a JSON text in a
//     JSON string; and a fixed part for what dialects put around a request, a
//     question and a label, the model's name and the user's hash among it.
//   - Completion: a reply in full precision with every name, label and legend, and the
//     label that was chosen once more.
//
// Nothing bounds what an upstream says that it counted. A cost above its hold
// is charged in full and counted ([Router.Overruns]), and since it stands in
// the ledger, the next request is refused where the limit is passed.
const (
	requestFrame  = 512
	questionFrame = 160
	labelFrame    = 64
)

// bound returns the most tokens that a request may take, as a prompt and as its
// completion. It is a pure function of the request.
func bound(q *systemone.Request) (prompt, completion int64) {
	b := bounds{prompt: requestFrame, completion: requestFrame}
	b.value(q.State)
	for i := range q.Questions {
		b.question(&q.Questions[i])
	}
	if q.Provider != nil {
		for _, o := range q.Provider.Options {
			b.value(o.Options)
		}
	}
	return b.prompt, b.completion
}

type bounds struct{ prompt, completion int64 }

func (b *bounds) question(q *systemone.Question) {
	b.label(q.Name, questionFrame)
	b.value(q.Instructions)
	b.value(q.True)
	b.value(q.False)
	var chosen int64
	for i := range q.Options {
		chosen = max(chosen, b.label(q.Options[i].Name, labelFrame))
		b.value(q.Options[i].Guidance)
	}
	b.completion += chosen // named once more, as the choice
	for _, level := range q.Levels {
		b.prompt += labelFrame
		b.completion += labelFrame + int64(len(level)) // its legend
		b.value(level)
	}
}

// label adds a name that a reply repeats, and what stands around it.
func (b *bounds) label(name string, frame int64) (size int64) {
	size = frame + jsonSize(name)
	b.prompt += size
	b.completion += size
	return size
}

// value adds raw JSON.
func (b *bounds) value(raw json.RawMessage) {
	n := int64(len(raw))
	if !isText(raw) {
		n *= 2
	}
	b.prompt += n
}

// isText reports whether raw is a JSON string. What stands before it is space.
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

// jsonSize is the most bytes that s takes within a JSON string.
func jsonSize(s string) int64 {
	n := int64(len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ':
			n += 5 // \u0000
		case c == '"', c == '\\':
			n++
		case c >= utf8.RuneSelf:
			n += 2 // a byte that is not UTF-8 becomes three
		}
	}
	return n
}
