package systemone

// Condition says on which answers a group of models is due. Exactly one of
// ConfidenceBelow, ProbabilityBetween, Any, All and AtLeast is set. The first two
// look at answers and are leaves; the others combine 1 to 20 conditions. Conditions
// are nested at most 5 deep, the leaf counted.
type Condition struct {
	// Question names the question that a leaf looks at, in at most 256 characters. A
	// leaf without it looks at every question of its kind.
	Question string
	// ConfidenceBelow is true of a choice or score whose confidence is lower. It is
	// also true where the answer has no distribution, and thus no confidence.
	ConfidenceBelow *float64
	// ProbabilityBetween is true of a noul from the first bound to the second, both
	// included.
	ProbabilityBetween *[2]float64
	Any, All           []Condition
	AtLeast            *AtLeast
}

// AtLeast is true where at least Count of its conditions are.
type AtLeast struct {
	Count      int // 1 to the number of conditions
	Conditions []Condition
}

// Match returns the names of the questions that make a valid condition true, in the
// order of questions. These are the questions for whose answer a leaf is true,
// unless a condition around that leaf is false. Match returns nil where the
// condition is false.
//
// A question without an answer, or with a refusal, matches no leaf. The answers must
// be those of [Repair], which computes the confidence.
func (c *Condition) Match(questions []Question, answers Answers) []string {
	m := matcher{
		questions: questions, answers: answers,
		question: finder{size: len(questions), name: func(i int) string { return questions[i].Name }},
		answer:   finder{size: len(answers), name: func(i int) string { return answers[i].Name }},
	}
	if !m.holds(c) {
		return nil
	}
	hit := make([]bool, len(questions))
	for _, leaf := range m.leaves {
		for i, to := m.span(leaf); i < to; i++ {
			hit[i] = hit[i] || m.hits(leaf, i)
		}
	}
	names := make([]string, 0, few)
	for i := range questions {
		if hit[i] {
			names = append(names, questions[i].Name)
		}
	}
	return names
}

// matcher evaluates a condition over the answers to questions.
type matcher struct {
	questions        []Question
	answers          Answers
	question, answer finder       // of their indices by name
	leaves           []*Condition // that are true, as are all conditions around them
}

// holds reports whether a condition is true, and adds its true leaves if so.
func (m *matcher) holds(c *Condition) bool {
	switch {
	case c.Any != nil:
		return m.atLeast(1, c.Any)
	case c.All != nil:
		return m.atLeast(len(c.All), c.All)
	case c.AtLeast != nil:
		return m.atLeast(c.AtLeast.Count, c.AtLeast.Conditions)
	}
	for i, to := m.span(c); i < to; i++ {
		if m.hits(c, i) {
			m.leaves = append(m.leaves, c)
			return true
		}
	}
	return false
}

func (m *matcher) atLeast(count int, list []Condition) bool {
	before := len(m.leaves)
	for i := range list {
		if m.holds(&list[i]) {
			count--
		}
	}
	if count > 0 {
		m.leaves = m.leaves[:before]
	}
	return count <= 0
}

// span returns the range of the questions that a leaf looks at.
func (m *matcher) span(leaf *Condition) (from, to int) {
	if leaf.Question == "" {
		return 0, len(m.questions)
	}
	if at := m.question.at(0, leaf.Question); at >= 0 {
		return at, at + 1
	}
	return 0, 0
}

// hits reports whether a leaf is true for the answer to the i-th question.
func (m *matcher) hits(leaf *Condition, i int) bool {
	q := &m.questions[i]
	if (q.Kind == Noul) != (leaf.ProbabilityBetween != nil) {
		return false
	}
	at := m.answer.at(i, q.Name)
	if at < 0 || m.answers[at].Refusal != "" {
		return false
	}
	a := &m.answers[at]
	if between := leaf.ProbabilityBetween; between != nil {
		return between[0] <= a.Noul && a.Noul <= between[1]
	}
	return len(a.Probabilities) == 0 || a.Confidence < *leaf.ConfidenceBelow
}
