package systemone

import (
	"math"
	"strconv"
)

// ifRounded extends the problem of an answer that looks rounded to a coarser unit
// than the endpoint states, and that would be valid with that unit. The endpoint's
// stated tolerance is then wrong, and the operator can change it.
func (c *checker) ifRounded(problem string, q *Question, a *Answer) string {
	for _, unit := range []float64{0.0001, 0.001, 0.01, 0.1} {
		if !looksRounded(a, unit) {
			continue
		}
		coarse := checker{rounding: unit, noDistribution: c.noDistribution}
		if _, left := coarse.exactly(q, a); left != "" {
			continue
		}
		stated := "full precision"
		if c.rounding > 0 {
			stated = strconv.FormatFloat(c.rounding, 'g', -1, 64)
		}
		return problem + ", but would pass as rounded to " + strconv.FormatFloat(unit, 'g', -1, 64) +
			": the endpoint's Tolerance.Rounding states " + stated
	}
	return problem
}

// looksRounded reports whether the probabilities, or else the score, are multiples
// of unit.
func looksRounded(a *Answer, unit float64) bool {
	multiple := func(x float64) bool { return math.Abs(x/unit-math.Round(x/unit)) < slack }
	for _, p := range a.Probabilities {
		if !multiple(p.P) {
			return a.Kind == Score && multiple(a.Score)
		}
	}
	return true
}
