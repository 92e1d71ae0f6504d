package router

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// staged is the outcome of asking a group.
type staged struct {
	answered bool       // some question has an answer of this group
	kept     KeepReason // why some question has none; "" where all have
	err      error      // where kept
	stop     Stop
	final    bool // no other group may be asked: the caller or the time has ended the call
	decides  bool // err is the call's, whatever attempts say: the caller hung up, or the ledger failed
}

// stage asks a group for the questions at the indexes ask, nil for all. What an
// upstream declines to answer is asked of the group's other endpoints, it alone.
func (k *course) stage(ctx context.Context, g int, ask []int32, reason LegReason, by []string) staged {
	w, out := k.leg(ctx, g, ask, reason, by, nil)
	var tried []*Endpoint
	for w != nil {
		answers, err := w.walk(ctx)
		k.decline(w)
		if err != nil {
			return w.failed(out, err)
		}
		k.merged.take(w.source(), answers)
		rec := &w.leg.Attempts[len(w.leg.Attempts)-1]
		rec.used = true
		if len(rec.Refused) == 0 {
			return staged{answered: true}
		}
		out = staged{answered: true, kept: KeptRefused, stop: StopCandidates, err: ofAttempts(&k.call.Report)}
		open := k.open(w, rec)
		if len(open) == 0 || k.alone {
			return out
		}
		tried = append(tried, endpointsOf(w.leg)...)
		next, _ := k.leg(ctx, g, open, LegRefused, nil, tried)
		if next != nil {
			next.counted = w.counted
		}
		w = next
	}
	return out
}

// failed returns the outcome of a stage whose last walk failed. Where an earlier
// one has answered the rest, what it refused stays refused.
func (w *walk) failed(before staged, err error) staged {
	out := staged{
		answered: before.answered, kept: w.kept(err), err: err, stop: w.stop,
		final:   w.stop == StopCaller || w.stop == StopDeadline || w.ledger,
		decides: w.ledger || errors.Is(err, context.Canceled),
	}
	if before.answered {
		out.kept = KeptRefused
	}
	return out
}

// source returns the place of the walk's last attempt.
func (w *walk) source() Provenance {
	return Provenance{Leg: slices.Index(w.call.Report.Legs, w.leg), Attempt: len(w.leg.Attempts) - 1}
}

// decline notes what a walk's attempts refused, if a refusal may be an answer.
func (k *course) decline(w *walk) {
	if !k.call.Request.Refusals {
		return
	}
	from := w.source()
	for i := range w.leg.Attempts {
		if rec := &w.leg.Attempts[i]; len(rec.Refused) > 0 {
			from.Attempt = i
			k.merged.decline(from, rec.Refused)
		}
	}
}

// open returns the indexes of the questions that an attempt refused and that may be
// asked elsewhere: all but those refused for safety, which only a model whose entry
// says so leaves to others.
func (k *course) open(w *walk, rec *AttemptRecord) (ask []int32) {
	names := make(map[string]bool, len(rec.Refused))
	for _, r := range rec.Refused {
		names[r.Question] = !r.Safety || w.shops(rec.Model)
	}
	for i := range k.merged.questions {
		if names[k.merged.questions[i].Name] {
			ask = append(ask, int32(i)) //nolint:gosec // at most some thousands
		}
	}
	return ask
}

// shops reports whether questions that a model refuses for safety are asked of
// others.
func (w *walk) shops(m *Model) bool { return slices.Contains(w.groups[w.leg.Group].shops, m) }

// leg plans a leg and adds it to the report. Endpoints in without are left out; a
// leg that is left with none of a group's endpoints is nil and not reported.
func (k *course) leg(ctx context.Context, g int, ask []int32, reason LegReason, by []string, without []*Endpoint) (*walk, staged) {
	request, shape := k.call.Request, k.shape
	if ask != nil && len(ask) < len(request.Questions) {
		part := *request
		part.Questions = make([]systemone.Question, len(ask))
		for i, at := range ask {
			part.Questions[i] = request.Questions[at]
		}
		request, shape = &part, ShapeOf(&part)
	}
	plan := NewPlan(k.input(ctx, g, shape))
	plan.Candidates = slices.DeleteFunc(plan.Candidates, func(c Candidate) bool { return slices.Contains(without, c.Endpoint) })
	if without != nil && len(plan.Candidates) == 0 {
		return nil, staged{}
	}
	l := k.call.newLeg()
	l.Reason, l.Group, l.Questions, l.TriggeredBy, l.Plan = reason, g, request.Questions, by, plan
	if err := plan.Err(k.names(g)); err != nil {
		return nil, staged{err: err, kept: KeptNoEndpoint}
	}
	if reason == LegEscalated && k.late(&plan.Candidates[0]) {
		return nil, staged{err: &Error{Class: Timeout, Err: context.DeadlineExceeded}, kept: KeptDeadline}
	}
	return &walk{
		course:     k,
		leg:        l,
		request:    request,
		candidates: plan.Candidates,
		prompt:     shape.PromptTokens,
		out:        outgoing{call: k.call, sheet: request, catalog: k.call.world.catalog, userKey: k.router.cfg.UserKey},
		money:      share{of: &k.money, size: sizeOf(request)},
		again:      reason == LegRefused || reason == LegFirst && g > 0,
		behind:     reason == LegFirst && g+1 < len(k.groups) && !k.alone,
	}, staged{}
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

// kept says why a leg that failed replaced nothing.
func (w *walk) kept(err error) KeepReason {
	switch {
	case w.stop == StopDeadline:
		return KeptDeadline
	case len(w.leg.Attempts) > 0 && errors.Is(w.leg.Attempts[len(w.leg.Attempts)-1].Err, errRefused):
		return KeptRefused
	case len(w.leg.Attempts) == 0 && w.overBudget != nil && !errors.Is(err, ErrUnavailable):
		return KeptBudget
	}
	return KeptError
}
