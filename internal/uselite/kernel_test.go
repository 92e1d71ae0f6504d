package uselite

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestKernelsAgree compares every kernel with a product in float64.
func TestKernelsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := lane * rapid.IntRange(1, 20).Draw(t, "in")
		out := rapid.IntRange(1, 9).Draw(t, "out")
		n := rapid.IntRange(1, 11).Draw(t, "n")
		l := linear{weights: matrix{rows: out, cols: in}, bias: make([]float32, out)}
		for i := range out {
			l.bias[i] = rapid.Float32Range(-1, 1).Draw(t, "bias")
			scale := rapid.Float32Range(0, .1).Draw(t, "scale")
			l.weights.data = binary.LittleEndian.AppendUint32(l.weights.data, math.Float32bits(scale))
			l.weights.data = append(l.weights.data, rapid.SliceOfN(rapid.Byte(), in, in).Draw(t, "row")...)
		}
		x := rapid.SliceOfN(rapid.Float32Range(-2, 2), n*in, n*in).Draw(t, "x")

		for name, kernel := range kernels() {
			y := make([]float32, n*out+1)
			y[n*out] = 7
			kernel(&l, x, n, y, make([]float32, 2*in))
			require.InDelta(t, 7, y[n*out], 0, "%s wrote behind the end", name)
			for p := range n {
				for o := range out {
					want, size := float64(l.bias[o]), 1.0
					for i, q := range l.weights.row(o) {
						term := float64(l.weights.scale(o)) * float64(int8(q)) * float64(x[p*in+i])
						want += term
						size += math.Abs(term)
					}
					require.InDelta(t, want, y[p*out+o], 1e-5*size, "%s: place %d, output %d", name, p, o)
				}
			}
		}
	})
}

func BenchmarkProduct(b *testing.B) {
	m := load(b)
	l := &m.layers[1].qkv
	const n = 48
	x, y := make([]float32, n*l.weights.cols), make([]float32, n*l.weights.rows)
	work := make([]float32, 2*l.weights.cols)
	for i := range x {
		x[i] = float32(i%7) - 3
	}
	for name, kernel := range kernels() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(n * len(l.weights.data)))
			for b.Loop() {
				kernel(l, x, n, y, work)
			}
		})
	}
}
