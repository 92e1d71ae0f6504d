package router

import (
	"context"
	"slices"

	"github.com/signalbox/signalbox/internal/split"
	"github.com/signalbox/signalbox/systemone"
)

// maxLegs is the most legs that a call has when a group is asked in parts. It suffices
// for the most questions of a request, one at a time, of four groups. Without it a
// body of a megabyte could ask for 254,000 sheets.
const maxLegs = 4096

// plan plans a group for questions of a shape. Where no endpoint takes them at once
// and for that reason alone, the plan is of endpoints that are asked in parts.
func (k *course) plan(ctx context.Context, g int, request *systemone.Request, shape Shape, without []*Endpoint) (_ Plan, inParts bool) {
	in := k.input(ctx, g, shape)
	plan := NewPlan(in).without(without)
	if len(plan.Candidates) > 0 || k.alone || k.whole || !plan.isTooLarge() {
		return plan, false
	}
	in.InParts = true
	parts := NewPlan(in).without(without)
	k.dropParts(&parts, &plan, request)
	if len(parts.Candidates) == 0 {
		return plan, false
	}
	return parts, true
}

// dropParts removes the candidates that would take too many sheets. They stay excluded
// for the reason that they have in the plan of the whole.
func (k *course) dropParts(parts, whole *Plan, request *systemone.Request) {
	most := maxLegs - len(k.call.Report.Legs)
	n := len(parts.Candidates)
	parts.Candidates = slices.DeleteFunc(parts.Candidates, func(c Candidate) bool {
		return split.Count(request.Questions, limitsOf(c.Endpoint)) > most
	})
	if len(parts.Candidates) == n {
		return
	}
	parts.ExcludedBy = whole.ExcludedBy
	parts.Excluded = slices.DeleteFunc(slices.Clone(whole.Excluded), func(x Exclusion) bool {
		return slices.ContainsFunc(parts.Candidates, func(c Candidate) bool { return c.Endpoint == x.Endpoint })
	})
}

// isTooLarge reports whether the plan excludes an endpoint for what it takes at once.
func (p Plan) isTooLarge() bool {
	return slices.Contains(p.ExcludedBy, FilterQuestions) || slices.Contains(p.ExcludedBy, FilterOptions)
}
