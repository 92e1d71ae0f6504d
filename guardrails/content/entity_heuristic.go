package content

import (
	"bytes"
	"context"
)

// Heuristic is the default [EntityRecognizer]. It knows titles, common given names, words
// that introduce a name, and words for streets in English, German, French and Spanish. It
// is fast and misses many names; if names matter, use a trained recognizer. The zero
// value is ready for use and safe for concurrent use.
type Heuristic struct{}

// Recognize returns the names and addresses in text. The only error is that of ctx.
func (h Heuristic) Recognize(ctx context.Context, text string) ([]Entity, error) {
	var list []Entity
	m := newMeter(ctx, nil, "")
	for k, slug := range map[kind]string{kindPerson: PersonName, kindAddress: Address} {
		m.begin()
		for _, s := range h.find(nil, []byte(text), k, m) {
			list = append(list, Entity{Slug: slug, Start: s.start, End: s.end})
		}
	}
	if m.err != nil {
		return nil, m.err
	}
	return list, nil
}

func (Heuristic) find(out []span, b []byte, k kind, m *meter) []span {
	if k == kindPerson {
		return persons(out, b, m)
	}
	return addresses(out, b, m)
}

// persons adds the names in b: two to four capitalised words that begin with a common
// given name, or the words after a title or an introduction.
func persons(out []span, b []byte, m *meter) []span {
	for i := 0; i < len(b) && !m.ended(i); {
		if b[i]-'A' > 25 {
			i = skipToCapital(b, i+1)
			continue
		}
		if wordBefore(b, i) > 0 {
			i++
			continue
		}
		m.chargeBuiltin(wordEffort)
		end := wordEnd(b, i)
		word := b[i:end]
		start := i
		i = end
		first, _, _ := bytes.Cut(word, []byte("-")) // of Hans-Peter
		switch {
		case isTitle(word):
			next := afterTitle(b, end)
			for stop := wordEnd(b, next); isParticle(b[next:stop]) && at(b, stop) == ' '; stop = wordEnd(b, next) {
				next = stop + 1
			}
			if stop, n := nameEnd(b, next); n > 0 {
				out, i = append(out, span{start, stop}), stop
			}
		case isGivenName(first):
			if stop, n := nameEnd(b, start); n > 1 {
				out, i = append(out, span{start, stop}), stop
			} else if introduced(b, start) {
				out = append(out, span{start, end})
			}
		case !isCommonCapital(word):
			if stop, n := nameEnd(b, start); n > 1 && introduced(b, start) {
				out, i = append(out, span{start, stop}), stop
			}
		}
	}
	return out
}

// wordEnd returns where the word that begins at i ends.
func wordEnd(b []byte, i int) int {
	for i < len(b) {
		size := wordAt(b, i)
		if size == 0 && (b[i] == '-' || b[i] == '\'') && wordAt(b, i+1) > 0 {
			size = 1
		}
		if size == 0 {
			break
		}
		i += size
	}
	return i
}

// nameEnd returns where the name that begins at i ends, and how many words it has: up to
// four name words, with initials and particles between them.
func nameEnd(b []byte, i int) (end, words int) {
	end = i
	for words < 4 {
		stop := wordEnd(b, i)
		word := b[i:stop]
		switch {
		case len(word) == 1 && words > 0 && word[0]-'A' <= 25 && at(b, stop) == '.':
			i = stop + 1
		case words > 0 && isParticle(word):
			i = stop
		case isNameWord(word) && (words == 0 || !isCommonCapital(word)):
			words++
			end, i = stop, stop
		default:
			return end, words
		}
		if at(b, i) != ' ' {
			return end, words
		}
		i++
	}
	return end, words
}

// isNameWord reports whether a word is a capital followed by small letters.
func isNameWord(word []byte) bool {
	if len(word) < 2 || word[0]-'A' > 25 && word[0] < 0xc3 {
		return false
	}
	small := 0
	for _, c := range word[1:] {
		switch {
		case 'a' <= c && c <= 'z', c >= 0x80:
			small++
		case isDigit(c):
			return false
		}
	}
	return small > 0
}

// afterTitle skips the dot and the space after a title.
func afterTitle(b []byte, i int) int {
	if at(b, i) == '.' {
		i++
	}
	if at(b, i) == ' ' {
		i++
	}
	return i
}

// introduced reports whether the words before i introduce a name.
func introduced(b []byte, i int) bool {
	if c := at(b, i-1); c != ' ' && c != '\n' {
		return false
	}
	var buffer [nearBytes]byte
	near := before(&buffer, b, i, 24)
	for _, intro := range [...]string{
		"my name is ", "name's ", "i am called ", "this is ", "dear ", "regards, ", "regards,\n", "sincerely, ",
		"sincerely,\n", "signed, ", "signed by ", "patient ", "customer ", "spoke with ", "spoke to ",
		"contact ", "attn: ", "mein name ist ", "ich heiße ", "je m'appelle ", "me llamo ", "herr ", "frau ",
	} {
		if bytes.HasSuffix(near, []byte(intro)) && wordBefore(near, len(near)-len(intro)) == 0 {
			return true
		}
	}
	return false
}

// addresses adds the postal addresses in b: a number and a street in either order, with
// the unit, city and postal code that follow.
func addresses(out []span, b []byte, m *meter) []span {
	for i := 0; i < len(b) && !m.ended(i); i++ {
		if !isDigit(b[i]) {
			i = skipToDigit(b, i+1) - 1
			continue
		}
		if isDigit(at(b, i-1)) {
			continue
		}
		m.chargeBuiltin(wordEffort)
		s := span{i, streetAfter(b, i)}
		if s.end == 0 {
			s = streetBefore(b, i)
		}
		if s.end == 0 {
			s = box(b, i)
		}
		if s.end == 0 || len(out) > 0 && s.start < out[len(out)-1].end {
			continue
		}
		s.end = cityEnd(b, unitEnd(b, s.end))
		out = append(out, s)
		i = s.end - 1
	}
	return out
}
