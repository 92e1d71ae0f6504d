package router

import (
	"iter"
	"slices"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// Leg is one question sheet of a call: some of its questions, one plan, one walk of
// attempts, and at most one sheet of answers.
type Leg struct {
	Reason LegReason
	Group  int // index of the group of models that was asked, as the request names them
	// Questions are those that were asked. A part of a choice that was split is a
	// question with a name of the router's own; see Asked.
	Questions []systemone.Question
	// TriggeredBy names the questions whose answers made the leg due; nil for the
	// first legs of a call.
	TriggeredBy []string
	Plan        Plan
	Attempts    []AttemptRecord
	Skipped     []Skip  // candidates that were passed over, in the order of the plan
	Bounds      []Bound // of a dry run, by index of the plan's candidates; nil otherwise
	// Remembered is the candidate whose remembered answers the leg has
	// ([Config.Remember]). Nothing was sent for such a leg. Nil for any other.
	Remembered *Candidate
	// Kept says why earlier answers stand although the leg was to replace them; ""
	// where it replaced them all, where there were none, and where the call failed
	// because of the leg. Of a dry run it says why the leg could not be asked.
	Kept KeepReason
	// Capped is the model made of stages whose MaxEscalated kept the leg from being
	// asked, or nil. The leg then has no plan.
	Capped *Model

	asked []string // of a sheet of a split request, else nil
}

// Asked returns the names of the questions of the request that the leg is about.
func (l *Leg) Asked() []string {
	if l.asked != nil {
		return slices.Clone(l.asked)
	}
	names := make([]string, len(l.Questions))
	for i := range l.Questions {
		names[i] = l.Questions[i].Name
	}
	return names
}

// Provenance says where an answer of a call comes from.
type Provenance struct {
	// Leg is an index in Report.Legs. Of a choice that was asked in parts it is the
	// leg that was answered last.
	Leg int
	// Attempt is an index in the leg's Attempts. It is -1 for a remembered answer:
	// [Leg.Remembered] then has its endpoint.
	Attempt int
	// Age is how long ago a remembered answer was given.
	Age time.Duration
	// Replaced is the earlier answer that this one replaced, or nil.
	Replaced *Replaced
}

// Replaced is an answer that a later stage replaced. Where that happened more than
// once, it is the latest.
type Replaced struct {
	Leg    int // that gave it
	Answer systemone.Answer
}

// Answered reports whether an attempt of the leg gave answers, or its answers were
// remembered.
func (l *Leg) Answered() bool {
	n := len(l.Attempts)
	return l.Remembered != nil || n > 0 && l.Attempts[n-1].Class == ""
}

// Attempts returns all attempts of the call: those of the first leg, then those of
// the next.
func (r *Report) Attempts() iter.Seq[*AttemptRecord] {
	return func(yield func(*AttemptRecord) bool) {
		for _, l := range r.Legs {
			for i := range l.Attempts {
				if !yield(&l.Attempts[i]) {
					return
				}
			}
		}
	}
}

// Used reports whether the leg gave answers that are in the reply or decided what was
// asked next. It is false for all legs of a call that failed and is not charged, and
// for the sheets of a split group that failed as a whole.
func (l *Leg) Used() bool {
	return l.Remembered != nil || l.Answered() && l.Attempts[len(l.Attempts)-1].Billed
}

// Escalated returns how many stages behind the first have answered something.
func (r *Report) Escalated() (n int) {
	group := -1
	for _, l := range r.Legs {
		if !l.Used() || l.Group == group {
			continue
		}
		if group >= 0 {
			n++
		}
		group = l.Group
	}
	return n
}

// Provenance says where the i-th answer of an answered call comes from.
func (r *Report) Provenance(i int) Provenance {
	if i < len(r.sources) {
		return r.sources[i]
	}
	for leg, l := range r.Legs {
		if l.Answered() {
			return Provenance{Leg: leg, Attempt: len(l.Attempts) - 1}
		}
	}
	return Provenance{}
}

// attempts returns how many attempts the call has made.
func (r *Report) attempts() (n int) {
	for _, l := range r.Legs {
		n += len(l.Attempts)
	}
	return n
}

// sent reports whether a leg from the n-th on made an attempt.
func (r *Report) sent(n int) bool {
	return slices.ContainsFunc(r.Legs[n:], func(l *Leg) bool { return len(l.Attempts) > 0 })
}

// last returns the latest attempt, or nil.
func (r *Report) last() *AttemptRecord {
	for _, l := range slices.Backward(r.Legs) {
		if n := len(l.Attempts); n > 0 {
			return &l.Attempts[n-1]
		}
	}
	return nil
}

// Rename replaces the report's legs by copies in which questions have other names:
// question returns that of one, answers a list of answers with their other names. It
// is for an interceptor that changed names in the request.
func (r *Report) Rename(question func(name string) string, answers func(systemone.Answers) systemone.Answers) {
	if len(r.Legs) == 0 {
		return
	}
	legs := make([]*Leg, len(r.Legs))
	for i, was := range r.Legs {
		l := *was
		l.Questions, l.TriggeredBy, l.Attempts = slices.Clone(l.Questions), slices.Clone(l.TriggeredBy), slices.Clone(l.Attempts)
		for j := range l.Questions {
			l.Questions[j].Name = question(l.Questions[j].Name)
		}
		l.asked = slices.Clone(l.asked)
		for j := range l.asked {
			l.asked[j] = question(l.asked[j])
		}
		for j := range l.TriggeredBy {
			l.TriggeredBy[j] = question(l.TriggeredBy[j])
		}
		for j := range l.Attempts {
			a := &l.Attempts[j]
			a.Answers, a.Refused = answers(a.Answers), slices.Clone(a.Refused)
			for n := range a.Refused {
				a.Refused[n].Question = question(a.Refused[n].Question)
			}
		}
		legs[i] = &l
	}
	r.Legs, r.sources = legs, slices.Clone(r.sources)
	for i := range r.sources {
		if was := r.sources[i].Replaced; was != nil {
			r.sources[i].Replaced = &Replaced{Leg: was.Leg, Answer: answers(systemone.Answers{was.Answer})[0]}
		}
	}
}
