package split_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/split"
	"github.com/signalbox/signalbox/systemone"
)

// BenchmarkChoice cuts 255 options at 26, takes the answers of both rounds and merges
// them.
func BenchmarkChoice(b *testing.B) {
	questions := []systemone.Question{choiceOf("desk", 255)}
	most := split.Limits{Options: 26}
	u := upstream{logits: map[string]float64{"option 7": 2}}
	var rounds []systemone.Answers
	s := start(b, most, questions...)
	for sheets := s.Next(); sheets != nil; sheets = s.Next() {
		var answers systemone.Answers
		for _, q := range sheets[0] {
			answers = append(answers, u.answer(b, q))
		}
		rounds = append(rounds, answers)
		require.NoError(b, s.Take(answers))
	}
	b.ReportAllocs()
	for b.Loop() {
		s, _ := split.New(questions, questions, most)
		for _, answers := range rounds {
			s.Next()
			if err := s.Take(answers); err != nil {
				b.Fatal(err)
			}
		}
		s.Answers()
	}
}

// BenchmarkMerge merges 100 answers of four sheets.
func BenchmarkMerge(b *testing.B) {
	var questions []systemone.Question
	for i := range 100 {
		questions = append(questions, noul("question "+strconv.Itoa(i)))
	}
	most := split.Limits{Questions: 25}
	var replies []systemone.Answers
	for _, sheet := range start(b, most, questions...).Next() {
		var answers systemone.Answers
		for _, q := range sheet {
			answers = append(answers, upstream{}.answer(b, q))
		}
		replies = append(replies, answers)
	}
	require.Len(b, replies, 4)
	b.ReportAllocs()
	for b.Loop() {
		s, _ := split.New(questions, questions, most)
		s.Next()
		for _, answers := range replies {
			if err := s.Take(answers); err != nil {
				b.Fatal(err)
			}
		}
		s.Answers()
	}
}

// BenchmarkBounds computes all sheets of 255 options at 26 in advance.
func BenchmarkBounds(b *testing.B) {
	s := start(b, split.Limits{Options: 26}, choiceOf("desk", 255))
	b.ReportAllocs()
	for b.Loop() {
		s.Bounds(longest)
	}
}
