package content

import (
	"bytes"
	"sort"
	"unicode"
)

// isInvisible reports whether a character is invisible: controls, direction marks,
// joiners, fillers, variation selectors and all that Unicode calls format or default
// ignorable.
func isInvisible(r rune) bool {
	switch {
	case r < 0xa0:
		return r < ' ' && (r < '\t' || r > '\r') || 0x7f <= r && r != 0x85
	case r < 0x2000:
		switch r {
		case 0xad, 0x34f, 0x61c, 0x6dd, 0x70f, 0x890, 0x891, 0x8e2, 0x115f, 0x1160, 0x17b4, 0x17b5:
			return true
		}
		return 0x600 <= r && r <= 0x605 || 0x180b <= r && r <= 0x180f
	case r < 0x3000:
		return 0x200b <= r && r <= 0x200f || 0x202a <= r && r <= 0x202e || 0x2060 <= r && r <= 0x206f
	case r < 0xfe00:
		return r == 0x3164
	case r <= 0xffff:
		return r <= 0xfe0f || r == 0xfeff || r == 0xffa0 || 0xfff0 <= r && r <= 0xfffc
	}
	return r == 0x110bd || r == 0x110cd || 0x13430 <= r && r <= 0x1343f || 0x1bca0 <= r && r <= 0x1bca3 ||
		0x1d173 <= r && r <= 0x1d17a || 0xe0000 <= r && r <= 0xe0fff
}

// tagged returns the ASCII character that a tag character hides, or 0 if r is not a tag.
func tagged(r rune) rune {
	if 0xe0020 <= r && r <= 0xe007e {
		return r - 0xe0000
	}
	return 0
}

// hasTags reports whether a text may contain tag characters.
func hasTags(b []byte) bool {
	return bytes.Contains(b, []byte("\xf3\xa0\x80")) || bytes.Contains(b, []byte("\xf3\xa0\x81"))
}

// isMark reports whether a character combines with the one before it.
func isMark(r rune) bool { return r >= 0x300 && !isPlainLetter(r) && unicode.Is(unicode.M, r) }

// isPlainLetter reports whether a character is certainly a letter of a common script that
// folding does not change.
func isPlainLetter(r rune) bool {
	return 0x4e00 <= r && r <= 0x9fff || 0x410 <= r && r <= 0x44f && r != 0x419 && r != 0x439 ||
		0x3041 <= r && r <= 0x3094 || 0x30a1 <= r && r <= 0x30fa || 0x5d0 <= r && r <= 0x5ea || 0x621 <= r && r <= 0x63a
}

// isStrippable reports whether a character may be a Latin, Greek or Cyrillic letter with
// a mark.
func isStrippable(r rune) bool {
	return 0xc0 <= r && r <= 0x24f || 0x370 <= r && r <= 0x52f || 0x1e00 <= r && r <= 0x1fff
}

// foldRune returns the ASCII character that replaces r, or 0 if r stays or NFKC replaces
// it.
func foldRune(r rune) rune {
	if r < 0x80 {
		if r == '\v' || r == '\f' {
			return ' '
		}
		return 0
	}
	if 0xff01 <= r && r <= 0xff5e { // full width
		return r - 0xff01 + '!'
	}
	if c := foldDigit(r); c != 0 {
		return c
	}
	switch {
	case 0x2000 <= r && r <= 0x200a:
		return ' '
	case 0x2010 <= r && r <= 0x2015:
		return '-'
	case 0x249c <= r && r <= 0x24b5: // in parentheses
		return r - 0x249c + 'a'
	case 0x1f110 <= r && r <= 0x1f129:
		return r - 0x1f110 + 'A'
	case 0x1f150 <= r && r <= 0x1f169: // white on a circle
		return r - 0x1f150 + 'A'
	case 0x1f170 <= r && r <= 0x1f189: // white on a square
		return r - 0x1f170 + 'A'
	}
	switch r {
	case 0xa0, 0x1680, 0x202f, 0x205f, 0x2800, 0x3000:
		return ' '
	case 0x85, 0x2028, 0x2029:
		return '\n'
	case 0x2d7, 0x58a, 0x5be, 0x1400, 0x1806, 0x2043, 0x2212, 0x2796, 0x2e17, 0x2e1a, 0x2e3a, 0x2e3b, 0x2e40, 0x2e5d,
		0x301c, 0x3030, 0x30a0, 0x30fc, 0xfe31, 0xfe32, 0xfe58, 0x10d6e, 0x10ead:
		return '-'
	case 0xb7, 0x387, 0x6d4, 0x2022, 0x2024, 0x2027, 0x2219, 0x22c5, 0x3002, 0x30fb, 0xff61, 0xff65:
		return '.'
	case 0x2044, 0x2215, 0x29f8:
		return '/'
	case 0x2236, 0xa789:
		return ':'
	case 0x2bc, 0x2018, 0x2019, 0x201b:
		return '\''
	case 0x201c, 0x201d, 0x201f:
		return '"'
	}
	return 0
}

// foldDigit returns the ASCII digit for a digit of any script, or for one in a circle, in
// parentheses, before a dot or the like. It returns 0 for other characters.
func foldDigit(r rune) rune {
	if r < 0x660 {
		switch r {
		case 0xb2, 0xb3:
			return r - 0xb0 + '0'
		case 0xb9:
			return '1'
		}
		return 0
	}
	for _, row := range digitRows() {
		if r < row.from {
			break
		}
		if r <= row.to {
			return r - row.from + row.first
		}
	}
	if 0x2000 <= r && r < 0xa620 { // no digits between the scripts of southern Asia and Vai
		return 0
	}
	// Digits come in rows of ten that begin with zero.
	if r <= 0xffff {
		n := sort.Search(len(unicode.Nd.R16), func(i int) bool { return rune(unicode.Nd.R16[i].Hi) >= r })
		if n < len(unicode.Nd.R16) && rune(unicode.Nd.R16[n].Lo) <= r {
			return (r-rune(unicode.Nd.R16[n].Lo))%10 + '0'
		}
		return 0
	}
	at := uint32(r)
	n := sort.Search(len(unicode.Nd.R32), func(i int) bool { return unicode.Nd.R32[i].Hi >= at })
	if n < len(unicode.Nd.R32) && unicode.Nd.R32[n].Lo <= at {
		return rune((at-unicode.Nd.R32[n].Lo)%10) + '0'
	}
	return 0
}

// digitRows returns digits outside Unicode's class of digits: raised, lowered, in
// circles, and of scripts without a zero. It also has those of Unicode 16 and 17, which
// package unicode does not know yet.
func digitRows() []struct{ from, to, first rune } {
	return []struct{ from, to, first rune }{
		{0x1369, 0x1371, '1'},
		{0x19da, 0x19da, '1'},
		{0x2070, 0x2070, '0'},
		{0x2074, 0x2079, '4'},
		{0x2080, 0x2089, '0'},
		{0x2460, 0x2468, '1'},
		{0x2474, 0x247c, '1'},
		{0x2488, 0x2490, '1'},
		{0x24ea, 0x24ea, '0'},
		{0x24f5, 0x24fd, '1'},
		{0x24ff, 0x24ff, '0'},
		{0x2776, 0x277e, '1'},
		{0x2780, 0x2788, '1'},
		{0x278a, 0x2792, '1'},
		{0x10a40, 0x10a43, '1'},
		{0x10d40, 0x10d49, '0'},
		{0x10e60, 0x10e68, '1'},
		{0x11052, 0x1105a, '1'},
		{0x116d0, 0x116d9, '0'},
		{0x116da, 0x116e3, '0'},
		{0x11bf0, 0x11bf9, '0'},
		{0x11de0, 0x11de9, '0'},
		{0x1ccf0, 0x1ccf9, '0'},
		{0x1e5f1, 0x1e5fa, '0'},
		{0x1f100, 0x1f100, '0'},
		{0x1f101, 0x1f10a, '0'},
		{0x1f10b, 0x1f10c, '0'},
	}
}
