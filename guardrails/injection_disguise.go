package guardrails

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"unicode/utf8"
)

const (
	minEncoded   = 16 // characters
	maxEncoded   = 1 << 16
	minLetters   = 6  // that stand alone, one after the other
	maxScrambled = 60 // bytes between two scrambled words
)

// disguised adds what hides the words of prompt injection in b. It is one pass
// over the words: letters that stand alone are put together, letters that
// changed places are sorted, and long runs of base64 and hexadecimal digits are
// decoded once.
func (d *InjectionDetector) disguised(out []span, b []byte, m *machine) []span {
	var loose run
	scrambled := span{-1, -maxScrambled - 1} // the last one
	for i := 0; i < len(b) && !m.meter.ended(i); {
		if !isWord(b[i]) {
			i++
			continue
		}
		start := i
		for i < len(b) && isWord(b[i]) {
			i++
		}
		if i-start <= 2 {
			out = loose.add(d, out, b, span{start, i}, m)
			continue
		}
		if len(loose.letters) > 0 {
			out = loose.end(d, out, m)
		}
		word := b[start:i]
		if isScrambled(word) {
			if start-scrambled.end <= maxScrambled || nearTarget(b, i) {
				out = append(out, span{max(scrambled.start, 0), i})
				if start-scrambled.end > maxScrambled {
					out[len(out)-1].start = start
				}
			}
			scrambled = span{start, i}
		}
		if len(word) >= minEncoded || len(word) >= 4 && isEncodedMark(at(b, i)) {
			stop := i
			for stop < len(b) && (isWord(b[stop]) || isEncodedMark(b[stop])) {
				stop++
			}
			if d.encoded(b[start:stop], m) {
				out = append(out, span{start, stop})
			}
			i = stop
		}
	}
	return loose.end(d, out, m)
}

func isEncodedMark(c byte) bool {
	switch c {
	case '+', '/', '=', '_', '-':
		return true
	}
	return false
}

// encoded reports whether a run of characters says something suspicious in
// base64 or hexadecimal digits.
func (d *InjectionDetector) encoded(word []byte, m *machine) bool {
	if len(word) < minEncoded || len(word) > maxEncoded {
		return false
	}
	plain := make([]byte, len(word))
	if n, err := hex.Decode(plain, word); err == nil {
		return d.tells(plain[:n], m)
	}
	in := bytes.TrimRight(word, "=")
	if len(in)%4 == 1 {
		in = in[:len(in)-1]
	}
	encoding := base64.RawStdEncoding
	if bytes.ContainsAny(in, "-_") {
		encoding = base64.RawURLEncoding
	}
	n, err := encoding.Decode(plain, in)
	return err == nil && d.tells(plain[:n], m)
}

// tells reports whether a text that was hidden is suspicious: readable, with a
// phrase or with two of the words that are hidden most.
func (d *InjectionDetector) tells(plain []byte, m *machine) bool {
	for _, c := range plain {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			return false
		}
	}
	if !utf8.Valid(plain) {
		return false
	}
	lower := lowered(plain)
	n := 0
	for _, w := range [...]string{"ignore", "bypass", "override", "reveal", "system", "prompt", "instructions", "disregard"} {
		if bytes.Contains(lower, []byte(w)) {
			n++
		}
	}
	return n >= 2 || len(d.phrases(nil, plain, m)) > 0
}

// run is a row of letters, or of pairs of hexadecimal digits, that stand alone.
type run struct {
	letters []byte
	place   span
	size    int // of each piece
}

// add continues the run with a piece, or begins another.
func (r *run) add(d *InjectionDetector, out []span, b []byte, piece span, m *machine) []span {
	size := piece.end - piece.start
	if len(r.letters) > 0 && (size != r.size || piece.start-r.place.end > 3) {
		out = r.end(d, out, m)
	}
	if len(r.letters) == 0 {
		r.place.start = piece.start
	}
	r.size = size
	r.letters = append(r.letters, b[piece.start:piece.end]...)
	r.place.end = piece.end
	return out
}

// end judges the run.
func (r *run) end(d *InjectionDetector, out []span, m *machine) []span {
	letters, place := r.letters, r.place
	r.letters = r.letters[:0]
	switch {
	case r.size == 1 && len(letters) >= minLetters:
		if spelled(lowered(letters)) {
			return append(out, place)
		}
	case r.size == 2 && len(letters) >= minEncoded:
		plain := make([]byte, len(letters)/2)
		if _, err := hex.Decode(plain, letters); err == nil && d.tells(plain, m) {
			return append(out, place)
		}
	}
	return out
}

// spelled reports whether letters that stood alone make an order.
func spelled(lower []byte) bool {
	has := func(w string) bool { return bytes.Contains(lower, []byte(w)) }
	for _, w := range [...]string{"ignore", "bypass", "override", "disregard", "jailbreak"} {
		if has(w) {
			return true
		}
	}
	return has("system") && has("prompt") || has("reveal") && (has("prompt") || has("instruction"))
}

// isScrambled reports whether a word is one of those that injections need, with
// the letters between the first and the last in another order.
func isScrambled(word []byte) bool {
	if len(word) != 6 && len(word) != 8 && len(word) != 12 {
		return false
	}
	var w string
	switch word[0] | 0x20 {
	case 'i':
		w = "ignore"
		if len(word) == 12 {
			w = "instructions"
		}
	case 'b':
		w = "bypass"
	case 'o':
		w = "override"
	case 'r':
		w = "reveal"
	case 'd':
		w = "delete"
	case 's':
		w = "system"
	case 'p':
		w = "prompt"
		if len(word) == 8 {
			w = "previous"
		}
	}
	last := len(word) - 1
	if len(w) != len(word) || word[last]|0x20 != w[last] {
		return false
	}
	var balance [128]int8
	same := true
	for i := range w {
		c := word[i] | 0x20
		balance[c&127]++
		balance[w[i]]--
		same = same && c == w[i]
	}
	return !same && balance == [128]int8{}
}

// nearTarget reports whether one of the words that scrambled orders aim at
// follows soon.
func nearTarget(b []byte, i int) bool {
	near := lowered(b[i:min(len(b), i+maxScrambled)])
	return bytes.Contains(near, []byte("instructions")) || bytes.Contains(near, []byte("prompt")) ||
		bytes.Contains(near, []byte("guidelines"))
}
