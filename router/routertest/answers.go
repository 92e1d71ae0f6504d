package routertest

import (
	"math"
	"strconv"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Answers returns an answer to every question of a request, in its order, that
// passes [systemone.Check] at full precision. Equal requests get equal answers. A
// noul is 0.75. Of a choice or a score the first option or level is the most
// probable, and each further one half as probable as the one before.
func Answers(r *systemone.Request) systemone.Answers {
	answers := make(systemone.Answers, 0, len(r.Questions))
	for _, q := range r.Questions {
		answers = append(answers, answer(q))
	}
	return answers
}

func answer(q systemone.Question) systemone.Answer {
	switch q.Kind {
	case systemone.Choice:
		labels := make([]string, len(q.Options))
		for i, o := range q.Options {
			labels[i] = o.Name
		}
		return choice(q.Name, labels, halving(len(labels)))
	case systemone.Score:
		return score(q.Name, halving(len(q.Levels)))
	default:
		return systemone.Answer{Name: q.Name, Kind: systemone.Noul, Noul: 0.75}
	}
}

// halving returns n probabilities that sum to 1, each one half of the one before.
func halving(n int) []float64 {
	p := make([]float64, n)
	for i := range p {
		p[i] = math.Ldexp(1, -i-1) / (1 - math.Ldexp(1, -n))
	}
	return p
}

// choice builds an answer from a distribution, by the published formulas.
func choice(name string, labels []string, p []float64) systemone.Answer {
	best := 0
	a := systemone.Answer{Name: name, Kind: systemone.Choice}
	for i, label := range labels {
		if p[i] > p[best] {
			best = i
		}
		a.Probabilities = append(a.Probabilities, systemone.Probability{Label: label, P: p[i]})
	}
	a.Choice, a.Confidence = labels[best], 1
	if n := float64(len(p)); n > 1 {
		a.Confidence = (n*p[best] - 1) / (n - 1)
	}
	return a
}

func score(name string, p []float64) systemone.Answer {
	a := systemone.Answer{Name: name, Kind: systemone.Score, Confidence: 1}
	mode, spread, uniform := 0, 0.0, 0.0
	for i := range p {
		if p[i] > p[mode] {
			mode = i
		}
		a.Score += float64(i) * p[i]
		a.Probabilities = append(a.Probabilities, systemone.Probability{Label: strconv.Itoa(i), P: p[i]})
	}
	middle := float64(len(p)-1) / 2
	for i := range p {
		spread += p[i] * math.Abs(float64(i-mode))
		uniform += math.Abs(float64(i)-middle) / float64(len(p))
	}
	if uniform > 0 {
		a.Confidence = max(0, 1-spread/uniform)
	}
	return a
}

func defaultReply(a router.Attempt) router.Reply {
	return router.Reply{
		Answers: Answers(a.Request),
		Usage:   systemone.Usage{InputTokens: 1, OutputTokens: 1},
		Model:   a.Model,
	}
}
