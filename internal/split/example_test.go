package split_test

import (
	"fmt"

	"github.com/signalbox/signalbox/internal/split"
	"github.com/signalbox/signalbox/systemone"
)

// An endpoint takes two options at once, and the choice has four.
func Example() {
	questions := []systemone.Question{{Name: "desk", Kind: systemone.Choice, Options: []systemone.Option{
		{Name: "sales"}, {Name: "billing"}, {Name: "support"}, {Name: "legal"},
	}}}
	s, ok := split.New(questions, questions, split.Limits{Options: 2})
	if !ok {
		return // the endpoint takes one option
	}
	// The model prefers the later of two options, three to one.
	ask := func(sheet []systemone.Question) (answers systemone.Answers) {
		for _, q := range sheet {
			fmt.Println(q.Name, q.Options[0].Name, q.Options[1].Name)
			answers = append(answers, systemone.Answer{
				Name: q.Name, Kind: q.Kind, Choice: q.Options[1].Name,
				Probabilities: []systemone.Probability{{Label: q.Options[0].Name, P: 0.25}, {Label: q.Options[1].Name, P: 0.75}},
			})
		}
		return answers
	}
	for sheets := s.Next(); sheets != nil; sheets = s.Next() {
		for _, sheet := range sheets {
			if err := s.Take(ask(sheet)); err != nil {
				return // or Restart at another endpoint
			}
		}
	}
	for _, p := range s.Answers()[0].Probabilities {
		fmt.Println(p.Label, p.P)
	}
	// Output:
	// desk_1 sales billing
	// desk_2 support legal
	// desk_3 billing legal
	// sales 0.0625
	// billing 0.1875
	// support 0.1875
	// legal 0.5625
}
