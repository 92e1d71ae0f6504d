package content

import "bytes"

// houseEnd returns where the house number that begins at i ends: up to five digits and a
// letter.
func houseEnd(b []byte, i int) int {
	end := i
	for end < len(b) && end-i < 6 && isDigit(b[end]) {
		end++
	}
	if end-i > 5 {
		return 0
	}
	if isLetter(at(b, end)) && wordAt(b, end+1) == 0 {
		end++
	}
	if wordAt(b, end) > 0 {
		return 0
	}
	return end
}

// streetAfter returns where a street such as "12 Main Street" or "12, rue de la Paix"
// ends, or 0 if none begins at i.
func streetAfter(b []byte, i int) int {
	if !freeBefore(b, i) || at(b, i-1) == '$' {
		return 0
	}
	pos := houseEnd(b, i)
	if pos == 0 {
		return 0
	}
	if at(b, pos) == ',' {
		pos++
	}
	way := false // the street begins with a word such as rue
	for words := range 6 {
		if at(b, pos) != ' ' {
			return 0
		}
		pos++
		end := wordEnd(b, pos)
		word := b[pos:end]
		switch {
		case words == 0 && isWay(word):
			way = true
		case way && isNameWord(word):
			return end
		case words > 0 && isStreet(word):
			if at(b, end) == '.' && len(word) <= 4 {
				end++
			}
			return end
		case !isNameWord(word) && !isParticle(word) && !isOrdinal(word) && len(word) != 1:
			return 0
		case len(word) == 0:
			return 0
		}
		if pos = end; at(b, pos) == '.' {
			pos++
		}
	}
	return 0
}

// streetBefore returns the place of a street such as "Hauptstraße 12" whose number begins
// at i.
func streetBefore(b []byte, i int) span {
	if at(b, i-1) != ' ' {
		return span{}
	}
	start := i - 1
	for start > 0 && i-start < 40 {
		size := wordBefore(b, start)
		if size == 0 && at(b, start-1) == '-' {
			size = 1
		}
		if size == 0 {
			break
		}
		start -= size
	}
	word := b[start : i-1]
	if at(b, i-2) == '.' { // Hauptstr. 12
		for start = i - 2; start > 0 && i-start < 40 && wordBefore(b, start) > 0; {
			start -= wordBefore(b, start)
		}
		word = b[start : i-2]
	}
	end := houseEnd(b, i)
	if end == 0 || len(word) < 5 || !isNameWord(word) || !hasStreetEnding(bytes.ToLower(word)) {
		return span{}
	}
	return span{start, end}
}

func hasStreetEnding(lower []byte) bool {
	for _, ending := range [...]string{"straße", "strasse", "str", "gasse", "weg", "platz", "allee", "damm", "ufer", "straat", "laan"} {
		if len(lower) > len(ending)+1 && bytes.HasSuffix(lower, []byte(ending)) {
			return true
		}
	}
	return false
}

// box returns the place of "PO Box 123" whose number begins at i.
func box(b []byte, i int) span {
	if at(b, i-1) != ' ' || at(b, i-2)|0x20 != 'x' && at(b, i-2) != 'h' {
		return span{}
	}
	var buffer [nearBytes]byte
	near := before(&buffer, b, i, 10)
	for _, words := range [...]string{"po box ", "p.o. box ", "p. o. box ", "postfach "} {
		if start := i - len(words); bytes.HasSuffix(near, []byte(words)) && wordBefore(b, start) == 0 {
			if end := houseEnd(b, i); end != 0 {
				return span{start, end}
			}
		}
	}
	return span{}
}

// unitEnd returns where the unit ("Apt 4B", "Suite 200", "#12") of an address that ends
// at i ends.
func unitEnd(b []byte, i int) int {
	pos := skipComma(b, i)
	if pos == i {
		return i
	}
	if at(b, pos) == '#' {
		if end := houseEnd(b, pos+1); end > pos+1 {
			return end
		}
		return i
	}
	end := wordEnd(b, pos)
	switch string(bytes.ToLower(b[pos:end])) {
	case "apt", "apartment", "suite", "ste", "unit", "floor", "fl", "flat", "room":
	default:
		return i
	}
	for at(b, end) == '.' || at(b, end) == ' ' || at(b, end) == '#' {
		end++
	}
	if stop := wordEnd(b, end); stop > end {
		return stop
	}
	return i
}

// cityEnd returns where the city and the postal code (", Springfield, IL 62704", ", 10115
// Berlin") of an address that ends at i end.
func cityEnd(b []byte, i int) int {
	if at(b, i) != ',' && at(b, i) != '\n' {
		return i
	}
	end, code := i, false
	pos := skipComma(b, i)
	for range 7 {
		stop := wordEnd(b, pos)
		word := b[pos:stop]
		switch {
		case isCode(word):
			if at(b, stop) == '-' && isDigit(at(b, stop+1)) {
				stop = wordEnd(b, stop+1)
			}
			end, code = stop, true
		case len(word) == 2 && word[0]-'A' <= 25 && word[1]-'A' <= 25: // a state
			end = stop
		case isNameWord(word) && (end == i || !code || at(b, pos-1) == ' '):
			end = stop
		default:
			return end
		}
		if pos = skipComma(b, stop); pos == stop {
			return end
		}
	}
	return end
}

// skipComma skips a comma or line end and the spaces around it.
func skipComma(b []byte, i int) int {
	for n := 0; n < 3 && (at(b, i) == ',' || at(b, i) == ' ' || at(b, i) == '\n'); n++ {
		i++
	}
	return i
}

// isCode reports whether a word may be a postal code, or half of a British one.
func isCode(word []byte) bool {
	digits := 0
	for _, c := range word {
		if isDigit(c) {
			digits++
		} else if c-'A' > 25 && c != '-' {
			return false
		}
	}
	return digits > 0 && 3 <= len(word) && len(word) <= 10
}

func isOrdinal(word []byte) bool {
	n := 0
	for n < len(word) && isDigit(word[n]) {
		n++
	}
	return 0 < n && n < 4 && len(word) == n+2
}
