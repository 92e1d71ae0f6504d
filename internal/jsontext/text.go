package jsontext

import (
	"bytes"
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"
)

// IsNull reports whether a trimmed value is null or empty.
func IsNull(value []byte) bool { return len(value) == 0 || value[0] == 'n' }

// Text returns the unescaped content of a JSON string, and whether value is a string.
func Text(value []byte) (string, bool) {
	if len(value) < len(`""`) || value[0] != '"' {
		return "", false
	}
	return string(Unquote(value)), true
}

// Members returns the members of an object by their unescaped names, and whether value is
// an object. Of members with the same name the last one is kept.
func Members(value []byte) (map[string]json.RawMessage, bool) {
	if len(value) == 0 || value[0] != '{' {
		return nil, false
	}
	members := map[string]json.RawMessage{}
	for w := Walk(value); w.Next(); {
		members[string(w.Name)] = w.Value
	}
	return members, true
}

// Elements returns the elements of an array, and whether value is an array.
func Elements(value []byte) ([]json.RawMessage, bool) {
	if len(value) == 0 || value[0] != '[' {
		return nil, false
	}
	list := []json.RawMessage{}
	for w := Walk(value); w.Next(); {
		list = append(list, w.Value)
	}
	return list, true
}

// Unquote returns the unescaped content of a JSON string. It panics on less than two
// bytes, so quoted must include both quotes.
func Unquote(quoted []byte) []byte { return Unescaped(quoted[1 : len(quoted)-1]) }

// Unescaped replaces the escapes in the content of a JSON string, given without its
// quotes. A broken escape stays as it is. Without escapes the result is in itself, not a
// copy.
func Unescaped(in []byte) []byte {
	next := bytes.IndexByte(in, '\\')
	if next < 0 {
		return in
	}
	out := make([]byte, 0, len(in))
	for ; next >= 0; next = bytes.IndexByte(in, '\\') {
		out = append(out, in[:next]...)
		r, size := Unescape(in[next:])
		if size == 0 {
			r, size = '\\', 1
		}
		out = utf8.AppendRune(out, r)
		in = in[next+size:]
	}
	return append(out, in...)
}

// Unescape decodes the escape at the start of escaped and returns its character and its
// size in bytes. The two escapes of a surrogate pair are decoded together. The size is 0
// for anything else, such as half a pair.
func Unescape(escaped []byte) (r rune, size int) {
	if len(escaped) < 2 {
		return 0, 0
	}
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
	case '"', '\\', '/':
		return rune(c), 2
	}
	r, ok := hexEscape(escaped)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	low, ok := hexEscape(escaped[6:])
	if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

// hexEscape decodes \uXXXX.
func hexEscape(escaped []byte) (r rune, ok bool) {
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

// AppendString appends s as a JSON string. It does not escape characters that are special
// in HTML or JavaScript. Each byte that is not valid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	return append(AppendText(append(dst, '"'), s), '"')
}

// AppendText appends the content of the JSON string of s, without the quotes.
func AppendText(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, `\u00`...)
			dst = append(dst, hex[c>>4], hex[c&0xf])
		}
		i++
		start = i
	}
	return append(dst, s[start:]...)
}
