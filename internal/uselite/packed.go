package uselite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// ErrFormat is wrapped by every error of [Read]: the bytes are not a packed model, or are
// truncated or damaged.
var ErrFormat = errors.New("uselite: not a valid packed model")

// magic is the start of a packed file and contains the version of the format.
//
// The rest is little endian, in this order:
//
//   - the number of pieces, and for each piece its length (one byte), text and score
//     (float32);
//   - the embedding as a matrix, and the timing frequencies as a vector;
//   - four norms as two vectors each (layer 0: attention, feed forward; layer 1 the
//     same);
//   - ten linear maps as matrix and vector (layer 0: qkv, proj, adjust, up, down; layer
//     1: qkv, proj, up, down; head).
//
// A vector is its length and its float32 values. A matrix is its number of columns and of
// rows, and for each row a float32 scale and one int8 for each column.
const magic = "USEL1\n"

const (
	maxPieces = 1 << 20
	maxWidth  = 1 << 13
	scaleSize = 4
	lane      = 8 // numbers that a kernel reads at once
)

// matrix refers to packed bytes: rows of int8, each with a scale.
type matrix struct {
	rows, cols int
	data       []byte // rows * (scaleSize + cols)
}

func (m matrix) row(i int) []byte {
	from := i*(scaleSize+m.cols) + scaleSize
	return m.data[from : from+m.cols]
}

func (m matrix) scale(i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(m.data[i*(scaleSize+m.cols):]))
}

// Read returns the model in a packed file. The model refers to data, which must not be
// modified while the model is in use. Every error wraps [ErrFormat].
func Read(data []byte) (*Model, error) {
	r := &reader{rest: data}
	if string(r.bytes(len(magic))) != magic {
		return nil, fmt.Errorf("%w: it does not begin with %q", ErrFormat, strings.TrimSpace(magic))
	}
	m := &Model{multiply: fastest()}
	m.tokens = newTokenizer(r.pieces())
	m.embedding = r.matrix()
	timing := r.vector()
	for i := range m.layers {
		m.layers[i].attentionNorm = layerNorm{scale: r.vector(), bias: r.vector()}
		m.layers[i].feedNorm = layerNorm{scale: r.vector(), bias: r.vector()}
	}
	for i := range m.layers {
		l := &m.layers[i]
		l.qkv, l.proj = r.linear(), r.linear()
		if i == 0 {
			l.adjust = r.linear()
		}
		l.up, l.down = r.linear(), r.linear()
	}
	m.head = r.linear()
	if r.err == nil && len(r.rest) > 0 {
		r.fail("%d bytes follow the model", len(r.rest))
	}
	if r.err == nil {
		r.err = m.fits(timing)
	}
	if r.err != nil {
		return nil, r.err
	}
	m.position = positions(timing)
	return m, nil
}

// fits checks that the shapes of the parts match each other.
func (m *Model) fits(timing []float32) error {
	first, second := &m.layers[0], &m.layers[1]
	narrow, wide := m.embedding.cols, first.proj.weights.rows
	shapes := []struct {
		name                        string
		rows, cols, wantRows, wants int
	}{
		{"timing", len(timing), 0, narrow / 2, 0},
		{"adjust", first.adjust.weights.rows, first.adjust.weights.cols, wide, narrow},
		{"qkv 0", first.qkv.weights.rows, first.qkv.weights.cols, 3 * narrow, narrow},
		{"proj 0", first.proj.weights.rows, first.proj.weights.cols, wide, narrow},
		{"qkv 1", second.qkv.weights.rows, second.qkv.weights.cols, 3 * wide, wide},
		{"proj 1", second.proj.weights.rows, second.proj.weights.cols, wide, wide},
		{"up 0", 0, first.up.weights.cols, 0, wide},
		{"up 1", 0, second.up.weights.cols, 0, wide},
		{"down 0", first.down.weights.rows, first.down.weights.cols, wide, first.up.weights.rows},
		{"down 1", second.down.weights.rows, second.down.weights.cols, wide, second.up.weights.rows},
		{"head", 0, m.head.weights.cols, 0, wide},
		{"attention norm 0", len(first.attentionNorm.scale), len(first.attentionNorm.bias), narrow, narrow},
		{"feed norm 0", len(first.feedNorm.scale), len(first.feedNorm.bias), wide, wide},
		{"attention norm 1", len(second.attentionNorm.scale), len(second.attentionNorm.bias), wide, wide},
		{"feed norm 1", len(second.feedNorm.scale), len(second.feedNorm.bias), wide, wide},
	}
	for _, s := range shapes {
		if s.rows != s.wantRows || s.cols != s.wants {
			return fmt.Errorf("%w: %s has the shape %dx%d, not %dx%d", ErrFormat, s.name, s.rows, s.cols, s.wantRows, s.wants)
		}
	}
	if m.embedding.rows < len(m.tokens.lengths) {
		return fmt.Errorf("%w: %d pieces have %d embeddings", ErrFormat, len(m.tokens.lengths), m.embedding.rows)
	}
	return nil
}

// reader decodes a packed file. After the first error it returns zero values and keeps
// that error.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
	}
	r.rest = nil
}

func (r *reader) bytes(n int) []byte {
	if n > len(r.rest) {
		r.fail("unexpected end of data")
		return nil
	}
	taken := r.rest[:n:n]
	r.rest = r.rest[n:]
	return taken
}

// number reads a length between least and most.
func (r *reader) number(what string, least, most int) int {
	b := r.bytes(4)
	if b == nil {
		return 0
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n < int64(least) || n > int64(most) {
		r.fail("%d %s, want %d to %d", n, what, least, most)
		return 0
	}
	return int(n)
}

// float reads a finite number.
func (r *reader) float() float32 {
	b := r.bytes(4)
	if b == nil {
		return 0
	}
	f := math.Float32frombits(binary.LittleEndian.Uint32(b))
	if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
		r.fail("a number is not finite")
		return 0
	}
	return f
}

func (r *reader) pieces() (texts []string, scores []float32) {
	n := r.number("pieces", reserved, maxPieces)
	// A piece takes at least five bytes. The check keeps a damaged count from reserving
	// memory for more pieces than the file can hold.
	if n > len(r.rest)/5+1 {
		r.fail("%d pieces do not fit into the data", n)
		return nil, nil
	}
	texts, scores = make([]string, 0, n), make([]float32, 0, n)
	for range n {
		size := r.bytes(1)
		if size == nil {
			return nil, nil
		}
		text := string(r.bytes(int(size[0])))
		score := r.float()
		if r.err == nil && (text == "" || !utf8.ValidString(text)) {
			r.fail("a piece is empty or not UTF-8")
		}
		if r.err != nil {
			return nil, nil
		}
		texts, scores = append(texts, text), append(scores, score)
	}
	return texts, scores
}

func (r *reader) vector() []float32 {
	n := r.number("values in a vector", 1, maxWidth)
	if n > len(r.rest)/4 {
		r.fail("unexpected end of data")
		return nil
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = r.float()
	}
	return v
}

func (r *reader) matrix() matrix {
	cols := r.number("columns", lane, maxWidth)
	rows := r.number("rows", 1, maxPieces)
	if cols%lane != 0 {
		r.fail("%d columns are not a multiple of %d", cols, lane)
	}
	if rows > len(r.rest)/(scaleSize+cols) { // the product could overflow
		r.fail("unexpected end of data")
	}
	if r.err != nil {
		return matrix{}
	}
	m := matrix{rows: rows, cols: cols, data: r.bytes(rows * (scaleSize + cols))}
	for i := range rows {
		if s := float64(m.scale(i)); math.IsNaN(s) || math.IsInf(s, 0) || s < 0 {
			r.fail("a scale is negative or not finite")
			return matrix{}
		}
	}
	return m
}

func (r *reader) linear() linear {
	l := linear{weights: r.matrix(), bias: r.vector()}
	if r.err == nil && len(l.bias) != l.weights.rows {
		r.fail("%d rows have %d biases", l.weights.rows, len(l.bias))
	}
	return l
}
