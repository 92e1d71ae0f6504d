package guardrails

import (
	"bytes"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// span is a part of a text, in bytes.
type span struct{ start, end int }

// text is one string value of a request in the three forms that a scan needs.
// Each form is the one before it where nothing had to change. It is used for
// one string after the other, so that its buffers are allocated once.
type text struct {
	raw     []byte // between the quotes, as sent
	decoded []byte // without escapes
	folded  []byte // as a reader sees it; see fold
	escapes []joint
	folds   []joint
	buffers [2][]byte
}

// joint says that from byte out of a derived text on, bytes stem from byte in
// of its source and those that follow, until the next joint.
type joint struct{ out, in int }

// set makes t the string between the quotes of a JSON text.
func (t *text) set(raw []byte, escaped bool) {
	t.raw, t.decoded = raw, raw
	t.escapes, t.folds = t.escapes[:0], t.folds[:0]
	if escaped {
		t.unescape()
	}
	t.folded = t.decoded
	if !ascii(t.decoded) {
		t.fold()
	}
}

// inDecoded maps a part of the folded text to the decoded one.
func (t *text) inDecoded(s span) span {
	return span{source(t.folds, s.start), source(t.folds, s.end)}
}

// inRaw maps a part of the decoded text to what was sent.
func (t *text) inRaw(s span) span {
	return span{source(t.escapes, s.start), source(t.escapes, s.end)}
}

// source returns which byte of the source a byte of a derived text stems from.
func source(joints []joint, out int) int {
	n, exact := slices.BinarySearchFunc(joints, out, func(j joint, out int) int { return j.out - out })
	if !exact {
		if n--; n < 0 {
			return out
		}
	}
	return joints[n].in + out - joints[n].out
}

// join notes that out and in belong together, if that is news.
func join(joints []joint, out, in int) []joint {
	last := joint{}
	if n := len(joints); n > 0 {
		last = joints[n-1]
		if last.out == out {
			joints = joints[:n-1]
		}
	}
	if out-last.out == in-last.in && last.out != out {
		return joints
	}
	return append(joints, joint{out, in})
}

// unescape fills decoded, which is never longer. A broken escape, which the interface refuses, stands
// for itself.
func (t *text) unescape() {
	out := slices.Grow(t.buffers[0][:0], len(t.raw))
	in := t.raw
	for i := 0; i < len(in); {
		if in[i] != '\\' {
			n := bytes.IndexByte(in[i:], '\\')
			if n < 0 {
				n = len(in) - i
			}
			out = append(out, in[i:i+n]...)
			i += n
			continue
		}
		r, size := escapedRune(in[i:])
		out = utf8.AppendRune(out, r)
		i += size
		t.escapes = join(t.escapes, len(out), i)
	}
	t.decoded, t.buffers[0] = out, out
}

// escapedRune reads the escape that b begins with.
func escapedRune(b []byte) (r rune, size int) {
	if len(b) < 2 {
		return '\\', 1
	}
	switch b[1] {
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
		return rune(b[1]), 2
	case 'u':
	default:
		return '\\', 1
	}
	r, ok := hexEscape(b)
	if !ok {
		return '\\', 1
	}
	if utf16.IsSurrogate(r) {
		if low, ok := hexEscape(b[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return utf8.RuneError, 6
	}
	return r, 6
}

// hexEscape reads \uXXXX.
func hexEscape(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		d, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// appendQuoted adds s as it stands inside a JSON string.
func appendQuoted(out []byte, s string) []byte {
	const digits = "0123456789abcdef"
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < ' ':
			out = append(out, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			out = append(out, c)
		}
	}
	return out
}
