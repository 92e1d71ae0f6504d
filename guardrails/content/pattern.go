package content

import (
	"bytes"
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// ErrPattern is what every error of [compilePattern] is.
var ErrPattern = errors.New("invalid regular expression")

// MaxPattern is how many characters a pattern may have.
const MaxPattern = 100_000

const (
	maxNesting = 200 // groups in groups
	maxRepeat  = 1000
	// A program may have so many instructions, and two more for each byte of
	// its pattern: lists of words may be long, repetitions may not multiply.
	maxProgram = 3_000
)

// pattern is a regular expression in ECMAScript syntax, ready for use. It is
// safe for concurrent use.
type pattern struct {
	source  string
	program *program
	size    size
	literal []byte // every match holds it; empty is unknown
}

// compilePattern reads a regular expression; see [PatternBudget.Take] for what it
// refuses.
func compilePattern(source string) (*pattern, error) {
	switch {
	case source == "":
		return nil, fmt.Errorf("%w: it is empty", ErrPattern)
	case !utf8.ValidString(source):
		return nil, fmt.Errorf("%w: it is not valid UTF-8", ErrPattern)
	case utf8.RuneCountInString(source) > MaxPattern:
		return nil, fmt.Errorf("%w: it is longer than 100,000 characters", ErrPattern)
	}
	t := translator{in: source}
	_, err := t.alternatives(0)
	if err == nil && t.pos < len(source) {
		err = t.fail("unmatched )")
	}
	if err != nil {
		return nil, err
	}
	if t.expanded > maxExpanded {
		return nil, tooLarge(t.expanded, expandedUnit, maxExpanded)
	}
	tree, err := syntax.Parse(t.out.String(), syntax.Perl)
	if err != nil {
		return nil, refused(err)
	}
	most := maxProgram + 2*len(source)
	if n := instructions(tree); n > 2*most { // an estimate, before they are made
		return nil, tooLarge(n, instructionUnit, most)
	}
	program, err := newProgram(tree)
	if err != nil {
		return nil, refused(err)
	}
	if program.size > most {
		return nil, tooLarge(program.size, instructionUnit, most)
	}
	p := &pattern{source: source, program: program, literal: []byte(required(tree))}
	p.size = size{p.program.size, p.program.ranges, t.expanded}
	return p, nil
}

// refused makes an error of regexp/syntax one that does not show the
// translation.
func refused(err error) error {
	code := "unsupported syntax"
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		code = e.Code.String()
	}
	return fmt.Errorf("%w: %s", ErrPattern, code)
}

// String returns the pattern as it was written.
func (p *pattern) String() string { return p.source }

// find adds the parts of b that match, without empty ones. What it reads and
// finds is charged to the meter of the machine, whose error ends it.
func (p *pattern) find(out []span, b []byte, m *machine, each int64) ([]span, error) {
	if len(p.literal) > 0 {
		// Looking for it is cheap, and costs no more than a step for four bytes.
		if err := m.meter.charge(int64(len(b)/4) + runSteps); err != nil || !bytes.Contains(b, p.literal) {
			return out, err
		}
	}
	return m.all(p.program, out, b, each)
}

// required returns a text that every match of a tree holds: the longest one
// that the tree shows at once.
func required(tree *syntax.Regexp) string {
	switch tree.Op {
	case syntax.OpLiteral:
		// A broken byte of a text counts as U+FFFD too.
		if tree.Flags&syntax.FoldCase == 0 && !slices.Contains(tree.Rune, utf8.RuneError) {
			return string(tree.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(tree.Sub[0])
	case syntax.OpRepeat:
		if tree.Min > 0 {
			return required(tree.Sub[0])
		}
	case syntax.OpConcat:
		longest := ""
		for _, sub := range tree.Sub {
			if s := required(sub); len(s) > len(longest) {
				longest = s
			}
		}
		return longest
	default:
	}
	return ""
}
