package content

// creditCard returns the place of the card number that begins at i. A card number has 12
// to 19 digits, a length and first digits that an issuer uses, and a valid check digit
// (Luhn, ISO/IEC 7812). The digits are in one run or in groups.
//
// One number in ten has a valid check digit, and Visa uses every number that begins with
// 4, so isCard decides about one run by its context. A number in groups, the first of
// four digits, is a card number with two exceptions: it is part of a longer list of such
// groups, or it has separators other than spaces and is in a member named like an order
// number.
func (z *scan) creditCard(b []byte, i int) span {
	const maxGroup = 9 // longer than any group on a card
	if i+12 > len(b) || !freeBefore(b, i) {
		return span{}
	}
	var d [19]byte
	var ends [20]int // index in b after each number of digits
	n, group, grouped, wide := 0, 0, 0, false
	for at := i; at < len(b) && n < len(d) && (grouped == 0 || group < maxGroup); {
		if c := b[at]; isDigit(c) {
			d[n] = c - '0'
			n++
			group++
			at++
			ends[n] = at
			continue
		}
		gap := groupGap(b, at)
		if gap == 0 || grouped == 0 && group != 4 || group < 3 {
			break
		}
		wide = wide || gap > 1 || b[at] != ' ' && b[at] != '-'
		at += gap
		grouped, group = n, 0
	}
	for ; n >= 12; n-- {
		if !freeAfter(b, ends[n]) || !issued(d[:n]) || !luhn(d[:n]) {
			continue
		}
		s := span{i, ends[n]}
		switch {
		case s.end-s.start == n && !z.isCard(b, s),
			wide && isColumn(b, s),
			s.end-s.start > n && b[i+4] != ' ' && z.keyHints().order && !z.cardNear(b, s):
			return z.confirmed(b, s)
		}
		return z.confirm(b, s)
	}
	return span{}
}

// groupGap returns the length of the gap at i between two groups of digits: one to three
// characters, 0 if there is none.
func groupGap(b []byte, i int) int {
	for n := 1; n <= 3 && isGroupGap(at(b, i+n-1)); n++ {
		if isDigit(at(b, i+n)) {
			return n
		}
	}
	return 0
}

// isColumn reports whether a number in groups is part of a longer list of groups of four.
func isColumn(b []byte, s span) bool {
	end := s.start
	for end > 0 && isGroupGap(b[end-1]) {
		end--
	}
	start := end
	for start > 0 && isDigit(b[start-1]) {
		start--
	}
	if end < s.start && end-start == 4 {
		return true
	}
	gap := groupGap(b, s.end)
	return gap > 0 && b[s.end] != ' ' && len(b) >= s.end+gap+4 && allDigits(b[s.end+gap:s.end+gap+4])
}

// isCard decides whether a run of digits with a valid check digit and issuer is a card
// number. The first rule that applies wins:
//
//   - yes, if a word such as card or visa is nearby, in a name on the path to the value,
//     or in the question;
//   - no, after a word such as order or id, in a member that is named so, or after # or
//     letters and a hyphen, slash or underscore;
//   - no, if it is a name, because names are ids more often;
//   - yes otherwise.
func (z *scan) isCard(b []byte, s span) bool {
	if z.cardNear(b, s) {
		return true
	}
	if idBefore(b, s.start) {
		return false
	}
	if len(b) == s.end-s.start && z.around.name {
		return false
	}
	return !z.keyHints().id
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
