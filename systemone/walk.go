package systemone

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// The functions of this file read JSON that checkSyntax has passed, so they
// need no errors. None of them copies: what they return is part of the text,
// but for a name with escapes.

// trim returns the value without the white space around it.
func trim(data []byte) []byte {
	data = data[skipSpace(data, 0):]
	end := len(data)
	for end > 0 && data[end-1] <= ' ' {
		end--
	}
	return data[:end:end]
}

func isNull(value []byte) bool { return len(value) == 0 || value[0] == 'n' }

// walker steps through the members of an object or the elements of an array.
type walker struct {
	data  []byte // the container, trimmed
	pos   int
	name  []byte // of the member, decoded; nil in an array
	value []byte // trimmed; its capacity ends with it
	index int    // of the element, -1 before the first
}

func walk(container []byte) walker {
	return walker{data: container, pos: 1, index: -1}
}

// next moves to the next value and returns false after the last.
func (w *walker) next() bool {
	pos := skipSpace(w.data, w.pos)
	if w.data[pos] == ',' {
		pos = skipSpace(w.data, pos+1)
	}
	switch {
	case w.data[pos] == ']' || w.data[pos] == '}':
		return false
	case w.data[0] == '{':
		end := skipText(w.data, pos)
		w.name = unquote(w.data[pos:end])
		pos = skipSpace(w.data, skipSpace(w.data, end)+1)
	}
	w.pos = skipValue(w.data, pos)
	w.value = w.data[pos:w.pos:w.pos]
	w.index++
	return true
}

func skipSpace(data []byte, pos int) int {
	for pos < len(data) {
		switch data[pos] {
		case ' ', '\t', '\r', '\n':
			pos++
		default:
			return pos
		}
	}
	return pos
}

// skipValue returns where the value that begins at pos ends; something of its
// container follows it.
func skipValue(data []byte, pos int) int {
	switch data[pos] {
	case '"':
		return skipText(data, pos)
	case '{', '[':
		return skipContainer(data, pos)
	}
	for {
		switch data[pos] {
		case ',', '}', ']', ' ', '\t', '\r', '\n':
			return pos
		}
		pos++
	}
}

func skipContainer(data []byte, pos int) int {
	for depth := 0; ; {
		switch data[pos] {
		case '"':
			pos = skipText(data, pos)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return pos + 1
			}
		}
		pos++
	}
}

// skipText returns where the string that begins at pos ends: after the first
// quote that does not follow an odd number of backslashes.
func skipText(data []byte, pos int) int {
	for pos++; ; pos++ {
		pos += bytes.IndexByte(data[pos:], '"')
		slashes := 0
		for data[pos-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return pos + 1
		}
	}
}

// unquote decodes a string. Without escapes the result is part of quoted.
func unquote(quoted []byte) []byte {
	in := quoted[1 : len(quoted)-1]
	next := bytes.IndexByte(in, '\\')
	if next < 0 {
		return in
	}
	out := make([]byte, 0, len(in))
	for ; next >= 0; next = bytes.IndexByte(in, '\\') {
		out = append(out, in[:next]...)
		r, size := unescapeRune(in[next:])
		out = utf8.AppendRune(out, r)
		in = in[next+size:]
	}
	return append(out, in...)
}

// unescapeRune decodes the escape sequence or the two that make a surrogate
// pair that escaped begins with. The size is 0 if there is no rune.
func unescapeRune(escaped []byte) (r rune, size int) {
	switch c := escaped[1]; c {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
	default:
		return rune(c), 2
	}
	r, ok := hexRune(escaped)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	low, ok := hexRune(escaped[6:])
	if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

// hexRune reads \uXXXX.
func hexRune(escaped []byte) (r rune, ok bool) {
	if len(escaped) < 6 || escaped[0] != '\\' || escaped[1] != 'u' {
		return 0, false
	}
	for _, c := range escaped[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
