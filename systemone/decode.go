package systemone

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/signalbox/signalbox/internal/jsontext"
)

// Decoder reads requests. The zero value reads the documented dialect with the
// default limits.
type Decoder struct {
	Dialect Dialect
	Limits  Limits
	// SessionID is the session named outside the body, by the header x-session-id.
	// It is used where the body has no session_id.
	SessionID string
}

// Decode reads a request and validates it. It ignores unknown members, except in
// provider, in routing and in the objects of models. [CheckSyntax] says which JSON
// texts are accepted.
//
// The options that clients of the AI SDK send for a gateway, in
// providerOptions.gateway, are read into the same fields: models into Models, with
// [ScopeAll] for conditions that name no scope; only, order, sort and
// zeroDataRetention into Provider; user into User, unless the request has one. It is
// a problem when the request states the same thing in its own member as well. It is
// also a problem when an option restricts where a request may go, or what it may
// use, in a way that has no counterpart here: byok, disallowPromptTraining, has,
// hipaaCompliant, inferenceRegion and quotaEntityId. Other options are ignored.
//
// The error is an [*InvalidError]. It lists every problem of the body, at most one
// for each path and 100 in all. A body that is not JSON has one problem, with its
// position. Models, questions, options and levels beyond the limits are not read.
//
// The raw JSON of the request is part of body, so body must not change afterwards.
func (d Decoder) Decode(body []byte) (*Request, error) {
	r := &Request{Dialect: d.Dialect, SessionID: d.SessionID}
	p := problems{steps: make([]string, 0, 8)}
	if !checkSyntax(body, 0, &p) {
		return nil, p.err()
	}
	if body = jsontext.Trim(body); body[0] != '{' {
		p.fail(mustBeObject)
		return nil, p.err()
	}
	if problem := tooLong(d.SessionID); problem != "" {
		p.failAt("session_id", problem)
	}
	limits := d.Limits.withDefaults()
	dec := decoder{problems: &p, request: r, limits: limits}
	dec.body(body)
	v := validator{problems: &p, limits: limits, dialect: d.Dialect, trusted: true, gateway: dec.gateway}
	v.request(r)
	if err := p.err(); err != nil {
		return nil, err
	}
	return r, nil
}

// UnmarshalJSON reads a request in the documented dialect with the default limits,
// as [Decoder.Decode] does.
func (r *Request) UnmarshalJSON(data []byte) error {
	got, err := Decoder{}.Decode(bytes.Clone(data))
	if err != nil {
		return err
	}
	*r = *got
	return nil
}

// decoder turns checked JSON into a request. It reports only what a Request cannot
// represent; the validator checks all other rules. Where both report a problem at
// one path, the decoder's message counts.
type decoder struct {
	*problems

	request       *Request
	limits        Limits
	clientOptions []byte // the member providerOptions; nil is absent or null
	gateway       bool   // the models of the request are from there
}

// few is the initial capacity of lists. Counting their values first would scan the
// whole text once more.
const few = 4

func (d *decoder) body(body []byte) {
	stated := false
	for m := jsontext.Walk(body); m.Next(); {
		name := string(m.Name)
		d.enter(name)
		d.member(name, m.Value)
		d.leave()
		stated = stated || name == "state"
	}
	if !stated {
		d.failAt("state", mustBeGiven)
	}
	if d.clientOptions != nil {
		d.providerOptions()
	}
}

func (d *decoder) member(name string, value []byte) {
	r := d.request
	switch name {
	case "model":
		r.Model = d.name(value)
	case "models":
		r.Models = d.entries(value)
	case "preset":
		r.Preset = d.name(value)
	case "state":
		r.State = raw(value)
	case "questions":
		d.questions(value)
	case "provider":
		if !jsontext.IsNull(value) {
			p := preferencesDecoder{d.problems}
			r.Provider = p.decode(value)
		}
	case "providerOptions":
		d.clientOptions = raw(value)
	case "routing":
		if !jsontext.IsNull(value) {
			r.Routing = new(d.routing(value))
		}
	case "session_id":
		r.SessionID = d.text(value)
	case "trace":
		r.Trace = raw(value)
	case "user":
		r.User = d.text(value)
	}
}

func (d *decoder) questions(value []byte) {
	if !d.isObject(value) {
		return
	}
	d.request.Questions = make([]Question, 0, few)
	for m := jsontext.Walk(value); m.Next() && m.Index <= d.limits.Questions; {
		name := string(m.Name)
		d.enter(name)
		if d.isObject(m.Value) {
			d.question(name, m.Value)
		}
		d.leave()
	}
}

func (d *decoder) question(name string, value []byte) {
	q := Question{Name: name}
	var criteria []byte
	for m := jsontext.Walk(value); m.Next(); {
		switch string(m.Name) {
		case "type":
			q.Kind = kind(m.Value)
		case "instructions":
			q.Instructions = raw(m.Value)
		case "criteria":
			criteria = m.Value
		}
	}
	d.enter("criteria")
	switch q.Kind {
	case Noul:
		d.noul(&q, criteria)
	case Choice:
		d.options(&q, criteria)
	case Score:
		d.levels(&q, criteria)
	}
	d.leave()
	d.request.Questions = append(d.request.Questions, q)
}

// kind returns the kind that value names, or "".
func kind(value []byte) Kind {
	if value[0] == '"' {
		text := jsontext.Unquote(value)
		for _, k := range []Kind{Noul, Choice, Score} {
			if string(text) == string(k) {
				return k
			}
		}
	}
	return ""
}

func (d *decoder) noul(q *Question, criteria []byte) {
	native := d.request.Dialect == Native
	if criteria == nil || native && jsontext.IsNull(criteria) || !d.isObject(criteria) {
		return
	}
	for m := jsontext.Walk(criteria); m.Next(); {
		switch string(m.Name) {
		case "true":
			q.True = raw(m.Value)
		case "false":
			q.False = raw(m.Value)
		}
	}
	// In a Request, neither side would mean no criteria at all.
	if !native && q.True == nil {
		d.failAt("true", mustBeGuidance)
	}
	if !native && q.False == nil {
		d.failAt("false", mustBeGuidance)
	}
}

func (d *decoder) options(q *Question, criteria []byte) {
	if criteria == nil || criteria[0] != '{' {
		d.fail("must be an object with at least one option")
		return
	}
	q.Options = make([]Option, 0, few)
	for m := jsontext.Walk(criteria); m.Next() && m.Index <= d.limits.Options; {
		q.Options = append(q.Options, Option{Name: string(m.Name), Guidance: raw(m.Value)})
	}
}

func (d *decoder) levels(q *Question, criteria []byte) {
	if criteria == nil || criteria[0] != '[' {
		d.fail("must be an array with at least one level")
		return
	}
	q.Levels = make([]json.RawMessage, 0, few)
	for m := jsontext.Walk(criteria); m.Next() && m.Index <= d.limits.Levels; {
		q.Levels = append(q.Levels, raw(m.Value))
	}
}

// raw returns a value as it is, and null as nil.
func raw(value []byte) json.RawMessage {
	if jsontext.IsNull(value) {
		return nil
	}
	return value
}

func (p *problems) isObject(value []byte) bool {
	if value[0] != '{' {
		p.fail(mustBeObject)
		return false
	}
	return true
}

// text reads a string.
func (p *problems) text(value []byte) string {
	if value[0] != '"' {
		p.fail(mustBeString)
		return ""
	}
	return string(jsontext.Unquote(value))
}

// name reads a non-empty string.
func (p *problems) name(value []byte) string {
	name := p.text(value)
	if name == "" {
		p.fail(mustNotBeEmpty)
	}
	return name
}

// names reads an array of non-empty strings, at most most of them. An empty array
// is nil unless meant says that it has a meaning.
func (p *problems) names(value []byte, meant bool, most int) []string {
	if value[0] != '[' {
		p.fail("must be an array of strings")
		return nil
	}
	n := length(value)
	if n == 0 && !meant {
		return nil
	}
	list := make([]string, 0, min(n, most))
	for m := jsontext.Walk(value); m.Next() && m.Index < most; {
		p.enter(strconv.Itoa(m.Index))
		list = append(list, p.name(m.Value))
		p.leave()
	}
	return list
}
