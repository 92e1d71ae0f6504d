package router

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What rounding leaves of the weights selects a candidate that takes part.
func TestCrumbOfADraw(t *testing.T) {
	for seed := range uint64(100) {
		p := &planner{in: PlanInput{Seed: seed}, weights: []float64{0, 0.25, 0}, share: 1}
		require.Equal(t, 1, p.pick())
	}
}
