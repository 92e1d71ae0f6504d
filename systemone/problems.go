package systemone

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxIssues is how many problems are listed; one more says that there are
	// more.
	maxIssues = 100
	// maxStep is how many characters of a name a path shows.
	maxStep = 64
)

// problems collects the problems of a request, one per path: the first that
// is found there.
type problems struct{ list []Issue }

// add notes a problem unless its path has one, or the list is full.
func (p *problems) add(path, message string) {
	if len(p.list) > maxIssues {
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

// only notes the problem that makes the text unreadable, in place of all others.
func (p *problems) only(message string) {
	p.list = append(p.list[:0], Issue{Message: message})
}

// has says whether there is a problem at or below path.
func (p *problems) has(path string) bool {
	for _, is := range p.list {
		if within(is.Path, path) {
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

// within says whether path is at or below top.
func within(path, top string) bool {
	rest, ok := strings.CutPrefix(path, top)
	return ok && (rest == "" || rest[0] == '.')
}

// join puts a path below another; "" is no step.
func join(top, path string) string {
	if path == "" {
		return top
	}
	return top + "." + path
}

// below extends a path by one step for each name.
func below(path string, names ...string) string {
	var b strings.Builder
	b.WriteString(path)
	for _, name := range names {
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(pathStep(name))
	}
	return b.String()
}

// pathStep makes a name safe to show in a path: at most maxStep characters,
// quoted as in Go where it is empty or has dots, spaces, quotes or characters
// that do not print.
func pathStep(name string) string {
	end, count := 0, 0
	for i := range name {
		if count++; count > maxStep {
			break
		}
		end = i
	}
	cut := count > maxStep
	if cut {
		name = name[:end] + "…"
	}
	odd := func(r rune) bool {
		return r == utf8.RuneError || strings.ContainsRune(` ."\`, r) || !unicode.IsPrint(r)
	}
	if name == "" || strings.ContainsFunc(name, odd) {
		return strconv.Quote(name)
	}
	return name
}
