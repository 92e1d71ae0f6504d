package systemone

import "encoding/json"

// Answer answers one question. Kind decides which fields are used.
type Answer struct {
	Name   string // the question's
	Kind   Kind
	Noul   float64 // Noul: the probability of yes
	Choice string  // Choice: the most probable option
	Score  float64 // Score: the mean level index
	// Confidence is derived from Probabilities and has no meaning without them.
	Confidence float64
	// Probabilities are in the order of the request's options or levels; the label
	// of a level is its index. Nil where the endpoint gives none.
	Probabilities []Probability
	// Refusal is the text with which a model refused the question; "" is no refusal.
	// Such an answer has nothing else but Name and Kind. It is valid only where
	// [Request.Refusals] is set.
	Refusal string
	// Legend repeats a score's levels by index; JSON omits nil entries.
	Legend []json.RawMessage
}

// P returns the probability of a label: the name of an option, the index of a level
// ("0"), or "true" and "false" for a noul. It returns 0 for any other label, and
// for every label of a refusal or where the endpoint gave no distribution.
func (a *Answer) P(label string) float64 {
	if a.Refusal != "" {
		return 0
	}
	if a.Kind == Noul {
		switch label {
		case "true":
			return a.Noul
		case "false":
			return 1 - a.Noul
		}
		return 0
	}
	for i := range a.Probabilities {
		if a.Probabilities[i].Label == label {
			return a.Probabilities[i].P
		}
	}
	return 0
}

// Probability is the probability of one option or level.
type Probability struct {
	Label string
	P     float64
}

// Answers are the answers of one reply, in order. As JSON they are an object keyed
// by question name.
type Answers []Answer

// Get returns the answer to a question, and whether it exists.
func (a Answers) Get(question string) (Answer, bool) {
	for i := range a {
		if a[i].Name == question {
			return a[i], true
		}
	}
	return Answer{}, false
}

// Usage counts what a decision used.
type Usage struct {
	InputTokens     int64
	OutputTokens    int64
	ReasoningTokens int64
	CachedTokens    int64
	// Cost is exact decimal text in USD, or "" when unknown. It is never converted
	// to a float.
	Cost json.Number
}

// Response is the reply to a request.
type Response struct {
	ID       string // JSON omits "", as for Provider
	Model    string
	Provider string // display name
	Answers  Answers
	Usage    Usage
}

// Tolerance says how exact an endpoint's answers are. The zero value is full
// precision.
type Tolerance struct {
	// Rounding is the unit to which the endpoint rounds probabilities and scores:
	// 0.01 for two decimals, 0 for full precision.
	Rounding float64
	// NoDistribution says that the endpoint gives no probabilities for choices and
	// scores. Without it a missing distribution is a bad answer.
	NoDistribution bool
}
