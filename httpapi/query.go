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

// parameters is the query of a request, read name by name. Names that are not read are
// ignored. A name that is read may appear once and must not be empty. Every problem is
// kept, so that one refusal lists them all. Read all names first, then call err.
type parameters struct {
	values url.Values
	issues []systemone.Issue
}

// parameters returns the request's query. A query that cannot be parsed completely is
// refused, because net/url drops what it cannot parse, and a reply without that filter
// would show everything.
func (x *exchange) parameters() *parameters {
	values, err := url.ParseQuery(x.r.URL.RawQuery)
	p := &parameters{values: values}
	if err != nil {
		p.wrong("", "the query must be name=value pairs separated by &, with each ; and %% in them escaped as %%3B and %%25")
	}
	return p
}

// err returns a refusal with every problem so far, or nil.
func (p *parameters) err() error { return p.with(nil) }

// with returns a refusal with every problem so far and the issues of err. Without any
// problem it returns err.
func (p *parameters) with(err error) error { return allIssues(p.issues, err) }

func (p *parameters) wrong(name, format string, args ...any) {
	p.issues = append(p.issues, systemone.Issue{Path: name, Message: fmt.Sprintf(format, args...)})
}

// text returns a parameter, or "" if it is absent.
func (p *parameters) text(name string) string {
	values := p.values[name]
	switch {
	case len(values) == 0:
	case len(values) > 1:
		p.wrong(name, "must be given once")
	case values[0] == "": // an empty value must not be mistaken for an absent parameter
		p.wrong(name, "must not be empty")
	case !router.Storable(values[0]):
		p.wrong(name, "must be UTF-8 without U+0000")
	default:
		return values[0]
	}
	return ""
}

// workspace returns the UUID of workspace_id, or "" if it is absent.
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

// word returns a parameter that must be one of words, or "" if it is absent.
func (p *parameters) word(name string, words ...string) string {
	text := p.text(name)
	if text == "" || slices.Contains(words, text) {
		return text
	}
	p.wrong(name, "must be %s", strings.Join(words, " or "))
	return ""
}

// whole returns a whole number, or usual if the parameter is absent.
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

// allIssues returns a refusal with the known issues and those of err. Without known
// issues it returns err.
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
