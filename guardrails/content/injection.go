package content

import (
	"bytes"
	"fmt"
	"math/bits"
	"regexp/syntax"
	"slices"
	"strings"
)

const (
	// phraseBytes is how far around its required words a phrase is searched, in bytes.
	phraseBytes = 160
	// phraseGap is the maximum distance of the two required words of a phrase, in bytes.
	phraseGap = 120
)

// injectionDetector finds text that tries to give orders to a model. It knows nine groups
// of phrases, see phrases, and finds them hidden by scrambled letters, spaced letters,
// base64 or hexadecimal digits. It is safe for concurrent use.
//
// One automaton searches for the required words of all phrases. A regular expression runs
// only where two of them are close together.
type injectionDetector struct {
	words  *automaton
	first  []uint64 // for each word, the phrases that require it, as bits
	second []uint64 // for each word, the phrases that also require it as second
	single uint64   // phrases without a second word
	list   []*program
	cased  uint64 // phrases that are case-sensitive
}

// newInjectionDetector compiles the phrases, which takes about a millisecond.
func newInjectionDetector() (*injectionDetector, error) {
	d := &injectionDetector{}
	all := phrases()
	index := map[string]int{}
	var words []string
	number := func(w string) int {
		w = strings.ReplaceAll(w, "_", " ")
		n, ok := index[w]
		if !ok {
			n = len(words)
			index[w] = n
			words = append(words, w)
			d.first, d.second = append(d.first, 0), append(d.second, 0)
		}
		return n
	}
	for i, p := range all {
		program, err := builtinProgram(strings.ReplaceAll(p.expr, "~", `[^a-zA-Z0-9]{1,6}`))
		if err != nil {
			return nil, fmt.Errorf("content: phrase %d: %w", i, err)
		}
		d.list = append(d.list, program)
		bit := uint64(1) << i
		for w := range strings.FieldsSeq(p.first) {
			d.first[number(w)] |= bit
		}
		for w := range strings.FieldsSeq(p.second) {
			d.second[number(w)] |= bit
		}
		if p.second == "" {
			d.single |= bit
		}
		if p.cased {
			d.cased |= bit
		}
	}
	d.words = newAutomaton(words)
	return d, nil
}

// builtinProgram compiles an expression of package regexp.
func builtinProgram(expr string) (*program, error) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	p, err := newProgram(tree)
	if err != nil {
		return nil, err
	}
	p.builtin = true
	return p, nil
}

// find adds suspected prompt injection in b. It stops early if the meter of the machine
// ends it.
func (d *injectionDetector) find(out []span, b []byte, m *machine) []span {
	had := len(out)
	out = d.phrases(out, b, m)
	out = d.disguised(out, b, 0, m)
	if len(out)-had < 2 {
		return out
	}
	found := out[had:]
	slices.SortFunc(found, bySpan)
	merged := found[:1]
	for _, s := range found[1:] {
		if last := &merged[len(merged)-1]; s.start < last.end {
			last.end = max(last.end, s.end)
		} else {
			merged = append(merged, s)
		}
	}
	return out[:had+len(merged)]
}

// window is a part of a text and the phrases that may occur in it.
type window struct {
	span

	phrases uint64
}

// phrases adds the phrases in b.
func (d *injectionDetector) phrases(out []span, b []byte, m *machine) []span {
	var lower []byte
	var current window
	flush := func() {
		if current.phrases == 0 {
			return
		}
		if lower == nil && current.phrases&^d.cased != 0 {
			lower = lowered(b)
		}
		out = d.match(out, b, lower, current, m)
	}
	var lastFirst, lastSecond [64]int // index after the last such word, plus one
	d.words.each(b, func(word, end int) {
		start := end - d.words.length(word)
		if isLetter(b[start]) && start > 0 && isLetter(b[start-1]) {
			return
		}
		ready := d.first[word] & d.single
		for set := d.first[word] &^ d.single; set != 0; set &= set - 1 {
			i := bits.TrailingZeros64(set)
			lastFirst[i] = end + 1
			if lastSecond[i] > 0 && end-lastSecond[i] < phraseGap {
				ready |= 1 << i
			}
		}
		for set := d.second[word]; set != 0; set &= set - 1 {
			i := bits.TrailingZeros64(set)
			lastSecond[i] = end + 1
			if lastFirst[i] > 0 && end-lastFirst[i] < phraseGap {
				ready |= 1 << i
			}
		}
		if ready == 0 {
			return
		}
		around := span{max(0, start-phraseBytes-phraseGap), min(len(b), end+phraseBytes)}
		if current.phrases != 0 && around.start <= current.end {
			current.end = around.end
			current.phrases |= ready
			return
		}
		flush()
		current = window{around, ready}
	})
	flush()
	return out
}

// match adds the phrases that occur in a window.
func (d *injectionDetector) match(out []span, b, lower []byte, w window, m *machine) []span {
	for set := w.phrases; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		text := lower
		if d.cased&(1<<i) != 0 {
			text = b
		}
		had := len(out)
		out, _ = m.all(d.list[i], out, text[w.start:w.end], 0) // the error stays in the meter
		for k := range out[had:] {
			out[had+k].start += w.start
			out[had+k].end += w.start
		}
	}
	return out
}

// lowered returns b with ASCII capitals as small letters, at the same offsets.
func lowered(b []byte) []byte {
	out := bytes.Clone(b)
	for i, c := range out {
		if c-'A' <= 25 {
			out[i] = c | 0x20
		}
	}
	return out
}
