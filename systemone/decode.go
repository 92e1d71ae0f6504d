package systemone

import (
	"bytes"
	"encoding/json"
)

// The defaults of [Limits].
const (
	defaultQuestions = 1000
	defaultOptions   = 255
	defaultLevels    = 255
)

// Decoder reads requests. The zero value reads the documented dialect within
// the default limits.
type Decoder struct {
	Dialect Dialect
	Limits  Limits
	// SessionID is the session named outside the body, by the header
	// x-session-id. It is used where the body has no session_id.
	SessionID string
}

// Decode reads a request and validates it. It ignores members that it does not
// know, but for those in provider. What it takes as JSON at all, [CheckSyntax]
// says.
//
// The error is an [*InvalidError]. It lists every problem of the body, at most
// one for each path and 100 in all; a body that is not JSON has one, with the
// place. Questions, options and levels beyond the limits are not looked at.
//
// The request shares memory with body: the raw JSON in it is part of body, so
// body must not change afterwards.
func (d Decoder) Decode(body []byte) (*Request, error) {
	r := &Request{Dialect: d.Dialect, SessionID: d.SessionID}
	dec := decoder{request: r, limits: d.Limits.withDefaults()}
	if !checkSyntax(body, 0, &dec.problems) {
		return nil, dec.problems.err()
	}
	if body = trim(body); body[0] != '{' {
		dec.problems.add("", "must be an object")
		return nil, dec.problems.err()
	}
	if problem := tooLong(d.SessionID); problem != "" {
		dec.add("session_id", problem)
	}
	dec.body(body)
	v := validator{problems: dec.problems, limits: dec.limits, dialect: d.Dialect, trusted: true}
	v.request(r)
	if err := v.problems.err(); err != nil {
		return nil, err
	}
	return r, nil
}

// UnmarshalJSON reads a request in the documented dialect within the default
// limits, as [Decoder.Decode] does.
func (r *Request) UnmarshalJSON(data []byte) error {
	got, err := Decoder{}.Decode(bytes.Clone(data))
	if err != nil {
		return err
	}
	*r = *got
	return nil
}

func (l Limits) withDefaults() Limits {
	pick := func(n, byDefault int) int {
		if n <= 0 {
			return byDefault
		}
		return n
	}
	return Limits{
		Questions: pick(l.Questions, defaultQuestions),
		Options:   pick(l.Options, defaultOptions),
		Levels:    pick(l.Levels, defaultLevels),
	}
}

// decoder turns checked JSON into a request. It notes what a Request cannot
// hold; every other rule is the validator's.
type decoder struct {
	problems

	request *Request
	limits  Limits
}

func (d *decoder) body(body []byte) {
	r := d.request
	stated := false
	for m := walk(body); m.next(); {
		switch string(m.name) {
		case "model":
			r.Model = d.name("model", m.value)
		case "models":
			r.Models = d.strings("models", m.value)
		case "preset":
			r.Preset = d.name("preset", m.value)
		case "state":
			stated = true
			r.State = raw(m.value)
		case "questions":
			d.questions(m.value)
		case "provider":
			if !isNull(m.value) {
				p := preferencesDecoder{problems: &d.problems, path: "provider"}
				r.Provider = p.decode(m.value)
			}
		case "session_id":
			r.SessionID = d.text("session_id", m.value)
		case "trace":
			r.Trace = raw(m.value)
		case "user":
			r.User = d.text("user", m.value)
		}
	}
	if !stated {
		d.add("state", mustBeGiven)
	}
}

// text reads a string.
func (p *problems) text(path string, value []byte) string {
	if value[0] != '"' {
		p.add(path, "must be a string")
		return ""
	}
	return string(unquote(value))
}

// name reads a string that must not be empty.
func (p *problems) name(path string, value []byte) string {
	name := p.text(path, value)
	if name == "" {
		p.add(path, mustNotBeEmpty)
	}
	return name
}

// strings reads an array of strings that must not be empty. The result is not
// nil.
func (p *problems) strings(path string, value []byte) []string {
	list := []string{}
	if value[0] != '[' {
		p.add(path, "must be an array of strings")
		return list
	}
	for m := walk(value); m.next(); {
		if m.value[0] == '"' && len(m.value) > len(`""`) {
			list = append(list, string(unquote(m.value)))
			continue
		}
		list = append(list, p.name(element(path, m.index), m.value))
	}
	return list
}

func (d *decoder) questions(value []byte) {
	if value[0] != '{' {
		d.add("questions", "must be an object")
		return
	}
	for m := walk(value); m.next() && m.index <= d.limits.Questions; {
		if m.value[0] != '{' {
			d.add(below("questions", string(m.name)), "must be an object")
			continue
		}
		d.question(string(m.name), m.value)
	}
}

func (d *decoder) question(name string, value []byte) {
	q := Question{Name: name}
	var criteria []byte
	for m := walk(value); m.next(); {
		switch string(m.name) {
		case "type":
			if m.value[0] == '"' {
				q.Kind = kind(unquote(m.value))
			}
		case "instructions":
			q.Instructions = raw(m.value)
		case "criteria":
			criteria = m.value
		}
	}
	switch q.Kind {
	case Noul:
		d.noul(&q, criteria)
	case Choice:
		d.options(&q, criteria)
	case Score:
		d.levels(&q, criteria)
	}
	d.request.Questions = append(d.request.Questions, q)
}

// kind avoids a copy of the known kinds.
func kind(text []byte) Kind {
	for _, k := range []Kind{Noul, Choice, Score} {
		if string(text) == string(k) {
			return k
		}
	}
	return Kind(text)
}

func (d *decoder) noul(q *Question, criteria []byte) {
	native := d.request.Dialect == Native
	if criteria == nil || native && isNull(criteria) {
		return
	}
	if criteria[0] != '{' {
		d.add(below("questions", q.Name, "criteria"), "must be an object")
		return
	}
	for m := walk(criteria); m.next(); {
		switch string(m.name) {
		case "true":
			q.True = raw(m.value)
		case "false":
			q.False = raw(m.value)
		}
	}
	// Without either side a Request has no criteria, which is a different thing.
	if !native && q.True == nil {
		d.add(below("questions", q.Name, "criteria", "true"), mustBeGuidance)
	}
	if !native && q.False == nil {
		d.add(below("questions", q.Name, "criteria", "false"), mustBeGuidance)
	}
}

func (d *decoder) options(q *Question, criteria []byte) {
	if criteria == nil || criteria[0] != '{' {
		d.add(below("questions", q.Name, "criteria"), "must be an object with at least one option")
		return
	}
	for m := walk(criteria); m.next() && m.index <= d.limits.Options; {
		q.Options = append(q.Options, Option{Name: string(m.name), Guidance: raw(m.value)})
	}
}

func (d *decoder) levels(q *Question, criteria []byte) {
	if criteria == nil || criteria[0] != '[' {
		d.add(below("questions", q.Name, "criteria"), "must be an array with at least one level")
		return
	}
	for m := walk(criteria); m.next() && m.index <= d.limits.Levels; {
		q.Levels = append(q.Levels, raw(m.value))
	}
}

// raw keeps a value as it is, null as nil.
func raw(value []byte) json.RawMessage {
	if isNull(value) {
		return nil
	}
	return value
}
