package systemone

// Condition says on which answers a group of models is asked. Exactly one of
// ConfidenceBelow, ProbabilityBetween, Any, All and AtLeast is set. The first two
// look at answers and are leaves; the others combine conditions.
type Condition struct {
	// Question names the one question that a leaf looks at. A leaf without it looks
	// at every question of its kind.
	Question string
	// ConfidenceBelow is true of a choice or score whose confidence is lower, or
	// whose answer has no distribution.
	ConfidenceBelow *float64
	// ProbabilityBetween is true of a noul from the first bound to the second, both
	// included.
	ProbabilityBetween *[2]float64
	Any, All           []Condition
	AtLeast            *AtLeast
}

// AtLeast is true where at least Count of its conditions are.
type AtLeast struct {
	Count      int
	Conditions []Condition
}

// Match returns the names of the questions that made the condition true, in the
// order of questions: those that a true leaf looked at and found, where every
// condition around the leaf is true as well. It returns nil where the condition is
// false. A question without an answer, or with a refusal, matches no leaf.
func (c *Condition) Match(questions []Question, answers Answers) []string {
	m := matcher{questions: questions, answers: make([]*Answer, len(questions))}
	find := finder{size: len(answers), name: func(i int) string { return answers[i].Name }}
	for i := range questions {
		if at := find.at(i, questions[i].Name); at >= 0 && answers[at].Refusal == "" {
			m.answers[i] = &answers[at]
		}
	}
	if !m.holds(c) {
		return nil
	}
	m.hit = make([]bool, len(questions))
	m.collect(c)
	var names []string
	for i, hit := range m.hit {
		if hit {
			names = append(names, questions[i].Name)
		}
	}
	return names
}

// matcher evaluates a condition over the answers to questions.
type matcher struct {
	questions []Question
	answers   []*Answer // in the order of questions; nil where there is none
	hit       []bool    // the questions that true leaves found
}

// holds reports whether a condition is true.
func (m *matcher) holds(c *Condition) bool {
	switch {
	case len(c.Any) > 0:
		return m.count(c.Any, 1)
	case len(c.All) > 0:
		return m.count(c.All, len(c.All))
	case c.AtLeast != nil:
		return m.count(c.AtLeast.Conditions, c.AtLeast.Count)
	}
	for i := range m.questions {
		if m.finds(c, i) {
			return true
		}
	}
	return false
}

// count reports whether at least least of the conditions are true.
func (m *matcher) count(list []Condition, least int) bool {
	for i := range list {
		if m.holds(&list[i]) {
			if least--; least <= 0 {
				return true
			}
		}
	}
	return false
}

// finds reports whether a leaf is true of the i-th question.
func (m *matcher) finds(leaf *Condition, i int) bool {
	a := m.answers[i]
	if a == nil || leaf.Question != "" && leaf.Question != m.questions[i].Name {
		return false
	}
	switch m.questions[i].Kind {
	case Noul:
		p := leaf.ProbabilityBetween
		return p != nil && p[0] <= a.Noul && a.Noul <= p[1]
	case Choice, Score:
		below := leaf.ConfidenceBelow
		return below != nil && (len(a.Probabilities) == 0 || a.Confidence < *below)
	default:
		return false
	}
}

// collect marks the questions that the leaves of a true condition found.
func (m *matcher) collect(c *Condition) {
	list := c.Any
	switch {
	case len(c.All) > 0:
		list = c.All
	case c.AtLeast != nil:
		list = c.AtLeast.Conditions
	case len(list) == 0:
		for i := range m.questions {
			m.hit[i] = m.hit[i] || m.finds(c, i)
		}
		return
	}
	for i := range list {
		if m.holds(&list[i]) {
			m.collect(&list[i])
		}
	}
}
