package ask

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/signalbox/signalbox/systemone"
)

// ErrSheet is wrapped by every error about a mistake in a sheet of questions.
var ErrSheet = errors.New("ask: invalid questions")

// Sheet is a checked sheet of questions whose answers are a T. [NewSheet] makes
// one; the zero value asks nothing and its Ask is an error. It is immutable and
// safe for concurrent use.
type Sheet[T any] struct {
	template  T
	entries   []entry
	questions []systemone.Question // those of the entries, as they are sent
	room      int                  // how many probabilities the answers need
}

// entry is one question of a sheet and the position of its answer in T.
type entry struct {
	*spec

	field string // as errors name it: Verdict.Desk
	index []int  // for [reflect.Value.FieldByIndex]
}

// NewSheet checks a sheet of questions. T is a struct whose fields are a [Choice],
// a [Noul] or a [Score] with tags, or one of these by itself. A field without tags
// has the question that [NewChoice], [NewNoul] or [NewScore] put into the template.
// Nested structs are part of the sheet, and the names of questions must differ in
// all of it. Other fields are ignored: every T that is returned starts as a shallow
// copy of the template.
//
// The error wraps [ErrSheet] and lists every mistake with its field.
func NewSheet[T any](template T) (*Sheet[T], error) {
	v := reflect.ValueOf(&template).Elem()
	c := compiler{}
	c.value(v, typeName(v.Type()), nil, "")
	if len(c.entries) == 0 && len(c.mistakes) == 0 {
		c.mistake(typeName(v.Type()), errors.New("there is no field that is a Choice, a Noul or a Score"))
	}
	s := &Sheet[T]{template: template, entries: c.entries, questions: make([]systemone.Question, len(c.entries))}
	for i, e := range c.entries {
		s.questions[i] = e.wire // with no spare capacity, because calls share the array
		if e.wire.Kind != systemone.Choice {
			s.room += len(e.labels)
		}
	}
	if len(c.mistakes) == 0 && validate(s.questions) != nil {
		c.blame()
	}
	if len(c.mistakes) > 0 {
		return nil, errors.Join(c.mistakes...)
	}
	return s, nil
}

// compiler collects the questions of a struct.
type compiler struct {
	entries  []entry
	mistakes []error
}

func (c *compiler) mistake(field string, err error) {
	c.mistakes = append(c.mistakes, fmt.Errorf("%w: %s: %w", ErrSheet, field, err))
}

// value adds the question of v, or those of its fields.
func (c *compiler) value(v reflect.Value, field string, index []int, tag reflect.StructTag) {
	t := v.Type()
	switch _, tagged := tag.Lookup("ask"); {
	case questionKind(t) != "":
		c.question(v, field, index, string(tag))
	case tagged:
		c.mistake(field, fmt.Errorf("%s is no Choice, Noul or Score", t))
	case t.Kind() == reflect.Struct:
		c.fields(v, field, index)
	case holdsQuestions(t, map[reflect.Type]bool{}):
		c.mistake(field, fmt.Errorf("questions must be fields of a struct, by value; this is of kind %s", t.Kind()))
	}
}

func (c *compiler) fields(v reflect.Value, parent string, index []int) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		field := parent + "." + f.Name
		settable := f.IsExported() || f.Anonymous && f.Type.Kind() == reflect.Struct && questionKind(f.Type) == ""
		if !settable {
			if holdsQuestions(f.Type, map[reflect.Type]bool{}) {
				c.mistake(field, errors.New("the field of a question must be exported"))
			}
			continue
		}
		c.value(v.Field(i), field, append(slices.Clip(index), i), f.Tag)
	}
}

// holdsQuestions reports whether t contains a question, directly or through types
// that are not in seen. It adds the types that it visits to seen.
func holdsQuestions(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return holdsQuestions(t.Elem(), seen)
	case reflect.Struct:
		if questionKind(t) != "" {
			return true
		}
		for f := range t.Fields() {
			if holdsQuestions(f.Type, seen) {
				return true
			}
		}
		return false
	default:
		return false
	}
}

func (c *compiler) question(v reflect.Value, field string, index []int, tag string) {
	q, err := parseTag(tag)
	if err != nil {
		c.mistake(field, err)
		return
	}
	var built *Question
	if asked, ok := asQuestion(v); ok {
		built = asked.built()
	}
	switch {
	case built == nil && q.Name == "":
		c.mistake(field, errors.New("the field has no tag ask with the name of the question, and no question built by New"+kindName(v.Type())))
		return
	case built != nil && !reflect.ValueOf(q).IsZero():
		c.mistake(field, errors.New("the question has tags and is built by New"+kindName(v.Type())))
		return
	case built != nil:
		q = *built
	}
	s, err := q.check(questionKind(v.Type()))
	if err != nil {
		c.mistake(field, err)
		return
	}
	for _, e := range c.entries {
		if e.wire.Name == q.Name {
			c.mistake(field, fmt.Errorf("%q is the name of %s too", q.Name, e.field))
			return
		}
	}
	c.entries = append(c.entries, entry{spec: s, field: field, index: index})
}

// validate checks questions by the rules of a request, except for their number,
// which the router's limits bound.
func validate(questions []systemone.Question) error {
	r := systemone.Request{Model: "any", State: systemone.Text(""), Questions: questions}
	return r.Validate(systemone.Limits{Questions: math.MaxInt, Options: math.MaxInt, Levels: math.MaxInt})
}

// blame adds a mistake for each field whose question is invalid.
func (c *compiler) blame() {
	for _, e := range c.entries {
		if err := validate([]systemone.Question{e.wire}); err != nil {
			c.mistake(e.field, err)
		}
	}
}

func kindName(t reflect.Type) string {
	switch questionKind(t) {
	case systemone.Choice:
		return "Choice"
	case systemone.Score:
		return "Score"
	default:
		return "Noul"
	}
}

// typeName returns the name of t without its package, for errors.
func typeName(t reflect.Type) string {
	switch {
	case questionKind(t) != "":
		return kindName(t)
	case t.Name() == "":
		return t.Kind().String()
	default:
		return t.Name()
	}
}
