package systemone

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/jsontext"
)

const (
	defaultQuestions = 1000
	defaultOptions   = 255
	defaultLevels    = 255

	maxName   = 256      // characters of a name of a question or model, of a session id and of a user
	maxModels = 64       // of a list
	maxTrace  = 64 << 10 // bytes of a trace
)

// Validate checks a request built by hand by the rules and limits of
// [Decoder.Decode]. It returns nil or an [*InvalidError] with the same paths.
// Invalid raw JSON is a problem at its path, and so are two questions or options of
// one name and names that are not UTF-8. Empty raw JSON counts as null.
func (r Request) Validate(l Limits) error {
	p := problems{steps: make([]string, 0, 8)}
	v := validator{problems: &p, limits: l.withDefaults(), dialect: r.Dialect}
	v.request(&r)
	return p.err()
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

// validator notes the problems of a request.
type validator struct {
	*problems

	limits  Limits
	dialect Dialect
	trusted bool // the raw JSON is checked, and names are UTF-8 and distinct
	gateway bool // the models are those of providerOptions.gateway
}

func (v *validator) request(r *Request) {
	if r.Model == "" && len(r.Models) == 0 && r.Preset == "" {
		v.failAt("model", mustBeGiven)
	}
	if problem := tooLong(r.Model); problem != "" {
		v.failAt("model", problem)
	}
	v.enterModels()
	v.models(r.Models)
	v.leaveModels()
	v.guidance("state", r.State, v.dialect == Native)
	v.questions(r.Questions)
	v.groups(r)
	v.routing(r.Routing)
	if r.Provider != nil {
		v.enter("provider")
		v.preferences(r.Provider)
		v.leave()
	}
	if problem := tooLong(r.SessionID); problem != "" {
		v.failAt("session_id", problem)
	}
	if problem := tooLong(r.User); problem != "" {
		v.failAt("user", problem)
	}
	v.enter("trace")
	v.trace(r.Trace)
	v.leave()
}

// groups notes the problems of the entries of a request that are not texts. Where
// questions have problems, the names in conditions are not compared with them.
func (v *validator) groups(r *Request) {
	if !slices.ContainsFunc(r.Models, func(e Entry) bool { return !e.isText() }) {
		return
	}
	v.enter("questions")
	kinds := kindsOf(r.Questions)
	if v.failed() {
		kinds = nil
	}
	v.leave()
	v.enterModels()
	v.conditions(r.Models, kinds)
	v.leaveModels()
}

func (v *validator) enterModels() {
	if v.gateway {
		v.enter("providerOptions")
		v.enter("gateway")
	}
	v.enter("models")
}

func (v *validator) leaveModels() {
	v.leave()
	if v.gateway {
		v.leave()
		v.leave()
	}
}

func (v *validator) questions(list []Question) {
	v.enter("questions")
	defer v.leave()
	if len(list) == 0 && !v.failed() {
		v.fail("must be an object with at least one question")
	}
	v.atMost(len(list), v.limits.Questions, "questions")
	seen := v.names(len(list))
	for i := range list {
		q := &list[i]
		v.enter(q.Name)
		seen.add(v.problems, q.Name)
		if n := utf8.RuneCountInString(q.Name); n < 1 || n > maxName {
			v.fail("must have a name of 1 to " + strconv.Itoa(maxName) + " characters")
		}
		v.question(q)
		v.leave()
	}
}

func (v *validator) question(q *Question) {
	native := v.dialect == Native
	v.guidance("instructions", q.Instructions, native)
	v.enter("criteria")
	defer v.leave()
	switch q.Kind {
	case Noul:
		if len(q.True) > 0 || len(q.False) > 0 {
			v.guidance("true", q.True, native)
			v.guidance("false", q.False, native)
		}
	case Choice:
		v.options(q.Options)
	case Score:
		if len(q.Levels) == 0 {
			v.fail("must have at least one level")
		}
		v.atMost(len(q.Levels), v.limits.Levels, "levels")
		for i, level := range q.Levels {
			v.guidance(strconv.Itoa(i), level, native)
		}
	default:
		v.leave()
		v.failAt("type", `must be "noul", "choice" or "score"`)
		v.enter("criteria")
	}
}

func (v *validator) options(list []Option) {
	if len(list) == 0 {
		v.fail("must have at least one option")
	}
	v.atMost(len(list), v.limits.Options, "options")
	seen := v.names(len(list))
	for _, o := range list {
		v.enter(o.Name)
		seen.add(v.problems, o.Name)
		v.leave()
		v.guidance(o.Name, o.Guidance, true)
	}
}

func (v *validator) atMost(n, limit int, what string) {
	if n > limit {
		v.fail("must not have more than " + strconv.Itoa(limit) + " " + what)
	}
}

// guidance notes a value that is neither a string, an object, an array nor, where
// nullable, null.
func (v *validator) guidance(name string, raw json.RawMessage, nullable bool) {
	v.enter(name)
	value := v.json(raw)
	switch {
	case value == nil && nullable:
	case value == nil || value[0] != '"' && value[0] != '{' && value[0] != '[':
		v.fail(mustBeGuidance)
	}
	v.leave()
}

// json returns the value of raw JSON, nil for null, and checks it unless that is
// done already. Text that is not JSON is returned as an empty string, so that it
// causes no second problem.
func (v *validator) json(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return nil
	}
	if !v.trusted {
		found := problems{}
		ok := checkSyntax(raw, len(v.steps), &found)
		for _, is := range found.list {
			at := path(v.steps...)
			if is.Path != "" {
				at += "." + is.Path
			}
			v.add(at, is.Message)
		}
		if !ok {
			return []byte(`""`)
		}
	}
	if value := jsontext.Trim(raw); !jsontext.IsNull(value) {
		return value
	}
	return nil
}

// notEmpty notes the empty strings of a list.
func (v *validator) notEmpty(name string, list []string) {
	for i, s := range list {
		if s == "" {
			v.enter(name)
			v.failAt(strconv.Itoa(i), mustNotBeEmpty)
			v.leave()
		}
	}
}

func (v *validator) trace(raw json.RawMessage) {
	trace := v.json(raw)
	if trace == nil || !v.isObject(trace) {
		return
	}
	if len(trace) > maxTrace {
		v.fail("must not be longer than " + strconv.Itoa(maxTrace) + " bytes")
	}
	for m := jsontext.Walk(trace); m.Next(); {
		switch string(m.Name) {
		case "trace_id", "trace_name", "span_name", "generation_name", "parent_span_id":
			if m.Value[0] != '"' {
				v.failAt(string(m.Name), mustBeString)
			}
		}
	}
}

// tooLong returns the problem of a model, session id or user that is too long, or
// "".
func tooLong(text string) string {
	if len(text) > maxName && utf8.RuneCountInString(text) > maxName {
		return "must not be longer than " + strconv.Itoa(maxName) + " characters"
	}
	return ""
}

// names are the names of one object built by hand; nil for a checked body.
type names map[string]bool

func (v *validator) names(size int) names {
	if v.trusted {
		return nil
	}
	return make(names, size)
}

// add notes a name that is duplicate or invalid.
func (n names) add(p *problems, name string) {
	if n == nil {
		return
	}
	switch {
	case n[name]:
		p.fail(givenTwice)
	case !utf8.ValidString(name):
		p.fail("must have a name in valid UTF-8")
	}
	n[name] = true
}
