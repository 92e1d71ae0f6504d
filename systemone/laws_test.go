package systemone_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/systemone"
)

func TestRenormalise(t *testing.T) {
	for _, c := range []struct {
		name     string
		in, want []float64
	}{
		{"scales", []float64{1, 3}, []float64{0.25, 0.75}},
		{"one", []float64{0.2}, []float64{1}},
		{"leaves what sums to 1", []float64{0.1, 0.2, 0.7000000001}, []float64{0.1, 0.2, 0.7000000001}},
		{"smallest numbers", []float64{5e-324, 5e-324}, []float64{0.5, 0.5}},
		{"large numbers", []float64{4e307, 4e307}, []float64{0.5, 0.5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.True(t, systemone.Renormalise(c.in))
			assert.Equal(t, c.want, c.in)
		})
	}
	for name, p := range map[string][]float64{
		"empty": {}, "zero": {0, 0}, "negative": {-0.1, 1.1}, "no number": {math.NaN(), 1},
		"infinite": {math.Inf(1), 1}, "too large": {math.MaxFloat64, math.MaxFloat64},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(p)
			assert.False(t, systemone.Renormalise(p))
			assert.Len(t, p, len(before))
			for i := range p {
				assert.Equal(t, math.Float64bits(before[i]), math.Float64bits(p[i]), "unchanged")
			}
		})
	}
}

func TestArgmax(t *testing.T) {
	for _, c := range []struct {
		p         []float64
		preferred int
		want      int
	}{
		{nil, 0, -1},
		{[]float64{0.2, 0.8}, -1, 1},
		{[]float64{0.4, 0.2, 0.4}, -1, 0},
		{[]float64{0.4, 0.2, 0.4}, 2, 2},
		{[]float64{0.4, 0.2, 0.4}, 1, 0},
		{[]float64{0.4, 0.2, 0.4}, 3, 0},
		{[]float64{0, 0}, 1, 1},
	} {
		assert.Equal(t, c.want, systemone.Argmax(c.p, c.preferred), "%v %d", c.p, c.preferred)
	}
}

func TestMean(t *testing.T) {
	assert.Zero(t, systemone.Mean(nil))
	assert.InDelta(t, 0.72, systemone.Mean([]float64{0.3, 0.68, 0.02}), 1e-12)
}

// TestConfidence checks published samples of the native API.
func TestConfidence(t *testing.T) {
	for _, c := range []struct {
		name string
		of   func([]float64) float64
		p    []float64
		want float64
	}{
		{"choice of none", systemone.ChoiceConfidence, nil, 0},
		{"choice of one", systemone.ChoiceConfidence, []float64{1}, 1},
		{"choice, certain", systemone.ChoiceConfidence, []float64{0, 1, 0}, 1},
		{"choice, uniform", systemone.ChoiceConfidence, []float64{0.25, 0.25, 0.25, 0.25}, 0},
		{"choice, published", systemone.ChoiceConfidence, []float64{0.95, 0.05}, 0.9},
		{"choice of four", systemone.ChoiceConfidence, []float64{0.78, 0.22, 0, 0}, 0.70667},
		{"choice, not normalised", systemone.ChoiceConfidence, []float64{3, 0}, 1},
		{"score of none", systemone.ScoreConfidence, nil, 0},
		{"score of one", systemone.ScoreConfidence, []float64{1}, 1},
		{"score, certain", systemone.ScoreConfidence, []float64{0, 0, 1}, 1},
		{"score, published", systemone.ScoreConfidence, []float64{0.005, 0.005, 0.04, 0.25, 0.7}, 0.69583},
		{"score, quickstart", systemone.ScoreConfidence, []float64{0.85, 0.15, 0}, 0.775},
		{"score, both ends", systemone.ScoreConfidence, []float64{0.5, 0, 0.5}, 0},
		// With the highest of the two modes it would be 1 − 0.9·4/4 = 0.1.
		{"score, lowest of two modes", systemone.ScoreConfidence, []float64{0.1, 0.4, 0.4, 0.1}, 0.3},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.InDelta(t, c.want, c.of(c.p), 5e-6)
		})
	}
}

// weights draws valid input for Renormalise.
func weights(most int) *rapid.Generator[[]float64] {
	return rapid.Custom(func(t *rapid.T) []float64 {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, most).Draw(t, "weights")
		p[rapid.IntRange(0, len(p)-1).Draw(t, "sure")] += 0.01
		return p
	})
}

func TestLawRenormalise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := weights(300).Draw(t, "p")
		before := slices.Clone(p)
		require.True(t, systemone.Renormalise(p))

		sum := 0.0
		for i, x := range p {
			sum += x
			for j := range p[:i] {
				require.False(t, before[i] > before[j] && x < p[j], "order is kept")
			}
		}
		require.InDelta(t, 1, sum, 1e-9)
		best := systemone.Argmax(before, -1)
		require.Equal(t, best, systemone.Argmax(p, best), "the most probable stays the most probable")

		once := slices.Clone(p)
		require.True(t, systemone.Renormalise(p))
		require.Equal(t, once, p, "twice is once")
	})
}

func TestLawConfidence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := weights(300).Draw(t, "p")
		if rapid.Bool().Draw(t, "normalised") {
			require.True(t, systemone.Renormalise(p))
		}
		for _, c := range []float64{systemone.ChoiceConfidence(p), systemone.ScoreConfidence(p)} {
			require.True(t, c >= 0 && c <= 1, "%v", c)
		}
		reversed := slices.Clone(p)
		slices.Reverse(reversed)
		require.InDelta(t, systemone.ChoiceConfidence(p), systemone.ChoiceConfidence(reversed), 1e-12, "options have no order")
	})
}
