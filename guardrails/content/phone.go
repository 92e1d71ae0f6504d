package content

// maxGroups is the maximum number of digit groups in a phone number.
const maxGroups = 7

// number is a sequence of digit groups, as in phone numbers.
type number struct {
	groups [maxGroups][]byte
	ends   [maxGroups]int // end of each group in the text
	n      int
}

// readNumber reads the groups of digits from i on. One to three spaces, hyphens, dots,
// slashes or parentheses separate two groups.
func readNumber(b []byte, i int) number {
	var num number
	for num.n < maxGroups {
		start := i
		for i < len(b) && i-start < 20 && isDigit(b[i]) {
			i++
		}
		num.groups[num.n], num.ends[num.n] = b[start:i], i
		num.n++
		next := i
		for next < len(b) && next-i < 4 && isPhoneGap(b[next]) {
			next++
		}
		if next == i || next-i > 3 || !isDigit(at(b, next)) {
			break
		}
		i = next
	}
	return num
}

func isPhoneGap(c byte) bool {
	switch c {
	case ' ', '-', '.', '/', '(', ')':
		return true
	}
	return false
}

// digits returns the number of digits in the first n groups.
func (p *number) digits(n int) int {
	sum := 0
	for _, g := range p.groups[:n] {
		sum += len(g)
	}
	return sum
}

// shape reports whether the groups from k on have these lengths.
func (p *number) shape(k int, lengths ...int) bool {
	if k+len(lengths) > p.n {
		return false
	}
	for i, n := range lengths {
		if len(p.groups[k+i]) != n {
			return false
		}
	}
	return true
}

// phone returns the place of the phone number whose first digit is at i; the end is 0 if
// there is none. A phone number is
//
//   - + and 8 to 15 digits (E.164), for +1 as in the next item;
//   - ten digits as 212-555-0123, (212) 555-0123 or with a leading 1, where area and
//     exchange begin with 2 to 9 (North American Numbering Plan);
//   - 10 or 11 digits with a leading 0 in two to five groups, as in most of Europe, or 00
//     with a country code;
//   - ten or eleven digits in one run, or seven as 555-0123, after a word such as phone
//     or in a member with such a name.
func (z *scan) phone(b []byte, i int) span {
	start := i
	if at(b, start-1) == '(' {
		start--
	}
	plus := at(b, start-1) == '+'
	if plus {
		start--
		if at(b, start-1) == '(' {
			start--
		}
	}
	if !freeBefore(b, start) || at(b, start-1) == '/' && isDigit(at(b, start-2)) {
		return span{}
	}
	if !plus && (at(b, start-1) == '$' || at(b, start-1) == '#') {
		return span{}
	}
	num := readNumber(b, i)
	var end int
	switch {
	case plus:
		end = num.international(b)
	case num.groups[0][0] == '0':
		end = num.national(b)
	default:
		if end = num.american(b, 0); end == 0 {
			end = num.bare(b)
			if end > 0 && !saidBefore(b, start, phoneWords()) && !z.keyHints().phone {
				return z.confirmed(b, span{start, end})
			}
		}
	}
	if end == 0 {
		return span{}
	}
	z.confirm(b, span{start, end})
	return span{start, extension(b, end)}
}

// phoneEnd reports whether a phone number may end after group n.
func (p *number) phoneEnd(b []byte, n int) bool {
	end := p.ends[n]
	if c := at(b, end); c == '/' || c == ':' {
		return !isDigit(at(b, end+1))
	}
	return freeAfter(b, end) || at(b, end) == 'x' && isDigit(at(b, end+1))
}

func (p *number) international(b []byte) int {
	if p.groups[0][0] == '0' {
		return 0
	}
	if p.groups[0][0] == '1' {
		if end := p.american(b, 0); end != 0 {
			return end
		}
		if p.shape(0, 11) && p.phoneEnd(b, 0) {
			return p.ends[0]
		}
		return 0
	}
	for n := p.n; n > 0; n-- {
		if d := p.digits(n); 8 <= d && d <= 15 && p.phoneEnd(b, n-1) {
			return p.ends[n-1]
		}
	}
	return 0
}

// american reads ten digits in three groups, or two after a parenthesis.
func (p *number) american(b []byte, k int) int {
	if k == 0 && p.shape(0, 1) && p.groups[0][0] == '1' {
		k = 1
	}
	if !p.shape(k, 3, 3, 4) && !p.shape(k, 3, 7) || p.groups[k][0] < '2' || p.groups[k+1][0] < '2' {
		return 0
	}
	last := k + 1
	if len(p.groups[last]) == 3 {
		last++
	} else if at(b, p.ends[k]) != ')' {
		return 0
	}
	if !p.phoneEnd(b, last) {
		return 0
	}
	return p.ends[last]
}

func (p *number) national(b []byte) int {
	if p.shape(0, 1) || p.shape(0, 2, 2, 4) || p.shape(0, 4, 2, 2) { // 0.123, a date
		return 0
	}
	abroad := len(p.groups[0]) > 1 && p.groups[0][1] == '0'
	for n := min(p.n, 6); n > 1; n-- {
		d := p.digits(n)
		if (abroad && 11 <= d && d <= 17 || !abroad && 10 <= d && d <= 11) && p.phoneEnd(b, n-1) {
			return p.ends[n-1]
		}
	}
	return 0
}

func (p *number) bare(b []byte) int {
	n := 0
	switch {
	case p.shape(0, 10) || p.shape(0, 11):
	case p.shape(0, 3, 4):
		n = 1
	default:
		return 0
	}
	if !p.phoneEnd(b, n) {
		return 0
	}
	return p.ends[n]
}

// phoneWords returns the words that announce a phone number.
func phoneWords() []string {
	return []string{"phone", "telephone", "tel", "mobile", "cell", "cellphone", "call", "fax", "whatsapp", "text me", "sms", "dial"}
}

// extension returns where the extension of a phone number that ends at i ends.
func extension(b []byte, i int) int {
	k := i
	for k < len(b) && k-i < 2 && (b[k] == ' ' || b[k] == ',') {
		k++
	}
	switch {
	case at(b, k)|0x20 == 'e' && at(b, k+1)|0x20 == 'x' && at(b, k+2)|0x20 == 't':
		k += 3
	case at(b, k)|0x20 == 'x':
		k++
	default:
		return i
	}
	for skipped := 0; skipped < 2 && (at(b, k) == '.' || at(b, k) == ' '); skipped++ {
		k++
	}
	end := k
	for end < len(b) && end-k < 7 && isDigit(b[end]) {
		end++
	}
	if end == k || end-k > 6 || !freeAfter(b, end) {
		return i
	}
	return end
}
