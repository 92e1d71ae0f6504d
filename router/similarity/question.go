package similarity

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/systemone"
)

// inquiry is a question reduced to the phrases of its answers, in the order of the
// request. A noul has two answers, yes and no. It has one answer if only one side has
// phrases, and none if no phrase can be derived.
type inquiry struct {
	answers [][]string
	// against marks the only answer of a noul as the answer no.
	against bool
}

// inquire returns the inquiry of a question. Its errors are those of [reader.texts].
func inquire(ctx context.Context, q *systemone.Question, r *reader) (inquiry, error) {
	switch q.Kind {
	case systemone.Noul:
		return inquireNoul(ctx, q, r)
	case systemone.Choice:
		in := inquiry{answers: make([][]string, len(q.Options))}
		for i, option := range q.Options {
			phrases, err := r.texts(ctx, option.Guidance)
			if err != nil {
				return in, err
			}
			if len(phrases) == 0 {
				phrases = []string{spoken(option.Name)}
				if err := r.take(phrases[0]); err != nil {
					return in, err
				}
			}
			in.answers[i] = phrases
		}
		return in, nil
	case systemone.Score:
		in := inquiry{answers: make([][]string, len(q.Levels))}
		for i, level := range q.Levels {
			phrases, err := r.texts(ctx, level)
			if err != nil {
				return in, err
			}
			in.answers[i] = phrases
		}
		return in, nil
	default:
		return inquiry{}, fmt.Errorf("%w: a question has an unknown type", errRequest)
	}
}

func inquireNoul(ctx context.Context, q *systemone.Question, r *reader) (inquiry, error) {
	yes, err := r.texts(ctx, q.True)
	if err != nil {
		return inquiry{}, err
	}
	no, err := r.texts(ctx, q.False)
	if err != nil {
		return inquiry{}, err
	}
	switch {
	case len(yes) > 0 && len(no) > 0:
		return inquiry{answers: [][]string{yes, no}}, nil
	case len(yes) > 0:
		return inquiry{answers: [][]string{yes}}, nil
	case len(no) > 0:
		return inquiry{answers: [][]string{no}, against: true}, nil
	}
	instructions, err := r.texts(ctx, q.Instructions)
	if err != nil {
		return inquiry{}, err
	}
	if about, ok := topic(strings.Join(instructions, " ")); ok {
		return inquiry{answers: [][]string{{about}}}, nil
	}
	return inquiry{}, nil
}

// answer converts probabilities to the answer of q. For a noul p[0] is the probability of
// yes.
func answer(q *systemone.Question, p []float64) systemone.Answer {
	a := systemone.Answer{Name: q.Name, Kind: q.Kind}
	switch q.Kind {
	case systemone.Noul:
		a.Noul = p[0]
	case systemone.Choice:
		a.Choice = q.Options[systemone.Argmax(p, -1)].Name
		a.Confidence = systemone.ChoiceConfidence(p)
		a.Probabilities = label(p, func(i int) string { return q.Options[i].Name })
	case systemone.Score:
		a.Score = systemone.Mean(p)
		a.Confidence = systemone.ScoreConfidence(p)
		a.Probabilities = label(p, strconv.Itoa)
		a.Legend = q.Levels
	}
	return a
}

func label(p []float64, name func(int) string) []systemone.Probability {
	labelled := make([]systemone.Probability, len(p))
	for i, x := range p {
		labelled[i] = systemone.Probability{Label: name(i), P: x}
	}
	return labelled
}
