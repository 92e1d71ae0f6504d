package presets

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"github.com/signalbox/signalbox/internal/jsontext"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

const (
	maxIssues   = 100
	maxStep     = 64 // characters of a name that a path shows
	maxNumber   = 64 // characters of a number
	maxExponent = 64 // larger ones only cost memory
)

// problems collects the mistakes in a body.
type problems struct{ issues []systemone.Issue }

func (p *problems) add(path, message string) {
	if len(p.issues) < maxIssues {
		p.issues = append(p.issues, systemone.Issue{Path: path, Message: message})
	}
}

func (p *problems) err() error {
	if len(p.issues) == 0 {
		return nil
	}
	return &systemone.InvalidError{Issues: p.issues}
}

// within returns the path of a member. As in the paths of systemone, names with
// special characters are quoted and long names are cut.
func within(path, name string) string {
	if utf8.RuneCountInString(name) > maxStep {
		name = string([]rune(name)[:maxStep]) + "…"
	}
	odd := func(r rune) bool { return strings.ContainsRune(` ."\`, r) || !unicode.IsPrint(r) }
	if name == "" || strings.ContainsFunc(name, odd) {
		name = strconv.Quote(name)
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// rule adds the mistakes of a value, which is valid JSON and not null.
type rule func(p *problems, path string, value json.RawMessage)

// field is a member of an object, with its rule.
type field struct {
	name     string
	rule     rule
	required bool
}

// object accepts objects whose members satisfy fields. Null members count as absent,
// and members without a field are not checked.
func object(fields ...field) rule {
	return func(p *problems, path string, value json.RawMessage) {
		members, ok := jsontext.Members(value)
		if !ok {
			p.add(path, "must be an object")
			return
		}
		for _, f := range fields {
			f.check(p, path, members)
		}
	}
}

func (f field) check(p *problems, path string, members map[string]json.RawMessage) {
	switch value := members[f.name]; {
	case !jsontext.IsNull(value):
		f.rule(p, within(path, f.name), value)
	case f.required:
		p.add(within(path, f.name), "must be given")
	}
}

// storable adds a mistake for every text and name in a value that some store cannot
// keep.
func storable(p *problems, path string, value json.RawMessage) {
	if !bytes.Contains(value, []byte(`\u0000`)) { // valid JSON has U+0000 only in this form
		return
	}
	const message = "must not contain U+0000"
	switch value[0] {
	case '"':
		if s, _ := jsontext.Text(value); !router.Storable(s) {
			p.add(path, message)
		}
	case '{':
		members, _ := jsontext.Members(value)
		for _, name := range sortedNames(members) {
			if !router.Storable(name) {
				p.add(within(path, name), message)
			}
			storable(p, within(path, name), members[name])
		}
	case '[':
		items, _ := jsontext.Elements(value)
		for i, item := range items {
			storable(p, within(path, strconv.Itoa(i)), item)
		}
	}
}

// list accepts arrays of at least least items that satisfy each, and of at most most
// unless that is 0.
func list(least, most int, each rule) rule {
	return func(p *problems, path string, value json.RawMessage) {
		items, ok := jsontext.Elements(value)
		switch {
		case !ok:
			p.add(path, "must be an array")
			return
		case len(items) < least:
			p.add(path, "must have at least "+strconv.Itoa(least)+" items")
		case most > 0 && len(items) > most:
			p.add(path, "must have at most "+strconv.Itoa(most)+" items")
			return
		}
		for i, item := range items {
			each(p, within(path, strconv.Itoa(i)), item)
		}
	}
}

// mapOf accepts objects whose values satisfy each.
func mapOf(each rule) rule {
	return func(p *problems, path string, value json.RawMessage) {
		members, ok := jsontext.Members(value)
		if !ok {
			p.add(path, "must be an object")
			return
		}
		for _, name := range sortedNames(members) {
			each(p, within(path, name), members[name])
		}
	}
}

// text accepts strings of at most most characters; 0 is no bound.
func text(most int) rule {
	return func(p *problems, path string, value json.RawMessage) {
		switch s, ok := jsontext.Text(value); {
		case !ok:
			p.add(path, "must be a string")
		case most > 0 && utf8.RuneCountInString(s) > most:
			p.add(path, "must have at most "+strconv.Itoa(most)+" characters")
		}
	}
}

// wordOf returns the text of a string, or "" for any other value.
func wordOf(value json.RawMessage) string {
	if jsontext.IsNull(value) {
		return ""
	}
	s, _ := jsontext.Text(value)
	return s
}

// word accepts one of a few words.
func word(words ...string) rule {
	return func(p *problems, path string, value json.RawMessage) {
		s, ok := jsontext.Text(value)
		for _, w := range words {
			if ok && s == w {
				return
			}
		}
		p.add(path, "must be one of "+strings.Join(words, ", "))
	}
}

func boolean(p *problems, path string, value json.RawMessage) {
	if s := string(value); s != "true" && s != "false" {
		p.add(path, "must be true or false")
	}
}

func number(p *problems, path string, value json.RawMessage) {
	if _, ok := numberOf(value); !ok {
		p.add(path, "must be a number")
	}
}

func integer(p *problems, path string, value json.RawMessage) {
	if n, ok := numberOf(value); !ok || !n.IsInteger() {
		p.add(path, "must be a whole number")
	}
}

// between accepts numbers from least to most, both included.
func between(least, most int64) rule {
	return func(p *problems, path string, value json.RawMessage) {
		n, ok := numberOf(value)
		if !ok || n.LessThan(decimal.NewFromInt(least)) || n.GreaterThan(decimal.NewFromInt(most)) {
			p.add(path, "must be a number from "+strconv.FormatInt(least, 10)+" to "+strconv.FormatInt(most, 10))
		}
	}
}

// wholeBetween accepts whole numbers from least to most, both included.
func wholeBetween(least, most int64) rule {
	return func(p *problems, path string, value json.RawMessage) {
		n, ok := numberOf(value)
		if !ok || !n.IsInteger() || n.LessThan(decimal.NewFromInt(least)) || n.GreaterThan(decimal.NewFromInt(most)) {
			p.add(path, "must be a whole number from "+strconv.FormatInt(least, 10)+" to "+strconv.FormatInt(most, 10))
		}
	}
}

// numberOf reads a number exactly. A number of more than maxNumber characters counts
// as none.
func numberOf(value json.RawMessage) (decimal.Decimal, bool) {
	s := string(value)
	if len(s) > maxNumber || s[0] != '-' && (s[0] < '0' || s[0] > '9') {
		return decimal.Decimal{}, false
	}
	if at := strings.IndexAny(s, "eE"); at >= 0 {
		exponent, err := strconv.Atoi(s[at+1:])
		if err != nil || exponent < -maxExponent || exponent > maxExponent {
			return decimal.Decimal{}, false
		}
	}
	n, err := decimal.NewFromString(s)
	return n, err == nil
}

// either accepts a string by the first rule, and any other value by the second.
func either(ofText, other rule) rule {
	return func(p *problems, path string, value json.RawMessage) {
		if value[0] == '"' {
			ofText(p, path, value)
			return
		}
		other(p, path, value)
	}
}
