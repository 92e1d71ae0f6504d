package content

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// skip returns the first of i, i+8, i+16 and so on where one of the next eight bytes c
// satisfies c&mask == want, or where fewer than eight bytes are left. Most of a text is
// neither digits nor capitals, so this skips much of it.
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

// skipToDigit skips bytes that are not digits.
func skipToDigit(b []byte, i int) int { return skip(b, i, 0xf0, '0') }

// skipToCapital skips bytes that are not ASCII capitals.
func skipToCapital(b []byte, i int) int { return skip(b, i, 0xe0, 0x40) }

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

// lastWordRune is the last character beyond ASCII that counts as part of a word. Later
// scripts include those written without spaces, where ASCII words stand directly between
// their characters.
const lastWordRune = 0x52f

// wordAt returns the size of the letter or digit at i, or 0 if there is none.
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

// wordBefore returns the size of the letter or digit that ends at i, or 0 if there is
// none.
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

// nearBytes is how many bytes around a place are searched for words that explain it.
const nearBytes = 40

// before copies the text before i, at most size bytes, to buffer in lower-case ASCII.
func before(buffer *[nearBytes]byte, b []byte, i, size int) []byte {
	n := copy(buffer[:size], b[max(0, i-size):i])
	for k, c := range buffer[:n] {
		if c-'A' <= 25 {
			buffer[k] = c | 0x20
		}
	}
	return buffer[:n]
}

// at returns the byte of b at i, or 0 outside of b.
func at(b []byte, i int) byte {
	if uint(i) < uint(len(b)) {
		return b[i]
	}
	return 0
}
