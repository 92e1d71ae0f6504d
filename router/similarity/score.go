package similarity

import (
	"errors"
	"math"
)

// Weights say how much each kind of evidence for an answer counts. The zero value means
// the weights fitted to the embedded encoder.
type Weights struct {
	EncoderBest float64 // cosine of the state and the nearest phrase
	EncoderMean float64 // mean cosine of the state and all phrases
	WordsBest   float64 // cosine of the word vectors of the nearest phrase
	Overlap     float64 // shared words with the phrase that shares most
	// Temperature divides the weighted sum: a higher temperature makes answers less
	// certain. It must be positive if any other field is set.
	Temperature float64
	// TopicSlope and TopicOffset convert the weighted sum to a logit for a noul with only
	// one answer: slope times sum plus offset. If both are zero, such a noul is answered
	// with one half.
	TopicSlope, TopicOffset float64
}

// fitted returns the weights of a conditional logit, fitted on the CLINC validation set
// and 140 training sentences of SNIPS. The temperature was chosen on ten other data sets
// by leaving each out in turn; it was always between 1.27 and 1.35.
//
// TopicSlope and TopicOffset are a logistic regression on "Is it about X?" over the CLINC
// validation set, with as many yes as no. TestGateTopics derives them again.
func fitted() Weights {
	return Weights{
		EncoderBest: 6.35, EncoderMean: 5.65, WordsBest: 4.43, Overlap: 9.27, Temperature: 1.33,
		TopicSlope: .874, TopicOffset: -4.81,
	}
}

// errVector is the error of a score that is not a finite number, because the encoder
// returned vectors of different lengths or with NaN.
var errVector = errors.New("similarity: the encoder gave vectors of different lengths or without a number")

// sense is the encoded form of a text. It is read-only.
type sense struct {
	tokens   int
	sentence []float32 // nil: the encoder found no meaning
	words    []float32 // nil: the table knows no word
	overlap  bag
}

// size returns about how many bytes s takes.
func (s *sense) size() int {
	const headers = 200 // this struct, its slices and a cache entry
	return headers + 4*(len(s.sentence)+len(s.words)) + 16*len(s.overlap)
}

// evidence returns the weighted sum of the evidence for an answer that at least one
// phrase describes.
func (w Weights) evidence(state *sense, phrases []*sense) float64 {
	best, words, shared, sum := math.Inf(-1), math.Inf(-1), 0.0, 0.0
	for _, phrase := range phrases {
		cosine := dot(state.sentence, phrase.sentence)
		sum += cosine
		best = max(best, cosine)
		words = max(words, dot(state.words, phrase.words))
		shared = max(shared, state.overlap.overlap(phrase.overlap))
	}
	mean := sum / float64(len(phrases))
	return w.EncoderBest*best + w.EncoderMean*mean + w.WordsBest*words + w.Overlap*shared
}

// choose returns the probability of each answer. Each piece of the state that has a
// vector gives a distribution. The result is the mean of these, weighted by tokens, so
// pieces that disagree make it less certain. All answers are equally probable if no piece
// has a vector or an answer has no phrases.
func (w Weights) choose(state []*sense, answers [][]*sense) ([]float64, error) {
	even := make([]float64, len(answers))
	for i := range even {
		even[i] = 1 / float64(len(answers))
	}
	for _, phrases := range answers {
		if len(phrases) == 0 {
			return even, nil
		}
	}
	mixed := make([]float64, len(answers))
	var total float64
	for _, piece := range state {
		if piece.sentence == nil {
			continue
		}
		logits := make([]float64, len(answers))
		for i, phrases := range answers {
			logits[i] = w.evidence(piece, phrases) / w.Temperature
		}
		p, err := softmax(logits)
		if err != nil {
			return nil, err
		}
		for i := range p {
			mixed[i] += float64(piece.tokens) * p[i]
		}
		total += float64(piece.tokens)
	}
	if total == 0 {
		return even, nil
	}
	for i := range mixed {
		mixed[i] /= total
	}
	return mixed, nil
}

// softmax converts logits to probabilities, in place.
func softmax(logits []float64) ([]float64, error) {
	top := math.Inf(-1)
	for _, z := range logits {
		if math.IsNaN(z) || math.IsInf(z, 0) {
			return nil, errVector
		}
		top = max(top, z)
	}
	var sum float64
	for i, z := range logits {
		logits[i] = math.Exp(z - top)
		sum += logits[i]
	}
	for i := range logits {
		logits[i] /= sum
	}
	return logits, nil
}

// dot returns the cosine of two vectors of length 1. It is 0 if one of them is nil, and
// NaN if their lengths differ.
func dot(a, b []float32) float64 {
	if a == nil || b == nil {
		return 0
	}
	if len(a) != len(b) {
		return math.NaN()
	}
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return float64(s0 + s1 + s2 + s3)
}
