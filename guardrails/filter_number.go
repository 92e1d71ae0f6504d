package guardrails

import (
	"bytes"
	"net/netip"
)

// digitRuns adds where a run of digits begins in b.
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

// freeBefore reports whether a number may begin at i: not within a word, a
// longer number or a decimal.
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

// hasContext reports whether one of some words, in lower case, stands shortly
// before i.
func hasContext(b []byte, i int, words ...string) bool {
	var buffer [nearBytes]byte
	near := before(&buffer, b, i, nearBytes)
	for _, w := range words {
		if n := bytes.LastIndex(near, []byte(w)); n >= 0 && wordBefore(near, n) == 0 {
			return true
		}
	}
	return false
}

// socialSecurity returns where the US social security number that begins at i
// ends, 0 if there is none: 123-45-6789 or with spaces, and without either
// where a word says what it is. Areas 000, 666 and 900 to 999, group 00 and
// serial 0000 are never given out.
func socialSecurity(b []byte, i int) int {
	if i+9 > len(b) || !freeBefore(b, i) {
		return 0
	}
	mark, gap := b[i+3], 1
	if isDigit(mark) {
		gap = 0
	} else if mark != '-' && mark != ' ' || at(b, i+6) != mark {
		return 0
	}
	end := i + 9 + 2*gap
	if end > len(b) || !freeAfter(b, end) {
		return 0
	}
	area, group, serial := b[i:i+3], b[i+3+gap:i+5+gap], b[end-4:end]
	if !allDigits(area) || !allDigits(group) || !allDigits(serial) {
		return 0
	}
	if area[0] == '9' || string(area) == "000" || string(area) == "666" || string(group) == "00" || string(serial) == "0000" {
		return 0
	}
	if gap == 0 && !hasContext(b, i, "ssn", "social security") {
		return 0
	}
	return end
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

// creditCard returns where the card number that begins at i ends, 0 if there is
// none: 12 to 19 digits, in one run or in groups, of a length that their issuer
// uses, with the check digit of ISO/IEC 7812 (Luhn).
func creditCard(b []byte, i int) int {
	if i+12 > len(b) || !freeBefore(b, i) {
		return 0
	}
	var d [19]byte
	var ends [20]int // after so many digits
	n, group, grouped := 0, 0, false
	for at := i; at < len(b) && n < len(d); at++ {
		if c := b[at]; isDigit(c) {
			d[n] = c - '0'
			n++
			group++
			ends[n] = at + 1
			continue
		} else if c != ' ' && c != '-' || at+1 == len(b) || !isDigit(b[at+1]) {
			break
		}
		if !grouped && group != 4 || group < 3 {
			break
		}
		grouped, group = true, 0
	}
	for ; n >= 12; n-- {
		if freeAfter(b, ends[n]) && issued(d[:n]) && luhn(d[:n]) {
			return ends[n]
		}
	}
	return 0
}

// issued reports whether an issuer uses the first digits and the length of d.
func issued(d []byte) bool {
	n := len(d)
	first := int(d[0])*1000 + int(d[1])*100 + int(d[2])*10 + int(d[3])
	within := func(low, high int) bool { return low <= first && first <= high }
	switch {
	case within(4000, 4999): // Visa
		return n == 13 || n == 16 || n == 19
	case within(5100, 5599), within(2221, 2720): // Mastercard
		return n == 16
	case within(3400, 3499), within(3700, 3799): // American Express
		return n == 15
	case within(6011, 6011), within(6440, 6599), within(6200, 6299): // Discover, UnionPay
		return n >= 16
	case within(3528, 3589), within(2200, 2204): // JCB, Mir
		return n >= 16
	case within(3000, 3059), within(3095, 3095), within(3600, 3699), within(3800, 3999): // Diners Club
		return n >= 14
	}
	switch first { // Maestro
	case 5018, 5020, 5038, 5893, 6304, 6759, 6761, 6762, 6763:
		return true
	}
	return false
}

func luhn(d []byte) bool {
	sum := 0
	for i, c := range d {
		v := int(c)
		if (len(d)-i)%2 == 0 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0
}

// ipv4 returns where the IPv4 address that begins at i ends, 0 if there is none.
func ipv4(b []byte, i int) int {
	if !freeBefore(b, i) {
		return 0
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
	if dots != 3 || !freeAfter(b, end) || isVersion(b, i) {
		return 0
	}
	if _, err := netip.ParseAddr(string(b[i:end])); err != nil {
		return 0
	}
	return end
}

// isVersion reports whether the word before i says that a number is no address.
func isVersion(b []byte, i int) bool {
	var buffer [nearBytes]byte
	near := bytes.TrimRight(before(&buffer, b, i, 16), " :=")
	for _, w := range []string{"version", "ver.", "release", "build", "section", "chapter", "firmware"} {
		if bytes.HasSuffix(near, []byte(w)) {
			return true
		}
	}
	return false
}

// ipv6s adds the IPv6 addresses in b: runs of hexadecimal digits and colons
// that net/netip reads.
func ipv6s(out []span, b []byte, m *meter) []span {
	const longest = len("0000:0000:0000:0000:0000:ffff:255.255.255.255")
	for i := 0; i < len(b); {
		n := bytes.IndexByte(b[i:], ':')
		if n < 0 || m.ended(i+n) {
			return out
		}
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
