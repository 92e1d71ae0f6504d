package router

import (
	"unicode"
	"unicode/utf8"
)

// fold returns a form of s that is equal for all texts that [strings.EqualFold]
// calls equal. It does not allocate when s is already in that form.
func fold(s string) string {
	if isFolded(s) {
		return s
	}
	return string(appendFold(make([]byte, 0, len(s)), s))
}

// isFolded reports whether s is ASCII without upper case, which fold returns
// unchanged.
func isFolded(s string) bool {
	for i := range len(s) {
		if c := s[i]; 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func appendFold(dst []byte, s string) []byte {
	for _, r := range s {
		dst = utf8.AppendRune(dst, foldRune(r))
	}
	return dst
}

// foldRune returns the least of the runes that equal r but for case; ASCII letters
// become lower case.
func foldRune(r rune) rune {
	least := r
	if r >= utf8.RuneSelf {
		for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
			least = min(least, o)
		}
	}
	if 'A' <= least && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}
