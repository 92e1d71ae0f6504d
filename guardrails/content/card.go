package content

// creditCard returns the place of the card number that begins at i. It has 12 to
// 19 digits, of a length that their issuer uses, with the check digit of ISO/IEC
// 7812 (Luhn), in one run or in groups.
//
// Every tenth number has the right check digit, and Visa owns all that begin
// with 4, so for one run the words around decide: see isCard. In groups, of which
// the first has four digits, it is a card number, unless it is written with
// anything but spaces in a member that is named as a number of an order or the
// like, or is part of a list of such groups.
func (z *scan) creditCard(b []byte, i int) span {
	const maxGroup = 9 // no card is printed with groups so long
	if i+12 > len(b) || !freeBefore(b, i) {
		return span{}
	}
	var d [19]byte
	var ends [20]int // after so many digits
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

// groupGap returns how long the gap between two groups of digits is that begins
// at i: one to three characters.
func groupGap(b []byte, i int) int {
	for n := 1; n <= 3 && isGroupGap(at(b, i+n-1)); n++ {
		if isDigit(at(b, i+n)) {
			return n
		}
	}
	return 0
}

// isColumn reports whether a number that is written in groups is part of a longer
// list of groups of four.
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

// isCard decides for digits in one run, with the check digit and the beginning of
// a card number, whether they are one:
//
//   - a word such as card or visa nearby, in the name of a member on the way to
//     it, or in its question: yes;
//   - a word such as order or id right before, or in the name of its member, or a
//     # or letters and a hyphen, slash or underline right before: no;
//   - the name of something, which is an id more often: no;
//   - otherwise yes.
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
