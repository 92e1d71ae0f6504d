package uselite

import (
	"context"
	"math"
	"sync"
)

// MaxTokens is the maximum number of pieces in one vector. The published model clips
// there, and so does [Model.Encode].
const MaxTokens = 128

// MaxRunes is the maximum number of characters of a text that are read, before and after
// normalisation. MaxTokens pieces of a language have far fewer. The limit bounds the time
// to tokenize any text: 0.6 ms for ordinary text, 3.4 ms for characters that
// normalisation expands to 18 (one core of an AMD EPYC).
const MaxRunes = 32 * MaxTokens

// heads is the number of attention heads of both layers.
const heads = 4

// Model is a sentence encoder. [Read] makes one. It is read-only and safe for concurrent
// use.
type Model struct {
	tokens    *tokenizer
	embedding matrix    // one row per piece
	position  []float32 // position signal, [MaxTokens][embedding.cols]
	layers    [2]layer
	head      linear
	multiply  product
	scratch   sync.Pool // of *scratch
}

// layer is one pre-norm transformer block.
type layer struct {
	attentionNorm layerNorm
	qkv, proj     linear
	adjust        linear // widens the residual; empty if the width stays the same
	feedNorm      layerNorm
	up, down      linear
}

// linear is y = W x + b.
type linear struct {
	weights matrix
	bias    []float32
}

// layerNorm is layer normalisation with a learned scale and bias.
type layerNorm struct{ scale, bias []float32 }

// product is a kernel: it writes the n products of l with the n rows of x to y. work is
// working space, twice as long as a row of l.
type product func(l *linear, x []float32, n int, y, work []float32)

// scratch holds the intermediate values of one call of Encode.
type scratch struct {
	x, normed, residual, mixed []float32 // [MaxTokens][width]
	wide                       []float32 // [MaxTokens][the widest layer]
	weights                    []float32 // attention of one position, [MaxTokens]
	mean                       []float32
	work                       []float32 // for a product
}

// Dim returns the length of the vectors that Encode returns.
func (m *Model) Dim() int { return m.head.weights.rows }

// Count returns how many pieces text has. Only the first [MaxTokens] of them enter a
// vector. A text of more than [MaxRunes] characters counts as MaxTokens+1, because it is
// not read to its end.
func (m *Model) Count(text string) int {
	in, whole := normalise(text)
	if !whole {
		return MaxTokens + 1
	}
	return len(m.tokens.pieces(in))
}

// Encode returns the unit vector of text, or nil if the vocabulary knows no piece of it
// except spaces. Text beyond [MaxTokens] pieces or [MaxRunes] characters is ignored.
// Encode checks ctx twice in each layer, a few milliseconds apart, and returns its error
// unchanged.
func (m *Model) Encode(ctx context.Context, text string) ([]float32, error) {
	ids := m.tokens.encode(text)
	ids = ids[:min(len(ids), MaxTokens)]
	if !m.tokens.knowsAny(ids) {
		return nil, ctx.Err()
	}
	s, ok := m.scratch.Get().(*scratch)
	if !ok {
		s = m.newScratch()
	}
	defer m.scratch.Put(s)
	m.embed(ids, s.x)
	for i := range m.layers {
		if err := m.layers[i].run(ctx, m.multiply, s, len(ids)); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	average(s.x, len(ids), s.mean)
	out := make([]float32, m.Dim())
	m.multiply(&m.head, s.mean, 1, out, s.work)
	for i, v := range out {
		out[i] = float32(math.Tanh(float64(v)))
	}
	unit(out)
	return out, nil
}

func (m *Model) newScratch() *scratch {
	width, widest := 0, 0
	for i := range m.layers {
		l := &m.layers[i]
		width = max(width, l.qkv.weights.cols, l.proj.weights.rows)
		widest = max(widest, l.qkv.weights.rows, l.up.weights.rows)
	}
	rows := func(width int) []float32 { return make([]float32, MaxTokens*width) }
	return &scratch{
		x: rows(width), normed: rows(width), residual: rows(width), mixed: rows(width),
		wide: rows(widest), weights: rows(1), mean: make([]float32, width), work: make([]float32, 2*max(width, widest)),
	}
}

// embed writes the embedding of each piece plus its position signal. The published graph
// doubles the embedding first.
func (m *Model) embed(ids []int32, x []float32) {
	width := m.embedding.cols
	for t, id := range ids {
		scale := 2 * m.embedding.scale(int(id))
		row := m.embedding.row(int(id))
		at := m.position[t*width : (t+1)*width]
		out := x[t*width : (t+1)*width]
		for i, q := range row {
			out[i] = scale*float32(int8(q)) + at[i] //nolint:gosec // the bytes are int8
		}
	}
}

// run replaces the first n rows of s.x by the output of the layer.
func (l *layer) run(ctx context.Context, multiply product, s *scratch, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.attentionNorm.apply(s.x, n, s.normed)
	multiply(&l.qkv, s.normed, n, s.wide, s.work)
	attend(s.wide, n, l.qkv.weights.cols, s.weights, s.mixed)
	if l.adjust.weights.rows > 0 {
		multiply(&l.adjust, s.x, n, s.residual, s.work)
		s.x, s.residual = s.residual, s.x
	}
	multiply(&l.proj, s.mixed, n, s.residual, s.work)
	add(s.x, s.residual, n*l.proj.weights.rows)

	if err := ctx.Err(); err != nil {
		return err
	}
	l.feedNorm.apply(s.x, n, s.normed)
	multiply(&l.up, s.normed, n, s.wide, s.work)
	rectify(s.wide[:n*l.up.weights.rows])
	multiply(&l.down, s.wide, n, s.residual, s.work)
	add(s.x, s.residual, n*l.down.weights.rows)
	return nil
}
