package ask

import (
	"reflect"

	"github.com/signalbox/signalbox/systemone"
)

// Answer is the common part of the answers to all types of question. It is a plain
// value, which a test may build. The zero value is no answer.
type Answer struct {
	// Confidence is 1 for a certain answer and 0 for equal probabilities:
	// [systemone.ChoiceConfidence] or [systemone.ScoreConfidence], and for a Noul
	// the former over its two sides. It is 0 where the endpoint gives no
	// probabilities, and for a default.
	Confidence float64
	// Probabilities are those of the options in their order, of the levels from the
	// lowest, or of a Noul's sides, labelled "yes" and "no". Nil where there are
	// none. They may be shared with the result, so they must not be changed.
	Probabilities []systemone.Probability
	// Err says why no model answered this question; nil where one did. It is for
	// the operator's log, so JSON omits it.
	Err error `json:"-"`
	// Defaulted says that the value is the question's default. Err is not nil then.
	Defaulted bool

	question *Question // of [NewChoice] and the like
}

// Margin returns by how much the most probable option, level or side leads the
// next. It is 1 where there is only one, and 0 without probabilities.
func (a Answer) Margin() float64 {
	first, second := 0.0, 0.0
	for _, p := range a.Probabilities {
		if p.P > first {
			first, second = p.P, first
		} else {
			second = max(second, p.P)
		}
	}
	return first - second
}

func (a Answer) of(label string) float64 {
	for _, p := range a.Probabilities {
		if p.Label == label {
			return p.P
		}
	}
	return 0
}

// sure reports whether a model answered with at least this confidence.
func (a Answer) sure(threshold float64) bool {
	return a.Err == nil && a.Confidence >= threshold
}

func (a Answer) built() *Question { return a.question }

// Choice is a question with named options, and its answer, one of these. T is the
// type of the options' names. The zero value is no answer.
type Choice[T ~string] struct {
	Value T // the most probable option, or the default
	Answer
}

// NewChoice returns a question whose options are known only at run time, for a
// template of [NewSheet], which checks it.
func NewChoice[T ~string](q Question) Choice[T] {
	return Choice[T]{Answer: Answer{question: &q}}
}

// P returns the probability of an option, 0 for any other name and where there
// are no probabilities.
func (c Choice[T]) P(option T) float64 { return c.of(string(option)) }

// Else returns the value if a model answered with a confidence of at least the
// threshold, and the fallback otherwise, also in place of a default.
func (c Choice[T]) Else(threshold float64, fallback T) T {
	if c.sure(threshold) {
		return c.Value
	}
	return fallback
}

func (Choice[T]) kind() systemone.Kind { return systemone.Choice }

// Noul is a yes-or-no question and its answer. The zero value is no without a
// probability.
type Noul struct {
	Value bool // whether yes is more probable than no, or the default
	Answer
}

// NewNoul returns a question for a template of [NewSheet], which checks it.
func NewNoul(q Question) Noul { return Noul{Answer: Answer{question: &q}} }

// P returns the probability of yes, or of no. It is 0 where no model answered.
func (n Noul) P(yes bool) float64 {
	if yes {
		return n.of(yesLabel)
	}
	return n.of(noLabel)
}

// Else returns the value if a model answered with a confidence of at least the
// threshold, and the fallback otherwise, also in place of a default. The
// confidence of a Noul is |2p−1|: 0.8 where yes has a probability of 0.9 or 0.1.
func (n Noul) Else(threshold float64, fallback bool) bool {
	if n.sure(threshold) {
		return n.Value
	}
	return fallback
}

func (Noul) kind() systemone.Kind { return systemone.Noul }

// Score is a question for a position on a scale of named levels, and its answer.
// The zero value is no answer.
type Score struct {
	// Value is the mean of the levels' indices, from 0 to the number of levels less
	// one, or the index of the default. No level near it need be probable: of three
	// levels, one half calm and one half furious has a mean of 1.
	Value float64
	// Level is the name of the most probable level, the lowest of several. Without
	// probabilities it is the level nearest to Value.
	Level string
	Answer
}

// NewScore returns a question whose levels are known only at run time, for a
// template of [NewSheet], which checks it.
func NewScore(q Question) Score { return Score{Answer: Answer{question: &q}} }

// P returns the probability of a level by its name, 0 for any other name and
// where there are no probabilities.
func (s Score) P(level string) float64 { return s.of(level) }

// Else returns the mean if a model answered with a confidence of at least the
// threshold, and the fallback otherwise, also in place of a default.
func (s Score) Else(threshold, fallback float64) float64 {
	if s.sure(threshold) {
		return s.Value
	}
	return fallback
}

func (Score) kind() systemone.Kind { return systemone.Score }

// question is implemented by Choice, Noul and Score.
type question interface {
	kind() systemone.Kind
	built() *Question
}

// questionKind returns the kind of question of t. It is "" for any other type,
// including one that embeds a question and so has its methods.
func questionKind(t reflect.Type) systemone.Kind {
	if q, ok := asQuestion(reflect.Zero(t)); ok {
		return q.kind()
	}
	return ""
}

func asQuestion(v reflect.Value) (question, bool) {
	if v.Kind() != reflect.Struct || v.Type().PkgPath() != reflect.TypeFor[Answer]().PkgPath() {
		return nil, false
	}
	return reflect.TypeAssert[question](v)
}
