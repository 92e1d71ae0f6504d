package content

import (
	"bytes"
	"net/netip"
	"slices"
)

// digitRuns adds the indexes at which runs of digits begin in b.
func digitRuns(out []int, b []byte) []int {
	for i := skipToDigit(b, 0); i < len(b); i++ {
		if !isDigit(b[i]) {
			i = skipToDigit(b, i+1) - 1
			continue
		}
		out = append(out, i)
		for i+1 < len(b) && isDigit(b[i+1]) {
			i++
		}
	}
	return out
}

// freeBefore reports whether a number may begin at i: not inside a word, a longer number
// or a decimal.
func freeBefore(b []byte, i int) bool {
	switch at(b, i-1) {
	case '.', '-', ',':
		return !isDigit(at(b, i-2))
	default:
		return wordBefore(b, i) == 0
	}
}

// freeAfter reports whether a number may end at i.
func freeAfter(b []byte, i int) bool {
	switch at(b, i) {
	case '.', '-':
		return !isDigit(at(b, i+1))
	default:
		return wordAt(b, i) == 0
	}
}

// saidBefore reports whether one of some words, given in lower case, is shortly before i.
func saidBefore(b []byte, i int, words []string) bool {
	var buffer [nearBytes]byte
	near := before(&buffer, b, i, nearBytes)
	for _, w := range words {
		if n := bytes.LastIndex(near, []byte(w)); n >= 0 && wordBefore(near, n) == 0 {
			return true
		}
	}
	return false
}

// socialSecurity returns the place of the US social security number that begins at i. The
// number is written as 123-45-6789, with one or two spaces, hyphens, dots, slashes or
// underscores as separators, or in one run after a word that announces it. Areas 000, 666
// and 900 to 999, group 00 and serial 0000 are never issued.
func (z *scan) socialSecurity(b []byte, i int) span {
	if i+9 > len(b) || !freeBefore(b, i) {
		return span{}
	}
	gap := 0
	for gap < 2 && isGroupGap(at(b, i+3+gap)) {
		gap++
	}
	end := i + 9 + 2*gap
	if end > len(b) || !freeAfter(b, end) || string(b[i+3:i+3+gap]) != string(b[i+5+gap:i+5+2*gap]) {
		return span{}
	}
	area, group, serial := b[i:i+3], b[i+3+gap:i+5+gap], b[end-4:end]
	if !allDigits(area) || !allDigits(group) || !allDigits(serial) {
		return span{}
	}
	if area[0] == '9' || string(area) == "000" || string(area) == "666" || string(group) == "00" || string(serial) == "0000" {
		return span{}
	}
	switch {
	case gap == 0 && !saidBefore(b, i, ssnWords()) && !z.keyHints().ssn,
		at(b, i+3) == '.' && z.isVersion(b, i):
		return z.confirmed(b, span{i, end})
	}
	return z.confirm(b, span{i, end})
}

// ssnWords returns the words that announce a social security number.
func ssnWords() []string { return []string{"ssn", "social security"} }

// isGroupGap reports whether a character may separate two groups of digits of one number.
func isGroupGap(c byte) bool {
	switch c {
	case ' ', '-', '.', '/', '_', '\n', '\r', '\t':
		return true
	}
	return false
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

// ipv4 returns the place of the IPv4 address that begins at i.
func (z *scan) ipv4(b []byte, i int) span {
	if !freeBefore(b, i) {
		return span{}
	}
	end, dots := i, 0
	for end < len(b) && end-i < len("255.255.255.255") {
		if b[end] == '.' {
			dots++
		} else if !isDigit(b[end]) {
			break
		}
		end++
	}
	for end > i && b[end-1] == '.' {
		end--
		dots--
	}
	if dots != 3 || !freeAfter(b, end) || z.isVersion(b, i) {
		return span{}
	}
	if _, err := netip.ParseAddr(string(b[i:end])); err != nil {
		return span{}
	}
	return span{i, end}
}

// isVersion reports whether a word suggests that a number is a version and not an
// address: the word before i, the name of the member or the question.
func (z *scan) isVersion(b []byte, i int) bool {
	var buffer [nearBytes]byte
	near := bytes.TrimRight(before(&buffer, b, i, 16), " :=")
	if slices.ContainsFunc(versionWords(), func(w string) bool { return bytes.HasSuffix(near, []byte(w)) }) {
		return true
	}
	return z.keyHints().version || z.questionHints().version
}

func versionWords() []string {
	return []string{"version", "ver", "ver.", "release", "build", "section", "chapter", "firmware", "revision"}
}

// ipv6s adds the IPv6 addresses in b: runs of hexadecimal digits and colons that
// net/netip parses.
func ipv6s(out []span, b []byte, m *meter) []span {
	const longest = len("0000:0000:0000:0000:0000:ffff:255.255.255.255")
	for i := 0; i < len(b); {
		n := bytes.IndexByte(b[i:], ':')
		if n < 0 || m.ended(i+n) {
			return out
		}
		m.chargeBuiltin(digitEffort)
		start, colons, digits := i+n, 0, 0
		for start > i && isAddress6(b[start-1]) {
			start--
		}
		end := start
		for ; end < len(b) && isAddress6(b[end]); end++ {
			switch c := b[end]; {
			case c == ':':
				colons++
			case isDigit(c):
				digits++
			}
		}
		i = end
		for end > start && (b[end-1] == '.' || b[end-1] == ':' && at(b, end-2) != ':') {
			end--
		}
		if colons < 2 || digits == 0 || end-start > longest || wordBefore(b, start) > 0 || wordAt(b, i) > 0 {
			continue
		}
		if _, err := netip.ParseAddr(string(b[start:end])); err == nil {
			out = append(out, span{start, end})
		}
	}
	return out
}

func isAddress6(c byte) bool {
	_, hex := hexDigit(c)
	return hex || c == ':' || c == '.'
}
