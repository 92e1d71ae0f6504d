package router

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// query is what a group is asked, and why.
type query struct {
	group   int
	ask     []int32 // indexes of the call's questions; nil for all
	reason  LegReason
	by      []string
	later   bool        // the group is a stage behind the first
	without []*Endpoint // that have refused it
	counted int         // attempts of the stage so far
}

// asked is the outcome of a query.
type asked struct {
	staged

	nothing bool        // no endpoint is left to ask
	open    []int32     // what was refused and may be asked of other endpoints
	seen    []*Endpoint // those that were asked
	counted int
}

// sheet returns the call's request with the questions at the indexes ask only, and
// its shape.
func (k *course) sheet(ask []int32) (*systemone.Request, Shape) {
	request := k.call.Request
	if ask == nil || len(ask) == len(request.Questions) {
		return request, k.shape
	}
	questions := make([]systemone.Question, len(ask))
	for i, at := range ask {
		questions[i] = request.Questions[at]
	}
	return k.part(questions)
}

// part returns the call's request with other questions, and its shape.
func (k *course) part(questions []systemone.Question) (*systemone.Request, Shape) {
	part := *k.call.Request
	part.Questions = questions
	return &part, ShapeOf(&part)
}

// leg adds a leg to the report.
func (k *course) leg(q query, request *systemone.Request, shape Shape, plan Plan) *walk {
	l := k.call.newLeg()
	l.Reason, l.Group, l.Questions, l.TriggeredBy, l.Plan = q.reason, q.group, request.Questions, q.by, plan
	w := &k.first
	if len(k.call.Report.Legs) > 1 {
		w = new(walk)
	}
	*w = walk{
		course:     k,
		leg:        l,
		request:    request,
		candidates: plan.Candidates,
		prompt:     shape.PromptTokens,
		out:        outgoing{call: k.call, sheet: request, catalog: k.call.world.catalog},
		money:      share{of: &k.money, size: sizeOf(request)},
		again:      q.reason == LegRefused || q.reason == LegFirst && q.group > 0,
		behind:     q.reason == LegFirst && q.group+1 < len(k.groups) && !k.alone,
		counted:    q.counted,
		later:      q.later,
	}
	return w
}

// unasked returns why a plan is not walked at all: it has no candidate.
func (k *course) unasked(plan *Plan) staged {
	if len(plan.Candidates) == 0 {
		return staged{err: plan.Err(requested(k.call.Request)), kept: KeptNoEndpoint}
	}
	return staged{}
}

// newLeg adds a leg to the report.
func (c *Call) newLeg() *Leg {
	l := &c.leg
	if c.Report.Legs == nil {
		c.Report.Legs = c.legRoom[:0]
	} else {
		l = new(Leg)
	}
	c.Report.Legs = append(c.Report.Legs, l)
	return l
}

// input returns what a plan of a group for questions of a shape is made from.
func (k *course) input(ctx context.Context, g int, shape Shape) PlanInput {
	c := k.call
	return PlanInput{
		Catalog:     c.world.catalog,
		Models:      k.groups[g].models,
		Shape:       shape,
		Preferences: c.Request.Provider,
		Policy:      c.Policy,
		Stats:       k.stats,
		NoUser:      len(k.router.cfg.UserKey) == 0,
		Pinned:      k.router.pinned(ctx, c, k.groups[g].models, k.now),
		Credentials: c.Credentials,
		Now:         k.now,
		Seed:        c.Seed,
	}
}

// names returns the models of a group as the request names them.
func (k *course) names(g int) []string {
	return requested(k.call.Request)[k.groups[g].from:k.groups[g].to]
}

// late reports whether less time is left than a candidate usually needs.
func (k *course) late(by *Candidate) bool {
	left := k.deadline.end.Sub(k.router.now())
	usual := by.Stats.Latency
	return left <= 0 || usual.Known && left <= time.Duration(usual.P50*float64(time.Second))
}

// endpointsOf returns the endpoints that a leg has asked.
func endpointsOf(l *Leg) []*Endpoint {
	asked := make([]*Endpoint, len(l.Attempts))
	for i := range l.Attempts {
		asked[i] = l.Attempts[i].Endpoint
	}
	return asked
}
