package systemone

import (
	"cmp"
	"slices"
	"sort"
)

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
	m := newMatcher(questions, answers)
	if !m.holds(c) {
		return nil
	}
	hit := m.hit()
	names := make([]string, 0, few)
	for i := range questions {
		if hit[i] {
			names = append(names, questions[i].Name)
		}
	}
	return names
}

// matcher evaluates a condition over the answers to questions. After a few leaves
// without a question it finds what they look at by rank, because a request may have
// a hundred thousand leaves and a thousand questions.
type matcher struct {
	questions []Question
	answers   []*Answer    // by index of the questions; nil where there is none, or a refusal
	question  finder       // of an index of the questions by name
	leaves    []*Condition // that are true, as are all conditions around them
	scans     int          // of all answers, for leaves without a question

	nouls, others ranks
}

func newMatcher(questions []Question, answers Answers) matcher {
	m := matcher{
		questions: questions, answers: make([]*Answer, len(questions)),
		question: finder{size: len(questions), name: func(i int) string { return questions[i].Name }},
	}
	answer := finder{size: len(answers), name: func(i int) string { return answers[i].Name }}
	for i := range questions {
		if at := answer.at(i, questions[i].Name); at >= 0 && answers[at].Refusal == "" {
			m.answers[i] = &answers[at]
		}
	}
	return m
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
	if !m.hits(c) {
		return false
	}
	m.leaves = append(m.leaves, c)
	return true
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

// hits reports whether a leaf is true for the answer to some question.
func (m *matcher) hits(leaf *Condition) bool {
	switch {
	case leaf.Question != "":
		at := m.question.at(0, leaf.Question)
		return at >= 0 && m.hitsAt(leaf, at)
	case m.scans < pairwise:
		m.scans++
		for i := range m.answers {
			if m.hitsAt(leaf, i) {
				return true
			}
		}
		return false
	}
	from, to := m.ranks(leaf).span(leaf)
	return from < to
}

// hitsAt reports whether a leaf is true for the answer to the i-th question.
func (m *matcher) hitsAt(leaf *Condition, i int) bool {
	a := m.answers[i]
	return a != nil && (m.questions[i].Kind == Noul) == (leaf.ProbabilityBetween != nil) && leaf.above(a.rank()) == 0
}

// hit returns for which questions, by index, a leaf is true.
func (m *matcher) hit() []bool {
	hit := make([]bool, len(m.questions))
	for _, leaf := range m.leaves {
		if leaf.Question == "" {
			m.ranks(leaf).cover(leaf)
		} else {
			hit[m.question.at(0, leaf.Question)] = true
		}
	}
	m.nouls.mark(hit)
	m.others.mark(hit)
	return hit
}

// ranks returns the answers of the kinds that a leaf looks at.
func (m *matcher) ranks(leaf *Condition) *ranks {
	r, noul := &m.others, leaf.ProbabilityBetween != nil
	if noul {
		r = &m.nouls
	}
	if r.list == nil {
		r.list = make([]ranked, 0, len(m.questions))
		for i, a := range m.answers {
			if a != nil && (m.questions[i].Kind == Noul) == noul {
				r.list = append(r.list, ranked{a.rank(), i})
			}
		}
		slices.SortFunc(r.list, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	}
	return r
}

// ranks are the answers of some kinds, the lowest first. What a leaf is true of is a
// span of them.
type ranks struct {
	list []ranked
	// turns has, by index of the list, how many spans begin there, less those that end.
	turns []int
}

// ranked is a question whose answer has a rank.
type ranked struct {
	rank     float64
	question int
}

// span returns the answers for which a leaf is true.
func (r *ranks) span(leaf *Condition) (from, to int) {
	from = sort.Search(len(r.list), func(i int) bool { return leaf.above(r.list[i].rank) >= 0 })
	return from, from + sort.Search(len(r.list)-from, func(i int) bool { return leaf.above(r.list[from+i].rank) > 0 })
}

// cover adds the span of a leaf.
func (r *ranks) cover(leaf *Condition) {
	if r.turns == nil {
		r.turns = make([]int, len(r.list)+1)
	}
	from, to := r.span(leaf)
	r.turns[from]++
	r.turns[to]--
}

// mark marks the questions that some span covers.
func (r *ranks) mark(hit []bool) {
	spans := 0
	for i, turn := range r.turns {
		if spans += turn; spans > 0 {
			hit[r.list[i].question] = true
		}
	}
}

// rank is what leaves look at: the probability of a noul, else the confidence, or less
// than any where there is no distribution.
func (a *Answer) rank() float64 {
	switch {
	case a.Kind == Noul:
		return a.Noul
	case len(a.Probabilities) == 0:
		return -1
	}
	return a.Confidence
}

// above returns whether a rank is below what the leaf is true of (-1), above (1) or
// neither (0).
func (c *Condition) above(rank float64) int {
	between := c.ProbabilityBetween
	switch {
	case between == nil && rank < *c.ConfidenceBelow:
		return 0
	case between == nil, rank > between[1]:
		return 1
	case rank < between[0]:
		return -1
	}
	return 0
}
