package router

import (
	"context"
	"slices"

	"github.com/signalbox/signalbox/internal/split"
	"github.com/signalbox/signalbox/systemone"
)

// sheetsAtOnce is the most sheets of one call that are asked at once.
const sheetsAtOnce = 8

// inParts is a query that no endpoint takes at once. Questions go on several sheets,
// each with its own walk. A choice with too many options is asked in rounds, all of
// them at one endpoint; where that fails, the choice begins again at the next.
type inParts struct {
	*course
	query

	request *systemone.Request
	plan    Plan // of endpoints that may be asked in parts
	by      *Candidate
	more    bool  // candidates follow it
	passed  *walk // of the leg that lists the candidates that were passed over, or nil
	sheets  *split.Sheets
	sources map[string]Provenance // of the last answer that a question depends on
	done    []part                // sheets that were answered, since choices last began again
	open    []int32
	seen    []*Endpoint
	failed  staged
}

// part is a sheet that was answered.
type part struct {
	rec *AttemptRecord
	leg *Leg
}

// askInParts asks for a query in parts. All parts are answered or refused, or the query
// fails.
func (k *course) askInParts(ctx context.Context, q query, request *systemone.Request, plan Plan) asked {
	p := &inParts{course: k, query: q, request: request, plan: plan, sources: map[string]Provenance{}}
	if out := k.unasked(&plan); out.err != nil {
		k.leg(q, request, k.shape, plan)
		return asked{staged: out}
	}
	p.failed = staged{err: &Error{Class: Timeout, Err: context.DeadlineExceeded}, kept: KeptDeadline, stop: StopDeadline}
	before := len(k.call.Report.Legs)
	finished := false
	for i := range plan.Candidates {
		p.by, p.more = &plan.Candidates[i], i+1 < len(plan.Candidates)
		if p.later && p.late(p.by) {
			p.pass().skip(p.by, Skip{Reason: SkipTime})
			continue
		}
		if p.begin(ctx) {
			if finished = p.rounds(ctx); finished || p.failed.final || !p.cutsOptions() {
				break
			}
		}
		if p.settleParts(); p.failed.final {
			break
		}
	}
	if !finished {
		if len(k.call.Report.Legs) == before {
			p.pass()
		}
		p.drop(k.call.Report.Legs[before:])
		return asked{staged: p.failed}
	}
	return p.finish()
}

// pass returns the walk of a leg without attempts, which the query has in addition to
// its sheets: it lists the candidates that were passed over.
func (p *inParts) pass() *walk {
	if p.passed == nil {
		_, shape := p.part(p.request.Questions)
		p.passed = p.leg(p.query, p.request, shape, p.plan)
	}
	return p.passed
}

// begin cuts what has no answer yet for a candidate, and holds the most that all
// sheets may cost there, so that nothing is sent where that does not fit. It
// reports whether the candidate can be asked.
func (p *inParts) begin(ctx context.Context) bool {
	most := limitsOf(p.by.Endpoint)
	var ok bool
	if p.sheets == nil {
		p.sheets, ok = split.New(p.call.Request.Questions, p.request.Questions, most)
	} else {
		ok = p.sheets.Restart(most)
	}
	if !ok {
		return false
	}
	all := share{of: &p.money}
	refused, err := all.hold(ctx, p.by, p.call.world.byEndpoint[p.by.Endpoint.ID].provider.Name, p.bound())
	all.giveBack()
	switch {
	case hungUp(ctx) && (err != nil || refused != nil):
		gone := &Error{Class: Timeout, Err: context.Canceled}
		p.failed = staged{kept: KeptError, err: gone, stop: StopCaller, final: true, decides: true}
	case err != nil:
		w := p.pass()
		if w.ledger = !w.over(ctx); w.ledger {
			p.failed = w.failed(Failure(err))
		} else {
			p.failed = w.failed(w.end(ctx, StopDeadline))
		}
	case refused != nil:
		p.pass().skip(p.by, Skip{Check: refused.Check})
		if p.failed.kept == KeptDeadline {
			p.failed = staged{kept: KeptBudget, err: refused.refusal(), stop: StopCandidates}
		}
	}
	return refused == nil && err == nil
}

// rounds asks the sheets that are due until all questions are answered. It reports
// whether they are.
func (p *inParts) rounds(ctx context.Context) bool {
	for due := p.sheets.Next(); due != nil; due = p.sheets.Next() {
		walks := make([]*walk, len(due))
		for i, questions := range due {
			walks[i] = p.sheet(ctx, questions)
		}
		answers, errs := p.walkAll(ctx, walks)
		ok := true
		for i, w := range walks {
			switch {
			case w.declined(errs[i]):
				p.refuse(w)
			case errs[i] != nil:
				if !p.failed.final {
					p.failed = w.failed(errs[i])
				}
				ok = false
			case answers[i] != nil:
				ok = p.take(w, answers[i]) && ok
			default: // not begun, because another sheet had failed
				ok = false
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

// take takes the answers of a sheet, and its refusals. It reports whether the answers
// are of use.
func (p *inParts) take(w *walk, answers systemone.Answers) bool {
	rec, from := w.used(), w.source()
	p.done = append(p.done, part{rec, w.leg})
	for i := range answers {
		p.sources[p.sheets.Source(answers[i].Name)] = from
	}
	if err := p.sheets.Take(answers); err != nil { // unreachable: the answers were checked
		p.failed = staged{kept: KeptError, err: &Error{Class: Server, Err: err}, stop: StopCandidates}
		return false
	}
	p.refuse(w)
	return true
}

// refuse takes the refusals of a sheet: of some of its questions or of all.
func (p *inParts) refuse(w *walk) {
	rec := &w.leg.Attempts[len(w.leg.Attempts)-1]
	refused := slices.Clone(rec.Refused)
	for i := range refused {
		asked := refused[i].Question
		refused[i].Question = p.sheets.Source(asked)
		_ = p.sheets.Take(systemone.Answers{{Name: asked, Refusal: "refused"}})
	}
	if len(refused) > 0 {
		p.seen = append(p.seen, endpointsOf(w.leg)...)
		p.open = append(p.open, p.course.open(w, refused)...)
		if p.call.Request.Refusals {
			p.merged.decline(w.source(), refused)
		}
	}
}

// settleParts marks the attempts that only answered parts of a choice that begins
// again as not used.
func (p *inParts) settleParts() {
	if p.sheets == nil {
		return
	}
	answered := p.sheets.Answers()
	for _, d := range p.done {
		d.rec.used = slices.ContainsFunc(d.leg.asked, func(name string) bool {
			_, ok := answered.Get(name)
			return ok
		})
	}
	p.done = p.done[:0]
}

// drop marks all attempts of a query that failed as not used. Their cost stays held,
// because they are charged where the caller ends the call.
func (p *inParts) drop(legs []*Leg) {
	for _, l := range legs {
		for i := range l.Attempts {
			l.Attempts[i].used = false
		}
	}
}

// finish merges the answers of all parts into those of the call.
func (p *inParts) finish() asked {
	out := asked{staged: staged{answered: true}, seen: p.seen}
	answered := p.sheets.Answers()
	refused := len(answered)
	answered = slices.DeleteFunc(answered, func(a systemone.Answer) bool { return a.Refusal != "" })
	refused -= len(answered)
	p.merged.takeEach(answered, func(question string) Provenance { return p.sources[question] })
	p.learn(answered, func(question string) *AttemptRecord {
		from := p.sources[question]
		return &p.call.Report.Legs[from.Leg].Attempts[from.Attempt]
	})
	if refused > 0 {
		slices.Sort(p.open)
		out.open = slices.Compact(p.open)
		out.staged = p.refused()
		out.answered = len(answered) > 0
	}
	return out
}
