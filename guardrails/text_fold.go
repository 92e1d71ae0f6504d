package guardrails

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// ascii reports whether every byte of b is below 0x80.
func ascii(b []byte) bool {
	const high = 0x8080808080808080
	for ; len(b) >= 8; b = b[8:] {
		if binary.LittleEndian.Uint64(b)&high != 0 {
			return false
		}
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// skip returns i or, some times eight bytes later, the first place where one of
// the next eight bytes has the bits want of those in mask; or where fewer than
// eight are left. What it skips are bytes without: most of a text is neither
// digits nor capitals.
func skip(b []byte, i int, mask, want byte) int {
	const each = 0x0101010101010101 // a bit of every byte
	for ; len(b)-i >= 8; i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])&(each*uint64(mask)) ^ each*uint64(want)
		if (w-each)&^w&(each<<7) != 0 { // a byte of w is zero
			return i
		}
	}
	return i
}

// skipToDigit skips bytes that are no digits.
func skipToDigit(b []byte, i int) int { return skip(b, i, 0xf0, '0') }

// skipToCapital skips bytes that are no capitals of ASCII.
func skipToCapital(b []byte, i int) int { return skip(b, i, 0xe0, 0x40) }

// fold fills folded with the decoded text as a reader sees it: characters that
// do not show and marks of direction are gone, full-width, mathematical and
// circled letters and digits, dashes and spaces are their ASCII counterparts.
// It is the part of Unicode's NFKC that is used to hide words from filters.
func (t *text) fold() {
	in := t.decoded
	var out []byte
	copied := 0 // of in
	for i := 0; i < len(in); {
		if in[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(in[i:])
		to, same := foldRune(r)
		if same {
			i += size
			continue
		}
		if out == nil {
			out = t.buffers[1][:0]
		}
		out = append(out, in[copied:i]...)
		if to != 0 {
			out = append(out, to)
		}
		i += size
		copied = i
		t.folds = join(t.folds, len(out), i)
	}
	if out == nil {
		return
	}
	out = append(out, in[copied:]...)
	t.folded, t.buffers[1] = out, out
}

// foldRune returns what stands for r, 0 for nothing, or that r stands for
// itself.
func foldRune(r rune) (to byte, same bool) {
	switch {
	case r < 0x2000:
		return foldLow(r)
	case r <= 0x200a || r == 0x202f || r == 0x205f || r == 0x3000:
		return ' ', false
	case r <= 0x200f, 0x202a <= r && r <= 0x202e, 0x2060 <= r && r <= 0x206f:
		return 0, false
	case 0x2010 <= r && r <= 0x2015, r == 0x2212, r == 0xfe58, r == 0xfe63:
		return '-', false
	case r == 0x2018 || r == 0x2019:
		return '\'', false
	case r == 0x2024:
		return '.', false
	case 0x24b6 <= r && r <= 0x24cf: // circled
		return byte(r - 0x24b6 + 'A'), false
	case 0x24d0 <= r && r <= 0x24e9:
		return byte(r - 0x24d0 + 'a'), false
	case 0xfe00 <= r && r <= 0xfe0f, r == 0xfeff:
		return 0, false
	case r == 0xfe6b:
		return '@', false
	case 0xff01 <= r && r <= 0xff5e: // full width
		return byte(r - 0xff01 + '!'), false
	case r >= 0x1d400:
		return foldHigh(r)
	}
	return 0, true
}

func foldLow(r rune) (to byte, same bool) {
	switch {
	case r == 0xa0 || r == 0x1680:
		return ' ', false
	case r == 0xad, r == 0x34f, r == 0x61c, 0x180b <= r && r <= 0x180f:
		return 0, false
	case 0x660 <= r && r <= 0x669: // Arabic
		return byte(r - 0x660 + '0'), false
	case 0x6f0 <= r && r <= 0x6f9: // Persian
		return byte(r - 0x6f0 + '0'), false
	case 0x966 <= r && r <= 0x96f: // Devanagari
		return byte(r - 0x966 + '0'), false
	}
	return 0, true
}

func foldHigh(r rune) (to byte, same bool) {
	switch {
	case r <= 0x1d6a3: // mathematical
		return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[(r-0x1d400)%52], false
	case 0x1d7ce <= r && r <= 0x1d7ff:
		return byte((r-0x1d7ce)%10) + '0', false
	case 0xe0020 <= r && r <= 0xe007e: // tags, which hide ASCII
		return byte(r - 0xe0000), false
	case 0xe0000 <= r && r <= 0xe01ef:
		return 0, false
	}
	return 0, true
}

// snap widens a part of a text to whole characters.
func snap(b []byte, s span) span {
	for s.start > 0 && s.start < len(b) && !utf8.RuneStart(b[s.start]) {
		s.start--
	}
	for s.end < len(b) && !utf8.RuneStart(b[s.end]) {
		s.end++
	}
	return s
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// isWord reports whether an ASCII character is part of a word or of a number.
func isWord(c byte) bool { return isLetter(c) || isDigit(c) }

// lastWordRune is the last character beyond ASCII that words may consist of
// here: those of scripts that are written without spaces come later, and ASCII
// words stand between them.
const lastWordRune = 0x52f

// wordAt returns the size of the letter or digit at i, 0 if there is none.
func wordAt(b []byte, i int) int {
	if c := at(b, i); c < utf8.RuneSelf {
		if isWord(c) {
			return 1
		}
		return 0
	}
	r, size := utf8.DecodeRune(b[i:])
	if r > lastWordRune || !unicode.IsLetter(r) {
		return 0
	}
	return size
}

// wordBefore returns the size of the letter or digit that ends at i, 0 if there
// is none.
func wordBefore(b []byte, i int) int {
	if c := at(b, i-1); c < utf8.RuneSelf {
		if isWord(c) {
			return 1
		}
		return 0
	}
	r, size := utf8.DecodeLastRune(b[:i])
	if r > lastWordRune || !unicode.IsLetter(r) {
		return 0
	}
	return size
}

// nearBytes is how much of the text before something is looked at for words
// that explain it.
const nearBytes = 40

// before fills buffer with what stands before i, at most size bytes, in small
// ASCII letters.
func before(buffer *[nearBytes]byte, b []byte, i, size int) []byte {
	n := copy(buffer[:size], b[max(0, i-size):i])
	for k, c := range buffer[:n] {
		if c-'A' <= 25 {
			buffer[k] = c | 0x20
		}
	}
	return buffer[:n]
}

// at returns a byte of b, 0 before and after it.
func at(b []byte, i int) byte {
	if uint(i) < uint(len(b)) {
		return b[i]
	}
	return 0
}
