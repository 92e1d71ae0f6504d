package systemone

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxIssues is how many problems are listed. One more entry says that there are
	// more.
	maxIssues = 100
	// maxStep is how many characters of a name a path shows.
	maxStep = 64
	// maxSteps is how many names a path shows.
	maxSteps = 16

	mustBeGiven    = "must be given"
	mustNotBeEmpty = "must not be empty"
	mustBeObject   = "must be an object"
	mustBeString   = "must be a string"
	mustBeGuidance = "must be a string, an object or an array"
	mustBePrice    = `must be a decimal number that is not negative, such as "0.25"`
	mustBeCutoff   = "must be a number that is not negative"
	givenTwice     = "is given more than once"
	unknownMember  = "is not a known member"
)

// problems collects the problems of a request, the first for each path. It tracks
// the current place.
type problems struct {
	list  []Issue
	steps []string // the names that lead to the place, from the body down
}

func (p *problems) enter(name string) { p.steps = append(p.steps, name) }

func (p *problems) leave() { p.steps = p.steps[:len(p.steps)-1] }

// fail notes a problem at the current place.
func (p *problems) fail(message string) {
	if !p.full() {
		p.add(path(p.steps...), message)
	}
}

// failAt notes a problem one step below the current place.
func (p *problems) failAt(name, message string) {
	p.enter(name)
	p.fail(message)
	p.leave()
}

// full reports whether further problems would be dropped. Callers then skip
// building their paths, so that a body with many problems stays cheap.
func (p *problems) full() bool { return len(p.list) > maxIssues }

// add notes a problem, unless its path has one or the list is full.
func (p *problems) add(path, message string) {
	if p.full() {
		return
	}
	for _, is := range p.list {
		if is.Path == path {
			return
		}
	}
	if len(p.list) == maxIssues {
		path, message = "", "there are more problems than the "+strconv.Itoa(maxIssues)+" listed"
	}
	p.list = append(p.list, Issue{Path: path, Message: message})
}

// only replaces all problems by the one that makes the text unreadable.
func (p *problems) only(message string) {
	p.list = append(p.list[:0], Issue{Message: message})
}

// failed reports whether there is a problem at or below the current place.
func (p *problems) failed() bool {
	here := path(p.steps...)
	for _, is := range p.list {
		if rest, ok := strings.CutPrefix(is.Path, here); ok && (rest == "" || rest[0] == '.') {
			return true
		}
	}
	return false
}

func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	return &InvalidError{Issues: p.list}
}

// path joins the names that lead to a place, the first maxSteps of them.
func path(steps ...string) string {
	var b strings.Builder
	for i, name := range steps {
		if i > 0 {
			b.WriteByte('.')
		}
		if i == maxSteps {
			b.WriteString("…")
			break
		}
		b.WriteString(step(name))
	}
	return b.String()
}

// step makes a name safe to show in a path. It cuts the name after maxStep
// characters, and quotes it as in Go where it is empty or has dots, spaces, quotes
// or unprintable characters.
func step(name string) string {
	count := 0
	for i := range name {
		if count++; count > maxStep {
			name = name[:i] + "…"
			break
		}
	}
	odd := func(r rune) bool {
		return r == utf8.RuneError || strings.ContainsRune(` ."\`, r) || !unicode.IsPrint(r)
	}
	if name == "" || strings.ContainsFunc(name, odd) {
		return strconv.Quote(name)
	}
	return name
}
