package systemone

import (
	"errors"
	"math"
	"strconv"
)

// ErrAnswer is what every [*AnswerError] is.
var ErrAnswer = errors.New("systemone: bad answer")

// AnswerError says why a reply must not be trusted. It holds nothing of the
// reply but the name of an answer.
type AnswerError struct {
	Question string // "" if the reply as a whole is bad
	Problem  string
}

// Error shows the question's name safely.
func (e *AnswerError) Error() string {
	text := ErrAnswer.Error()
	if e.Question != "" {
		text += ": " + step(e.Question)
	}
	return text + ": " + e.Problem
}

// Unwrap makes errors.Is(err, ErrAnswer) true.
func (e *AnswerError) Unwrap() error { return ErrAnswer }

// slack is what float64 arithmetic and a printed decimal may cost on top of an
// endpoint's rounding.
const slack = 1e-6

// Check says whether the answers a are sound answers to r from an endpoint
// with tolerance t. It returns nil or an [*AnswerError]. The answers are sound
// when there is exactly one for each question, of its kind, and
//
//   - a noul lies in [0, 1];
//   - the labels of a distribution are exactly the options, or the indices of
//     the levels, in any order; each probability lies in [0, 1], and their sum
//     within n·Rounding/2 + 1e-6 of 1 and not at zero;
//   - a choice is one of the options, and its probability within Rounding +
//     1e-6 of the largest;
//   - a score is the mean of its distribution, up to what rounding can do. Each
//     probability is off by Rounding/2 at most and the score by as much, so with
//     a sum of S the mean moves by (Rounding/2)·(n(n−1)/2)/S at most and the
//     score may be off by Rounding/2 more and n·1e-6. A score that is the
//     mean of the probabilities as they are, undivided by S, is sound as well.
//
// Without a distribution a choice or score is bad, unless t has
// NoDistribution; then the choice must be an option and the score lie in
// [0, n−1]. Confidence and Legend are not looked at.
func Check(r *Request, a Answers, t Tolerance) error {
	c := checker{rounding: t.rounding(), noDistribution: t.NoDistribution}
	return c.all(r, a, func(int, *Question, *Answer, []float64) {})
}

// rounding returns the unit, 0 for one that is no unit.
func (t Tolerance) rounding() float64 {
	if t.Rounding > 0 && t.Rounding < 1 {
		return t.Rounding
	}
	return 0
}

type checker struct {
	rounding       float64
	noDistribution bool
	scratch        []float64
}

// all checks every answer and shows each sound one to use, with its
// probabilities in the order of the request; use must not keep them.
func (c *checker) all(r *Request, a Answers, use func(at int, q *Question, ans *Answer, p []float64)) error {
	if len(a) > len(r.Questions) {
		return &AnswerError{Problem: "there are more answers than questions"}
	}
	find := finder{size: len(a), name: func(i int) string { return a[i].Name }}
	for i := range r.Questions {
		q := &r.Questions[i]
		at := find.at(i, q.Name)
		if at < 0 {
			return &AnswerError{Question: q.Name, Problem: "has no answer"}
		}
		p, problem := c.answer(q, &a[at])
		if problem != "" {
			return &AnswerError{Question: q.Name, Problem: problem}
		}
		use(i, q, &a[at], p)
	}
	return nil
}

// answer returns the probabilities in the order of the question, and what is
// wrong with the answer.
func (c *checker) answer(q *Question, a *Answer) (p []float64, problem string) {
	p, problem = c.exactly(q, a)
	if problem != "" && len(a.Probabilities) > 0 {
		problem = c.ifRounded(problem, q, a)
	}
	return p, problem
}

// exactly is answer without a word about other tolerances.
func (c *checker) exactly(q *Question, a *Answer) (p []float64, problem string) {
	if a.Kind != q.Kind {
		return nil, "is of another type than the question"
	}
	switch q.Kind {
	case Noul:
		if !(a.Noul >= 0 && a.Noul <= 1) {
			return nil, "noul is not in [0, 1]"
		}
		return nil, ""
	case Choice:
		return c.choice(q, a)
	case Score:
		return c.score(q, a)
	default:
		return nil, "is of no known type"
	}
}

func (c *checker) choice(q *Question, a *Answer) (p []float64, problem string) {
	chosen := -1
	for i := range q.Options {
		if q.Options[i].Name == a.Choice {
			chosen = i
			break
		}
	}
	if chosen < 0 {
		return nil, "choice is not an option"
	}
	if len(a.Probabilities) == 0 {
		return nil, c.withoutDistribution()
	}
	p, problem = c.distribution(a.Probabilities, len(q.Options), func(i int) string { return q.Options[i].Name })
	if problem == "" && p[chosen] < p[Argmax(p, -1)]-c.rounding-slack {
		problem = "choice is not the most probable option"
	}
	return p, problem
}

func (c *checker) score(q *Question, a *Answer) (p []float64, problem string) {
	n := len(q.Levels)
	if len(a.Probabilities) == 0 {
		if !(a.Score >= 0 && a.Score <= float64(n-1)) {
			return nil, "score is not on the scale"
		}
		return nil, c.withoutDistribution()
	}
	p, problem = c.distribution(a.Probabilities, n, strconv.Itoa)
	if problem == "" && !c.isMean(a.Score, p) {
		problem = "score is not the mean of its probabilities"
	}
	return p, problem
}

func (c *checker) isMean(score float64, p []float64) bool {
	n, sum, mean := float64(len(p)), total(p), Mean(p)
	own := c.rounding/2 + n*slack
	moved := c.rounding / 2 * (n * (n - 1) / 2) / sum
	return math.Abs(score-mean/sum) <= own+moved || math.Abs(score-mean) <= own
}

func (c *checker) withoutDistribution() string {
	if c.noDistribution {
		return ""
	}
	return "has no probabilities"
}

// distribution sorts probabilities by label and checks them.
func (c *checker) distribution(given []Probability, n int, label func(int) string) (p []float64, problem string) {
	if len(given) != n {
		return nil, "probabilities do not have one label for each option or level"
	}
	c.scratch = c.scratch[:0]
	find := finder{size: n, name: func(i int) string { return given[i].Label }}
	for i := range n {
		at := find.at(i, label(i))
		if at < 0 {
			return nil, "probabilities lack an option or level"
		}
		x := given[at].P
		if !(x >= 0 && x <= 1) {
			return nil, "a probability is not in [0, 1]"
		}
		c.scratch = append(c.scratch, x)
	}
	sum := total(c.scratch)
	if !(sum > 0) {
		return nil, "all probabilities are zero"
	}
	if math.Abs(sum-1) > float64(n)*c.rounding/2+slack {
		return nil, "probabilities do not sum to 1"
	}
	return c.scratch, ""
}

func total(p []float64) float64 {
	sum := 0.0
	for _, x := range p {
		sum += x
	}
	return sum
}

// finder finds names in a list that is expected to be in order, or nearly so.
type finder struct {
	size  int
	name  func(int) string
	index map[string]int // made when the order is not as expected
}

// at returns where name stands, first looking at guess, or -1.
func (f *finder) at(guess int, name string) int {
	if guess < f.size && f.name(guess) == name {
		return guess
	}
	if f.size <= pairwise {
		for i := range f.size {
			if f.name(i) == name {
				return i
			}
		}
		return -1
	}
	if f.index == nil {
		f.index = make(map[string]int, f.size)
		for i := range f.size {
			f.index[f.name(i)] = i
		}
	}
	if at, ok := f.index[name]; ok {
		return at
	}
	return -1
}
