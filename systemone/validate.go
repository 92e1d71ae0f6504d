package systemone

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxName  = 256      // characters of a question's name, of a session id and of a user
	maxTrace = 64 << 10 // bytes of a trace

	mustBeGiven    = "must be given"
	mustNotBeEmpty = "must not be empty"
	mustBeGuidance = "must be a string, an object or an array"
)

// traceMembers are the members of a trace that must be strings.
func traceMember(name []byte) bool {
	switch string(name) {
	case "trace_id", "trace_name", "span_name", "generation_name", "parent_span_id":
		return true
	}
	return false
}

// Validate holds a request that was built by hand to the rules, limits and
// paths of [Decoder.Decode]: it returns nil or an [*InvalidError], whatever
// the request is. Raw JSON that is not JSON is a problem at its path, and so
// are two questions or options of one name and names that are not UTF-8.
func (r *Request) Validate(l Limits) error {
	v := validator{limits: l.withDefaults(), dialect: r.Dialect}
	v.request(r)
	return v.problems.err()
}

// validator notes the problems of a request.
type validator struct {
	problems

	limits  Limits
	dialect Dialect
	trusted bool // the raw JSON has been checked, and names differ
}

func (v *validator) request(r *Request) {
	if r.Model == "" && len(r.Models) == 0 && r.Preset == "" {
		v.add("model", mustBeGiven)
	}
	v.names("models", r.Models)
	if state := v.json("state", r.State, 1); state != nil || v.dialect != Native {
		v.guidance("state", state)
	}
	if len(r.Questions) == 0 && !v.has("questions") {
		v.add("questions", "must be an object with at least one question")
	}
	if len(r.Questions) > v.limits.Questions {
		v.add("questions", "must not have more than "+strconv.Itoa(v.limits.Questions)+" questions")
	}
	var seen map[string]bool
	if !v.trusted {
		seen = make(map[string]bool, len(r.Questions))
	}
	for i := range r.Questions {
		q := &r.Questions[i]
		v.label(seen, q.Name, "questions")
		if n := utf8.RuneCountInString(q.Name); n < 1 || n > maxName {
			v.add(below("questions", q.Name), "must have a name of 1 to "+strconv.Itoa(maxName)+" characters")
		}
		v.question(q)
	}
	if r.Provider != nil {
		v.preferences("provider", r.Provider)
	}
	if problem := tooLong(r.SessionID); problem != "" {
		v.add("session_id", problem)
	}
	if problem := tooLong(r.User); problem != "" {
		v.add("user", problem)
	}
	v.trace(r.Trace)
}

func (v *validator) question(q *Question) {
	instructions := v.json("", q.Instructions, 3, "questions", q.Name, "instructions")
	if instructions != nil || v.dialect != Native {
		v.guidance("", instructions, "questions", q.Name, "instructions")
	}
	switch q.Kind {
	case Noul:
		v.noul(q)
	case Choice:
		v.options(q)
	case Score:
		v.levels(q)
	default:
		v.add(below("questions", q.Name, "type"), `must be "noul", "choice" or "score"`)
	}
}

func (v *validator) noul(q *Question) {
	yes := v.json("", q.True, 4, "questions", q.Name, "criteria", "true")
	no := v.json("", q.False, 4, "questions", q.Name, "criteria", "false")
	if yes == nil && no == nil {
		return
	}
	if yes != nil || v.dialect != Native {
		v.guidance("", yes, "questions", q.Name, "criteria", "true")
	}
	if no != nil || v.dialect != Native {
		v.guidance("", no, "questions", q.Name, "criteria", "false")
	}
}

func (v *validator) options(q *Question) {
	if n := len(q.Options); n == 0 {
		v.add(below("questions", q.Name, "criteria"), "must have at least one option")
	} else if n > v.limits.Options {
		v.add(below("questions", q.Name, "criteria"),
			"must not have more than "+strconv.Itoa(v.limits.Options)+" options")
	}
	var seen map[string]bool
	if !v.trusted {
		seen = make(map[string]bool, len(q.Options))
	}
	for _, o := range q.Options {
		v.label(seen, o.Name, "questions", q.Name, "criteria")
		if g := v.json("", o.Guidance, 4, "questions", q.Name, "criteria", o.Name); g != nil {
			v.guidance("", g, "questions", q.Name, "criteria", o.Name)
		}
	}
}

func (v *validator) levels(q *Question) {
	if n := len(q.Levels); n == 0 {
		v.add(below("questions", q.Name, "criteria"), "must have at least one level")
	} else if n > v.limits.Levels {
		v.add(below("questions", q.Name, "criteria"),
			"must not have more than "+strconv.Itoa(v.limits.Levels)+" levels")
	}
	for i, level := range q.Levels {
		index := strconv.Itoa(i)
		g := v.json("", level, 4, "questions", q.Name, "criteria", index)
		if g != nil || v.dialect != Native {
			v.guidance("", g, "questions", q.Name, "criteria", index)
		}
	}
}

// label notes a name that the request cannot be sent with.
func (v *validator) label(seen map[string]bool, name string, path ...string) {
	if v.trusted {
		return
	}
	switch {
	case seen[name]:
		v.add(below(below("", path...), name), "is given more than once")
	case !utf8.ValidString(name):
		v.add(below(below("", path...), name), "must have a name in valid UTF-8")
	}
	seen[name] = true
}

// json returns the value of raw JSON that stands depth levels down, nil for
// null. It checks it unless that has been done; what is not JSON counts as an
// empty string, so that it has no second problem.
func (v *validator) json(path string, raw json.RawMessage, depth int, steps ...string) []byte {
	if raw == nil {
		return nil
	}
	if !v.trusted {
		var found problems
		ok := checkSyntax(raw, depth, &found)
		for _, is := range found.list {
			v.add(join(below(path, steps...), is.Path), is.Message)
		}
		if !ok {
			return []byte(`""`)
		}
	}
	if value := trim(raw); !isNull(value) {
		return value
	}
	return nil
}

// guidance notes a value that is no string, object or array.
func (v *validator) guidance(path string, value []byte, steps ...string) {
	if value == nil || !strings.ContainsRune(`"{[`, rune(value[0])) {
		v.add(below(path, steps...), mustBeGuidance)
	}
}

// names notes the empty strings of a list.
func (v *validator) names(path string, list []string) {
	for i, name := range list {
		if name == "" {
			v.add(element(path, i), mustNotBeEmpty)
		}
	}
}

func (v *validator) trace(raw json.RawMessage) {
	trace := v.json("trace", raw, 1)
	switch {
	case trace == nil:
		return
	case len(trace) > maxTrace:
		v.add("trace", "must not be longer than "+strconv.Itoa(maxTrace)+" bytes")
	case trace[0] != '{':
		v.add("trace", "must be an object")
		return
	}
	for m := walk(trace); m.next(); {
		if traceMember(m.name) && m.value[0] != '"' {
			v.add(below("trace", string(m.name)), "must be a string")
		}
	}
}

// tooLong returns the problem of a session id or user that is too long.
func tooLong(text string) string {
	if len(text) > maxName && utf8.RuneCountInString(text) > maxName {
		return "must not be longer than " + strconv.Itoa(maxName) + " characters"
	}
	return ""
}

// element is the path of an array's element.
func element(path string, index int) string { return below(path, strconv.Itoa(index)) }
