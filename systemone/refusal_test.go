package systemone_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/systemone"
)

// refusing returns a request with one question of each kind, and answers of which
// the choice is a refusal.
func refusing() (*systemone.Request, systemone.Answers) {
	r := byHand()
	r.Refusals = true
	return &r, systemone.Answers{
		{Name: "yes", Kind: systemone.Noul, Noul: 0.25},
		{Name: "which", Kind: systemone.Choice, Refusal: "I won't \"choose\"."},
		{Name: "how", Kind: systemone.Score, Score: 0.5, Confidence: 0, Probabilities: []systemone.Probability{{Label: "0", P: 0.5}, {Label: "1", P: 0.5}}},
	}
}

// TestRefusalIsAnAnswer: a refusal is valid where the request has refusals, and is
// written and read as it is.
func TestRefusalIsAnAnswer(t *testing.T) {
	r, answers := refusing()
	require.NoError(t, systemone.Check(r, answers, systemone.Tolerance{}))
	got, err := systemone.Repair(r, answers, systemone.Tolerance{})
	require.NoError(t, err)
	assert.Equal(t, systemone.Answer{Name: "which", Kind: systemone.Choice, Refusal: "I won't \"choose\"."}, got[1])
	assert.Zero(t, got[1].P("a"))
	noul := systemone.Answer{Kind: systemone.Noul, Refusal: "no"}
	assert.Zero(t, noul.P("false"), "a refusal has no distribution")

	kept := systemone.Response{Model: "m", Answers: got}.AppendJSON(nil)
	assert.Contains(t, string(kept), `"which":{"type":"choice","refusal":"I won't \"choose\"."}`)
	again, err := systemone.DecodeResponse(kept)
	require.NoError(t, err)
	require.NoError(t, systemone.Check(r, again.Answers, systemone.Tolerance{}))
	assert.Equal(t, got[1], again.Answers[1])

	r.Refusals = false
	for _, repair := range []bool{false, true} {
		err := systemone.Check(r, answers, systemone.Tolerance{NoDistribution: true})
		if repair {
			_, err = systemone.Repair(r, answers, systemone.Tolerance{NoDistribution: true})
		}
		require.EqualError(t, err, "systemone: bad answer: which: is a refusal")
	}
}

func TestCheckRefusesHalfRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(a systemone.Answers)
	}{
		{"a figure", func(a systemone.Answers) { a[0].Refusal = "no" }},
		{"a choice", func(a systemone.Answers) { a[1].Choice = "a" }},
		{"a distribution", func(a systemone.Answers) { a[2].Score, a[2].Refusal = 0, "no" }},
		{"a score", func(a systemone.Answers) { a[2].Probabilities, a[2].Refusal = nil, "no" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, answers := refusing()
			c.change(answers)
			require.ErrorContains(t, systemone.Check(r, answers, systemone.Tolerance{NoDistribution: true}), "is a refusal and an answer")
		})
	}
	r, answers := refusing()
	answers[1].Kind = systemone.Noul
	require.ErrorContains(t, systemone.Check(r, answers, systemone.Tolerance{}), "is of another type than the question")
}

// TestDecodeResponseReadsRefusals: a refusal counts only in place of an answer.
func TestDecodeResponseReadsRefusals(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"noul","refusal":"no"}`:            "no",
		`{"type":"noul","noul":0.5,"refusal":"no"}`: "",
		`{"type":"noul","noul":0.5,"refusal":1}`:    "",
	} {
		reply, err := systemone.DecodeResponse([]byte(`{"answers":{"q":` + text + `}}`))
		require.NoError(t, err, text)
		assert.Equal(t, want, reply.Answers[0].Refusal, text)
	}
	for _, text := range []string{`{"type":"noul","refusal":""}`, `{"type":"noul","refusal":null}`, `{"type":"noul","refusal":1}`, `{"refusal":"no"}`} {
		_, err := systemone.DecodeResponse([]byte(`{"answers":{"q":` + text + `}}`))
		require.ErrorIs(t, err, systemone.ErrAnswer, text)
	}
}

// TestRefusalsSurviveRepairAndJSON: any mixture of answers and refusals that passes
// Check is the same after Repair, encoding and decoding.
func TestRefusalsSurviveRepairAndJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := requests(systemone.Strict).Draw(t, "request")
		r.Refusals = true
		answers := honest(r, 0, true).Draw(t, "answers")
		for i, a := range answers {
			if rapid.Bool().Draw(t, "refused") {
				answers[i] = systemone.Answer{Name: a.Name, Kind: a.Kind, Refusal: rapid.StringN(1, 20, -1).Draw(t, "refusal")}
			}
		}
		tolerance := systemone.Tolerance{NoDistribution: true}
		got, err := systemone.Repair(r, answers, tolerance)
		require.NoError(t, err)
		reply, err := systemone.DecodeResponse(systemone.Response{Answers: got}.AppendJSON(nil))
		require.NoError(t, err)
		again, err := systemone.Repair(r, reply.Answers, tolerance)
		require.NoError(t, err)
		require.Equal(t, got, again)
	})
}
