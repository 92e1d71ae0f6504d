package systemone

import "encoding/json"

// Answer answers one question. Which fields are used depends on Kind.
type Answer struct {
	Name   string // the question's
	Kind   Kind
	Noul   float64 // Noul: the probability of yes
	Choice string  // Choice: the most probable option
	Score  float64 // Score: the mean level index
	// Confidence belongs to Probabilities and is meaningless without them.
	Confidence float64
	// Probabilities stand in the order of the request's options or levels, the
	// label of a level being its index. Nil where the endpoint gives none.
	Probabilities []Probability
	// Legend repeats a score's levels by index; nil entries are left out of
	// JSON.
	Legend []json.RawMessage
}

// P returns the probability of a label: of an option by its name, of a level by
// its index ("0"), of a noul's two sides by "true" and "false". It is 0 for any
// other label, and for every label of a distribution that the endpoint did not
// give.
func (a *Answer) P(label string) float64 {
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

// Answers are the answers of one reply. As JSON they are an object keyed by
// question name, in this order.
type Answers []Answer

// Get returns the answer to a question, and whether there is one.
func (a Answers) Get(question string) (Answer, bool) {
	for i := range a {
		if a[i].Name == question {
			return a[i], true
		}
	}
	return Answer{}, false
}

// Usage counts what a decision took.
type Usage struct {
	InputTokens     int64
	OutputTokens    int64
	ReasoningTokens int64
	CachedTokens    int64
	// Cost is exact decimal text in USD, or "" when unknown. It is never
	// converted to a float.
	Cost json.Number
}

// Response is the reply to a request.
type Response struct {
	ID       string // "" is left out of JSON, like Provider
	Model    string
	Provider string // display name
	Answers  Answers
	Usage    Usage
}

// Tolerance states how exact an endpoint's answers are. The zero value is full
// precision.
type Tolerance struct {
	// Rounding is the unit that the endpoint rounds probabilities and scores
	// to: 0.01 for two decimals, 0 for full precision.
	Rounding float64
	// NoDistribution declares that the endpoint gives no probabilities for
	// choices and scores. Without it their absence is a bad answer.
	NoDistribution bool
}
