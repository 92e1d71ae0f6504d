package uselite

import (
	"encoding/binary"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// small returns a model of the right shape with few weights: 8 columns in the first
// layer, 16 in the second, 24 in the feed-forward part, and vectors of 8 numbers.
func small() Weights { return shaped(8, 16, 24) }

// shaped returns a model with the given widths: of the first layer, of the second layer,
// and of the feed-forward part.
func shaped(narrow, wide, between int) Weights {
	values := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(math.Sin(float64(3*i + n)))
		}
		return v
	}
	linear := func(rows, cols int) Linear {
		return Linear{Weights: Matrix{Cols: cols, Values: values(rows * cols)}, Bias: values(rows)}
	}
	norm := func(width int) Norm { return Norm{Scale: values(width), Bias: values(width)} }
	w := Weights{
		Pieces: []string{"?", "<s>", "</s>", "1", "2", "3", "▁", "a", "b", "ab", "▁a"},
		Timing: values(narrow / 2),
		Norms:  [4]Norm{norm(narrow), norm(wide), norm(wide), norm(wide)},
		Linears: [10]Linear{
			linear(3*narrow, narrow), linear(wide, narrow), linear(wide, narrow),
			linear(between, wide), linear(wide, between),
			linear(3*wide, wide), linear(wide, wide), linear(between, wide), linear(wide, between), linear(8, wide),
		},
	}
	w.Scores = values(len(w.Pieces))
	w.Embedding = Matrix{Cols: narrow, Values: values(narrow * len(w.Pieces))}
	return w
}

func TestReadWhatPackWrote(t *testing.T) {
	w := small()
	m, err := Read(w.Pack())
	require.NoError(t, err)
	assert.Equal(t, 8, m.Dim())
	v, err := m.Encode(t.Context(), "ab abba")
	require.NoError(t, err)
	assert.InDelta(t, 1, dot(v, v), 1e-5)
	for i, want := range w.Linears[1].Weights.Values {
		row := i / 8
		got := m.layers[0].proj.weights.scale(row) * float32(int8(m.layers[0].proj.weights.row(row)[i%8]))
		assert.InDelta(t, want, got, 1.0/254+1e-6)
	}
}

func TestReadRefusesEveryCut(t *testing.T) {
	w := small()
	data := w.Pack()
	for n := range data {
		_, err := Read(data[:n])
		require.ErrorIs(t, err, ErrFormat, "cut at %d of %d", n, len(data))
	}
	_, err := Read(append(data, 0))
	require.ErrorIs(t, err, ErrFormat)
}

func TestReadRefusesDamage(t *testing.T) {
	count := len(magic)
	damages := map[string]func(w *Weights) []byte{
		"another file": func(w *Weights) []byte { return []byte("PNG") },
		"pieces out of all proportion": func(w *Weights) []byte {
			data := w.Pack()
			binary.LittleEndian.PutUint32(data[count:], maxPieces)
			return data
		},
		"too few pieces": func(w *Weights) []byte {
			w.Pieces = w.Pieces[:reserved-1]
			return w.Pack()
		},
		"an empty piece":    func(w *Weights) []byte { w.Pieces[7] = ""; return w.Pack() },
		"a piece no UTF-8":  func(w *Weights) []byte { w.Pieces[7] = "\xff"; return w.Pack() },
		"a score no number": func(w *Weights) []byte { w.Scores[3] = float32(math.NaN()); return w.Pack() },
		"an infinite bias": func(w *Weights) []byte {
			w.Linears[4].Bias[0] = float32(math.Inf(1))
			return w.Pack()
		},
		"an infinite scale": func(w *Weights) []byte {
			w.Linears[4].Weights.Values[0] = float32(math.Inf(1))
			return w.Pack()
		},
		"more pieces than embeddings": func(w *Weights) []byte {
			w.Embedding.Values = w.Embedding.Values[:8]
			return w.Pack()
		},
		"columns that no kernel takes": func(w *Weights) []byte {
			*w = shaped(8, 12, 24)
			return w.Pack()
		},
		"a short bias":         func(w *Weights) []byte { w.Linears[0].Bias = w.Linears[0].Bias[:5]; return w.Pack() },
		"a norm too short":     func(w *Weights) []byte { w.Norms[1].Scale = w.Norms[1].Scale[:8]; return w.Pack() },
		"timing too long":      func(w *Weights) []byte { w.Timing = append(w.Timing, 1); return w.Pack() },
		"a linear of no shape": func(w *Weights) []byte { w.Linears[2], w.Linears[3] = w.Linears[3], w.Linears[2]; return w.Pack() },
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			w := small()
			_, err := Read(damage(&w))
			require.ErrorIs(t, err, ErrFormat)
		})
	}
}

// TestReadShapes changes the shape of each part in turn.
func TestReadShapes(t *testing.T) {
	for i := range 10 {
		w := small()
		rows := len(w.Linears[i].Bias)
		if i == 3 || i == 7 || i == 9 { // the rows of up and head may be any number
			w.Linears[i].Weights.Cols *= 2
			w.Linears[i].Weights.Values = make([]float32, rows*w.Linears[i].Weights.Cols)
		} else {
			w.Linears[i].Bias = make([]float32, rows+8)
			w.Linears[i].Weights.Values = make([]float32, (rows+8)*w.Linears[i].Weights.Cols)
		}
		_, err := Read(w.Pack())
		require.ErrorIs(t, err, ErrFormat, "linear %d", i)
	}
	for i := range 4 {
		w := small()
		w.Norms[i].Bias = w.Norms[i].Bias[:4]
		_, err := Read(w.Pack())
		require.ErrorIs(t, err, ErrFormat, "norm %d", i)
	}
}

// TestReadReservesNoMemoryForWhatIsNotThere holds that a number of pieces above what the
// file can hold reserves no memory.
func TestReadReservesNoMemoryForWhatIsNotThere(t *testing.T) {
	data := binary.LittleEndian.AppendUint32([]byte(magic), maxPieces)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Read(data)
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, ErrFormat)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

func FuzzRead(f *testing.F) {
	w := small()
	data := w.Pack()
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(data)
		if err != nil {
			require.ErrorIs(t, err, ErrFormat)
			return
		}
		v, err := m.Encode(t.Context(), "ab ba c")
		require.NoError(t, err)
		if v != nil { // nil if the damaged vocabulary knows no piece of the text
			require.Len(t, v, m.Dim())
		}
	})
}
