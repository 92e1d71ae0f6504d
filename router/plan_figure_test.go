package router

import (
	"cmp"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/systemone"
)

// A better statistic has a smaller figure. A negative statistic counts as zero, and
// NaN is unknown.
func TestFiguresSortLikeStatistics(t *testing.T) {
	value := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, math.Inf(1), math.Inf(-1), math.NaN()}))
	percentiles := rapid.Custom(func(t *rapid.T) Percentiles {
		return Percentiles{Known: rapid.Bool().Draw(t, "known"), P50: value.Draw(t, "p50")}
	})
	stats := rapid.Custom(func(t *rapid.T) Stats {
		checked := rapid.Int64Range(0, 5).Draw(t, "checked")
		return Stats{
			Latency: percentiles.Draw(t, "latency"), Throughput: percentiles.Draw(t, "throughput"),
			Passed: rapid.Int64Range(0, checked).Draw(t, "passed"), Checked: checked,
		}
	})
	sorts := map[systemone.SortBy]func(Stats) (less float64, known bool){
		systemone.SortLatency: func(s Stats) (float64, bool) {
			return max(s.Latency.P50, 0), s.Latency.Known && !math.IsNaN(s.Latency.P50)
		},
		systemone.SortThroughput: func(s Stats) (float64, bool) {
			return -max(s.Throughput.P50, 0), s.Throughput.Known && !math.IsNaN(s.Throughput.P50)
		},
		systemone.SortExacto: func(s Stats) (float64, bool) {
			return -max(wilson(s.Passed, s.Checked), 0), s.Checked > 0
		},
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := stats.Draw(t, "a"), stats.Draw(t, "b")
		for by, less := range sorts {
			figure := figureOf(by)
			numberA, knownA := figure.of(&a)
			numberB, knownB := figure.of(&b)
			lessA, isA := less(a)
			lessB, isB := less(b)
			require.Equal(t, isA, knownA, by)
			require.Equal(t, isB, knownB, by)
			if isA && isB {
				require.Equal(t, cmp.Compare(lessA, lessB), cmp.Compare(numberA, numberB), by)
			}
		}
	})
	require.Equal(t, noFigure, figureOf(systemone.SortPrice), "prices have a key of their own")
	require.Equal(t, noFigure, figureOf(""))
}
