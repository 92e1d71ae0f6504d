package router_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
)

// Whatever else orders a plan, a last resort stands behind all other endpoints of
// its model and of models requested before, and ahead of those of models requested
// after.
func TestLastResortsStandLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLaw(t)
		in := l.input(t, l.inOrder())
		plan := router.NewPlan(in)
		place := func(c router.Candidate) int {
			return slices.IndexFunc(in.Models, func(r router.ModelRef) bool { return r.Model == c.Model() })
		}
		for i, last := range plan.Candidates {
			if !last.Endpoint.LastResort {
				require.NotEqual(t, router.ReasonLastResort, last.Reason)
				continue
			}
			require.True(t, last.Reason == router.ReasonLastResort || last.Reason == router.ReasonDrawn && i == 0)
			for j, other := range plan.Candidates {
				switch {
				case place(other) > place(last):
					require.Greater(t, j, i, "one asked for later stands before it")
				case place(other) < place(last), !other.Endpoint.LastResort:
					require.Less(t, j, i, "one asked for earlier, or no last resort, stands behind it")
				}
			}
		}
	})
}
