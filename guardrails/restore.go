package guardrails

import (
	"slices"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// redaction is a request of which the one that was sent is a redacted copy.
type redaction struct{ asked, sent *systemone.Request }

// restore gives the answers of a call the names of questions and options of the
// request that was asked. Legends stay redacted, as the levels are. What the
// call's report and res hold is replaced, not changed: an observer may have kept
// it.
func (d redaction) restore(c *router.Call, res *router.Result) *router.Result {
	if !d.named() {
		return res
	}
	if slices.ContainsFunc(c.Report.Attempts, func(a router.AttemptRecord) bool { return len(a.Answers) > 0 }) {
		c.Report.Attempts = slices.Clone(c.Report.Attempts)
		for i := range c.Report.Attempts {
			a := &c.Report.Attempts[i]
			a.Answers = d.answers(a.Answers)
		}
	}
	if res == nil {
		return nil
	}
	out := *res
	out.Response.Answers = d.answers(res.Response.Answers)
	return &out
}

// named reports whether answers to the two requests may differ.
func (d redaction) named() bool {
	for i := range d.asked.Questions {
		asked, sent := &d.asked.Questions[i], &d.sent.Questions[i]
		if asked.Name != sent.Name ||
			!slices.EqualFunc(asked.Options, sent.Options, func(a, b systemone.Option) bool { return a.Name == b.Name }) {
			return true
		}
	}
	return false
}

// answers returns a copy in which names are as they were asked. What answers no
// question that was sent stays.
func (d redaction) answers(list systemone.Answers) systemone.Answers {
	if list == nil {
		return nil
	}
	at := make(map[string]int, len(d.sent.Questions))
	for i := range d.sent.Questions {
		at[d.sent.Questions[i].Name] = i
	}
	out := slices.Clone(list)
	for i := range out {
		if n, ok := at[out[i].Name]; ok {
			restoreAnswer(&out[i], &d.asked.Questions[n], &d.sent.Questions[n])
		}
	}
	return out
}

func restoreAnswer(a *systemone.Answer, asked, sent *systemone.Question) {
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
