package router

import (
	"strconv"
	"testing"

	"github.com/signalbox/signalbox/systemone"
)

// BenchmarkMerge merges 100 answers of four legs, of which the last three replace those
// of the first.
func BenchmarkMerge(b *testing.B) {
	questions := make([]systemone.Question, 100)
	answers := make(systemone.Answers, len(questions))
	for i := range questions {
		questions[i].Name = "question " + strconv.Itoa(i)
		answers[i] = systemone.Answer{Name: questions[i].Name, Noul: 0.5}
	}
	legs := make([]*Leg, 4)
	for i := range legs {
		legs[i] = &Leg{Attempts: []AttemptRecord{{Endpoint: &Endpoint{}}}}
	}
	b.ReportAllocs()
	for b.Loop() {
		m := merged{questions: questions}
		m.take(Provenance{}, append(systemone.Answers(nil), answers...))
		for leg := 1; leg < len(legs); leg++ {
			m.take(Provenance{Leg: leg}, answers[25*leg:25*leg+25])
		}
		if m.most(legs).Leg != 0 {
			b.Fatal("of equal legs the first")
		}
	}
}
