package systemone

import "strconv"

// MarshalJSON returns the entry as [Entry.UnmarshalJSON] reads it.
func (e Entry) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

// AppendJSON appends the entry: a text where only Model is set, and an object
// otherwise.
func (e Entry) AppendJSON(dst []byte) []byte {
	if e.isText() {
		return AppendString(dst, e.Model)
	}
	o := object{dst: dst}
	o.name("model")
	o.dst = AppendString(o.dst, e.Model)
	if e.When != nil {
		o.name("when")
		o.dst = e.When.appendJSON(o.dst, e.Calibration)
	}
	o.text("scope", string(e.Scope))
	o.yes("required", e.Required)
	o.yes("shop_refusals", e.ShopRefusals)
	return o.end()
}

func appendEntries(dst []byte, list []Entry) []byte {
	dst = append(dst, '[')
	for i := range list {
		dst = list[i].AppendJSON(appendComma(dst, i))
	}
	return append(dst, ']')
}

func (c *Condition) appendJSON(dst []byte, calibration string) []byte {
	o := object{dst: dst}
	o.text("calibration", calibration)
	o.text("question", c.Question)
	o.float("confidenceBelow", c.ConfidenceBelow)
	if b := c.ProbabilityBetween; b != nil {
		o.name("probabilityBetween")
		o.dst = appendFloat(append(o.dst, '['), b[0])
		o.dst = append(appendFloat(append(o.dst, ','), b[1]), ']')
	}
	o.conditions("any", c.Any)
	o.conditions("all", c.All)
	if a := c.AtLeast; a != nil {
		o.name("atLeast")
		in := object{dst: o.dst}
		in.name("count")
		in.dst = strconv.AppendInt(in.dst, int64(a.Count), 10)
		in.conditions("conditions", a.Conditions)
		o.dst = in.end()
	}
	return o.end()
}

func (o *object) conditions(name string, list []Condition) {
	if list == nil {
		return
	}
	o.name(name)
	o.dst = append(o.dst, '[')
	for i := range list {
		o.dst = list[i].appendJSON(appendComma(o.dst, i), "")
	}
	o.dst = append(o.dst, ']')
}

func (r *Routing) appendJSON(dst []byte) []byte {
	o := object{dst: dst}
	o.text("max_cost", r.MaxCost)
	if r.DeadlineMS != 0 {
		o.name("deadline_ms")
		o.dst = strconv.AppendInt(o.dst, int64(r.DeadlineMS), 10)
	}
	o.text("split", string(r.Split))
	o.text("remember", string(r.Remember))
	return o.end()
}
