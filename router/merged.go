package router

import (
	"github.com/signalbox/signalbox/systemone"
)

// merged is what the legs of a call have answered so far. A later answer replaces
// an earlier one whole.
type merged struct {
	questions []systemone.Question
	answers   systemone.Answers // by index of the questions; without a name where nobody has answered
	given     int               // how many questions have an answer
	whole     Provenance        // of all answers, while sources is nil
	sources   []Provenance      // by index of the questions; nil while one attempt gave all answers
	declined  []declined        // of the same; nil where no refusal is an answer
	replaced  []Replaced        // room for answers that are replaced
}

// declined is a question that an upstream refused, in its words.
type declined struct {
	is   bool
	text string
	from Provenance
}

// take adds answers of an attempt, which are in the order of the questions.
func (m *merged) take(from Provenance, answers systemone.Answers) {
	if m.given == 0 && len(answers) == len(m.questions) && from.Leg == 0 {
		m.answers, m.given, m.whole = answers, len(answers), from
		return
	}
	m.takeEach(answers, func(string) Provenance { return from })
}

// takeEach adds answers of several attempts, in the order of the questions.
func (m *merged) takeEach(answers systemone.Answers, from func(question string) Provenance) {
	m.spread()
	if m.given > 0 {
		m.replaced = make([]Replaced, 0, len(answers)) // sources point into the old one
	}
	for i := range m.questions {
		if len(answers) == 0 {
			return
		}
		if name := m.questions[i].Name; answers[0].Name == name {
			m.put(i, from(name), answers[0])
			answers = answers[1:]
		}
	}
}

// put makes an answer that of a question.
func (m *merged) put(i int, from Provenance, a systemone.Answer) {
	if m.answers[i].Name == "" {
		m.given++
	} else {
		m.replaced = append(m.replaced, Replaced{Leg: m.sources[i].Leg, Answer: m.answers[i]})
		from.Replaced = &m.replaced[len(m.replaced)-1]
	}
	m.answers[i], m.sources[i] = a, from
}

// source returns where the answer of a question comes from.
func (m *merged) source(i int) Provenance {
	if m.sources == nil {
		return m.whole
	}
	return m.sources[i]
}

// spread makes room for answers of several attempts.
func (m *merged) spread() {
	if m.sources != nil {
		return
	}
	m.sources = make([]Provenance, len(m.questions))
	if m.answers == nil {
		m.answers = make(systemone.Answers, len(m.questions))
		return
	}
	for i := range m.sources {
		m.sources[i] = m.whole
	}
}

// decline notes the questions that an attempt refused, for dialects in which a
// refusal is an answer.
func (m *merged) decline(from Provenance, list []Refusal) {
	if m.declined == nil {
		m.declined = make([]declined, len(m.questions))
	}
	texts := make(map[string]string, len(list))
	for i := range list {
		texts[list[i].Question] = list[i].said()
	}
	for i := range m.questions {
		if text, ok := texts[m.questions[i].Name]; ok {
			m.declined[i] = declined{is: true, text: text, from: from}
		}
	}
}

// answerByRefusal makes refusals the answers of the questions that nobody has
// answered, and reports whether every question has an answer then.
func (m *merged) answerByRefusal() bool {
	if m.declined == nil {
		return m.given == len(m.questions)
	}
	m.spread()
	for i := range m.questions {
		if d := &m.declined[i]; d.is && m.answers[i].Name == "" {
			m.put(i, d.from, systemone.Answer{Name: m.questions[i].Name, Kind: m.questions[i].Kind, Refusal: d.text})
		}
	}
	return m.given == len(m.questions)
}

// open returns the indexes of the questions that nobody has answered, and of those
// named, which are in the order of the questions.
func (m *merged) open(named []string) (ask []int32) {
	if m.given == len(m.questions) && len(named) == 0 {
		return nil
	}
	for i := range m.questions {
		is := len(named) > 0 && named[0] == m.questions[i].Name
		if is {
			named = named[1:]
		}
		if is || m.answers == nil || m.answers[i].Name == "" {
			ask = append(ask, int32(i))
		}
	}
	return ask
}

// all returns the indexes of all questions.
func (m *merged) all() []int32 {
	ask := make([]int32, len(m.questions))
	for i := range ask {
		ask[i] = int32(i)
	}
	return ask
}

// most returns the leg and the attempt of the endpoint that gave most answers; of
// several the ones that come first among the legs.
func (m *merged) most(legs []*Leg) Provenance {
	best := m.whole
	if m.sources != nil {
		counts := make(map[*Endpoint]int, len(legs))
		for i := range m.sources {
			counts[m.sources[i].by(legs)]++
		}
		n := 0
		for i := range m.sources {
			from := &m.sources[i]
			if count := counts[from.by(legs)]; count > n || count == n && from.before(best) {
				best, n = *from, count
			}
		}
	}
	return best
}

// by returns the endpoint that gave the answer.
func (p *Provenance) by(legs []*Leg) *Endpoint {
	l := legs[p.Leg]
	if p.Attempt < 0 {
		return l.Remembered.Endpoint
	}
	return l.Attempts[p.Attempt].Endpoint
}

// before reports whether the attempt stands ahead of another one in the report.
func (p *Provenance) before(other Provenance) bool {
	return p.Leg < other.Leg || p.Leg == other.Leg && p.Attempt < other.Attempt
}
