package router_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// prepared answers the questions it is asked with prepared answers.
type prepared map[string]systemone.Answer

func (p prepared) Decide(_ context.Context, a router.Attempt) (router.Reply, error) {
	r := router.Reply{Answers: make(systemone.Answers, len(a.Request.Questions)), Usage: systemone.Usage{InputTokens: 10, OutputTokens: 1}}
	for i := range r.Answers {
		r.Answers[i] = p[a.Request.Questions[i].Name]
	}
	return r, nil
}

// benchmarkCourse measures a request at upstreams that answer at once, of which those
// of judge take a number of questions at most. It must make that many legs.
func benchmarkCourse(b *testing.B, q *systemone.Request, questions, legs int) {
	b.Helper()
	answers := prepared{}
	for _, question := range q.Questions {
		answers[question.Name] = softmaxAnswer(question, func(label string) float64 { return float64(len(label)) })
	}
	providers := []router.ProviderInfo{{Slug: "ant", Client: answers}, {Slug: "bee", Client: answers}}
	catalog, err := router.NewCatalog(models(), providers, []router.Endpoint{
		{Provider: "ant", Model: modelM, UpstreamModel: "m", Limits: router.EndpointLimits{Questions: questions}},
		{Provider: "bee", Model: modelN, UpstreamModel: "n", Limits: router.EndpointLimits{Questions: questions}},
	})
	require.NoError(b, err)
	r, err := router.New(router.Config{Catalog: catalog})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		c := &router.Call{Request: q}
		if _, err := r.Decide(b.Context(), c); err != nil || len(c.Report.Legs) != legs {
			b.Fatal(err, len(c.Report.Legs))
		}
	}
}

// within is true of nouls from one bound to another.
func within(question string, from, to float64) systemone.Condition {
	return systemone.Condition{Question: question, ProbabilityBetween: &[2]float64{from, to}}
}

// BenchmarkStages compares a plain call to one that names a second stage, which is due
// or not. The answers of all nouls are a half.
func BenchmarkStages(b *testing.B) {
	for _, bench := range []struct {
		name string
		when []systemone.Condition
		legs int
	}{
		{name: "plain", legs: 1},
		{name: "not due", when: []systemone.Condition{within("n0", 0.8, 1), within("n1", 0.8, 1)}, legs: 1},
		{name: "due", when: []systemone.Condition{within("n0", 0.4, 0.6), within("n1", 0.8, 1)}, legs: 2},
	} {
		b.Run(bench.name, func(b *testing.B) {
			q := large(4, 3)
			if bench.when != nil {
				q.Models = []systemone.Entry{{Model: "judge-mini", When: &systemone.Condition{Any: bench.when}}}
			}
			benchmarkCourse(b, q, 0, bench.legs)
		})
	}
}

// BenchmarkSheets asks 100 questions on one sheet and on four.
func BenchmarkSheets(b *testing.B) {
	for sheets, questions := range map[int]int{1: 100, 4: 25} {
		b.Run(strconv.Itoa(sheets), func(b *testing.B) { benchmarkCourse(b, large(100, 0), questions, sheets) })
	}
}
