//go:build amd64 && !purego

package uselite

import "golang.org/x/sys/cpu"

// fastest returns the fastest kernel for this processor.
func fastest() product {
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		return multiplyAVX2
	}
	return multiplyPortable
}

// multiplyAVX2 reads the weights once, two rows at a time, and processes four positions
// at a time. The two rows then stay in the first-level cache, and each is widened once
// for four positions.
func multiplyAVX2(l *linear, x []float32, n int, y, _ []float32) {
	in, out := l.weights.cols, l.weights.rows
	var sums [8]float32
	for o := 0; o < out; o += 2 {
		second := min(o+1, out-1)
		w0, w1 := l.weights.row(o), l.weights.row(second)
		for t := 0; t < n; t += 4 {
			p := places(t, n, in)
			x0, x1, x2, x3 := x[p[0]:][:in], x[p[1]:][:in], x[p[2]:][:in], x[p[3]:][:in]
			dot4x2AVX2(&w0[0], &w1[0], &x0[0], &x1[0], &x2[0], &x3[0], in, &sums)
			l.store(&sums, y, t, n, o, second)
		}
	}
}

// dot4x2AVX2 writes the dot products of the int8 row w0 with x0 to x3, then those of w1.
// Each vector has n numbers. n must be a positive multiple of 8, which Read checks.
//
//go:noescape
func dot4x2AVX2(w0, w1 *byte, x0, x1, x2, x3 *float32, n int, sums *[8]float32)
