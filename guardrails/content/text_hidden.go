package content

import (
	"bytes"
	"html"
	"strconv"
	"unicode/utf8"
)

// maxUnhide is how many levels of nested escapes are decoded, as in &amp;#64;.
const maxUnhide = 3

// unhide sets d to the source without escapes other than those of JSON: %40 of URLs,
// &#64; and &commat; of HTML, \x40, \u0040 and \u{40} of programming languages. It
// reports whether there were any.
func (d *derived) unhide(source []byte, m *meter) bool {
	d.reset(0)
	m.begin()
	copied := 0
	var buffer [16]byte
	for i := 0; i < len(source) && !m.ended(i); {
		n := bytes.IndexAny(source[i:], `%&\`)
		if n < 0 {
			break
		}
		i += n
		out, size := unhidden(buffer[:0], source[i:])
		if size == 0 {
			i++
			continue
		}
		d.copy(source, copied, i)
		d.put(out, i, i+size)
		i += size
		copied = i
	}
	if copied == 0 {
		return false
	}
	d.copy(source, copied, len(source))
	return true
}

// unhidden appends the character of the escape at the start of b and returns the size of
// the escape, 0 if there is none.
func unhidden(out, b []byte) (_ []byte, size int) {
	switch b[0] {
	case '%':
		for len(out) < utf8.UTFMax {
			c, ok := hexByte(b, size, '%')
			if !ok {
				break
			}
			out, size = append(out, c), size+3
			if utf8.Valid(out) {
				return out, size
			}
		}
	case '&':
		for size < len(b) && size < 40 && (size == 0 || b[size] == '#' || isWord(b[size])) {
			size++
		}
		if at(b, size) == ';' {
			size++
		} else if at(b, 1) != '#' {
			return nil, 0
		}
		if s := html.UnescapeString(string(b[:size])); s[0] != '&' || s == "&" {
			return append(out, s...), size
		}
	default:
		if at(b, 1) != 'x' && at(b, 1) != 'u' && at(b, 1) != 'U' {
			return nil, 0
		}
		return programEscape(out, b)
	}
	return nil, 0
}

// programEscape decodes \x40, \u0040, \U00000040, \x{40} and \u{40}.
func programEscape(out, b []byte) (_ []byte, size int) {
	from, most := 2, 2
	switch {
	case at(b, 2) == '{':
		from, most = 3, 8
	case b[1] == 'u':
		most = 4
	case b[1] == 'U':
		most = 8
	}
	size = from
	for size-from < most {
		if _, ok := hexDigit(at(b, size)); !ok {
			break
		}
		size++
	}
	if from == 2 && size-from < most {
		return nil, 0
	}
	r, err := strconv.ParseUint(string(b[from:size]), 16, 21)
	if from == 3 {
		if at(b, size) != '}' {
			return nil, 0
		}
		size++
	}
	if err != nil || !utf8.ValidRune(rune(r)) {
		return nil, 0
	}
	return utf8.AppendRune(out, rune(r)), size
}

// hexByte reads two hexadecimal digits after a mark at i.
func hexByte(b []byte, i int, mark byte) (c byte, ok bool) {
	if at(b, i) != mark {
		return 0, false
	}
	high, ok := hexDigit(at(b, i+1))
	if !ok {
		return 0, false
	}
	low, ok := hexDigit(at(b, i+2))
	return high<<4 | low, ok
}
