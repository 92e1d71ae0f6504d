package uselite

import "math"

// apply normalises n rows of x to mean 0 and variance 1, then applies scale and bias.
func (m layerNorm) apply(x []float32, n int, y []float32) {
	const epsilon = 1e-6 // as in the published graph
	width := len(m.scale)
	for t := range n {
		in, out := x[t*width:(t+1)*width], y[t*width:(t+1)*width]
		var sum, squares float64
		for _, v := range in {
			sum += float64(v)
		}
		mean := sum / float64(width)
		for _, v := range in {
			d := float64(v) - mean
			squares += d * d
		}
		shrink := 1 / math.Sqrt(squares/float64(width)+epsilon)
		for i, v := range in {
			out[i] = m.scale[i]*float32((float64(v)-mean)*shrink) + m.bias[i]
		}
	}
}

// attend computes multi-head attention over n positions. A row of qkv holds query, key
// and value, each of width numbers. weights is working space for n numbers.
func attend(qkv []float32, n, width int, weights, out []float32) {
	each := width / heads
	scale := float32(1 / math.Sqrt(float64(each)))
	weights = weights[:n]
	for h := range heads {
		part := func(place, kind int) []float32 {
			from := place*3*width + kind*width + h*each
			return qkv[from : from+each]
		}
		for i := range n {
			query := part(i, 0)
			for j := range weights {
				weights[j] = dot(query, part(j, 1)) * scale
			}
			softmax(weights)
			mix := out[i*width+h*each : i*width+(h+1)*each]
			clear(mix)
			j := 0
			for ; j+4 <= n; j += 4 {
				addScaled4(mix, weights[j:j+4], part(j, 2), part(j+1, 2), part(j+2, 2), part(j+3, 2))
			}
			for ; j < n; j++ {
				for e, v := range part(j, 2) {
					mix[e] += weights[j] * v
				}
			}
		}
	}
}

// addScaled4 adds four vectors to sum, each times its weight. Four at a time read and
// write sum once instead of four times.
func addScaled4(sum, weights, a, b, c, d []float32) {
	a, b, c, d = a[:len(sum)], b[:len(sum)], c[:len(sum)], d[:len(sum)]
	wa, wb, wc, wd := weights[0], weights[1], weights[2], weights[3]
	for i := range sum {
		sum[i] += wa*a[i] + wb*b[i] + wc*c[i] + wd*d[i]
	}
}

// dot uses four partial sums so that an addition need not wait for the one before.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

func softmax(v []float32) {
	top := v[0]
	for _, e := range v {
		top = max(top, e)
	}
	var sum float32
	for i, e := range v {
		v[i] = float32(math.Exp(float64(e - top)))
		sum += v[i]
	}
	for i := range v {
		v[i] /= sum
	}
}

func add(sum, x []float32, n int) {
	x = x[:n]
	for i, v := range x {
		sum[i] += v
	}
}

func rectify(v []float32) {
	for i, e := range v {
		v[i] = max(e, 0)
	}
}

// average writes the mean of n rows of x to mean.
func average(x []float32, n int, mean []float32) {
	clear(mean)
	for t := range n {
		add(mean, x[t*len(mean):], len(mean))
	}
	for i := range mean {
		mean[i] /= float32(n)
	}
}

// unit scales v to length 1.
func unit(v []float32) {
	var squares float64
	for _, e := range v {
		squares += float64(e) * float64(e)
	}
	shrink := float32(1 / math.Sqrt(max(squares, 1e-12)))
	for i := range v {
		v[i] *= shrink
	}
}

// positions returns the position signal of every position: sines of rising wavelength in
// the first half of the width, cosines in the second half.
func positions(timing []float32) []float32 {
	half := len(timing)
	table := make([]float32, MaxTokens*2*half)
	for t := range MaxTokens {
		row := table[t*2*half : (t+1)*2*half]
		for i, frequency := range timing {
			sin, cos := math.Sincos(float64(float32(t) * frequency))
			row[i], row[half+i] = float32(sin), float32(cos)
		}
	}
	return table
}
