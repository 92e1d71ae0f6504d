package routertest

import (
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// testAnswers: the upstream's answers are returned, for every kind and shape.
func testAnswers(t *testing.T, w Wire) {
	t.Helper()
	b := newBench(t, w)
	for _, s := range shapes(!w.NoNulls) {
		t.Run(s.name, func(t *testing.T) {
			a := b.attempt(s.request)
			want := defaultReply(a)
			want.Usage = systemone.Usage{InputTokens: 310, OutputTokens: 58}
			b.body(http.StatusOK, nil, w.Encode(a, want))
			got, err := b.provider.Decide(t.Context(), a)
			require.NoError(t, err)
			require.LessOrEqual(t, len(b.seen()), 1, once)
			assert.Empty(t, got.Refused)
			if len(b.seen()) == 1 {
				assert.Equal(t, want.Usage.InputTokens, got.Usage.InputTokens)
				assert.Equal(t, want.Usage.OutputTokens, got.Usage.OutputTokens)
			}
			sameAnswers(t, s.request, want.Answers, got.Answers, w.Tolerance)
			if len(b.seen()) == 1 {
				assert.Zero(t, got.Uncounted, "both counts were given")
			}
		})
	}
	testUncounted(t, w)
}

// testUncounted: a missing usage is not a usage of 0.
func testUncounted(t *testing.T, w Wire) {
	t.Helper()
	b := newBench(t, w)
	for name, usage := range map[string]any{"no usage": nil, "empty usage": map[string]any{}} {
		t.Run(name, func(t *testing.T) {
			a := b.attempt(mixed())
			var body any
			require.NoError(t, json.Unmarshal(w.Encode(a, defaultReply(a)), &body))
			if !replaceUsage(body, usage) {
				t.Log("the dialect has no member usage")
				return
			}
			data, err := json.Marshal(body)
			require.NoError(t, err)
			b.body(http.StatusOK, nil, data)
			got, err := b.provider.Decide(t.Context(), a)
			require.NoError(t, err)
			assert.Equal(t, router.Uncounted{Input: true, Output: true}, got.Uncounted)
			assert.Zero(t, got.Usage.InputTokens)
			assert.Zero(t, got.Usage.OutputTokens)
		})
	}
}

// replaceUsage replaces the member usage of an object or of one nested in it, and
// reports whether there was one.
func replaceUsage(value, usage any) (found bool) {
	object, ok := value.(map[string]any)
	if !ok {
		return false
	}
	for name, inner := range object {
		if name == "usage" {
			object[name], found = usage, true
		} else {
			found = replaceUsage(inner, usage) || found
		}
	}
	return found
}

// sameAnswers requires answers that pass the router's check and equal the wanted
// ones.
func sameAnswers(t *testing.T, r *systemone.Request, want, got systemone.Answers, tolerance systemone.Tolerance) {
	t.Helper()
	require.NoError(t, systemone.Check(r, got, tolerance))
	repaired, err := systemone.Repair(r, got, tolerance)
	require.NoError(t, err)
	require.Len(t, repaired, len(want))
	within := max(1e-6, tolerance.Rounding)
	for i := range want {
		w, g := want[i], repaired[i]
		assert.Equal(t, w.Name, g.Name)
		assert.Equal(t, w.Kind, g.Kind)
		assert.Equal(t, w.Choice, g.Choice)
		assert.InDelta(t, w.Noul, g.Noul, within)
		assert.InDelta(t, w.Score, g.Score, within*float64(1+len(w.Probabilities)*len(w.Probabilities)))
		if !tolerance.NoDistribution {
			require.Len(t, g.Probabilities, len(w.Probabilities))
		}
		for j := range g.Probabilities {
			assert.Equal(t, w.Probabilities[j].Label, g.Probabilities[j].Label)
			assert.InDelta(t, w.Probabilities[j].P, g.Probabilities[j].P, within)
		}
	}
}

// lie is a way in which an upstream answers wrongly.
type lie struct {
	name string
	tell func(systemone.Answers) systemone.Answers
}

// lies change the answers to the request of mixed: a noul, a choice of three
// and a score of three levels.
func lies() []lie {
	change := func(at int, how func(*systemone.Answer)) func(systemone.Answers) systemone.Answers {
		return func(a systemone.Answers) systemone.Answers {
			how(&a[at])
			return a
		}
	}
	const first, second, third = 0, 1, 2
	return []lie{
		{"an answer to no question", func(a systemone.Answers) systemone.Answers {
			return append(a, systemone.Answer{Name: secretReply, Kind: systemone.Noul, Noul: 0.5})
		}},
		{"an answer twice", func(a systemone.Answers) systemone.Answers { return append(a, a[first]) }},
		{"an answer to another name", change(first, func(a *systemone.Answer) { a.Name = secretReply })},
		{"an answer of another kind", change(first, func(a *systemone.Answer) {
			*a = score(a.Name, []float64{0.5, 0.5})
		})},
		{"a noul above one", change(first, func(a *systemone.Answer) { a.Noul = 1.5 })},
		{"a noul below zero", change(first, func(a *systemone.Answer) { a.Noul = -0.5 })},
		{"an unknown option", change(second, func(a *systemone.Answer) {
			a.Choice, a.Probabilities[0].Label = secretReply, secretReply
		})},
		{"an option twice", change(second, func(a *systemone.Answer) {
			a.Probabilities[1].Label = a.Probabilities[0].Label
		})},
		{"an option too few", change(second, func(a *systemone.Answer) { a.Probabilities = a.Probabilities[:2] })},
		{"an option that is not the best", change(second, func(a *systemone.Answer) {
			a.Choice = a.Probabilities[2].Label
		})},
		{"options that do not sum to one", change(second, scale(0.5))},
		{"a level too many", change(third, func(a *systemone.Answer) {
			a.Probabilities = append(a.Probabilities, systemone.Probability{Label: "3"})
		})},
		{"a level that is negative", change(third, func(a *systemone.Answer) {
			a.Probabilities[0].P, a.Probabilities[1].P = 1.5, a.Probabilities[1].P-(1.5-a.Probabilities[0].P)
		})},
		{"levels that do not sum to one", change(third, scale(3))},
		{"a score that is not the mean", change(third, func(a *systemone.Answer) { a.Score = 1.9 })},
	}
}

func scale(by float64) func(*systemone.Answer) {
	return func(a *systemone.Answer) {
		for i := range a.Probabilities {
			a.Probabilities[i].P *= by
		}
	}
}

// testWrongAnswers: wrong answers are reported as a bad reply or returned
// unchanged, so that the router's check detects them. They are never corrected.
func testWrongAnswers(t *testing.T, w Wire) {
	t.Helper()
	b := newBench(t, w)
	for _, l := range lies() {
		t.Run(l.name, func(t *testing.T) {
			r := mixed()
			a := b.attempt(r)
			want := defaultReply(a)
			want.Answers = l.tell(want.Answers)
			b.body(http.StatusOK, nil, w.Encode(a, want))
			checked := b.distrusts(t, a)
			// Where names are members, a duplicate name makes the object unreadable.
			assert.True(t, checked || strings.HasSuffix(l.name, " twice"), "the reply could be read: its answers are wrong")
		})
	}
	t.Run("a missing answer", func(t *testing.T) {
		for at := range 3 {
			a := b.attempt(mixed())
			want := defaultReply(a)
			name := want.Answers[at].Name
			want.Answers = append(want.Answers[:at:at], want.Answers[at+1:]...)
			b.body(http.StatusOK, nil, w.Encode(a, want))
			if !w.SilenceRefuses {
				assert.True(t, b.distrusts(t, a), "the reply could be read")
				continue
			}
			got, err := b.provider.Decide(t.Context(), a)
			require.NoError(t, err)
			assert.Equal(t, []string{name}, names(got))
			assert.NoError(t, acceptable(a.Request, got, w.Tolerance))
		}
	})
}

// distrusts asks and requires a reply that the router refuses. It returns whether
// its answers count as checked, by the provider or the router.
func (b *bench) distrusts(t *testing.T, a router.Attempt) (checked bool) {
	t.Helper()
	got, err := b.provider.Decide(t.Context(), a)
	b.askedOnce(t)
	if err == nil {
		assert.Error(t, acceptable(a.Request, got, b.wire.Tolerance), "a wrong answer must not be made to look right")
		return true
	}
	failed := failure(t, err)
	unavailable(t, failed)
	assert.True(t, failed.BadReply, "the upstream answered, but badly")
	return failed.Checked
}

// finite requires answers that JSON can represent, of a provider that computes
// them.
func finite(t *testing.T, answers systemone.Answers) {
	t.Helper()
	for _, a := range answers {
		for _, p := range a.Probabilities {
			assert.False(t, math.IsNaN(p.P) || math.IsInf(p.P, 0))
		}
	}
}
