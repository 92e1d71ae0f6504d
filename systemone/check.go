package systemone

import (
	"errors"
	"math"
	"strconv"
)

// ErrAnswer is wrapped by every [*AnswerError].
var ErrAnswer = errors.New("systemone: bad answer")

// AnswerError says why a reply must not be trusted. Of the reply it contains only
// the name of an answer.
type AnswerError struct {
	Question string // "" if the reply as a whole is bad
	Problem  string
}

// Error returns the problem, with the question's name made safe to print.
func (e *AnswerError) Error() string {
	text := ErrAnswer.Error()
	if e.Question != "" {
		text += ": " + step(e.Question)
	}
	return text + ": " + e.Problem
}

// Unwrap makes errors.Is(err, ErrAnswer) true.
func (e *AnswerError) Unwrap() error { return ErrAnswer }

// slack is the error that float64 arithmetic and printed decimals may add to an
// endpoint's rounding.
const slack = 1e-6

// Check checks the answers a to r, from an endpoint with tolerance t. It returns
// nil or an [*AnswerError]. The answers are valid when there is exactly one for
// each question, of its kind, and
//
//   - a noul lies in [0, 1];
//   - the labels of a distribution are exactly the options, or the indices of the
//     levels, in any order; each probability lies in [0, 1], and their sum within
//     n·Rounding/2 + 1e-6 of 1 and not at zero;
//   - a choice is one of the options, and its probability within Rounding + 1e-6 of
//     the largest;
//   - a score is the mean of its distribution, up to the effect of rounding. Each
//     probability is off by Rounding/2 at most and the score by as much. With a sum
//     of S the mean therefore moves by (Rounding/2)·(n(n−1)/2)/S at most, and the
//     score may be off by Rounding/2 and n·1e-6 more. A score that is the mean of
//     the probabilities as they are, undivided by S, is valid as well.
//
// Without a distribution a choice or score is bad, unless t has NoDistribution;
// then the choice must be an option and the score lie in [0, n−1]. Check ignores
// Confidence and Legend. A refusal is valid only where r has Refusals, and only
// without any figure, choice and distribution.
func Check(r *Request, a Answers, t Tolerance) error {
	c := checker{rounding: t.rounding(), noDistribution: t.NoDistribution, refusals: r.Refusals}
	return c.all(r, a, func(int, *Question, *Answer, []float64) {})
}

// rounding returns the unit, or 0 for a value that is no unit.
func (t Tolerance) rounding() float64 {
	if t.Rounding > 0 && t.Rounding < 1 {
		return t.Rounding
	}
	return 0
}

type checker struct {
	rounding       float64
	noDistribution bool
	refusals       bool
	scratch        []float64
}

// all checks every answer and passes each valid one to use, with its probabilities
// in the order of the request. use must not keep them.
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

// answer returns the probabilities in the order of the question, and the problem of
// the answer.
func (c *checker) answer(q *Question, a *Answer) (p []float64, problem string) {
	p, problem = c.exactly(q, a)
	if problem != "" && len(a.Probabilities) > 0 {
		problem = c.ifRounded(problem, q, a)
	}
	return p, problem
}

// exactly is answer without the hint about another tolerance.
func (c *checker) exactly(q *Question, a *Answer) (p []float64, problem string) {
	if a.Kind != q.Kind {
		return nil, "is of another type than the question"
	}
	if a.Refusal != "" {
		return nil, c.refusal(a)
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

func (c *checker) refusal(a *Answer) string {
	switch {
	case !c.refusals:
		return "is a refusal"
	case a.Noul != 0 || a.Choice != "" || a.Score != 0 || len(a.Probabilities) > 0:
		return "is a refusal and an answer"
	}
	return ""
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

// distribution puts probabilities into the order of the labels and checks them.
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

// finder finds names in a list whose order is expected to match, or nearly so.
type finder struct {
	size  int
	name  func(int) string
	scans int            // searches for names that were not where expected
	index map[string]int // made after pairwise scans
}

// at returns the index of name, or -1. It looks at guess first.
func (f *finder) at(guess int, name string) int {
	if guess < f.size && f.name(guess) == name {
		return guess
	}
	if f.size <= pairwise || f.scans < pairwise {
		f.scans++
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
