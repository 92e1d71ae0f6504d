package wordvec

import (
	"math"
	"strings"
	"unicode"
)

// Table is a table of word vectors. [Read] makes one. It is read-only and safe for
// concurrent use.
type Table struct {
	index  map[string]int // row of a word; rows are ordered from frequent to rare words
	rows   []row
	common []float32 // unit vector that is removed from every mean; nil removes nothing
	dim    int
}

// row is the vector of one word: values times scale. The values are int8 and refer to the
// packed bytes.
type row struct {
	scale  float32
	values []byte
}

// Dim returns the length of the vectors that Encode returns.
func (t *Table) Dim() int { return t.dim }

// Words splits a text into lower-case words: runs of letters and digits.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// Encode returns the unit vector of text, or nil if the table knows none of its words or
// their vectors cancel out.
func (t *Table) Encode(text string) []float32 { return t.EncodeWords(Words(text)) }

// EncodeWords is Encode for a text that is already split by [Words].
func (t *Table) EncodeWords(words []string) []float32 {
	mean := make([]float32, t.dim)
	for _, w := range words {
		if rank, ok := t.index[w]; ok {
			t.rows[rank].addTo(mean, weight(rank))
		}
	}
	if !unit(mean) {
		return nil
	}
	if t.common != nil {
		along := dot(mean, t.common)
		for i, c := range t.common {
			mean[i] -= float32(along * c)
		}
		if !unit(mean) {
			return nil
		}
	}
	return mean
}

// weight returns the smooth inverse frequency of the word with a rank. Zipf's law
// estimates its probability: 1 / (12 (rank + 3)).
func weight(rank int) float32 {
	const smooth = 1e-3
	probability := 1 / (float64(rank+3) * 12)
	return float32(smooth / (smooth + probability))
}

// The explicit conversions of products in addTo, dot and EncodeWords forbid the compiler
// fused multiply-add, so that every platform rounds alike.

func (r row) addTo(sum []float32, weight float32) {
	weight *= r.scale
	for i, q := range r.values {
		sum[i] += float32(weight * float32(int8(q))) //nolint:gosec // the bytes are int8
	}
}

func dot(a, b []float32) float32 {
	var sum float32
	for i, v := range a {
		sum += float32(v * b[i])
	}
	return sum
}

// unit scales v to length 1. It returns false if v has no direction.
func unit(v []float32) bool {
	var squares float64
	for _, e := range v {
		squares += float64(float64(e) * float64(e))
	}
	if squares == 0 || math.IsInf(squares, 0) || math.IsNaN(squares) {
		return false
	}
	shrink := float32(1 / math.Sqrt(squares))
	for i := range v {
		v[i] *= shrink
	}
	return true
}
