package systemone

import "strconv"

// Repair checks the answers as [Check] does and returns them in the form that
// callers get. It corrects only rounding errors; anything else is an
// [*AnswerError]:
//
//   - answers and probabilities are in the order of the request;
//   - probabilities sum to 1 within 1e-9 (see [Renormalise]);
//   - a choice is the most probable option; of several it is the given one, else
//     the first in the order of the request;
//   - a score is the mean of its distribution;
//   - confidence is [ChoiceConfidence] or [ScoreConfidence], whatever was given;
//   - the legend is the request's levels.
//
// Without a distribution, where t allows that, choice and score stay as given and
// there is no confidence. A refusal stays a refusal. Repair is idempotent. It does not change its input; the
// legend shares memory with r.
func Repair(r *Request, a Answers, t Tolerance) (Answers, error) {
	size := 0
	for i := range r.Questions {
		size += len(r.Questions[i].Options) + len(r.Questions[i].Levels)
	}
	rest := make([]Probability, min(size, count(a)))
	out := make(Answers, len(r.Questions))
	c := checker{rounding: t.rounding(), noDistribution: t.NoDistribution, refusals: r.Refusals}
	err := c.all(r, a, func(at int, q *Question, given *Answer, p []float64) {
		to := &out[at]
		*to = Answer{Name: q.Name, Kind: q.Kind}
		if len(p) > 0 {
			to.Probabilities, rest = rest[:len(p):len(p)], rest[len(p):]
		}
		if to.Refusal = given.Refusal; to.Refusal != "" {
			return
		}
		switch q.Kind {
		case Choice:
			repairChoice(to, q, given, p)
		case Score:
			repairScore(to, q, given, p)
		default:
			to.Noul = given.Noul
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// count returns how many probabilities the answers have.
func count(a Answers) int {
	n := 0
	for i := range a {
		n += len(a[i].Probabilities)
	}
	return n
}

func repairChoice(to *Answer, q *Question, given *Answer, p []float64) {
	to.Choice = given.Choice
	if len(p) == 0 {
		return
	}
	chosen := 0
	for i := range q.Options {
		if q.Options[i].Name == given.Choice {
			chosen = i
			break
		}
	}
	// Before the division, which may make different probabilities equal.
	to.Choice = q.Options[Argmax(p, chosen)].Name
	Renormalise(p)
	to.Confidence = ChoiceConfidence(p)
	for i, x := range p {
		to.Probabilities[i] = Probability{Label: q.Options[i].Name, P: x}
	}
}

func repairScore(to *Answer, q *Question, given *Answer, p []float64) {
	to.Score = given.Score
	to.Legend = q.Levels
	if len(p) == 0 {
		return
	}
	Renormalise(p)
	to.Score = min(Mean(p), float64(len(p)-1))
	to.Confidence = ScoreConfidence(p)
	for i, x := range p {
		to.Probabilities[i] = Probability{Label: strconv.Itoa(i), P: x}
	}
}
