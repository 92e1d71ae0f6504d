package systemone

import "math"

// sumSlack is how far from 1 the interface allows the sum of a distribution to be.
const sumSlack = 1e-9

// Renormalise scales p in place so that it sums to 1 within 1e-9, and reports
// whether it could. It cannot when p is empty, when its sum is zero or too large
// for a float64, or when an element is negative or NaN; p is then unchanged. A p
// that already sums to 1 within 1e-9 stays unchanged, bit for bit. The order of
// elements by size is preserved.
func Renormalise(p []float64) bool {
	sum := 0.0
	for _, x := range p {
		if !(x >= 0) {
			return false
		}
		sum += x
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return false
	}
	if math.Abs(sum-1) > sumSlack {
		for i := range p {
			p[i] /= sum
		}
	}
	return true
}

// Argmax returns the index of the largest element: preferred if it is one of the
// largest, else the first of them. It returns -1 if p is empty. A preferred outside
// of p is no preference.
func Argmax(p []float64, preferred int) int {
	best := -1
	for i, x := range p {
		if best < 0 || x > p[best] {
			best = i
		}
	}
	if preferred >= 0 && preferred < len(p) && p[preferred] >= p[best] {
		return preferred
	}
	return best
}

// Mean returns Σ i·p[i], the score of a distribution over levels.
func Mean(p []float64) float64 {
	mean := 0.0
	for i, x := range p {
		mean += float64(i) * x
	}
	return mean
}

// ChoiceConfidence returns how far the distribution p over n options is from
// uniform: (n·max(p) − 1)/(n − 1). It is 0 for n equal probabilities and 1 for a
// certain option, 1 when n = 1 and 0 when p is empty, and always in [0, 1].
//
// This is the formula of the native System One API and its published adapter.
func ChoiceConfidence(p []float64) float64 {
	if len(p) <= 1 {
		return float64(len(p))
	}
	n := float64(len(p))
	return clamp((n*p[Argmax(p, -1)] - 1) / (n - 1))
}

// ScoreConfidence returns how closely the distribution p over n ordered levels
// concentrates at its mode, the most probable level. It is max(0, 1 − E|i − mode| /
// M), where M = Σ|i − (n−1)/2| / n is the mean distance from the middle of a
// uniform distribution. Of several modes the lowest counts. It is 1 when n = 1 and
// 0 when p is empty, and always in [0, 1].
//
// This is the formula of the native System One API and its published adapter.
func ScoreConfidence(p []float64) float64 {
	if len(p) <= 1 {
		return float64(len(p))
	}
	mode := float64(Argmax(p, -1))
	middle := float64(len(p)-1) / 2
	spread, uniform := 0.0, 0.0
	for i, x := range p {
		spread += math.Abs(float64(i)-mode) * x
		uniform += math.Abs(float64(i) - middle)
	}
	return clamp(1 - spread*float64(len(p))/uniform)
}

func clamp(x float64) float64 { return max(0, min(1, x)) }
