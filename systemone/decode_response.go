package systemone

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"github.com/shopspring/decimal"

	"github.com/signalbox/signalbox/internal/jsontext"
)

// DecodeResponse reads an upstream's reply in the System One dialect as it is:
// answers and labels in the given order, numbers exact. It does not compare the
// reply with the request; [Check] does. Unknown members are ignored, and null
// counts as absent. Only answers are required, because upstreams omit every other
// member; a missing count is 0.
//
// Token counts are read by [ParseCount], and the cost is a number that is not
// negative. A noul, score, probability or confidence is a number that a float64 can
// represent. A legend entry that belongs to no level is dropped. An answer that has
// a refusal in place of its noul, choice or score is a refusal.
//
// The error is an [*AnswerError] for the first problem found. It may contain the
// upstream's name of an answer; remove that name before the error is shown to
// strangers or wrapped in an error that must not quote the upstream.
//
// The result shares memory with data, which must not change afterwards.
func DecodeResponse(data []byte) (*Response, error) {
	var p problems
	switch ok := checkSyntax(data, 0, &p); {
	case !ok:
		return nil, &AnswerError{Problem: p.list[0].Message}
	case len(p.list) > 0:
		return nil, &AnswerError{Problem: "a member is given more than once"}
	}
	d := responseDecoder{}
	r := d.response(jsontext.Trim(data))
	if d.err != nil {
		return nil, d.err
	}
	return r, nil
}

// UnmarshalJSON reads what [DecodeResponse] reads.
func (r *Response) UnmarshalJSON(data []byte) error {
	got, err := DecodeResponse(bytes.Clone(data))
	if err != nil {
		return err
	}
	*r = *got
	return nil
}

// responseDecoder turns checked JSON into a reply and keeps the first problem.
type responseDecoder struct {
	question string
	err      error
}

func (d *responseDecoder) fail(problem string) {
	if d.err == nil {
		d.err = &AnswerError{Question: d.question, Problem: problem}
	}
}

func (d *responseDecoder) response(value []byte) *Response {
	r := &Response{}
	answered := false
	if value[0] != '{' {
		d.fail("the reply is not an object")
		return r
	}
	for m := jsontext.Walk(value); m.Next(); {
		if jsontext.IsNull(m.Value) {
			continue
		}
		switch string(m.Name) {
		case "id":
			r.ID = d.text("id", m.Value)
		case "model":
			r.Model = d.text("model", m.Value)
		case "provider":
			r.Provider = d.text("provider", m.Value)
		case "answers":
			answered = true
			r.Answers = d.answers(m.Value)
		case "usage":
			r.Usage = d.usage(m.Value)
		}
	}
	if !answered {
		d.fail("answers are missing")
	}
	return r
}

func (d *responseDecoder) text(name string, value []byte) string {
	if value[0] != '"' {
		d.fail(name + " is not a string")
		return ""
	}
	return string(jsontext.Unquote(value))
}

func (d *responseDecoder) float(name string, value []byte) float64 {
	x, ok := parseFloat(value)
	if !ok {
		d.fail(name + " is not a number")
	}
	return x
}

// object reports whether value is an object.
func (d *responseDecoder) object(name string, value []byte) bool {
	if value[0] != '{' {
		d.fail(name + " is not an object")
		return false
	}
	return true
}

func (d *responseDecoder) usage(value []byte) Usage {
	u := Usage{}
	if !d.object("usage", value) {
		return u
	}
	for m := jsontext.Walk(value); m.Next(); {
		if jsontext.IsNull(m.Value) {
			continue
		}
		switch string(m.Name) {
		case "input_tokens":
			u.InputTokens = d.tokens(m.Value)
		case "output_tokens":
			u.OutputTokens = d.tokens(m.Value)
		case "input_tokens_details":
			u.CachedTokens = d.detail(m.Value, "cached_tokens")
		case "output_tokens_details":
			u.ReasoningTokens = d.detail(m.Value, "reasoning_tokens")
		case "cost":
			u.Cost = d.cost(m.Value)
		}
	}
	return u
}

func (d *responseDecoder) tokens(value []byte) int64 {
	n, ok := ParseCount(value)
	if !ok {
		d.fail("a token count is not a whole number, or negative")
	}
	return n
}

// ParseCount reads a JSON number that is a whole number from 0 to the largest
// int64, in any form such as 10.0 or 1e2. For anything else it returns 0 and false.
func ParseCount(value []byte) (n int64, ok bool) {
	text := string(value)
	if text == "" || numberEnd(text, 0) != len(text) {
		return 0, false
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return max(n, 0), n >= 0
	}
	d, ok := parseDecimal(text)
	if !ok || d.IsNegative() || !d.IsInteger() || d.GreaterThan(decimal.NewFromInt(math.MaxInt64)) {
		return 0, false
	}
	return d.IntPart(), true
}

// detail reads one count of an object.
func (d *responseDecoder) detail(value []byte, name string) int64 {
	if value[0] != '{' {
		return 0
	}
	for m := jsontext.Walk(value); m.Next(); {
		if string(m.Name) == name && !jsontext.IsNull(m.Value) {
			return d.tokens(m.Value)
		}
	}
	return 0
}

func (d *responseDecoder) cost(value []byte) json.Number {
	cost, ok := parseDecimal(string(value))
	if !ok || cost.IsNegative() {
		d.fail("usage.cost is not a number, or negative")
	}
	return json.Number(value)
}

func (d *responseDecoder) answers(value []byte) Answers {
	if !d.object("answers", value) {
		return nil
	}
	list := make(Answers, 0, few)
	for m := jsontext.Walk(value); m.Next() && d.err == nil; {
		d.question = string(m.Name)
		if d.object("the answer", m.Value) {
			list = append(list, d.answer(d.question, m.Value))
		}
	}
	d.question = ""
	return list
}

func (d *responseDecoder) answer(name string, value []byte) Answer {
	a := Answer{Name: name}
	var noul, choice, score, refusal, distribution, confidence, legend []byte
	for m := jsontext.Walk(value); m.Next(); {
		if jsontext.IsNull(m.Value) {
			continue
		}
		switch string(m.Name) {
		case "type":
			a.Kind = kind(m.Value)
		case "noul":
			noul = m.Value
		case "choice":
			choice = m.Value
		case "score":
			score = m.Value
		case "refusal":
			refusal = m.Value
		case "probabilities":
			distribution = m.Value
		case "confidence":
			confidence = m.Value
		case "legend":
			legend = m.Value
		}
	}
	var figure []byte
	switch a.Kind {
	case Noul:
		figure = noul
	case Choice:
		figure = choice
	case Score:
		figure = score
	default:
		d.fail("type is not known")
		return a
	}
	if figure == nil {
		if refusal != nil {
			a.Refusal = d.text("refusal", refusal)
		}
		if a.Refusal == "" {
			d.fail(string(a.Kind) + " is missing")
		}
		return a
	}
	switch a.Kind {
	case Noul:
		a.Noul = d.float("noul", figure)
		return a
	case Choice:
		a.Choice = d.text("choice", figure)
	default:
		a.Score = d.float("score", figure)
	}
	if distribution != nil {
		a.Probabilities = d.probabilities(distribution)
		if confidence != nil {
			a.Confidence = d.float("confidence", confidence)
		}
	}
	if legend != nil && a.Kind == Score {
		a.Legend = d.legend(legend, len(a.Probabilities))
	}
	return a
}

// length returns the number of values in a container.
func length(container []byte) int {
	w := jsontext.Walk(container)
	for w.Next() {
	}
	return w.Index + 1
}

func (d *responseDecoder) probabilities(value []byte) []Probability {
	if !d.object("probabilities", value) {
		return nil
	}
	list := make([]Probability, 0, few)
	for m := jsontext.Walk(value); m.Next() && d.err == nil; {
		list = append(list, Probability{Label: string(m.Name), P: d.float("a probability", m.Value)})
	}
	return list
}

// sparseLevels is the most levels of a legend with gaps, where no distribution
// gives their number.
const sparseLevels = 256

// legend reads the legend of a score with that many levels. Without a distribution
// the number of levels is that of the legend's entries or of its largest index.
func (d *responseDecoder) legend(value []byte, levels int) []json.RawMessage {
	if !d.object("legend", value) {
		return nil
	}
	if levels == 0 {
		levels = length(value)
		for m := jsontext.Walk(value); m.Next(); {
			if at, err := strconv.Atoi(string(m.Name)); err == nil && at < sparseLevels {
				levels = max(levels, at+1)
			}
		}
	}
	list := make([]json.RawMessage, levels)
	for m := jsontext.Walk(value); m.Next(); {
		at, err := strconv.Atoi(string(m.Name))
		if err == nil && at >= 0 && at < levels {
			list[at] = raw(m.Value)
		}
	}
	return list
}
