package uselite

// multiplyPortable is the kernel in plain Go. It widens two rows of weights once for all
// positions and processes four positions at a time, so that each loaded number is used
// several times.
func multiplyPortable(l *linear, x []float32, n int, y, work []float32) {
	in, out := l.weights.cols, l.weights.rows
	var wide [256]float32 // a table lookup is faster than a conversion
	for q := range wide {
		wide[q] = float32(int8(q)) //nolint:gosec // the bytes are int8
	}
	var sums [8]float32
	for o := 0; o < out; o += 2 {
		second := min(o+1, out-1)
		w0, w1 := work[:in], work[in:2*in]
		widen(l.weights.row(o), &wide, w0)
		widen(l.weights.row(second), &wide, w1)
		for t := 0; t < n; t += 4 {
			if t+1 == n {
				last := x[t*in:][:in]
				sums[0], sums[4] = dot(w0, last), dot(w1, last)
			} else {
				p := places(t, n, in)
				dot4x2(w0, w1, x[p[0]:][:in], x[p[1]:][:in], x[p[2]:][:in], x[p[3]:][:in], &sums)
			}
			l.store(&sums, y, t, n, o, second)
		}
	}
}

// places returns the offsets of the four rows from t on. Beyond the last row it repeats
// that row, because computing it again is cheaper than a second kernel.
func places(t, n, width int) [4]int {
	last := n - 1
	return [4]int{t * width, min(t+1, last) * width, min(t+2, last) * width, min(t+3, last) * width}
}

// store scales eight sums, adds the biases and writes them: for the positions from t on,
// the outputs a and b.
func (l *linear) store(sums *[8]float32, y []float32, t, n, a, b int) {
	out := l.weights.rows
	scaleA, scaleB := l.weights.scale(a), l.weights.scale(b)
	biasA, biasB := l.bias[a], l.bias[b]
	for i := range min(4, n-t) {
		row := y[(t+i)*out : (t+i+1)*out]
		row[a] = sums[i]*scaleA + biasA
		row[b] = sums[4+i]*scaleB + biasB
	}
}

func widen(row []byte, wide *[256]float32, out []float32) {
	out = out[:len(row)]
	for i, q := range row {
		out[i] = wide[q]
	}
}

func dot4x2(w0, w1, x0, x1, x2, x3 []float32, sums *[8]float32) {
	w1, x0, x1, x2, x3 = w1[:len(w0)], x0[:len(w0)], x1[:len(w0)], x2[:len(w0)], x3[:len(w0)]
	var a0, a1, a2, a3, b0, b1, b2, b3 float32
	for k, p := range w0 {
		q := w1[k]
		v0, v1, v2, v3 := x0[k], x1[k], x2[k], x3[k]
		a0 += p * v0
		a1 += p * v1
		a2 += p * v2
		a3 += p * v3
		b0 += q * v0
		b1 += q * v1
		b2 += q * v2
		b3 += q * v3
	}
	*sums = [8]float32{a0, a1, a2, a3, b0, b1, b2, b3}
}
