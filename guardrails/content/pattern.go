package content

import (
	"bytes"
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// ErrPattern is wrapped by every error about a pattern that cannot be used.
var ErrPattern = errors.New("invalid regular expression")

// MaxPattern is the maximum length of a pattern in characters.
const MaxPattern = 100_000

const (
	maxNesting = 200 // of groups
	maxRepeat  = 1000
	// maxProgram is the maximum number of instructions of a program, besides two for each
	// byte of its pattern. Lists of words may be long, repetitions may not multiply.
	maxProgram = 3_000
)

// pattern is a compiled regular expression in ECMAScript syntax. It is safe for
// concurrent use.
type pattern struct {
	source  string
	program *program
	size    size
	literal []byte // every match contains it; empty if unknown
}

// compilePattern compiles a regular expression; see [PatternBudget.Take] for what it
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
	if n := instructions(tree); n > 2*most { // an estimate, before the instructions are generated
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

// refused converts an error of regexp/syntax to one that does not show the translated
// pattern, which the author of the pattern does not know.
func refused(err error) error {
	code := "unsupported syntax"
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		code = e.Code.String()
	}
	return fmt.Errorf("%w: %s", ErrPattern, code)
}

// String returns the source of the pattern.
func (p *pattern) String() string { return p.source }

// find adds the matches in b that are not empty. It charges its work to the meter of the
// machine, whose error ends it.
func (p *pattern) find(out []span, b []byte, m *machine, each int64) ([]span, error) {
	if len(p.literal) > 0 {
		// The search for the literal is cheap: it costs one step for four bytes.
		if err := m.meter.charge(int64(len(b)/4) + runSteps); err != nil || !bytes.Contains(b, p.literal) {
			return out, err
		}
	}
	return m.all(p.program, out, b, each)
}

// required returns a text that every match of a tree contains: the longest that is
// visible in the tree.
func required(tree *syntax.Regexp) string {
	switch tree.Op {
	case syntax.OpLiteral:
		// An invalid byte in a text is read as U+FFFD, so U+FFFD in a pattern does not
		// require these bytes.
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
