package content

import (
	"slices"

	"github.com/signalbox/signalbox/systemone"
)

// Names restores the original names of questions and options in the answers to a redacted
// request. [Verdict] holds one. A nil *Names changes nothing. It is safe for concurrent
// use.
type Names struct{ asked, sent *systemone.Request }

// renamed returns the Names of a request and its redacted copy, or nil if they have the
// same names.
func renamed(asked, sent *systemone.Request) *Names {
	if asked == sent {
		return nil
	}
	for i := range asked.Questions {
		a, b := &asked.Questions[i], &sent.Questions[i]
		if a.Name != b.Name ||
			!slices.EqualFunc(a.Options, b.Options, func(a, b systemone.Option) bool { return a.Name == b.Name }) {
			return &Names{asked, sent}
		}
	}
	return nil
}

// Question returns the original name of a question.
func (n *Names) Question(name string) string {
	if n == nil {
		return name
	}
	for i := range n.sent.Questions {
		if n.sent.Questions[i].Name == name {
			return n.asked.Questions[i].Name
		}
	}
	return name
}

// Restore returns a copy of list with the original names. Legends stay redacted, as the
// levels were sent. An answer to no question of the request stays as it is.
func (n *Names) Restore(list systemone.Answers) systemone.Answers {
	if n == nil || list == nil {
		return list
	}
	at := make(map[string]int, len(n.sent.Questions))
	for i := range n.sent.Questions {
		at[n.sent.Questions[i].Name] = i
	}
	out := slices.Clone(list)
	for i := range out {
		if q, ok := at[out[i].Name]; ok {
			restore(&out[i], &n.asked.Questions[q], &n.sent.Questions[q])
		}
	}
	return out
}

func restore(a *systemone.Answer, asked, sent *systemone.Question) {
	a.Name = asked.Name
	if a.Kind != systemone.Choice {
		return
	}
	was := make(map[string]string, len(sent.Options))
	for i := range sent.Options {
		was[sent.Options[i].Name] = asked.Options[i].Name
	}
	if name, ok := was[a.Choice]; ok {
		a.Choice = name
	}
	a.Probabilities = slices.Clone(a.Probabilities)
	for i := range a.Probabilities {
		if name, ok := was[a.Probabilities[i].Label]; ok {
			a.Probabilities[i].Label = name
		}
	}
}
