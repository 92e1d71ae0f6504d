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

// stage asks a group for the questions at the indexes ask, nil for all. What an
// upstream declines to answer is asked of the group's other endpoints, it alone.
func (k *course) stage(ctx context.Context, g int, ask []int32, reason LegReason, by []string) staged {
	q := query{group: g, ask: ask, reason: reason, by: by, later: reason != LegFirst}
	out := k.ask(ctx, q)
	for more := out; len(more.open) > 0 && !k.alone && !k.barred; {
		q.ask, q.reason, q.by, q.counted = more.open, LegRefused, nil, more.counted
		q.without = append(q.without, more.seen...)
		if more = k.ask(ctx, q); more.nothing {
			break
		}
		switch {
		case more.kept == "":
			return staged{answered: true}
		case more.final:
			return more.before(out.staged)
		}
		out.staged = more.before(out.staged)
	}
	return out.staged
}

// before returns the outcome of a stage that has answered the rest of its questions
// before: what is left of them is refused.
func (s staged) before(first staged) staged {
	if first.answered {
		s.answered, s.kept = true, KeptRefused
	}
	return s
}

// ask answers what is remembered, and asks the rest. Where the rest fails, the group
// has failed.
func (k *course) ask(ctx context.Context, q query) asked {
	if k.memory.remembering == nil {
		return k.askNow(ctx, q)
	}
	request, shape := k.sheet(q.ask)
	plan, _ := k.plan(ctx, q.group, request, shape, q.without)
	all := q.ask
	if all == nil {
		all = k.merged.all()
	}
	found, n := k.recall(ctx, all, plan.Candidates)
	if n == 0 {
		return k.askNow(ctx, q)
	}
	out := asked{staged: staged{answered: true}, counted: q.counted}
	if n < len(all) {
		rest := q
		rest.ask = make([]int32, 0, len(all)-n)
		for i, at := range all {
			if found[i].by == nil {
				rest.ask = append(rest.ask, at)
			}
		}
		out = k.askNow(ctx, rest)
		switch {
		case out.answered:
		case out.kept == KeptRefused: // as if it had answered what is remembered, and refused the rest
			out.staged = k.refused()
		default:
			return out
		}
	} else if err := k.money.free(ctx); err != nil {
		k.leg(q, request, shape, plan)
		return asked{staged: staged{kept: KeptError, err: Failure(err), final: true, decides: true}}
	}
	k.takeRecalled(q, all, found, plan)
	return out
}

// askNow asks one sheet, or several where no endpoint takes all questions at once.
func (k *course) askNow(ctx context.Context, q query) asked {
	request, shape := k.sheet(q.ask)
	plan, inParts := k.plan(ctx, q.group, request, shape, q.without)
	switch {
	case q.without != nil && len(plan.Candidates) == 0:
		return asked{nothing: true}
	case inParts:
		return k.askInParts(ctx, q, request, plan)
	}
	w := k.leg(q, request, shape, plan)
	if out := k.unasked(&w.leg.Plan); out.err != nil {
		return asked{staged: out}
	}
	answers, err := w.walk(ctx)
	k.decline(w)
	if err != nil {
		return asked{staged: w.failed(err)}
	}
	k.merged.take(w.source(), answers)
	rec := w.used()
	k.learn(answers, func(string) *AttemptRecord { return rec })
	out := asked{staged: staged{answered: true}, counted: w.counted, seen: endpointsOf(w.leg)}
	if len(rec.Refused) > 0 {
		out.open = k.open(w, rec.Refused)
		out.staged = k.refused()
	}
	return out
}

// refused returns the outcome of a stage that answered some questions and of which
// others were refused.
func (k *course) refused() staged {
	out := staged{answered: true, kept: KeptRefused, stop: StopCandidates, err: ofAttempts(&k.call.Report)}
	if k.barred {
		out.stop = StopCaller
	}
	return out
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

// without returns the plan without candidates at some endpoints.
func (p Plan) without(endpoints []*Endpoint) Plan {
	if len(endpoints) > 0 {
		p.Candidates = slices.DeleteFunc(p.Candidates, func(c Candidate) bool { return slices.Contains(endpoints, c.Endpoint) })
	}
	return p
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

// failed returns the outcome of a stage whose walk failed. A refusal for safety ends
// the call.
func (w *walk) failed(err error) staged {
	if n := len(w.leg.Attempts); n > 0 {
		last := &w.leg.Attempts[n-1]
		w.barred = w.barred || last.refusedForSafety() && !w.shops(last.Model)
	}
	return staged{
		kept: w.kept(err), err: err, stop: w.stop,
		final: w.stop == StopCaller || w.stop == StopDeadline || w.ledger,
		decides: w.ledger || errors.Is(err, context.Canceled) || classOf(err) == Server ||
			w.leg.Reason == LegSplit && classOf(err) == InvalidRequest, // other sheets may have ended after it
	}
}

// declined reports whether a walk failed because an upstream refused every question,
// and for no other reason.
func (w *walk) declined(err error) bool {
	return err != nil && !w.ledger && classOf(err) != Server && !errors.Is(err, context.Canceled) && w.kept(err) == KeptRefused
}

// used notes that the answers of the walk's last attempt are used, and returns it.
func (w *walk) used() *AttemptRecord {
	rec := &w.leg.Attempts[len(w.leg.Attempts)-1]
	rec.used = true
	return rec
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

// open returns the indexes of refused questions that may be asked elsewhere: all
// but those refused for safety, which only a model whose entry says so leaves to
// others. One of these ends the call.
func (k *course) open(w *walk, refused []Refusal) (ask []int32) {
	rec := &w.leg.Attempts[len(w.leg.Attempts)-1]
	names := make(map[string]bool, len(refused))
	for _, r := range refused {
		names[r.Question] = !r.Safety || w.shops(rec.Model)
		k.barred = k.barred || !names[r.Question]
	}
	for i := range k.merged.questions {
		if names[k.merged.questions[i].Name] {
			ask = append(ask, int32(i))
		}
	}
	return ask
}

// shops reports whether questions that a model refuses for safety are asked of
// others.
func (w *walk) shops(m *Model) bool { return slices.Contains(w.groups[w.leg.Group].shops, m) }

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
