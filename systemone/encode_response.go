package systemone

import (
	"encoding/json"
	"strconv"

	"github.com/signalbox/signalbox/internal/jsontext"
)

// AppendJSON appends the reply in the documented form. No member is ever null:
// absent ones are omitted. Numbers are written with all their digits. NaN and
// infinities, which [Check] refuses, are written as 0.
func (r Response) AppendJSON(dst []byte) []byte {
	o := object{dst: dst}
	o.text("id", r.ID)
	o.name("model")
	o.dst = AppendString(o.dst, r.Model)
	o.text("provider", r.Provider)
	o.name("answers")
	o.dst = r.Answers.AppendJSON(o.dst)
	o.name("usage")
	o.dst = r.Usage.AppendJSON(o.dst)
	return o.end()
}

// MarshalJSON returns what [Response.AppendJSON] appends.
func (r Response) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil), nil }

// AppendJSON appends the counts of the documented interface: input tokens, output
// tokens and, if known, the cost, digit by digit.
func (u Usage) AppendJSON(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"input_tokens":`...), u.InputTokens, 10)
	dst = strconv.AppendInt(append(dst, `,"output_tokens":`...), u.OutputTokens, 10)
	if cost := string(u.Cost); cost != "" && numberEnd(cost, 0) == len(cost) {
		dst = append(append(dst, `,"cost":`...), cost...)
	}
	return append(dst, '}')
}

// MarshalJSON returns what [Usage.AppendJSON] appends.
func (u Usage) MarshalJSON() ([]byte, error) { return u.AppendJSON(nil), nil }

// AppendJSON appends an object keyed by question name, in this order.
func (a Answers) AppendJSON(dst []byte) []byte {
	o := object{dst: dst}
	for i := range a {
		o.name(a[i].Name)
		o.dst = a[i].AppendJSON(o.dst)
	}
	return o.end()
}

// MarshalJSON returns what [Answers.AppendJSON] appends.
func (a Answers) MarshalJSON() ([]byte, error) { return a.AppendJSON(nil), nil }

// AppendJSON appends the answer as it is in an object of [Answers], without its name.
func (a *Answer) AppendJSON(dst []byte) []byte {
	o := object{dst: dst}
	o.text("type", string(a.Kind))
	if a.Refusal != "" {
		o.text("refusal", a.Refusal)
		return o.end()
	}
	switch a.Kind {
	case Noul:
		o.float("noul", &a.Noul)
	case Choice:
		o.name("choice")
		o.dst = AppendString(o.dst, a.Choice)
		o.distribution(a)
	case Score:
		o.float("score", &a.Score)
		o.legend(a.Legend)
		o.distribution(a)
	}
	return o.end()
}

func (o *object) distribution(a *Answer) {
	if len(a.Probabilities) == 0 {
		return
	}
	o.name("probabilities")
	in := object{dst: o.dst}
	for i := range a.Probabilities {
		in.float(a.Probabilities[i].Label, &a.Probabilities[i].P)
	}
	o.dst = in.end()
	o.float("confidence", &a.Confidence)
}

func (o *object) legend(legend []json.RawMessage) {
	in := object{}
	for i, level := range legend {
		if jsontext.IsNull(jsontext.Trim(level)) {
			continue
		}
		if in.n == 0 {
			o.name("legend")
			in.dst = o.dst
		}
		in.name(strconv.Itoa(i))
		in.dst = append(in.dst, level...)
	}
	if in.n > 0 {
		o.dst = in.end()
	}
}
