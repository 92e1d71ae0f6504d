package content

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// The contents of the classes that \s, \S and all characters stand for in ECMAScript.
const (
	spaces     = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	notSpaces  = `\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
	everything = `\x00-\x{10ffff}`
)

// propertyRanges is more than the number of ranges of any Unicode property.
const propertyRanges = 4_000

// literal escapes a character so that it matches itself, also in a class.
func literal(r rune) string {
	if r < utf8.RuneSelf && !isWord(byte(r)) { //nolint:gosec // r is ASCII
		return fmt.Sprintf(`\x%02x`, r)
	}
	return string(r)
}

// set returns the content of the class that an escaped letter stands for.
func (t *translator) set(c byte) (inside string, ok bool, err error) {
	switch c {
	case 'd':
		return `0-9`, true, nil
	case 'D':
		return `\x00-/:-\x{10ffff}`, true, nil
	case 'w':
		return `0-9A-Za-z_`, true, nil
	case 'W':
		return "\\x00-/:-@\\[-\\^`\\{-\\x{10ffff}", true, nil
	case 's':
		return spaces, true, nil
	case 'S':
		return notSpaces, true, nil
	case 'p', 'P':
		inside, err = t.property(c)
		return inside, err == nil, err
	}
	return "", false, nil
}

// property reads the rest of \p{…}, after the p.
func (t *translator) property(c byte) (string, error) {
	end := strings.IndexByte(t.in[t.pos:], '}')
	if !t.peek("{") || end < 0 {
		return "", t.fail(`\%c needs a property in braces`, c)
	}
	t.expanded += propertyRanges
	name := t.in[t.pos+1 : t.pos+end]
	for _, prefix := range []string{"Script=", "sc=", "General_Category=", "gc="} {
		name = strings.TrimPrefix(name, prefix)
	}
	for _, r := range name {
		if r != '_' && !unicode.IsLetter(r) {
			return "", t.fail("unknown property")
		}
	}
	t.pos += end + 1
	return fmt.Sprintf(`\%c{%s}`, c, name), nil
}

// escape reads an escape outside of a class, after the backslash.
func (t *translator) escape() (part, error) {
	switch c := at([]byte(t.in[t.pos:min(t.pos+2, len(t.in))]), 1); {
	case c == 'b' || c == 'B':
		t.pos += 2
		t.out.WriteString(`\` + string(c))
		return part{fixed: true}, nil
	case '1' <= c && c <= '9' || c == 'k':
		return part{}, t.fail("back-references are not supported")
	}
	property := t.peek(`\p`) || t.peek(`\P`)
	r, inside, err := t.escaped()
	switch {
	case err != nil:
		return part{}, err
	case inside == "":
		t.out.WriteString(literal(r))
	case property:
		t.out.WriteString("[" + inside + "]")
	default:
		t.out.WriteString(t.caseless("[" + inside + "]"))
	}
	return part{}, nil
}

// caseless exempts a class from an enclosing group that ignores case. Sets such as \W are
// the same in both cases, and folding long ones is expensive.
func (t *translator) caseless(class string) string {
	if t.folding {
		return "(?-i:" + class + ")"
	}
	return class
}

// escaped reads an escape that stands for a character or for a set.
func (t *translator) escaped() (r rune, inside string, err error) {
	if t.pos+1 >= len(t.in) {
		return 0, "", t.fail(`\ at the end`)
	}
	c := t.in[t.pos+1]
	t.pos += 2
	if inside, ok, err := t.set(c); ok || err != nil {
		return 0, inside, err
	}
	switch c {
	case 't':
		return '\t', "", nil
	case 'n':
		return '\n', "", nil
	case 'v':
		return '\v', "", nil
	case 'f':
		return '\f', "", nil
	case 'r':
		return '\r', "", nil
	case '0':
		if t.pos < len(t.in) && isDigit(t.in[t.pos]) {
			return 0, "", t.fail("octal escapes are not supported")
		}
		return 0, "", nil
	case 'c':
		if t.pos < len(t.in) && isLetter(t.in[t.pos]) {
			t.pos++
			return rune(t.in[t.pos-1] & 31), "", nil
		}
		return 0, "", t.fail(`\c needs a letter`)
	case 'x':
		r, err = t.hex(2)
		return r, "", err
	case 'u':
		r, err = t.unicode()
		return r, "", err
	}
	if isLetter(c) || isDigit(c) {
		t.pos -= 2
		return 0, "", t.fail(`unknown escape \%c`, c)
	}
	t.pos--
	r, size := utf8.DecodeRuneInString(t.in[t.pos:])
	t.pos += size
	return r, "", nil
}

// hex reads n hexadecimal digits.
func (t *translator) hex(n int) (rune, error) {
	if t.pos+n > len(t.in) {
		return 0, t.fail("too few hexadecimal digits")
	}
	v, err := strconv.ParseUint(t.in[t.pos:t.pos+n], 16, 32)
	if err != nil || v > unicode.MaxRune {
		return 0, t.fail("invalid hexadecimal digits")
	}
	t.pos += n
	return rune(v), nil
}

// unicode reads what follows \u: XXXX, a surrogate pair or {X…}.
func (t *translator) unicode() (rune, error) {
	var r rune
	var err error
	if t.take("{") {
		end := strings.IndexByte(t.in[t.pos:], '}')
		if end < 1 || end > 8 {
			return 0, t.fail("invalid code point")
		}
		if r, err = t.hex(end); err == nil {
			t.pos++
		}
	} else if r, err = t.hex(4); err == nil && utf16.IsSurrogate(r) && t.take(`\u`) {
		low, lowErr := t.hex(4)
		if r = utf16.DecodeRune(r, low); lowErr != nil || r == utf8.RuneError {
			return 0, t.fail("half of a surrogate pair")
		}
	}
	if err == nil && utf16.IsSurrogate(r) {
		err = t.fail("half of a surrogate pair")
	}
	return r, err
}

// class is the translation of a class in brackets.
type class struct {
	text  strings.Builder
	cased bool // may contain letters, so that ignoring case changes it
	large int  // characters that regexp/syntax visits to ignore case
}

// class reads a class in brackets.
func (t *translator) class() error {
	t.pos++
	negated := t.take("^")
	var c class
	for {
		if t.pos >= len(t.in) {
			return t.fail("a class has no end")
		}
		if t.take("]") {
			break
		}
		if err := t.member(&c); err != nil {
			return err
		}
	}
	if c.text.Len() == 0 { // [] matches nothing, [^] everything
		negated = !negated
		c.text.WriteString(everything)
	}
	text := "[" + c.text.String() + "]"
	if negated {
		text = "[^" + text[1:]
	}
	if c.cased && t.folding {
		t.expanded += c.large
	} else {
		text = t.caseless(text)
	}
	t.out.WriteString(text)
	return nil
}

// member reads a character, a set or a range in a class.
func (t *translator) member(c *class) error {
	start := t.pos
	low, inside, err := t.one()
	if err != nil {
		return err
	}
	if inside != "" {
		c.addSet(inside, t.in[start+1])
		return nil
	}
	c.text.WriteString(literal(low))
	if !t.peek("-") || t.peek("-]") {
		c.cased = c.cased || unicode.SimpleFold(low) != low
		return nil
	}
	dash := t.pos
	t.pos++
	if t.pos >= len(t.in) {
		return nil
	}
	high, inside, err := t.one()
	switch {
	case err != nil:
		return err
	case inside != "": // as in [a-\d], where the hyphen is a character
		c.text.WriteString(literal('-'))
		c.cased = true
		c.addSet(inside, t.in[dash+2])
	case high < low:
		t.pos = dash
		return t.fail("a range out of order")
	default:
		c.text.WriteString("-" + literal(high))
		c.cased = c.cased || high >= firstCased
		c.large += max(0, int(min(high, lastCased)-max(low, firstCased))+1)
	}
	return nil
}

// The first and the last character that have another case.
const (
	firstCased = 'A'
	lastCased  = 0x1e943
)

// addSet adds the set that an escaped letter stands for.
func (c *class) addSet(inside string, letter byte) {
	c.text.WriteString(inside)
	switch letter {
	case 'D', 'S', 'W':
		c.large += lastCased
	case 'p', 'P':
		c.cased = true
	}
}

// one reads a character or a set in a class.
func (t *translator) one() (r rune, inside string, err error) {
	if t.take(`\b`) {
		return '\b', "", nil
	}
	if t.peek(`\`) {
		return t.escaped()
	}
	r, size := utf8.DecodeRuneInString(t.in[t.pos:])
	t.pos += size
	return r, "", nil
}
