package systemone

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/shopspring/decimal"

	"github.com/signalbox/signalbox/internal/jsontext"
)

// AppendString appends s as a JSON string. It does not escape characters for HTML
// or JavaScript. Bytes that are not UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte { return jsontext.AppendString(dst, s) }

// Text returns s as raw JSON, for guidance and state built by hand.
func Text(s string) json.RawMessage { return AppendString(nil, s) }

// AppendJSON appends the request as [Decoder.Decode] reads it. Zero members are
// omitted, except state and questions. For a valid request, decoding the result
// returns an equal request.
func (r Request) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	if r.Model != "" {
		dst = append(AppendString(append(dst, `"model":`...), r.Model), ',')
	}
	if len(r.Models) > 0 {
		dst = append(appendEntries(append(dst, `"models":`...), r.Models), ',')
	}
	if r.Preset != "" {
		dst = append(AppendString(append(dst, `"preset":`...), r.Preset), ',')
	}
	dst = appendQuestions(dst, &r)
	if r.Provider != nil {
		dst = r.Provider.AppendJSON(append(dst, `,"provider":`...))
	}
	if r.Routing != nil {
		dst = r.Routing.appendJSON(append(dst, `,"routing":`...))
	}
	if r.SessionID != "" {
		dst = AppendString(append(dst, `,"session_id":`...), r.SessionID)
	}
	if len(r.Trace) > 0 {
		dst = append(append(dst, `,"trace":`...), r.Trace...)
	}
	if r.User != "" {
		dst = AppendString(append(dst, `,"user":`...), r.User)
	}
	return append(dst, '}')
}

// MarshalJSON returns what [Request.AppendJSON] appends.
func (r Request) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil), nil }

// AppendUpstream appends the canonical System One body that asks model the
// questions of r about its state; no other member of r is written. A null is
// written where the form has a null: a state, a level, an option's guidance, one
// side of a noul's criteria. It is omitted where the member may be absent:
// instructions, criteria with neither side.
func AppendUpstream(dst []byte, model string, r *Request) []byte {
	dst = AppendString(append(dst, `{"model":`...), model)
	return append(appendQuestions(append(dst, ','), r), '}')
}

// appendQuestions appends the members state and questions.
func appendQuestions(dst []byte, r *Request) []byte {
	dst = appendRaw(append(dst, `"state":`...), r.State)
	dst = append(dst, `,"questions":{`...)
	for i := range r.Questions {
		q := &r.Questions[i]
		dst = appendName(dst, i, q.Name)
		dst = AppendString(append(dst, `{"type":`...), string(q.Kind))
		if len(q.Instructions) > 0 {
			dst = append(append(dst, `,"instructions":`...), q.Instructions...)
		}
		dst = append(appendCriteria(dst, q), '}')
	}
	return append(dst, '}')
}

func appendCriteria(dst []byte, q *Question) []byte {
	const member = `,"criteria":`
	switch q.Kind {
	case Noul:
		if len(q.True) == 0 && len(q.False) == 0 {
			return dst
		}
		dst = appendRaw(append(dst, member+`{"true":`...), q.True)
		dst = appendRaw(append(dst, `,"false":`...), q.False)
		return append(dst, '}')
	case Choice:
		dst = append(dst, member+`{`...)
		for i, o := range q.Options {
			dst = appendRaw(appendName(dst, i, o.Name), o.Guidance)
		}
		return append(dst, '}')
	case Score:
		dst = append(dst, member+`[`...)
		for i, level := range q.Levels {
			dst = appendRaw(appendComma(dst, i), level)
		}
		return append(dst, ']')
	default:
		return dst
	}
}

func appendRaw(dst []byte, raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return append(dst, "null"...)
	}
	return append(dst, raw...)
}

func appendComma(dst []byte, i int) []byte {
	if i > 0 {
		return append(dst, ',')
	}
	return dst
}

// appendName begins the i-th member.
func appendName(dst []byte, i int, name string) []byte {
	return append(AppendString(appendComma(dst, i), name), ':')
}

func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		dst = AppendString(appendComma(dst, i), s)
	}
	return append(dst, ']')
}

// appendFloat appends a number with all its digits, and 0 for NaN and infinities.
func appendFloat(dst []byte, x float64) []byte {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return append(dst, '0')
	}
	if abs := math.Abs(x); abs < 1e-6 || abs >= 1e21 {
		return strconv.AppendFloat(dst, x, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, x, 'f', -1, 64)
}

// object appends the members of an object that are set.
type object struct {
	dst []byte
	n   int
}

func (o *object) name(name string) {
	if o.n == 0 {
		o.dst = append(o.dst, '{')
	}
	o.dst = appendName(o.dst, o.n, name)
	o.n++
}

func (o *object) end() []byte {
	if o.n == 0 {
		o.dst = append(o.dst, '{')
	}
	return append(o.dst, '}')
}

func (o *object) text(name, text string) {
	if text != "" {
		o.name(name)
		o.dst = AppendString(o.dst, text)
	}
}

func (o *object) yes(name string, yes bool) {
	if yes {
		o.name(name)
		o.dst = append(o.dst, "true"...)
	}
}

func (o *object) strings(name string, list []string) {
	if list != nil {
		o.name(name)
		o.dst = appendStrings(o.dst, list)
	}
}

func (o *object) decimal(name string, d *decimal.Decimal) {
	if d != nil {
		o.name(name)
		o.dst = AppendString(o.dst, d.String())
	}
}

func (o *object) float(name string, x *float64) {
	if x != nil {
		o.name(name)
		o.dst = appendFloat(o.dst, *x)
	}
}

func (o *object) cutoffs(name string, c Cutoffs) {
	if c == (Cutoffs{}) {
		return
	}
	o.name(name)
	in := object{dst: o.dst}
	in.float("p50", c.P50)
	in.float("p75", c.P75)
	in.float("p90", c.P90)
	in.float("p99", c.P99)
	o.dst = in.end()
}

// AppendJSON appends the preferences as [DecodePreferences] reads them, without
// members that are not set. Prices are decimal text.
func (p Preferences) AppendJSON(dst []byte) []byte {
	o := object{dst: dst}
	if p.AllowFallbacks != nil {
		o.name("allow_fallbacks")
		o.dst = strconv.AppendBool(o.dst, *p.AllowFallbacks)
	}
	o.text("data_collection", string(p.DataCollection))
	o.yes("enforce_distillable_text", p.EnforceDistillableText)
	o.strings("ignore", p.Ignore)
	o.strings("only", p.Only)
	o.strings("order", p.Order)
	if p.MaxPrice != (MaxPrice{}) {
		o.name("max_price")
		in := object{dst: o.dst}
		in.decimal("prompt", p.MaxPrice.Prompt)
		in.decimal("completion", p.MaxPrice.Completion)
		in.decimal("request", p.MaxPrice.Request)
		in.decimal("image", p.MaxPrice.Image)
		in.decimal("audio", p.MaxPrice.Audio)
		o.dst = in.end()
	}
	if len(p.Options) > 0 {
		o.name("options")
		in := object{dst: o.dst}
		for _, po := range p.Options {
			in.name(po.Provider)
			in.dst = appendRaw(in.dst, po.Options)
		}
		o.dst = in.end()
	}
	o.cutoffs("preferred_max_latency", p.PreferredMaxLatency)
	o.cutoffs("preferred_min_throughput", p.PreferredMinThroughput)
	o.strings("quantizations", p.Quantizations)
	o.yes("require_parameters", p.RequireParameters)
	if p.Sort != (Sort{}) {
		o.name("sort")
		in := object{dst: o.dst}
		in.text("by", string(p.Sort.By))
		in.text("partition", string(p.Sort.Partition))
		o.dst = in.end()
	}
	o.yes("zdr", p.ZDR)
	return o.end()
}

// MarshalJSON returns what [Preferences.AppendJSON] appends.
func (p Preferences) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil), nil }
