package router

import (
	"context"
	"errors"
	"slices"
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

// without returns the plan without candidates at some endpoints.
func (p Plan) without(endpoints []*Endpoint) Plan {
	if len(endpoints) > 0 {
		p.Candidates = slices.DeleteFunc(p.Candidates, func(c Candidate) bool { return slices.Contains(endpoints, c.Endpoint) })
	}
	return p
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
