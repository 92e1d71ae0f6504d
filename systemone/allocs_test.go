//go:build !race

package systemone_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/systemone"
)

// TestDecisionAllocations bounds the allocations of this package for one decision.
// The race detector adds allocations.
func TestDecisionAllocations(t *testing.T) {
	body, _, answers := ticket(t)
	var out []byte
	var failed error
	allocs := testing.AllocsPerRun(200, func() {
		r, err := systemone.Decoder{}.Decode(body)
		if err != nil {
			failed = err
			return
		}
		if failed = r.Validate(systemone.Limits{}); failed != nil {
			return
		}
		repaired, err := systemone.Repair(r, answers, systemone.Tolerance{Rounding: 0.01})
		if err != nil {
			failed = err
			return
		}
		response := systemone.Response{ID: "gen-dec-1", Model: "acme/judge-20260901", Answers: repaired}
		out = response.AppendJSON(out[:0])
	})
	require.NoError(t, failed)
	assert.NotEmpty(t, out)
	assert.LessOrEqual(t, allocs, 60.0)
}
