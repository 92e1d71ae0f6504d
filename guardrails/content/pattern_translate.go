package content

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// translator translates a pattern from ECMAScript to regexp/syntax.
type translator struct {
	in       string
	pos      int
	out      strings.Builder
	names    []string // names of the groups so far
	folding  bool     // inside a group that ignores case
	expanded int      // characters and ranges that regexp/syntax visits in classes
}

// part describes a piece of the pattern that was translated.
type part struct {
	unbounded bool // has a quantifier without an upper bound
	ambiguous bool // has equal alternatives, or an empty one
	fixed     bool // is an assertion, which takes no quantifier
}

func (t *translator) fail(format string, args ...any) error {
	at := utf8.RuneCountInString(t.in[:min(t.pos, len(t.in))])
	return fmt.Errorf("%w: %s at character %d", ErrPattern, fmt.Sprintf(format, args...), at)
}

// peek reports whether s comes next.
func (t *translator) peek(s string) bool { return strings.HasPrefix(t.in[t.pos:], s) }

// take skips s if it comes next, and reports whether it did.
func (t *translator) take(s string) bool {
	if !t.peek(s) {
		return false
	}
	t.pos += len(s)
	return true
}

// alternatives reads up to the end of the pattern or of the group.
func (t *translator) alternatives(depth int) (part, error) {
	if depth > maxNesting {
		return part{}, t.fail("groups are nested too deeply")
	}
	var list []span // the alternatives in the output
	var whole part
	for {
		start := t.out.Len()
		for t.pos < len(t.in) && !t.peek("|") && !t.peek(")") {
			p, err := t.term(depth)
			if err != nil {
				return part{}, err
			}
			whole.unbounded = whole.unbounded || p.unbounded
			whole.ambiguous = whole.ambiguous || p.ambiguous
		}
		list = append(list, span{start, t.out.Len()})
		if !t.take("|") {
			break
		}
		t.out.WriteByte('|')
	}
	whole.ambiguous = whole.ambiguous || t.repeats(list)
	return whole, nil
}

// repeats reports whether two alternatives are equal or one is empty.
func (t *translator) repeats(list []span) bool {
	if len(list) < 2 {
		return false
	}
	seen := make(map[string]bool, len(list))
	for _, s := range list {
		text := t.out.String()[s.start:s.end]
		if text == "" || seen[text] {
			return true
		}
		seen[text] = true
	}
	return false
}

// term reads an atom and its quantifier.
func (t *translator) term(depth int) (part, error) {
	start := t.pos
	p, err := t.atom(depth)
	if err != nil {
		return part{}, err
	}
	quantifier, endless, err := t.quantifier()
	if err != nil || quantifier == "" {
		return p, err
	}
	if p.fixed {
		t.pos = start
		return part{}, t.fail("an assertion cannot be repeated")
	}
	if endless && (p.unbounded || p.ambiguous) {
		t.pos = start
		return part{}, t.fail("nested quantifiers")
	}
	t.out.WriteString(quantifier)
	p.unbounded = p.unbounded || endless
	if again, _, err := t.quantifier(); err != nil || again != "" {
		return part{}, t.fail("nothing to repeat")
	}
	return p, nil
}

// quantifier reads a quantifier, if one comes next. endless means that it has no upper
// bound.
func (t *translator) quantifier() (text string, endless bool, err error) {
	switch {
	case t.take("*"):
		text, endless = "*", true
	case t.take("+"):
		text, endless = "+", true
	case t.take("?"):
		text = "?"
	case t.peek("{"):
		if text, endless, err = t.count(); text == "" || err != nil {
			return "", false, err
		}
	default:
		return "", false, nil
	}
	if t.take("?") {
		text += "?"
	}
	return text, endless, nil
}

// count reads {n}, {n,} or {n,m}. Any other brace matches itself.
func (t *translator) count() (text string, endless bool, err error) {
	end := strings.IndexByte(t.in[t.pos:], '}')
	if end < 0 {
		return "", false, nil
	}
	low, high, ranged := strings.Cut(t.in[t.pos+1:t.pos+end], ",")
	least, ok := countOf(low)
	most := least
	if ranged && high != "" {
		var okay bool
		most, okay = countOf(high)
		ok = ok && okay
	}
	switch {
	case !ok:
		return "", false, nil
	case least > maxRepeat || most > maxRepeat:
		return "", false, t.fail("a count above %d", maxRepeat)
	case least > most:
		return "", false, t.fail("counts out of order")
	}
	text = t.in[t.pos : t.pos+end+1]
	t.pos += end + 1
	return text, ranged && high == "", nil
}

// countOf parses a decimal number. The result is at most maxRepeat+1.
func countOf(s string) (n int, ok bool) {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, false
		}
		n = min(n*10+int(s[i]-'0'), maxRepeat+1)
	}
	return n, s != ""
}

// anyButLineEnd is what a dot matches in ECMAScript.
const anyButLineEnd = `[^\n\r\x{2028}\x{2029}]`

// atom reads a character, a class, an assertion or a group.
func (t *translator) atom(depth int) (part, error) {
	switch c := t.in[t.pos]; c {
	case '^', '$':
		t.pos++
		t.out.WriteByte(c)
		return part{fixed: true}, nil
	case '.':
		t.pos++
		t.out.WriteString(anyButLineEnd)
		return part{}, nil
	case '*', '+', '?':
		return part{}, t.fail("nothing to repeat")
	case '(':
		return t.group(depth)
	case '[':
		return part{}, t.class()
	case '\\':
		return t.escape()
	case '{':
		if text, _, err := t.count(); err != nil || text != "" {
			return part{}, t.fail("nothing to repeat")
		}
	}
	r, size := utf8.DecodeRuneInString(t.in[t.pos:])
	t.pos += size
	t.out.WriteString(literal(r))
	return part{}, nil
}

// group reads a group. The translation does not capture, because only the place of a
// match is needed.
func (t *translator) group(depth int) (part, error) {
	outside := t.folding
	open, err := t.opening()
	if err != nil {
		return part{}, err
	}
	t.out.WriteString(open)
	p, err := t.alternatives(depth + 1)
	if err != nil {
		return part{}, err
	}
	if !t.take(")") {
		return part{}, t.fail("a group has no end")
	}
	t.folding = outside
	t.out.WriteByte(')')
	return p, nil
}

func (t *translator) opening() (string, error) {
	for _, ahead := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if t.peek(ahead) {
			return "", t.fail("look-around %s is not supported", ahead)
		}
	}
	switch {
	case t.take("(?<"):
		return "(?:", t.name()
	case t.peek("(?"):
		end := strings.IndexByte(t.in[t.pos:], ':')
		if end < 0 || strings.Trim(t.in[t.pos+2:t.pos+end], "ims-") != "" {
			return "", t.fail("invalid group")
		}
		open := t.in[t.pos : t.pos+end+1]
		t.pos += len(open)
		on, off, _ := strings.Cut(open, "-")
		t.folding = (t.folding || strings.Contains(on, "i")) && !strings.Contains(off, "i")
		return open, nil
	}
	t.pos++
	return "(?:", nil
}

// name reads the rest of a group's name.
func (t *translator) name() error {
	end := strings.IndexByte(t.in[t.pos:], '>')
	if end < 0 {
		return t.fail("a group's name has no end")
	}
	name := t.in[t.pos : t.pos+end]
	for i, r := range name {
		if r != '_' && r != '$' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return t.fail("invalid name of a group")
		}
	}
	if name == "" || slices.Contains(t.names, name) {
		return t.fail("invalid name of a group")
	}
	t.names = append(t.names, name)
	t.pos += end + 1
	return nil
}
