package split

import (
	"iter"
	"slices"

	"github.com/signalbox/signalbox/systemone"
)

// choice is a choice that is asked in rounds. In each round its entrants are cut into
// chunks, and the most probable option of each chunk enters the next round. The round
// of a single chunk is the last.
type choice struct {
	question *systemone.Question
	entrants []entrant
	// weights has, by option, its probability as a multiple of that of the entrant that
	// represents it, so an entrant's own weight is 1 and no weight is larger.
	weights []float64

	chunks  []chunk
	asked   []systemone.Question // the chunks of more than one entrant; nil between rounds
	answers []systemone.Answer   // to asked
	missing int                  // answers that are not there yet
}

// entrant represents the options [from, to), of which it was the most probable.
type entrant struct {
	option   systemone.Option
	from, to int
}

// chunk is the entrants [from, to).
type chunk struct {
	from, to int
	asked    int // its question; -1 for a single entrant, which needs none
}

func newChoice(q *systemone.Question) *choice {
	c := &choice{question: q, entrants: make([]entrant, len(q.Options)), weights: make([]float64, len(q.Options))}
	for i := range q.Options {
		c.entrants[i] = entrant{option: q.Options[i], from: i, to: i + 1}
		c.weights[i] = 1
	}
	return c
}

// runs cuts n things into the fewest runs [from, to) of at most most, which is at
// least 1. The sizes of runs differ by one at most; larger ones come first.
func runs(n, most int) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		count := parts(n, most)
		for from, i := 0, 0; from < n; i++ {
			to := from + n/count
			if i < n%count {
				to++
			}
			if !yield(from, to) {
				return
			}
			from = to
		}
	}
}

// parts returns the fewest runs of at most most things that n things make.
func parts(n, most int) int { return (n-1)/most + 1 }

// begin makes the questions of the next round. There is at least one, because there
// are several entrants and most is at least 2.
func (c *choice) begin(most int, names *names) {
	c.chunks = c.chunks[:0]
	for from, to := range runs(len(c.entrants), most) {
		if to-from == 1 {
			c.chunks = append(c.chunks, chunk{from: from, to: to, asked: -1})
			continue
		}
		c.chunks = append(c.chunks, chunk{from: from, to: to, asked: len(c.asked)})
		options := make([]systemone.Option, 0, to-from)
		for i := from; i < to; i++ {
			options = append(options, c.entrants[i].option)
		}
		c.asked = append(c.asked, systemone.Question{
			Name: names.next(c.question.Name), Kind: systemone.Choice, Instructions: c.question.Instructions, Options: options,
		})
	}
	c.answers, c.missing = make([]systemone.Answer, len(c.asked)), len(c.asked)
}

// due appends the questions without an answer.
func (c *choice) due(to []systemone.Question) []systemone.Question {
	for i := range c.asked {
		if c.answers[i].Name == "" {
			to = append(to, c.asked[i])
		}
	}
	return to
}

// open reports whether the question at that place has the name and no answer yet.
func (c *choice) open(at int, name string) bool {
	return at < len(c.asked) && c.asked[at].Name == name && c.answers[at].Name == ""
}

// take takes the answer to an open question and reports whether it was the last one
// missing.
func (c *choice) take(at int, a *systemone.Answer) (finished bool, err error) {
	repaired, err := systemone.Repair(&systemone.Request{Questions: c.asked[at : at+1]}, systemone.Answers{*a}, systemone.Tolerance{})
	if err != nil {
		return false, err
	}
	c.answers[at] = repaired[0]
	c.missing--
	return c.missing == 0, nil
}

// merge replaces the entrants of each chunk by the chosen one and reports whether that
// leaves one.
func (c *choice) merge() (last bool) {
	return c.reduce(func(members []entrant, a int) systemone.Option {
		p := c.answers[a].Probabilities
		chosen := slices.IndexFunc(p, func(x systemone.Probability) bool { return x.Label == c.answers[a].Choice })
		for i, m := range members {
			// p[chosen].P is the largest, and not 0.
			if ratio := p[i].P / p[chosen].P; ratio < 1 {
				scale(c.weights[m.from:m.to], ratio)
			}
		}
		return members[chosen].option
	})
}

// suppose is merge without answers: it pretends that largest is chosen.
func (c *choice) suppose(largest func([]systemone.Option) systemone.Option) (last bool) {
	return c.reduce(func(_ []entrant, a int) systemone.Option { return largest(c.asked[a].Options) })
}

func (c *choice) reduce(choose func(members []entrant, asked int) systemone.Option) (last bool) {
	kept := c.entrants[:0] // never ahead of what is read
	for _, k := range c.chunks {
		members := c.entrants[k.from:k.to]
		winner := entrant{option: members[0].option, from: members[0].from, to: members[len(members)-1].to}
		if k.asked >= 0 {
			winner.option = choose(members, k.asked)
		}
		kept = append(kept, winner)
	}
	c.entrants, c.asked = kept, nil
	return len(kept) == 1
}

// answer returns the answer to the whole choice, once one entrant is left. Its weight
// is 1, so the sum is at least 1 and at most the number of options.
func (c *choice) answer() systemone.Answer {
	sum := 0.0
	for _, w := range c.weights {
		sum += w
	}
	scale(c.weights, 1/sum)
	a := systemone.Answer{
		Name: c.question.Name, Kind: systemone.Choice, Choice: c.entrants[0].option.Name,
		Confidence:    systemone.ChoiceConfidence(c.weights),
		Probabilities: make([]systemone.Probability, len(c.weights)),
	}
	for i, w := range c.weights {
		a.Probabilities[i] = systemone.Probability{Label: c.question.Options[i].Name, P: w}
	}
	return a
}

func scale(list []float64, by float64) {
	for i := range list {
		list[i] *= by
	}
}

// clone returns a copy for suppose, which needs no weights and never takes answers.
func (c *choice) clone() *choice {
	out := *c
	out.entrants, out.chunks = slices.Clone(c.entrants), slices.Clone(c.chunks)
	return &out
}
