package similarity

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// bag is the set of weighted word features of a text, sorted by feature and of length 1
// as a vector. A text without words has an empty bag.
type bag []feature

type feature struct {
	id     uint64 // hash of kind and text
	weight float64
}

// Weights of features; a word counts 1. Stop words count little. Pairs of words and
// trigrams count less than words, so that word order and spelling only break ties.
const (
	stopWeight    = .05
	pairWeight    = .3
	trigramWeight = .15
)

// newBag returns the bag of a text that is split into lower-case words.
func newBag(words []string) bag {
	var b bag
	add := func(weight float64, kind byte, x, y string) {
		b = append(b, feature{id: hash(kind, x, y), weight: weight})
	}
	before := ""
	for i, word := range words {
		weight := 1.0
		if stopWord(word) {
			weight = stopWeight
		}
		now := stem(word)
		add(weight, 'w', now, "")
		if i > 0 {
			add(weight*pairWeight, 'p', before, now)
		}
		if len(word) > 3 && !stopWord(word) {
			edged := "^" + word + "$"
			for j := range len(edged) - 2 {
				add(weight*trigramWeight, 't', edged[j:j+3], "")
			}
		}
		before = now
	}
	return b.tidy()
}

// tidy sorts the bag, merges equal features and scales it to length 1.
func (b bag) tidy() bag {
	slices.SortFunc(b, func(x, y feature) int { return cmp.Compare(x.id, y.id) })
	merged := b[:0]
	for _, f := range b {
		if last := len(merged) - 1; last >= 0 && merged[last].id == f.id {
			merged[last].weight += f.weight
		} else {
			merged = append(merged, f)
		}
	}
	var squares float64
	for _, f := range merged {
		squares += f.weight * f.weight
	}
	for i := range merged {
		merged[i].weight /= math.Sqrt(squares)
	}
	return merged
}

// overlap returns the cosine of two bags: 1 for the same words, 0 if none is shared.
func (b bag) overlap(c bag) float64 {
	var sum float64
	for i, j := 0, 0; i < len(b) && j < len(c); {
		switch cmp.Compare(b[i].id, c[j].id) {
		case -1:
			i++
		case 1:
			j++
		default:
			sum += b[i].weight * c[j].weight
			i, j = i+1, j+1
		}
	}
	return sum
}

// hash is FNV-1a over the kind of a feature and its two texts, separated by a byte that
// UTF-8 never contains.
func hash(kind byte, x, y string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := (uint64(offset) ^ uint64(kind)) * prime
	for i := range len(x) {
		h = (h ^ uint64(x[i])) * prime
	}
	h = (h ^ 0xff) * prime
	for i := range len(y) {
		h = (h ^ uint64(y[i])) * prime
	}
	return h
}

// stem strips the most common English endings. It is deliberately small, because trigrams
// cover what it misses.
func stem(word string) string {
	for _, ending := range [...]string{
		"ingly", "edly", "ations", "ation", "ments", "ment", "ings", "ing",
		"ies", "ied", "ers", "er", "ed", "es", "ly", "s",
	} {
		base, found := strings.CutSuffix(word, ending)
		if !found || len(base) < 3 {
			continue
		}
		if ending == "ies" || ending == "ied" {
			return base + "y"
		}
		last := len(base) - 1
		if last > 2 && base[last] == base[last-1] && !strings.ContainsRune("lsz", rune(base[last])) {
			base = base[:last] // stopped, stop
		}
		return strings.TrimSuffix(base, "e")
	}
	return strings.TrimSuffix(word, "e")
}

// stopWord reports whether a word says nothing about a topic.
func stopWord(word string) bool {
	switch word {
	case "a", "an", "the", "and", "or", "of", "to", "in", "on", "at", "for", "from", "by", "with",
		"is", "are", "was", "were", "be", "been", "am", "do", "does", "did", "have", "has", "had",
		"i", "you", "he", "she", "it", "we", "they", "me", "my", "your", "his", "her", "its", "our", "their",
		"this", "that", "these", "those", "what", "which", "who", "whom", "how", "when", "where", "why",
		"can", "could", "will", "would", "should", "may", "might", "no", "not", "so", "if", "as", "about",
		"into", "than", "then", "there", "here", "just", "up", "out", "get", "got", "im",
		"user", "customer", "asking", "message", "text":
		return true
	default:
		return false
	}
}
