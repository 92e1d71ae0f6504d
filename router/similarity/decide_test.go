package similarity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/systemone"
)

func TestConformance(t *testing.T) {
	rounds := 0
	if portable() {
		rounds = 5 // instead of 25, because each takes eight times as long
	}
	routertest.RunLocal(t, routertest.Local{
		New:           func(t *testing.T) router.Provider { t.Helper(); return newProvider(t, Config{}) },
		Deterministic: true,
		Rounds:        rounds,
	})
}

func attempt(state string, questions ...systemone.Question) router.Attempt {
	return router.Attempt{Request: &systemone.Request{State: json.RawMessage(state), Questions: questions}}
}

func ask(t *testing.T, p *Provider, state string, q systemone.Question) systemone.Answer {
	t.Helper()
	reply, err := p.Decide(t.Context(), attempt(state, q))
	require.NoError(t, err)
	require.Len(t, reply.Answers, 1)
	return reply.Answers[0]
}

func quoted(text string) json.RawMessage { return json.RawMessage(`"` + text + `"`) }

// threeOf returns a choice between the options a, b and c with the given guidance.
func threeOf(a, b, c string) systemone.Question {
	return systemone.Question{Name: "q", Kind: systemone.Choice, Options: []systemone.Option{
		{Name: "a", Guidance: quoted(a)}, {Name: "b", Guidance: quoted(b)}, {Name: "c", Guidance: quoted(c)},
	}}
}

func TestTicket(t *testing.T) {
	reply, err := newProvider(t, Config{}).Decide(t.Context(), attempt(ticket, ticketQuestions()...))
	require.NoError(t, err)
	team, refund, urgency := reply.Answers[0], reply.Answers[1], reply.Answers[2]
	assert.Equal(t, "shipping", team.Choice)
	assert.Greater(t, refund.Noul, .6)
	assert.Greater(t, urgency.Score, 1.5)
	assert.Equal(t, UpstreamModel, reply.Model)
}

func TestTopicsOfATicket(t *testing.T) {
	p := newProvider(t, Config{})
	noul := func(question string) float64 {
		return ask(t, p, ticket, systemone.Question{Name: "q", Kind: systemone.Noul, Instructions: quoted(question)}).Noul
	}
	assert.Greater(t, noul("Is this about a parcel that has not arrived?"), noul("Is this about the weather?"))
	assert.Less(t, noul("Is this about the weather?"), .2)
	assert.InDelta(t, unsure, noul("Is the customer honest?"), 0, "nothing is known, so nothing is claimed")
	assert.InDelta(t, unsure, noul("Is this not about a parcel?"), 0)
}

func TestNoulWithOneSide(t *testing.T) {
	p := newProvider(t, Config{Encoder: spelling{}})
	yes := ask(t, p, `"late parcel"`, systemone.Question{Name: "q", Kind: systemone.Noul, True: quoted("late parcel")}).Noul
	no := ask(t, p, `"late parcel"`, systemone.Question{Name: "q", Kind: systemone.Noul, False: quoted("late parcel")}).Noul
	assert.Greater(t, yes, .9)
	assert.InDelta(t, 1, yes+no, 1e-12)
}

// TestUnsure holds that all answers are equally probable without evidence.
func TestUnsure(t *testing.T) {
	p := newProvider(t, Config{})
	for _, state := range []string{``, `null`, `""`, `" \n "`, `{}`, `[]`, `{"name": 3}`, `[null, true, 7.5]`, `"☃☃☃"`, `"\u0000"`, `"北京"`} {
		a := ask(t, p, state, threeOf("a late parcel", "a refund", "hello"))
		for _, option := range a.Probabilities {
			require.InDelta(t, 1.0/3, option.P, 1e-12, "state %s", state)
		}
		assert.Equal(t, "a", a.Choice, "the first of equals")
		assert.InDelta(t, 0, a.Confidence, 1e-9)
		noul := systemone.Question{Name: "q", Kind: systemone.Noul, Instructions: quoted("Is it about a parcel?")}
		assert.InDelta(t, unsure, ask(t, p, state, noul).Noul, 0, "state %s", state)
		noul.True, noul.False = quoted("angry"), quoted("calm")
		assert.InDelta(t, unsure, ask(t, p, state, noul).Noul, 1e-12, "state %s", state)
	}
	level := systemone.Question{Name: "q", Kind: systemone.Score, Levels: []json.RawMessage{quoted("late"), []byte(`{"n": 1}`), quoted("early")}}
	assert.InDelta(t, 1, ask(t, p, `"very late"`, level).Score, 1e-12, "a level without a phrase compares with nothing")
}

func TestTiesKeepTheOrder(t *testing.T) {
	a := ask(t, newProvider(t, Config{Encoder: spelling{}}), `"late parcel"`, threeOf("weather", "late parcel", "parcel late  "))
	assert.Equal(t, "b", a.Choice)
	assert.Equal(t, []string{"a", "b", "c"}, []string{a.Probabilities[0].Label, a.Probabilities[1].Label, a.Probabilities[2].Label})
}

// TestStructuredState holds that a structured state counts as the text of its string
// values.
func TestStructuredState(t *testing.T) {
	p := newProvider(t, Config{})
	q := threeOf("a late parcel", "a refund", "hello")
	assert.Equal(t, ask(t, p, `"my parcel is late please help"`, q),
		ask(t, p, `{"refund": "my parcel", "n": 4, "more": ["is late", {"refund": "please  help"}]}`, q))
}

// TestLongState holds that the pieces of a long state are weighted by their tokens.
func TestLongState(t *testing.T) {
	p := newProvider(t, Config{Encoder: spelling{}}) // ten words to a piece
	parts := []struct {
		text   string
		tokens float64
	}{
		{"One late parcel and again one very late parcel now.", 10},
		{"I want a refund of the money.", 7},
		{"Hello, it is me, with many kind regards to.", 9},
	}
	q := threeOf("late parcel", "refund the money", "hello and regards")
	var whole strings.Builder
	want, total := make([]float64, 3), 0.0
	for _, part := range parts {
		for i, option := range ask(t, p, string(quoted(part.text)), q).Probabilities {
			want[i] += part.tokens * option.P
		}
		total += part.tokens
		fmt.Fprintf(&whole, "%s ", part.text)
	}
	for i, option := range ask(t, p, string(quoted(whole.String())), q).Probabilities {
		assert.InDelta(t, want[i]/total, option.P, 1e-12)
	}
}

// TestUnknownPiecesDoNotCount holds that a piece without a vector does not make the
// answer less certain.
func TestUnknownPiecesDoNotCount(t *testing.T) {
	p := newProvider(t, Config{Encoder: spelling{}})
	know := func(text string) *sense {
		s, err := p.sense(t.Context(), text, 5)
		require.NoError(t, err)
		return s
	}
	state, unknown := know("late parcel"), know("!?")
	answers := [][]*sense{{know("a late parcel")}, {know("refund")}}
	want, err := p.weights.choose([]*sense{state}, answers)
	require.NoError(t, err)
	got, err := p.weights.choose([]*sense{unknown, state, unknown}, answers)
	require.NoError(t, err)
	assert.InDeltaSlice(t, want, got, 1e-12)
	alone, err := p.weights.yes([]*sense{state}, answers[0])
	require.NoError(t, err)
	among, err := p.weights.yes([]*sense{unknown, state, unknown}, answers[0])
	require.NoError(t, err)
	assert.InDelta(t, alone, among, 1e-12)
}

func TestLongPhrasesAreSplit(t *testing.T) {
	p := newProvider(t, Config{Encoder: spelling{}})
	long := "I want a refund of all the money now. " + strings.Repeat("Something else. ", 20)
	a := ask(t, p, `"I want a refund of all the money now."`, threeOf(long, "late parcel", "hello"))
	assert.Greater(t, a.Probabilities[0].P, .9, "the first phrase of three is the very state")
}

func TestUsage(t *testing.T) {
	p := newProvider(t, Config{Encoder: spelling{}})
	a := attempt(`"one two three"`, threeOf("one", "two three", "one two"),
		systemone.Question{Name: "n", Kind: systemone.Noul, Instructions: quoted("Is it about four or five?")})
	for _, cache := range []string{"cold", "warm"} {
		reply, err := p.Decide(t.Context(), a)
		require.NoError(t, err)
		assert.Equal(t, systemone.Usage{InputTokens: 3 + 5 + 3, OutputTokens: 2}, reply.Usage, cache)
	}
}

func TestLimits(t *testing.T) {
	p := newProvider(t, Config{Encoder: spelling{}, Limits: Limits{StateTokens: 20, Questions: 2, Phrases: 4}})
	words := func(n int) string { return string(quoted(strings.Repeat("word ", n))) }
	one := systemone.Question{Name: "q", Kind: systemone.Choice, Options: []systemone.Option{{Name: "a"}}}
	four := systemone.Question{Name: "q", Kind: systemone.Choice, Options: []systemone.Option{{Name: "a", Guidance: json.RawMessage(`["x", "y"]`)}, {Name: "c"}, {Name: "d"}}}
	for name, c := range map[string]struct {
		attempt router.Attempt
		tooMuch bool
	}{
		"state at the limit":     {attempt(words(20), one), false},
		"state above":            {attempt(words(21), one), true},
		"questions at the limit": {attempt(`"x"`, one, one), false},
		"questions above":        {attempt(`"x"`, one, one, one), true},
		"phrases at the limit":   {attempt(`"x"`, four), false},
		"phrases above":          {attempt(`"x"`, four, one), true},
		"a text without words":   {attempt(string(quoted(strings.Repeat("☃", 400))), one), true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := p.Decide(t.Context(), c.attempt)
			if !c.tooMuch {
				require.NoError(t, err)
				return
			}
			failed, ok := errors.AsType[*router.UpstreamError](err)
			require.True(t, ok)
			assert.Equal(t, router.PayloadTooLarge, failed.Class)
			assert.NotContains(t, err.Error(), "word")
		})
	}
}

func TestClasses(t *testing.T) {
	broken := errors.New("the encoder is out of order")
	vector := func(v ...float32) scripted {
		return func(context.Context, string) ([]float32, error) { return v, nil }
	}
	lengths := 0
	for name, c := range map[string]struct {
		encoder Encoder
		attempt router.Attempt
		want    router.Class
	}{
		"no request":         {blind{}, router.Attempt{}, router.InvalidRequest},
		"no questions":       {blind{}, attempt(`"x"`), router.InvalidRequest},
		"a state no JSON":    {blind{}, attempt(`{"x`, threeOf("a", "b", "c")), router.InvalidRequest},
		"guidance no JSON":   {blind{}, attempt(`"x"`, threeOf(`"`, "b", "c")), router.InvalidRequest},
		"a kind unheard of":  {blind{}, attempt(`"x"`, systemone.Question{Kind: "essay"}), router.InvalidRequest},
		"the encoder fails":  {scripted(func(context.Context, string) ([]float32, error) { return nil, broken }), attempt(`"x"`, threeOf("a", "b", "c")), router.ProviderUnavailable},
		"vectors no numbers": {vector(float32(math.NaN())), attempt(`"x"`, threeOf("a", "b", "c")), router.ProviderUnavailable},
		"no numbers, a topic": {
			vector(float32(math.Inf(1))),
			attempt(`"x"`, systemone.Question{Kind: systemone.Noul, Instructions: quoted("Is it about y?")}), router.ProviderUnavailable,
		},
		"vectors of different lengths": {scripted(func(context.Context, string) ([]float32, error) {
			lengths++
			return make([]float32, lengths), nil
		}), attempt(`"x"`, threeOf("a", "b", "c")), router.ProviderUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newProvider(t, Config{Encoder: c.encoder, Workers: 1}).Decide(t.Context(), c.attempt)
			failed, ok := errors.AsType[*router.UpstreamError](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, c.want, failed.Class)
			if name == "the encoder fails" {
				assert.ErrorIs(t, err, broken)
			}
		})
	}
}

// Numbers are ignored, so their size does not matter: a state with a number beyond
// float64 is valid JSON and is answered.
func TestAnyNumberMayStandInARequest(t *testing.T) {
	p := newProvider(t, Config{Encoder: spelling{}})
	q := threeOf("a", "b", "c")
	q.Options[1].Guidance = json.RawMessage(`["b",-1e999999]`)
	for _, state := range []string{`{"n":1e400,"text":"ab"}`, `["ab",` + strings.Repeat("9", 5000) + `]`} {
		reply, err := p.Decide(t.Context(), attempt(state, q))
		require.NoError(t, err)
		assert.Len(t, reply.Answers, 1)
	}
}

// TestAnswersAreSound holds that the answers to any request pass the check without
// tolerance. The same request gives the same answers when its phrases are cached.
func TestAnswersAreSound(t *testing.T) {
	p := newProvider(t, Config{Encoder: spelling{}, Limits: Limits{StateTokens: 1000, Phrases: 1000}})
	text := rapid.StringMatching(`([a-e]{1,3}[ .]){0,12}`)
	value := rapid.Custom(func(t *rapid.T) json.RawMessage {
		var v any
		switch rapid.IntRange(0, 4).Draw(t, "shape") {
		case 0:
			v = text.Draw(t, "text")
		case 1:
			v = rapid.SliceOfN(text, 0, 3).Draw(t, "texts")
		case 2:
			v = map[string]any{"x": text.Draw(t, "text"), "n": 1}
		case 3:
			return nil
		default:
			v = rapid.String().Draw(t, "any text")
		}
		raw, err := json.Marshal(v)
		require.NoError(t, err)
		return raw
	})
	rapid.Check(t, func(t *rapid.T) {
		r := &systemone.Request{State: value.Draw(t, "state")}
		for i := range rapid.IntRange(1, 4).Draw(t, "questions") {
			q := systemone.Question{
				Name: fmt.Sprint("q", i), Instructions: value.Draw(t, "instructions"),
				Kind: rapid.SampledFrom([]systemone.Kind{systemone.Noul, systemone.Choice, systemone.Score}).Draw(t, "kind"),
				True: value.Draw(t, "true"), False: value.Draw(t, "false"),
				Levels: rapid.SliceOfN(value, 1, 5).Draw(t, "levels"),
			}
			for j := range rapid.IntRange(1, 5).Draw(t, "options") {
				q.Options = append(q.Options, systemone.Option{Name: fmt.Sprint("option_", j), Guidance: value.Draw(t, "guidance")})
			}
			r.Questions = append(r.Questions, q)
		}
		first, err := p.Decide(t.Context(), router.Attempt{Request: r})
		require.NoError(t, err)
		require.NoError(t, systemone.Check(r, first.Answers, systemone.Tolerance{}))
		for _, a := range first.Answers {
			sum := 0.0
			for _, option := range a.Probabilities {
				sum += option.P
			}
			if a.Kind != systemone.Noul {
				require.InDelta(t, 1, sum, 1e-9)
			}
		}
		again, err := p.Decide(t.Context(), router.Attempt{Request: r})
		require.NoError(t, err)
		require.Equal(t, first, again)
	})
}
