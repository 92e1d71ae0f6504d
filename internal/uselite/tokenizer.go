package uselite

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// wordStart represents a space. The first word begins with it, too.
	wordStart = '\u2581'

	// unknown is the piece for characters that the vocabulary does not cover.
	unknown = 0

	// The first pieces of the vocabulary are control symbols, which never match text.
	reserved = 6
)

// tokenizer splits text into the sequence of pieces with the highest sum of scores, by
// dynamic programming (unigram language model, Kudo 2018).
type tokenizer struct {
	scores  []float32
	lengths []int32 // length of each piece in runes
	space   int32   // the piece of a space alone, or unknown

	// The pieces form a trie with root node 0. steps maps a node and a rune to the next
	// node. ends has the piece that ends at a node, 0 for none.
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

// knowsAny reports whether any piece is neither unknown nor a space.
func (t *tokenizer) knowsAny(ids []int32) bool {
	return slices.ContainsFunc(ids, func(id int32) bool { return id != unknown && id != t.space })
}

// encode returns the pieces of the normalised text. A run of characters that no piece
// covers becomes one unknown piece. An empty text has no pieces.
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

// normalise returns the characters of text in NFKC, with wordStart for spaces, and
// whether they are complete. It reads at most MaxRunes characters, because normalisation
// can turn one into 18, and returns at most MaxRunes.
func normalise(text string) (in []rune, whole bool) {
	text, whole = first(text, MaxRunes)
	text = norm.NFKC.String(text)
	in = make([]rune, 0, min(len(text), MaxRunes)+1) // plus the start of the first word
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

// first returns the first n characters of text, and whether that is all of it.
func first(text string, n int) (string, bool) {
	for i := range text {
		if n == 0 {
			return text[:i], false
		}
		n--
	}
	return text, true
}

// best returns for every position the last piece of the best segmentation up to it, or
// unknown. A position that no piece reaches starts again with sum 0, as in the published
// tokenizer.
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

// collect follows the best segmentation back from the end.
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
