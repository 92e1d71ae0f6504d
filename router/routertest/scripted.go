package routertest

import (
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Answer is a scripted answer to one question, for [Step.Answers]. [Choose], [Yes]
// and [Rate] make one; [Refuse] and [RefuseForSafety] make a refusal.
type Answer struct {
	question string
	kind     systemone.Kind
	option   string // of a choice
	level    int    // of a score
	p        float64
	refusal  *router.Refusal // instead of an answer
}

// Choose answers a choice: option has the probability p, and the others share the
// rest evenly.
func Choose(question, option string, p float64) Answer {
	return Answer{question: question, kind: systemone.Choice, option: option, p: p}
}

// Yes answers a noul: p is the probability of yes.
func Yes(question string, p float64) Answer {
	return Answer{question: question, kind: systemone.Noul, p: p}
}

// Rate answers a score: the level with this index has the probability p, and the
// others share the rest evenly. The score is their mean.
func Rate(question string, level int, p float64) Answer {
	return Answer{question: question, kind: systemone.Score, level: level, p: p}
}

// Refuse refuses a question; text is what the upstream says, "" for nothing.
func Refuse(question, text string) Answer {
	return Answer{question: question, refusal: &router.Refusal{Question: question, Text: text}}
}

// RefuseForSafety is [Refuse] for an upstream that says that it was for safety.
func RefuseForSafety(question, text string) Answer {
	return Answer{question: question, refusal: &router.Refusal{Question: question, Text: text, Safety: true}}
}

// apply answers or refuses the question in a reply to a request.
func (s Answer) apply(reply *router.Reply, r *systemone.Request) error {
	if s.refusal != nil {
		drop(reply, s.question)
		reply.Refused = append(reply.Refused, *s.refusal)
		return nil
	}
	answer, err := s.to(r)
	if err != nil {
		return err
	}
	same := func(b systemone.Answer) bool { return b.Name == answer.Name }
	if i := slices.IndexFunc(reply.Answers, same); i >= 0 {
		reply.Answers[i] = answer
	} else {
		reply.Answers = append(reply.Answers, answer)
	}
	return nil
}

// to returns the answer to its question in a request, unchecked.
func (s Answer) to(r *systemone.Request) (systemone.Answer, error) {
	at := slices.IndexFunc(r.Questions, func(q systemone.Question) bool { return q.Name == s.question })
	if at < 0 {
		return systemone.Answer{}, fmt.Errorf("the request does not ask %q", s.question)
	}
	q := r.Questions[at]
	if q.Kind != s.kind {
		return systemone.Answer{}, fmt.Errorf("%q is a %s, the script answers a %s", s.question, q.Kind, s.kind)
	}
	switch s.kind {
	case systemone.Choice:
		labels := make([]string, len(q.Options))
		for i, o := range q.Options {
			labels[i] = o.Name
		}
		chosen := slices.Index(labels, s.option)
		if chosen < 0 {
			return systemone.Answer{}, fmt.Errorf("%q has no option %q", s.question, s.option)
		}
		a := choice(q.Name, labels, s.share(chosen, len(labels)))
		a.Choice = s.option
		return a, nil
	case systemone.Score:
		if s.level < 0 || s.level >= len(q.Levels) {
			return systemone.Answer{}, fmt.Errorf("%q has no level %d", s.question, s.level)
		}
		return score(q.Name, s.share(s.level, len(q.Levels))), nil
	default:
		return systemone.Answer{Name: q.Name, Kind: systemone.Noul, Noul: s.p}, nil
	}
}

// share returns n probabilities: p at one index, the rest evenly at the others.
func (s Answer) share(at, n int) []float64 {
	p := make([]float64, n)
	for i := range p {
		p[i] = (1 - s.p) / float64(n-1)
	}
	p[at] = s.p
	return p
}
