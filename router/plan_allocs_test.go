//go:build !race

package router_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// TestPlanAllocations: a plan allocates only what it returns, however many
// endpoints there are. The race detector adds allocations.
func TestPlanAllocations(t *testing.T) {
	for _, n := range []int{100, 1000} {
		plain := market(t, n)
		sorted := plain
		sorted.Preferences = &systemone.Preferences{Sort: systemone.Sort{By: systemone.SortLatency}}
		busy := plain
		busy.Preferences = busyPreferences(20)
		owned := busy
		owned.Credentials = []router.Credential{{Provider: "p000", Secret: "s"}, {Provider: "p002", Models: []string{"judge-latest"}, Fallback: true, Secret: "s"}}
		for name, in := range map[string]router.PlanInput{"none": plain, "sort": sorted, "several": busy, "own": owned} {
			allocs := testing.AllocsPerRun(200, func() {
				in.Seed++
				router.NewPlan(in)
			})
			assert.LessOrEqual(t, allocs, 3.0, fmt.Sprint(n, " endpoints, preferences: ", name))
		}
	}
}
