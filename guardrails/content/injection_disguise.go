package content

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"unicode/utf8"
)

const (
	minEncoded   = 16      // characters
	maxEncoded   = 1 << 16 // characters of one run; the rest is not decoded
	maxLayers    = 3       // of nested encodings
	minLetters   = 6       // consecutive single letters
	maxScrambled = 60      // bytes between two scrambled words
)

// disguised adds hidden prompt injection in b. In one pass over the words it joins single
// letters, sorts the letters of scrambled words, and decodes long runs of base64 and
// hexadecimal digits. layer is how often b itself was decoded.
func (d *injectionDetector) disguised(out []span, b []byte, layer int, m *machine) []span {
	loose := run{layer: layer}
	scrambled := span{-1, -maxScrambled - 1} // the last scrambled word
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
		if i-start == 4 && b[start] == '0' && b[start+1]|0x20 == 'x' {
			out = loose.add(d, out, b, span{start + 2, i}, m)
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
			if d.encoded(b[start:stop], layer, m) {
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

// encoded reports whether a run of characters is suspicious when decoded from base64 or
// hexadecimal digits, at any offset.
func (d *injectionDetector) encoded(word []byte, layer int, m *machine) bool {
	if len(word) < minEncoded || layer == maxLayers {
		return false
	}
	word = word[:min(len(word), maxEncoded)]
	if d.encodedHex(word, layer, m) {
		return true
	}
	for part := range bytes.SplitSeq(word, []byte("=")) {
		if len(part) < minEncoded {
			continue
		}
		in := make([]byte, len(part))
		for i, c := range part {
			switch c {
			case '-':
				c = '+'
			case '_':
				c = '/'
			}
			in[i] = c
		}
		plain := make([]byte, len(in))
		for shift := range 4 {
			rest := in[shift:]
			if len(rest)%4 == 1 {
				rest = rest[:len(rest)-1]
			}
			n, err := base64.RawStdEncoding.Decode(plain, rest)
			if err == nil && d.tells(plain[:n], layer+1, m) {
				return true
			}
		}
	}
	return false
}

// encodedHex reports whether a run of characters is suspicious when decoded from
// hexadecimal digits.
func (d *injectionDetector) encodedHex(word []byte, layer int, m *machine) bool {
	if word[0] == '0' && word[1]|0x20 == 'x' {
		word = word[2:]
	}
	for _, c := range word {
		if _, ok := hexDigit(c); !ok {
			return false
		}
	}
	plain := make([]byte, len(word)/2)
	for shift := range 2 {
		n, err := hex.Decode(plain, word[shift:len(word)-(len(word)-shift)%2])
		if err == nil && d.tells(plain[:n], layer+1, m) {
			return true
		}
	}
	return false
}

// tells reports whether a decoded text is suspicious: it contains a phrase or two of the
// most frequently hidden words, or it is readable and hides a suspicious text itself.
func (d *injectionDetector) tells(plain []byte, layer int, m *machine) bool {
	m.meter.chargeBuiltin(findEffort + len(plain)*orderEffort)
	return hidesWords(plain) || len(d.phrases(nil, plain, m)) > 0 || isReadable(plain) && len(d.disguised(nil, plain, layer, m)) > 0
}

// hidesWords reports whether a text contains two of the most frequently hidden words. It
// searches only texts with a run of letters as long as the shortest of these words,
// because most decoded data has none.
func hidesWords(plain []byte) bool {
	letters, longest := 0, 0
	for _, c := range plain {
		if letters++; !isLetter(c) {
			letters = 0
		}
		longest = max(longest, letters)
	}
	if longest < len("ignore") {
		return false
	}
	lower, n := lowered(plain), 0
	for _, w := range [...]string{"ignore", "bypass", "override", "reveal", "system", "prompt", "instructions", "disregard"} {
		if bytes.Contains(lower, []byte(w)) {
			n++
		}
	}
	return n >= 2
}

// isReadable reports whether b looks like text rather than binary data.
func isReadable(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return utf8.Valid(b)
}

// run is a sequence of single letters, or of single pairs of hexadecimal digits.
type run struct {
	letters []byte
	place   span
	size    int // bytes of each piece
	layer   int
}

// add appends a piece to the run, or starts another run.
func (r *run) add(d *injectionDetector, out []span, b []byte, piece span, m *machine) []span {
	size := piece.end - piece.start
	if len(r.letters) > 0 && (size != r.size || piece.start-r.place.end > 5) {
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

// end adds the run if its letters are suspicious.
func (r *run) end(d *injectionDetector, out []span, m *machine) []span {
	letters, place := r.letters, r.place
	r.letters = r.letters[:0]
	switch {
	case r.size == 1 && len(letters) >= minLetters:
		if spelled(lowered(letters)) {
			return append(out, place)
		}
	case r.size == 2 && len(letters) >= minEncoded:
		plain := make([]byte, len(letters)/2)
		if _, err := hex.Decode(plain, letters); err == nil && d.tells(plain, r.layer+1, m) {
			return append(out, place)
		}
	}
	return out
}

// spelled reports whether single letters spell an order.
func spelled(lower []byte) bool {
	has := func(w string) bool { return bytes.Contains(lower, []byte(w)) }
	for _, w := range [...]string{"ignore", "bypass", "override", "disregard", "jailbreak"} {
		if has(w) {
			return true
		}
	}
	return has("system") && has("prompt") || has("reveal") && (has("prompt") || has("instruction"))
}

// isScrambled reports whether a word is one of the required words with its inner letters
// in another order.
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

// nearTarget reports whether a typical target of scrambled orders follows soon.
func nearTarget(b []byte, i int) bool {
	near := lowered(b[i:min(len(b), i+maxScrambled)])
	return bytes.Contains(near, []byte("instructions")) || bytes.Contains(near, []byte("prompt")) ||
		bytes.Contains(near, []byte("guidelines"))
}
