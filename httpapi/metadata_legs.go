package httpapi

import (
	"encoding/json"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// metadataLeg describes a question sheet of the call.
type metadataLeg struct {
	// Model and Provider are those of the last attempt, else of the candidate that
	// would have been tried first. They are "" if there was no candidate.
	Model       string            `json:"model,omitempty"`
	Provider    string            `json:"provider,omitempty"`
	Reason      router.LegReason  `json:"reason"`
	Asked       []string          `json:"asked"`        // names of questions
	TriggeredBy []string          `json:"triggered_by"` // names of questions
	Attempts    []int             `json:"attempts"`     // indexes of the call's attempts
	Outcome     legOutcome        `json:"outcome"`
	Remembered  bool              `json:"remembered,omitempty"` // its answers were remembered; nothing was sent
	Kept        router.KeepReason `json:"kept,omitempty"`       // why earlier answers stand
	Usage       systemone.Usage   `json:"usage"`                // of the attempts that are charged
	// Endpoints describes the plan of every leg but the first, whose plan the
	// metadata's own member has.
	Endpoints *metadataEndpoint `json:"endpoints,omitempty"`
}

type legOutcome string

const (
	legAnswered legOutcome = "answered"
	legFailed   legOutcome = "failed"
	legSkipped  legOutcome = "skipped" // nothing was tried
)

// metadataAnswer says who gave an answer.
type metadataAnswer struct {
	Leg        int                 `json:"leg"`
	Attempt    *int                `json:"attempt,omitempty"` // index of the call's attempts; absent if remembered
	Endpoint   string              `json:"endpoint"`
	Model      string              `json:"model"`
	Readout    router.Readout      `json:"readout"`
	Remembered *metadataRemembered `json:"remembered,omitempty"`
	Replaced   *metadataReplaced   `json:"replaced,omitempty"`
}

// metadataRemembered says how long ago a remembered answer was given.
type metadataRemembered struct {
	AgeMS int64 `json:"age_ms"`
}

// metadataReplaced is an answer that a later stage replaced.
type metadataReplaced struct {
	Leg    int             `json:"leg"`
	Answer json.RawMessage `json:"answer"`
}

// describeLegs adds the legs to the metadata, which have their attempts already.
func (s *server) describeLegs(m *metadataObject, r *router.Report, answered bool) {
	m.Legs = make([]metadataLeg, len(r.Legs))
	first := 0 // index of the leg's first attempt among those of the call
	for i, l := range r.Legs {
		d := &m.Legs[i]
		*d = metadataLeg{
			Reason: l.Reason, Asked: l.Asked(), TriggeredBy: l.TriggeredBy, Kept: l.Kept,
			Outcome: outcomeOf(l), Usage: usageOf(l), Remembered: l.Remembered != nil, Attempts: make([]int, len(l.Attempts)),
		}
		if d.TriggeredBy == nil {
			d.TriggeredBy = []string{}
		}
		for j := range d.Attempts {
			d.Attempts[j] = first + j
		}
		first += len(l.Attempts)
		if i > 0 {
			plan := s.describePlan(l, answered)
			d.Endpoints = &plan
		}
		by := l.Remembered
		if by == nil && len(l.Plan.Candidates) > 0 {
			by = &l.Plan.Candidates[0]
		}
		if n := len(l.Attempts); n > 0 {
			d.Model, d.Provider = m.Attempts[first-1].Model, m.Attempts[first-1].Provider
		} else if by != nil {
			d.Model, d.Provider = by.Model().Permaslug, s.providerName(by.Endpoint.Provider)
		}
	}
}

func outcomeOf(l *router.Leg) legOutcome {
	switch {
	case l.Answered():
		return legAnswered
	case len(l.Attempts) > 0:
		return legFailed
	}
	return legSkipped
}

// usageOf sums the usage of the attempts that are charged. Those of all legs add up to
// the usage of the reply.
func usageOf(l *router.Leg) systemone.Usage {
	var sum systemone.Usage
	var cost router.USD
	for i := range l.Attempts {
		if a := &l.Attempts[i]; a.Billed {
			sum.InputTokens += a.Usage.InputTokens
			sum.OutputTokens += a.Usage.OutputTokens
			cost += a.Cost
		}
	}
	sum.Cost = json.Number(cost.String())
	return sum
}

// describeAnswers says who gave each answer of a reply. Answers that no leg gave, such
// as those of an interceptor, are left out.
func describeAnswers(m *metadataObject, r *router.Report, answers systemone.Answers) {
	if len(r.Legs) == 0 {
		return
	}
	m.Answers = make(map[string]metadataAnswer, len(answers))
	for i := range answers {
		from := r.Provenance(i)
		a, ok := answerBy(m, r, from)
		if !ok {
			continue
		}
		if was := from.Replaced; was != nil {
			a.Replaced = &metadataReplaced{Leg: was.Leg, Answer: was.Answer.AppendJSON(nil)}
		}
		m.Answers[answers[i].Name] = a
	}
}

// answerBy says who gave an answer, or false if no leg did.
func answerBy(m *metadataObject, r *router.Report, from router.Provenance) (metadataAnswer, bool) {
	l := r.Legs[from.Leg]
	switch by := l.Remembered; {
	case by != nil:
		return metadataAnswer{
			Leg: from.Leg, Endpoint: by.Endpoint.Tag(), Model: by.Model().Permaslug, Readout: by.Endpoint.Readout(),
			Remembered: &metadataRemembered{from.Age.Milliseconds()},
		}, true
	case from.Attempt >= len(l.Attempts):
		return metadataAnswer{}, false
	}
	at := m.Legs[from.Leg].Attempts[from.Attempt]
	return metadataAnswer{
		Leg: from.Leg, Attempt: &at, Endpoint: m.Attempts[at].Endpoint, Model: m.Attempts[at].Model,
		Readout: l.Attempts[from.Attempt].Endpoint.Readout(),
	}, true
}
