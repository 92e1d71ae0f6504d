package similarity

import "github.com/signalbox/signalbox/systemone"

const (
	unsureConfidence = 0.6
	unsureNoul       = 0.25 // from it to 1 less it
)

// Unsure returns a condition for the models that are asked after this one: that it is
// unsure of a choice or score (a confidence below 0.6) or of a noul (a probability
// from 0.25 to 0.75). It names no question, so it suits every request. The package
// documentation has figures. Every call returns a new condition.
func Unsure() *systemone.Condition {
	below := unsureConfidence
	return &systemone.Condition{Any: []systemone.Condition{
		{ConfidenceBelow: &below},
		{ProbabilityBetween: &[2]float64{unsureNoul, 1 - unsureNoul}},
	}}
}
