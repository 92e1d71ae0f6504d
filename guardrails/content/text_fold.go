package content

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folding is the way in which a text is folded.
type folding uint8

const (
	dropTags  folding = iota // Unicode tag characters are removed
	showTags                 // tag characters become the ASCII that they hide
	keepMarks                // like dropTags, but letters keep their marks
)

// isPlain reports whether b has no other form: it is printable ASCII and contains nothing
// that may begin an escape.
func isPlain(b []byte) bool {
	return isPrintable(b) &&
		bytes.IndexByte(b, '%') < 0 && bytes.IndexByte(b, '&') < 0 && bytes.IndexByte(b, '\\') < 0
}

// isPrintable reports whether b consists of visible ASCII, spaces, tabs and line ends.
func isPrintable(b []byte) bool {
	const each = 0x0101010101010101
	for ; len(b) >= 8; b = b[8:] {
		w := binary.LittleEndian.Uint64(b)
		// 0x7f and more reach the high bit, or have it. Less than 0x20 borrows.
		if (w|(w+each)|((w-0x20*each)&^w))&(0x80*each) == 0 {
			continue
		}
		for _, c := range b[:8] {
			if !isShown(c) {
				return false
			}
		}
	}
	for _, c := range b {
		if !isShown(c) {
			return false
		}
	}
	return true
}

func isShown(c byte) bool {
	return ' ' <= c && c < 0x7f || c == '\n' || c == '\r' || c == '\t'
}

// fold sets d to the source in NFKC, without invisible characters, with ASCII for the
// digits of every script and for the dashes, spaces and dots of many. It drops the marks
// that combine with Latin, Greek and Cyrillic letters, with digits and with ASCII. One
// character of 3 bytes becomes at most eighteen characters of 33 bytes.
func (d *derived) fold(source []byte, how folding, m *meter) {
	d.reset(len(source))
	m.begin()
	f := folder{how: how}
	normal := 0 // the source is known to be in NFKC up to here
	for i := 0; i < len(source) && !m.ended(i); {
		if n := f.same(source[i:]); n > 0 {
			d.copy(source, i, i+n)
			i += n
			continue
		}
		r, size := utf8.DecodeRune(source[i:])
		end := i + size
		before := f.base
		f.out = f.out[:0]
		if f.known(r) {
			f.add(r)
		} else {
			m.chargeBuiltin(2 * wordEffort)
			if normal < end {
				normal = i + norm.NFKC.QuickSpan(source[i:])
			}
			if p := norm.NFKC.Properties(source[i:]); normal >= end || len(p.Decomposition()) > maxLonger*size {
				f.add(r)
			} else {
				end = i + max(size, norm.NFKC.NextBoundary(source[i:], true))
				f.segment(source[i:end])
			}
		}
		switch {
		case len(f.out) == 0 && before && isMark(r):
			d.extend(end)
		case bytes.Equal(f.out, source[i:end]):
			d.copy(source, i, end)
		default:
			d.put(f.out, i, end)
		}
		i = end
	}
}

// maxLonger is how many times as long as its source a folded text may become.
const maxLonger = 5

// folder folds a text character by character.
type folder struct {
	how    folding
	base   bool   // drop marks that follow the last character
	tag    bool   // the last character was a tag
	out    []byte // output for the current characters
	normal []byte
}

// same returns the length of a prefix of b that folding surely does not change.
func (f *folder) same(b []byte) int {
	i := 0
	for i < len(b) && isShown(b[i]) {
		i++
	}
	if i > 0 {
		f.base, f.tag = true, false
		return f.withoutBase(b, i)
	}
	for i < len(b) && b[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(b[i:])
		if !isPlainLetter(r) {
			break
		}
		f.base, f.tag = r < 0x530, false
		i += size
	}
	return f.withoutBase(b, i)
}

// withoutBase shortens n by the last character of b[:n] if marks follow it, so that both
// are folded together.
func (f *folder) withoutBase(b []byte, n int) int {
	if n == 0 || n == len(b) || b[n] < utf8.RuneSelf {
		return n
	}
	if f.how != keepMarks && f.base {
		return n
	}
	if r, _ := utf8.DecodeRune(b[n:]); !isMark(r) {
		return n
	}
	_, size := utf8.DecodeLastRune(b[:n])
	return n - size
}

// segment folds a base character and its marks that are not in NFKC.
func (f *folder) segment(b []byte) {
	f.normal = norm.NFKC.Append(f.normal[:0], b...)
	for i := 0; i < len(f.normal); {
		r, size := utf8.DecodeRune(f.normal[i:])
		f.add(r)
		i += size
	}
}

// known reports whether add folds r without regard to what follows.
func (f *folder) known(r rune) bool {
	return isInvisible(r) || foldRune(r) != 0 || f.base && f.how != keepMarks && isMark(r)
}

// add appends the folded form of a character.
func (f *folder) add(r rune) {
	switch {
	case isInvisible(r):
		if c := tagged(r); c != 0 && f.how == showTags {
			if !f.tag {
				f.out = append(f.out, ' ') // a hidden text begins
			}
			f.add(c)
			f.tag = true
		}
		return
	case isMark(r):
		if !f.base || f.how == keepMarks {
			f.out = utf8.AppendRune(f.out, r)
		}
		return
	}
	if to := foldRune(r); to != 0 {
		r = to
	}
	if f.how != keepMarks && isStrippable(r) {
		var buffer [utf8.UTFMax]byte
		in := utf8.AppendRune(buffer[:0], r)
		if apart := norm.NFKD.Properties(in).Decomposition(); apart != nil {
			r, _ = utf8.DecodeRune(apart)
		}
	}
	f.base, f.tag = r < 0x530 || isStrippable(r), false
	f.out = utf8.AppendRune(f.out, r)
}
