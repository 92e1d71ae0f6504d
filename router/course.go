package router

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// course is a call on its way through its groups of models. The first group that
// answers anything is the first stage. Behind it each further group is looked at
// once, in order: it is asked what its condition finds in the answers so far, and
// what nobody has answered yet.
type course struct {
	router   *Router
	call     *Call
	groups   []group
	alone    bool // the request allows no fallbacks: one leg, of the first group
	whole    bool // the request may not be asked in parts
	barred   bool // a question was refused for safety, which ends the call
	shape    Shape
	stats    []Stats // that all plans are made with
	now      time.Time
	money    reservation
	deadline deadline
	memory   recollection
	merged   merged
	first    walk          // of the first leg, so that a plain call allocates no other
	last     staged        // of the group asked last that did not answer everything
	limits   []*escalating // of the models made of stages that the call names

	mu     sync.Mutex // guards turned while legs run at once
	turned []*served  // an outage began or ended here, and observers do not know yet
}

// run asks the groups of the call and returns what they answered together. Money is
// settled once, when all legs have ended.
func (k *course) run(ctx context.Context) (_ *Result, err error) {
	defer func() { err = withCause(err, k.money.void(ctx)) }()
	if err := k.required(ctx); err != nil {
		return nil, err
	}
	res, err := k.answers(ctx)
	if res != nil || k.billEnded(ctx) {
		if failed := k.money.settle(ctx, k.call, res, err); failed != nil {
			k.unbill()
			res, err = nil, Failure(failed)
		}
	}
	if len(k.turned) > 0 { // after the charge, because an observer may panic
		k.router.tellOutages(ctx, k.call, k.turned...)
	}
	if res != nil {
		k.remember(ctx)
		k.pin(ctx)
		k.router.kept.note(k.call.Report.Legs)
	}
	return res, err
}

// answers asks the groups in their order.
func (k *course) answers(ctx context.Context) (*Result, error) {
	next, err := k.begin(ctx)
	if err != nil {
		return nil, err
	}
	for ; err == nil && next < len(k.groups) && !k.alone && !k.barred; next++ {
		err = k.escalate(ctx, next)
	}
	k.stayed()
	if err != nil {
		return nil, err
	}
	return k.result()
}

// begin asks the first group for everything and, while a group fails as a whole,
// the next. It returns the index of the group behind the one that answered.
func (k *course) begin(ctx context.Context) (next int, err error) {
	var first staged
	for g := range k.groups {
		out := k.stage(ctx, g, nil, LegFirst, nil)
		if out.kept != "" {
			k.last = out
		}
		switch {
		case out.answered && out.decides: // the caller hung up, or the ledger failed
			return len(k.groups), nil
		case out.answered:
			return g + 1, nil
		case g == 0:
			first = out
		}
		if out.final || k.alone {
			break
		}
	}
	if k.call.Report.last() == nil && !k.last.decides {
		k.last = first
	}
	if !k.last.final && k.merged.declined != nil {
		return len(k.groups), nil
	}
	return 0, k.failure()
}

// escalate asks a later group, if that is due. What it cannot answer stays as it
// is, unless the request requires the group.
func (k *course) escalate(ctx context.Context, g int) error {
	ask, by := k.due(&k.groups[g])
	if len(ask) == 0 {
		return nil
	}
	reason := LegEscalated
	if len(by) == 0 { // due only because an upstream refused something
		reason = LegRefused
	}
	before := len(k.call.Report.Legs)
	var out staged
	if k.admits(g) {
		out = k.stage(ctx, g, ask, reason, by)
	} else {
		out = k.cap(g, ask, by)
	}
	if !k.call.Report.sent(before) { // also where every answer was remembered
		k.withdraw(g)
	}
	if out.kept == "" {
		return nil
	}
	k.last = out
	switch {
	case hungUp(ctx) && k.merged.given < len(k.merged.questions):
		return k.failure()
	case k.groups[g].required && len(by) > 0:
		k.call.Report.Stopped = out.stop
		return out.err
	}
	if k.stays(ask, before) {
		k.call.Report.Legs[before].Kept = out.kept
	}
	return nil
}

// stays reports whether a question that was asked again keeps an answer that is
// older than a leg.
func (k *course) stays(ask []int32, leg int) bool {
	return slices.ContainsFunc(ask, func(i int32) bool {
		return k.merged.answers[i].Name != "" && k.merged.source(int(i)).Leg < leg
	})
}

// due returns the indexes of the questions that a group is to be asked, and the
// names of those whose answers say so. There are none while the group's condition
// is false and every question has an answer.
func (k *course) due(g *group) (ask []int32, by []string) {
	if g.when != nil {
		by = g.when.Match(k.merged.questions, k.merged.answers)
	}
	if len(by) > 0 && g.scope == systemone.ScopeAll {
		return k.merged.all(), by
	}
	return k.merged.open(by), by
}

// required returns an error where a group that the request requires has no endpoint
// at all, before anything is sent. What a condition will find is not known by then: an
// endpoint for any of the questions suffices.
func (k *course) required(ctx context.Context) error {
	for g := range k.groups {
		if g == 0 || k.alone || !k.groups[g].required {
			continue
		}
		request, shape := k.call.Request, k.shape
		if k.groups[g].scope != systemone.ScopeAll {
			request, shape = k.part(nil)
		}
		plan, _ := k.plan(ctx, g, request, shape, nil)
		if err := plan.Err(k.names(g)); err != nil { // the group's own names: the others may be asked
			return err
		}
	}
	return nil
}

// turn notes an endpoint at which an outage began or ended.
func (k *course) turn(s *served) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Contains(k.turned, s) {
		k.turned = append(k.turned, s)
	}
}
