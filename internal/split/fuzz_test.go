package split_test

import (
	"encoding/binary"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/split"
	"github.com/signalbox/signalbox/systemone"
)

// FuzzTake: whatever an endpoint answers, Take returns an error or the merged answers
// are valid. The input gives the probabilities, and which answers are spoiled how.
func FuzzTake(f *testing.F) {
	seed := func(values ...float64) []byte {
		var out []byte
		for _, v := range values {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
		}
		return out
	}
	f.Add(uint8(5), uint8(2), []byte{0}, seed(1, 2, 3))
	f.Add(uint8(255), uint8(26), []byte{0, 0, 3}, seed(1, 0))
	f.Add(uint8(9), uint8(2), []byte{1, 2, 3, 4, 5, 6}, seed(math.NaN(), math.Inf(1), -1))
	f.Add(uint8(9), uint8(3), []byte{0}, seed(5e-324, 1, 1e-300))
	f.Fuzz(func(t *testing.T, options, most uint8, spoil, values []byte) {
		questions := []systemone.Question{choiceOf("desk", max(int(options), 1))}
		s, ok := split.New(questions, questions, split.Limits{Options: int(most)})
		if !ok {
			return
		}
		next := endless(spoil)
		value := floats(values)
		for range 40 { // eight rounds at most, and bad answers are asked again
			sheets := s.Next()
			if sheets == nil {
				break
			}
			for _, q := range sheets[0] {
				a := answerWith(q, value)
				spoilAnswer(&a, next())
				_ = s.Take(systemone.Answers{a})
			}
		}
		answers := s.Answers()
		if len(answers) > 0 && answers[0].Refusal == "" && int(most) > 0 && len(questions[0].Options) > int(most) {
			require.NoError(t, systemone.Check(&systemone.Request{Questions: questions}, answers, systemone.Tolerance{}))
		}
	})
}

func endless(from []byte) func() byte {
	i := 0
	return func() byte {
		if len(from) == 0 {
			return 0
		}
		i++
		return from[i%len(from)]
	}
}

func floats(from []byte) func() float64 {
	next := endless(from)
	return func() float64 {
		var raw [8]byte
		for i := range raw {
			raw[i] = next()
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(raw[:]))
	}
}

func answerWith(q systemone.Question, value func() float64) systemone.Answer {
	p := make([]float64, len(q.Options))
	for i := range p {
		p[i] = value()
	}
	systemone.Renormalise(p)
	a := systemone.Answer{Name: q.Name, Kind: q.Kind, Choice: q.Options[systemone.Argmax(p, -1)].Name}
	for i, x := range p {
		a.Probabilities = append(a.Probabilities, systemone.Probability{Label: q.Options[i].Name, P: x})
	}
	return a
}

func spoilAnswer(a *systemone.Answer, how byte) {
	switch at := int(how) % len(a.Probabilities); how % 11 {
	case 1:
		a.Name = "desk_" + strconv.Itoa(int(how))
	case 2:
		a.Kind = systemone.Score
	case 3:
		a.Probabilities = a.Probabilities[:at]
	case 4:
		a.Probabilities[at].P = math.NaN()
	case 5:
		a.Probabilities[at].Label = a.Choice
	case 6:
		a.Choice = a.Probabilities[at].Label
	case 7:
		a.Name, a.Choice = "desk", "desk"
	case 8:
		a.Refusal = "No."
	}
}
