package content

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folding says how a text is folded.
type folding uint8

const (
	dropTags  folding = iota // characters that hide ASCII are not there
	showTags                 // they stand for what they hide
	keepMarks                // as dropTags, and letters keep their marks
)

// isPlain reports whether b is its own and only form: printable ASCII without
// what may begin an escape of another language than JSON.
func isPlain(b []byte) bool {
	return isPrintable(b) &&
		bytes.IndexByte(b, '%') < 0 && bytes.IndexByte(b, '&') < 0 && bytes.IndexByte(b, '\\') < 0
}

// isPrintable reports whether every byte of b is a character of ASCII that shows,
// or a space, tab or line end.
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

// fold makes d the source as a reader sees it: in the normal form NFKC of
// Unicode, without characters that do not show, with the digits of every script
// and the dashes, spaces and dots of many as those of ASCII, and without the
// marks that combine with Latin, Greek and Cyrillic letters, with digits and
// with ASCII. One character becomes at most eighteen, of 33 bytes instead of 3.
func (d *derived) fold(source []byte, how folding, m *meter) {
	d.reset(len(source))
	m.begin()
	f := folder{how: how}
	normal := 0 // the source is in NFKC up to here
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

// maxLonger is how many times as long a folded text may be.
const maxLonger = 5

// folder folds a text character by character.
type folder struct {
	how    folding
	base   bool   // marks on the last character count for nothing
	tag    bool   // the last character was a tag
	out    []byte // what stands for the current characters
	normal []byte
}

// same returns how much of b surely is as it will be.
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

// withoutBase leaves the last of n bytes of b to the next step where marks that
// follow it shall be put together with it.
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

// segment adds a base and its marks, which are not in NFKC.
func (f *folder) segment(b []byte) {
	f.normal = norm.NFKC.Append(f.normal[:0], b...)
	for i := 0; i < len(f.normal); {
		r, size := utf8.DecodeRune(f.normal[i:])
		f.add(r)
		i += size
	}
}

// known reports whether add knows r by itself, whatever follows.
func (f *folder) known(r rune) bool {
	return isInvisible(r) || foldRune(r) != 0 || f.base && f.how != keepMarks && isMark(r)
}

// add adds what stands for a character.
func (f *folder) add(r rune) {
	switch {
	case isInvisible(r):
		if c := tagged(r); c != 0 && f.how == showTags {
			if !f.tag {
				f.out = append(f.out, ' ') // it begins a text of its own
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
