package uselite

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// wordStart stands for a space, and before the first word.
	wordStart = '\u2581'

	// unknown is the piece of everything that the vocabulary does not know.
	unknown = 0

	// reserved pieces at the start of the vocabulary are control symbols and
	// never match text.
	reserved = 6
)

// tokenizer cuts text into the sequence of pieces with the highest sum of
// scores (Kudo 2018, unigram language model) by dynamic programming.
type tokenizer struct {
	scores  []float32
	lengths []int32 // of each piece, in runes
	space   int32   // the piece of a space alone, or unknown

	// The pieces form a trie. Node 0 is its root; steps leads from a node by
	// a rune to the next, ends says which piece ends at a node (0: none).
	steps map[step]int32
	ends  []int32
}

type step struct {
	node int32
	rune rune
}

func newTokenizer(pieces []string, scores []float32) *tokenizer {
	t := &tokenizer{
		scores: scores, lengths: make([]int32, len(pieces)),
		steps: make(map[step]int32, 4*len(pieces)), ends: make([]int32, 1, 4*len(pieces)+1),
	}
	for id, piece := range pieces {
		t.lengths[id] = int32(utf8.RuneCountInString(piece)) //nolint:gosec // at most 255, by the format
		if id >= reserved {
			t.insert(piece, int32(id))
		}
		if piece == string(wordStart) {
			t.space = int32(id)
		}
	}
	return t
}

// insert adds a piece. Of two equal pieces the later one wins.
func (t *tokenizer) insert(piece string, id int32) {
	node := int32(0)
	for _, r := range piece {
		next, ok := t.steps[step{node, r}]
		if !ok {
			next = int32(len(t.ends)) //nolint:gosec // at most 255 * maxPieces
			t.ends = append(t.ends, 0)
			t.steps[step{node, r}] = next
		}
		node = next
	}
	t.ends[node] = id
}

// knowsAny says whether any piece stands for something.
func (t *tokenizer) knowsAny(ids []int32) bool {
	return slices.ContainsFunc(ids, func(id int32) bool { return id != unknown && id != t.space })
}

// encode returns the pieces of what [normalise] makes of text. A run of
// characters that no piece covers gives one unknown piece; an empty text has no
// pieces.
func (t *tokenizer) encode(text string) []int32 {
	in, _ := normalise(text)
	return t.pieces(in)
}

// pieces returns the pieces of normalised characters.
func (t *tokenizer) pieces(in []rune) []int32 {
	if len(in) == 0 {
		return nil
	}
	return t.collect(t.best(slices.Insert(in, 0, wordStart)))
}

// normalise returns the characters of text after Unicode normalisation (NFKC),
// a space as the sign for the start of a word, and whether these are all: text
// is cut after MaxRunes characters before it is normalised, which makes up to
// 18 of one, and again after that.
func normalise(text string) (in []rune, whole bool) {
	text, whole = first(text, MaxRunes)
	text = norm.NFKC.String(text)
	in = make([]rune, 0, min(len(text), MaxRunes)+1) // and one for the start of the first word
	for _, r := range text {
		if len(in) == MaxRunes {
			return in, false
		}
		if r == ' ' {
			r = wordStart
		}
		in = append(in, r)
	}
	return in, whole
}

// first returns the first n characters of text and whether these are all.
func first(text string, n int) (string, bool) {
	for i := range text {
		if n == 0 {
			return text[:i], false
		}
		n--
	}
	return text, true
}

// best gives for every place in the text the piece that ends there on the best
// way to it, or unknown. A place that no piece reaches starts again at 0, as
// the published tokenizer does it.
func (t *tokenizer) best(in []rune) []int32 {
	total := make([]float32, len(in)+1)
	last := make([]int32, len(in)+1)
	for from := range in {
		var node int32
		for to := from; to < len(in); to++ {
			next, ok := t.steps[step{node, in[to]}]
			if !ok {
				break
			}
			node = next
			id := t.ends[node]
			if id == 0 {
				continue
			}
			sum := total[from] + t.scores[id]
			if last[to+1] == unknown || sum >= total[to+1] {
				total[to+1], last[to+1] = sum, id
			}
		}
	}
	return last
}

// collect walks back over the best way.
func (t *tokenizer) collect(last []int32) []int32 {
	var ids []int32
	for at := len(last) - 1; at > 0; {
		id := last[at]
		if id != unknown || len(ids) == 0 || ids[len(ids)-1] != unknown {
			ids = append(ids, id)
		}
		if id == unknown {
			at--
		} else {
			at -= int(t.lengths[id])
		}
	}
	slices.Reverse(ids)
	return ids
}
