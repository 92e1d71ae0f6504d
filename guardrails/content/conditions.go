package content

import (
	"slices"

	"github.com/signalbox/signalbox/systemone"
)

// entries returns entries whose conditions have the names of questions as they are
// sent.
func (n *Names) entries(asked []systemone.Entry) []systemone.Entry {
	names := make(map[string]string, len(n.asked.Questions))
	for i := range n.asked.Questions {
		names[n.asked.Questions[i].Name] = n.sent.Questions[i].Name
	}
	out := slices.Clone(asked)
	for i := range out {
		if when := out[i].When; when != nil {
			out[i].When = &renamedConditions([]systemone.Condition{*when}, names)[0]
		}
	}
	return out
}

// renamedConditions returns a copy of conditions, and of those within, with other
// names of questions.
func renamedConditions(list []systemone.Condition, names map[string]string) []systemone.Condition {
	out := slices.Clone(list)
	for i := range out {
		c := &out[i]
		if name, ok := names[c.Question]; ok {
			c.Question = name
		}
		c.Any, c.All = renamedConditions(c.Any, names), renamedConditions(c.All, names)
		if c.AtLeast != nil {
			c.AtLeast = &systemone.AtLeast{Count: c.AtLeast.Count, Conditions: renamedConditions(c.AtLeast.Conditions, names)}
		}
	}
	return out
}
