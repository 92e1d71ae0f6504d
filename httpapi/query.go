package httpapi

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// parameters is a query, read name by name. Names that nobody reads are
// ignored; one that is read may be given once, and then not be empty. Every
// problem is kept, so that a caller learns of all of them at once: read
// everything, then ask err.
type parameters struct {
	values url.Values
	issues []systemone.Issue
}

// parameters begins to read the request's query. One that cannot be read to its
// end is wrong as a whole: net/url leaves out what it cannot read, and a filter
// that is left out would show everything.
func (x *exchange) parameters() *parameters {
	values, err := url.ParseQuery(x.r.URL.RawQuery)
	p := &parameters{values: values}
	if err != nil {
		p.wrong("", "the query must be of names and values between ampersands, with no other semicolon or percent sign than an escaped one")
	}
	return p
}

// err is the refusal of everything that was wrong, or nil.
func (p *parameters) err() error { return p.with(nil) }

// with is the refusal of everything that was wrong, with what is wrong
// according to err; where nothing was, it is err.
func (p *parameters) with(err error) error { return allIssues(p.issues, err) }

func (p *parameters) wrong(name, format string, args ...any) {
	p.issues = append(p.issues, systemone.Issue{Path: name, Message: fmt.Sprintf(format, args...)})
}

// text returns a parameter, or "" when it is not given.
func (p *parameters) text(name string) string {
	values := p.values[name]
	switch {
	case len(values) == 0:
	case len(values) > 1:
		p.wrong(name, "must be given once")
	case values[0] == "": // must not be taken for one that was not given
		p.wrong(name, "must not be empty")
	case !router.Storable(values[0]):
		p.wrong(name, "must be UTF-8 without U+0000")
	default:
		return values[0]
	}
	return ""
}

// workspace returns the UUID of workspace_id, or "" when it is not given.
func (p *parameters) workspace() string {
	const name = "workspace_id"
	text := p.text(name)
	id, ok := uuidOf(text)
	switch {
	case ok:
		return id
	case text != "":
		p.wrong(name, "must be a UUID")
	}
	return ""
}

// word returns one of a few words, or "" when it is not given.
func (p *parameters) word(name string, words ...string) string {
	text := p.text(name)
	if text == "" || slices.Contains(words, text) {
		return text
	}
	p.wrong(name, "must be %s", strings.Join(words, " or "))
	return ""
}

// whole returns a whole number, or usual when it is not given.
func (p *parameters) whole(name string, usual, from, most int) int {
	values := p.values[name]
	if len(values) == 0 {
		return usual
	}
	n, err := strconv.Atoi(values[0])
	if err != nil || len(values) > 1 || n < from || n > most {
		p.wrong(name, "must be one whole number from %d to %d", from, most)
		return usual
	}
	return n
}

// allIssues is the refusal of known problems together with those that err
// lists; without any it is err.
func allIssues(known []systemone.Issue, err error) error {
	if len(known) == 0 {
		return err
	}
	if more, ok := errors.AsType[*systemone.InvalidError](err); ok {
		known = slices.Concat(known, slices.DeleteFunc(slices.Clone(more.Issues), func(is systemone.Issue) bool {
			return slices.ContainsFunc(known, func(k systemone.Issue) bool { return k.Path == is.Path })
		}))
	}
	return &systemone.InvalidError{Issues: known}
}
