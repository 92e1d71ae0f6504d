package similarity

import (
	"math"
	"strings"
)

// yes returns the probability that the state is about the phrases. Pieces are mixed as in
// choose.
func (w Weights) yes(state, phrases []*sense) (float64, error) {
	if len(phrases) == 0 {
		return unsure, nil
	}
	var mixed, total float64
	for _, piece := range state {
		if piece.sentence == nil {
			continue
		}
		z := w.evidence(piece, phrases)
		if math.IsNaN(z) || math.IsInf(z, 0) {
			return 0, errVector
		}
		logit := (w.TopicSlope*z + w.TopicOffset) / w.Temperature
		mixed += float64(piece.tokens) / (1 + math.Exp(-logit))
		total += float64(piece.tokens)
	}
	if total == 0 {
		return unsure, nil
	}
	return mixed / total, nil
}

// unsure is the answer to a noul without evidence.
const unsure = .5

// topic returns what a question asks about: for "Is this about a late parcel?" it is "a
// late parcel". It recognises only forms that similarity of meaning can answer, and no
// question with a negation.
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
