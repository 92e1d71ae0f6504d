package openai

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/jsontext"
	"github.com/signalbox/signalbox/systemone"
)

// maxIssues is how many problems of a body are noted, as in systemone.
const maxIssues = 100

// Asked is what the reply to a request needs beyond the answers: the names, values and
// labels as sent. The zero value is a request without questions. It shares memory with
// the body. Concurrent use is safe.
type Asked struct{ questions []question }

// question is one question of a body, in the body's order.
type question struct {
	systemone.Question

	sent   []byte   // the name as sent, in JSON; nil without a name
	values [][]byte // of a choice: the values as sent, in the order of Options
	labels [][]byte // of a score: the labels as sent, in the order of Levels
}

// Decode reads a body of the dialect with the limits, the dialect and the session of d,
// and validates it as d does. systemone.Native accepts missing instructions. The request
// has Refusals set.
//
// The error is a [*systemone.InvalidError] with paths of this dialect, such as
// questions.0.choices.1.value. Rewriting takes as much memory as the body, and the
// request shares memory with the body, which must not change afterwards.
func Decode(d systemone.Decoder, body []byte) (*systemone.Request, *Asked, error) {
	if err := systemone.CheckSyntax(body); err != nil {
		return nil, nil, err
	}
	body = jsontext.Trim(body)
	if body[0] != '{' {
		return nil, nil, invalid([]systemone.Issue{{Message: mustBeObject}})
	}
	t := translation{native: d.Dialect == systemone.Native, out: make([]byte, 0, len(body))}
	t.body(body, false)
	req, err := d.Decode(t.out)
	if len(t.issues) > 0 || err != nil {
		return nil, nil, t.problems(d, body, err)
	}
	req.Refusals = true
	for i := range t.questions {
		t.questions[i].Question = req.Questions[i]
	}
	return req, &Asked{questions: t.questions}, nil
}

// problems returns every problem of a body, given the problems of its System One form.
// Those of questions are found again under their index, because a path cannot be traced
// back to a name.
func (t *translation) problems(d systemone.Decoder, body []byte, err error) error {
	again := translation{native: t.native}
	again.body(body, true)
	_, indexed := d.Decode(again.out)
	list := t.issues
	for _, is := range issues(indexed) {
		if path, ok := t.pathOf(is.Path); ok {
			list = add(list, systemone.Issue{Path: path, Message: is.Message})
		}
	}
	for _, is := range issues(err) {
		if is.Path != "state" && is.Path != "questions" && !strings.HasPrefix(is.Path, "questions.") {
			list = add(list, is)
		}
	}
	return invalid(list)
}

// pathOf returns the path of a problem that the System One form has in its questions.
func (t *translation) pathOf(path string) (string, bool) {
	steps := strings.SplitN(path, ".", 4)
	if steps[0] != "questions" {
		return "", false
	}
	if len(steps) > 2 && steps[2] == "criteria" {
		i, err := strconv.Atoi(steps[1])
		if err != nil || i >= len(t.questions) {
			return "", false
		}
		steps[2] = t.questions[i].list()
	}
	return strings.Join(steps, "."), true
}

// list returns the member of a question that has the possible answers.
func (q *question) list() string {
	if q.Kind == systemone.Score {
		return "levels"
	}
	return "choices"
}

func issues(err error) []systemone.Issue {
	if ie, ok := errors.AsType[*systemone.InvalidError](err); ok {
		return ie.Issues
	}
	return nil
}

// add adds a problem, unless its path or a part of that path has one.
func add(list []systemone.Issue, is systemone.Issue) []systemone.Issue {
	for _, known := range list {
		if rest, ok := strings.CutPrefix(is.Path, known.Path); ok && (rest == "" || rest[0] == '.') {
			return list
		}
	}
	return append(list, is)
}

func invalid(list []systemone.Issue) error { return &systemone.InvalidError{Issues: list} }

// own reports whether a member is rewritten or ignored. All others are members of a
// System One request, or unknown in both dialects.
func own(name string) bool {
	switch name {
	case "input", "questions", "state", "safety_identifier", "prompt_cache_key", "prompt_cache_options":
		return true
	}
	return false
}

// translation rewrites one body, which is valid JSON.
type translation struct {
	native    bool
	out       []byte // the System One form
	questions []question
	steps     []string // the path to the current place
	issues    []systemone.Issue
}

func (t *translation) enter(name string) { t.steps = append(t.steps, name) }
func (t *translation) at(index int)      { t.enter(strconv.Itoa(index)) }
func (t *translation) leave()            { t.steps = t.steps[:len(t.steps)-1] }
func (t *translation) full() bool        { return len(t.issues) >= maxIssues }

// fail notes a problem at the current place.
func (t *translation) fail(message string) {
	if !t.full() {
		t.issues = append(t.issues, systemone.Issue{Path: strings.Join(t.steps, "."), Message: message})
	}
}

// failAt notes a problem one step below the current place.
func (t *translation) failAt(name, message string) {
	t.enter(name)
	t.fail(message)
	t.leave()
}

func (t *translation) text(text string) { t.out = append(t.out, text...) }
func (t *translation) raw(value []byte) { t.out = append(t.out, value...) }

// comma separates the i-th element of a list from the one before it.
func (t *translation) comma(i int) {
	if i > 0 {
		t.out = append(t.out, ',')
	}
}

// body writes the System One form of a body. indexed names every question by its index.
func (t *translation) body(body []byte, indexed bool) {
	var input, questions, safety, user []byte
	t.text("{")
	for m := jsontext.Walk(body); m.Next(); {
		switch name := string(m.Name); name {
		case "input":
			input = m.Value
		case "questions":
			questions = m.Value
		case "safety_identifier":
			safety = m.Value
		case "user":
			user = m.Value
		default:
			if !own(name) {
				t.member(name, m.Value)
			}
		}
	}
	t.user(safety, user)
	t.text(`"state":`)
	t.enter("input")
	t.input(input)
	t.leave()
	t.text(`,"questions":{`)
	t.enter("questions")
	t.list(questions, indexed)
	t.leave()
	t.text("}}")
}

// member writes a member and the comma after it.
func (t *translation) member(name string, value []byte) {
	t.out = append(jsontext.AppendString(t.out, name), ':')
	t.raw(value)
	t.text(",")
}

// user writes the user, under whichever of its two names it was sent.
func (t *translation) user(safety, user []byte) {
	switch {
	case jsontext.IsNull(safety):
		safety = user
	case safety[0] != '"':
		t.failAt("safety_identifier", mustBeString)
		return
	case !jsontext.IsNull(user) && string(jsontext.Unescaped(user)) != string(jsontext.Unescaped(safety)):
		t.failAt("user", "must be the safety_identifier where both are given")
		return
	}
	if safety != nil {
		t.member("user", safety)
	}
}

// known returns the values of at most four named members of an object, nil where a
// member is null or absent.
func known(object []byte, names ...string) [4][]byte {
	var found [4][]byte
	for m := jsontext.Walk(object); m.Next(); {
		for i, name := range names {
			if string(m.Name) == name && !jsontext.IsNull(m.Value) {
				found[i] = m.Value
			}
		}
	}
	return found
}

// isText reports whether a value is a string.
func isText(value []byte) bool { return len(value) > 0 && value[0] == '"' }

// textOf returns the content of a string, or "".
func textOf(value []byte) string {
	s, _ := jsontext.Text(value)
	return s
}

// quoted returns a text as JSON.
func quoted(text string) json.RawMessage { return jsontext.AppendString(nil, text) }
