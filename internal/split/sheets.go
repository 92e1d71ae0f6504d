package split

import (
	"slices"

	"github.com/signalbox/signalbox/systemone"
)

// Limits are what an endpoint takes at once. A number of zero is no limit.
type Limits struct {
	Questions int // on a sheet
	Options   int // of a choice
}

// Sheets asks questions of an endpoint that takes them only in parts, and merges the
// answers. [New] makes one. A Sheets is not safe for concurrent use.
type Sheets struct {
	limits Limits
	names  names
	parts  []part
	places map[string]place // of every name that was asked
}

// part is one question that was given to [New].
type part struct {
	question *systemone.Question
	choice   *choice // nil where the question is asked whole
	answer   systemone.Answer
	answered bool
}

// place is what an asked name belongs to.
type place struct {
	part, chunk int
}

// New cuts questions for an endpoint. It returns false if a choice cannot be cut
// because it has several options and the limit is one. The names of chunks differ
// from every name in request, which holds all questions of the request, those of
// other legs too. New keeps questions and request and does not change them.
func New(request, questions []systemone.Question, most Limits) (*Sheets, bool) {
	s := &Sheets{
		names:  names{request: request},
		parts:  make([]part, len(questions)),
		places: make(map[string]place, len(questions)),
	}
	for i := range questions {
		s.parts[i].question = &questions[i]
		s.places[questions[i].Name] = place{part: i}
	}
	if !s.Restart(most) {
		return nil, false
	}
	return s, true
}

// Restart cuts the questions that have no answer yet for another endpoint. A choice
// that is not finished begins again, because chunk distributions of two models
// cannot be combined. Restart returns false, and changes nothing, where New would.
func (s *Sheets) Restart(most Limits) bool {
	large := func(p *part) bool {
		return !p.answered && p.question.Kind == systemone.Choice && most.Options > 0 && len(p.question.Options) > most.Options
	}
	for i := range s.parts {
		if most.Options == 1 && large(&s.parts[i]) {
			return false
		}
	}
	s.limits = most
	for i := range s.parts {
		p := &s.parts[i]
		switch {
		case large(p):
			p.choice = newChoice(p.question)
		case !p.answered:
			p.choice = nil
		}
	}
	return true
}

// Next returns the sheets to ask now: the questions that are due and have no answer,
// in the order of the request, on as few sheets as the limit allows and of even
// sizes. It returns nil once every question has its answer. Call it when all sheets
// of the call before have ended, because it repeats what was not answered.
//
// Sheets share memory with each other and with the request, and must not be changed.
// All sheets that hold a chunk, see [Sheets.Source], must be answered by the endpoint
// they were cut for. Any endpoint may answer the others.
func (s *Sheets) Next() [][]systemone.Question {
	n := 0
	for i := range s.parts {
		p := &s.parts[i]
		switch {
		case p.answered:
		case p.choice == nil:
			n++
		default:
			if len(p.choice.asked) == 0 {
				s.begin(i)
			}
			n += p.choice.missing
		}
	}
	if n == 0 {
		return nil
	}
	due := make([]systemone.Question, 0, n)
	for i := range s.parts {
		due = s.parts[i].due(due)
	}
	if s.limits.Questions <= 0 {
		return [][]systemone.Question{due}
	}
	var sheets [][]systemone.Question
	for from, to := range runs(n, s.limits.Questions) {
		sheets = append(sheets, due[from:to:to])
	}
	return sheets
}

// due appends what is to be asked of the part.
func (p *part) due(to []systemone.Question) []systemone.Question {
	switch {
	case p.answered:
		return to
	case p.choice == nil:
		return append(to, *p.question)
	default:
		return p.choice.due(to)
	}
}

// begin begins a round of a choice. All rounds begin in Next, in the order of the
// questions, so that names do not depend on the order of answers.
func (s *Sheets) begin(at int) {
	c := s.parts[at].choice
	c.begin(s.limits.Options, &s.names)
	for i := range c.asked {
		s.places[c.asked[i].Name] = place{part: at, chunk: i}
	}
}

// Take takes answers as [systemone.Repair] returns them, of one sheet or of several,
// in any order. It returns a [*systemone.AnswerError] for an answer to a name that is
// not due, and for an answer to a chunk that does not match it or has no distribution.
// The answers before that one are taken. An answer to a whole question is not checked
// again.
//
// A chunk that is refused refuses the choice; see [systemone.Answer].Refusal.
func (s *Sheets) Take(answers systemone.Answers) error {
	for i := range answers {
		if err := s.take(&answers[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sheets) take(a *systemone.Answer) error {
	at, ok := s.places[a.Name]
	if !ok {
		return notDue(a.Name)
	}
	p := &s.parts[at.part]
	switch {
	case p.choice == nil && !p.answered && a.Name == p.question.Name:
		p.answer, p.answered = *a, true
		return nil
	case p.choice == nil || !p.choice.open(at.chunk, a.Name):
		return notDue(a.Name)
	case p.answered: // refused, by another chunk
		return nil
	case a.Refusal != "":
		p.answer = systemone.Answer{Name: p.question.Name, Kind: p.question.Kind, Refusal: a.Refusal}
		p.answered = true
		return nil
	}
	finished, err := p.choice.take(at.chunk, a)
	if err != nil || !finished {
		return err
	}
	if p.choice.merge() {
		p.answer, p.answered = p.choice.answer(), true
	}
	return nil
}

func notDue(name string) error {
	return &systemone.AnswerError{Question: name, Problem: "is answered but was not asked, or is answered twice"}
}

// Answers returns the answers so far, to the questions that were given to [New] and in
// their order. The answer to a split choice is as [systemone.Repair] returns it.
func (s *Sheets) Answers() systemone.Answers {
	out := make(systemone.Answers, 0, len(s.parts))
	for i := range s.parts {
		if s.parts[i].answered {
			out = append(out, s.parts[i].answer)
		}
	}
	return out
}

// Source returns the question whose answer depends on the asked name: the name itself
// for a whole question, the choice's name for a chunk, also for one of an earlier
// round or endpoint, or of a sheet of [Sheets.Bounds]. It returns "" for any other
// name.
func (s *Sheets) Source(asked string) string {
	at, ok := s.places[asked]
	if !ok {
		return ""
	}
	return s.parts[at.part].question.Name
}

// Bounds returns every sheet that is still to be asked, of all rounds, provided that
// each sheet is answered once. The sheets of [Sheets.Next] come first. Which options
// reach a later round is not known, so the question of a later round has for each
// chunk before it what largest returns for the chunk's options. If that is no smaller
// than any of these options, by whatever measure, no sheet that is asked will be larger
// than its sheet here. What largest returns may be made up, because it is never asked.
func (s *Sheets) Bounds(largest func([]systemone.Option) systemone.Option) [][]systemone.Question {
	as := &Sheets{limits: s.limits, names: s.names, parts: slices.Clone(s.parts), places: s.places}
	for i := range as.parts {
		if c := as.parts[i].choice; c != nil {
			as.parts[i].choice = c.clone()
		}
	}
	var all [][]systemone.Question
	for {
		sheets := as.Next()
		if sheets == nil {
			return all
		}
		all = append(all, sheets...)
		as.suppose(largest)
	}
}

// suppose finishes the round with the options that largest returns as winners.
func (s *Sheets) suppose(largest func([]systemone.Option) systemone.Option) {
	for i := range s.parts {
		p := &s.parts[i]
		if !p.answered {
			p.answered = p.choice == nil || p.choice.suppose(largest)
		}
	}
}
