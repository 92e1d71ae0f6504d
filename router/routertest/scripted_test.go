package routertest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/systemone"
)

// ticket asks one question of each kind.
func ticket() *systemone.Request {
	return &systemone.Request{Model: routertest.Model, State: systemone.Text("x"), Questions: []systemone.Question{
		{
			Name: "desk", Kind: systemone.Choice, Instructions: systemone.Text("Which team?"),
			Options: []systemone.Option{{Name: "billing"}, {Name: "technical"}, {Name: "sales"}},
		},
		{Name: "refund", Kind: systemone.Noul, Instructions: systemone.Text("Money back?")},
		{
			Name: "heat", Kind: systemone.Score, Instructions: systemone.Text("How upset?"),
			Levels: []json.RawMessage{systemone.Text("calm"), systemone.Text("annoyed"), systemone.Text("furious")},
		},
	}}
}

// recorder is a testing.TB that notes its failures.
type recorder struct {
	testing.TB

	failures []string
}

func (*recorder) Helper() {}

func (r *recorder) Error(args ...any) { r.failures = append(r.failures, fmt.Sprint(args...)) }

func TestScriptedAnswers(t *testing.T) {
	s := routertest.NewScript(t, routertest.Step{Answers: []routertest.Answer{
		routertest.Choose("desk", "technical", 0.5), routertest.Rate("heat", 2, 0.75),
	}}, routertest.Step{Reply: &router.Reply{ID: "own", Answers: routertest.Answers(ticket())}, Answers: []routertest.Answer{routertest.Yes("refund", 0.125)}})
	got, err := s.Decide(t.Context(), router.Attempt{Request: ticket()})
	require.NoError(t, err)
	desk, _ := got.Answers.Get("desk")
	assert.Equal(t, "technical", desk.Choice)
	assert.InDelta(t, 0.25, desk.P("sales"), 0)
	assert.InDelta(t, 0.25, desk.Confidence, 1e-9)
	refund, _ := got.Answers.Get("refund")
	assert.InDelta(t, 0.75, refund.P("true"), 0, "what is not scripted is answered as ever")
	heat, _ := got.Answers.Get("heat")
	assert.InDelta(t, 0.75, heat.P("2"), 0)
	assert.InDelta(t, 1.625, heat.Score, 1e-9)

	got, err = s.Decide(t.Context(), router.Attempt{Request: ticket()})
	require.NoError(t, err)
	assert.Equal(t, "own", got.ID)
	refund, _ = got.Answers.Get("refund")
	assert.InDelta(t, 0.125, refund.P("true"), 0)
}

// TestScriptedAnswersAreLawful: for every p with which the option leads.
func TestScriptedAnswersAreLawful(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := routertest.NewScript(t, routertest.Step{Answers: []routertest.Answer{
			routertest.Choose("desk", rapid.SampledFrom([]string{"billing", "technical", "sales"}).Draw(rt, "option"), rapid.Float64Range(0.34, 1).Draw(rt, "p")),
			routertest.Yes("refund", rapid.Float64Range(0, 1).Draw(rt, "p")),
			routertest.Rate("heat", rapid.IntRange(0, 2).Draw(rt, "level"), rapid.Float64Range(0, 1).Draw(rt, "p")),
		}})
		_, err := s.Decide(t.Context(), router.Attempt{Request: ticket()})
		require.NoError(rt, err)
	})
}

// TestBrokenScriptFailsItsTest: with the reason, and no other endpoint is asked.
func TestBrokenScriptFailsItsTest(t *testing.T) {
	for _, c := range []struct {
		name string
		step routertest.Step
		want string
	}{
		{"not asked", answers(routertest.Yes("angry", 1)), `the request does not ask "angry"`},
		{"another kind", answers(routertest.Yes("desk", 1)), `"desk" is a choice, the script answers a noul`},
		{"no option", answers(routertest.Choose("desk", "legal", 1)), `"desk" has no option "legal"`},
		{"no level", answers(routertest.Rate("heat", 3, 1)), `"heat" has no level 3`},
		{"no lower level", answers(routertest.Rate("heat", -1, 1)), `"heat" has no level -1`},
		{"not the most probable", answers(routertest.Choose("desk", "sales", 0.25)), "desk: choice is not the most probable option"},
		{"above one", answers(routertest.Yes("refund", 90)), "refund: noul is not in [0, 1]"},
		{"below zero", answers(routertest.Rate("heat", 0, -0.5)), "heat: a probability is not in [0, 1]"},
		{"a refusal of what is not asked", answers(routertest.Refuse("angry", "")), "a question was refused that was not asked"},
		{"a refusal of what is answered", answers(routertest.Refuse("refund", ""), routertest.Yes("refund", 1)), "there are more answers than questions"},
		{"a reply with too little", routertest.Step{Reply: &router.Reply{Answers: systemone.Answers{{Name: "refund", Kind: systemone.Noul}}}}, "desk: has no answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			test := &recorder{TB: t}
			script, next := routertest.NewScript(test, c.step), &routertest.Script{}
			catalog, err := router.NewCatalog([]router.Model{{ID: routertest.Model, Permaslug: routertest.Model + "-1"}},
				[]router.ProviderInfo{{Slug: "ant", Client: script}, {Slug: "bee", Client: next}},
				[]router.Endpoint{{Provider: "ant", Model: routertest.Model}, {Provider: "bee", Model: routertest.Model, Pricing: router.Pricing{Prompt: router.Dollars("1")}}})
			require.NoError(t, err)
			r, err := router.New(router.Config{Catalog: catalog})
			require.NoError(t, err)
			request := ticket()
			request.Provider = &systemone.Preferences{Sort: systemone.Sort{By: systemone.SortPrice}}
			_, err = r.Decide(t.Context(), &router.Call{Request: request})
			require.ErrorContains(t, err, c.want)
			require.Len(t, test.failures, 1)
			assert.Contains(t, test.failures[0], "routertest: the script is broken: ")
			assert.Contains(t, test.failures[0], c.want)
			assert.Empty(t, next.Attempts())
		})
	}
}

func answers(list ...routertest.Answer) routertest.Step { return routertest.Step{Answers: list} }

// TestScriptedRefusals: a step refuses some questions or all, and answers the rest.
func TestScriptedRefusals(t *testing.T) {
	said := router.Refusal{Question: "desk", Text: "I cannot judge that."}
	unsafe := router.Refusal{Question: "refund", Safety: true}
	for _, c := range []struct {
		name string
		step routertest.Step
		want []router.Refusal
	}{
		{"by name", answers(routertest.Refuse("desk", said.Text), routertest.RefuseForSafety("refund", "")), []router.Refusal{said, unsafe}},
		{"all", answers(routertest.Refuse("desk", said.Text), routertest.RefuseForSafety("refund", ""), routertest.Refuse("heat", "")), []router.Refusal{said, unsafe, {Question: "heat"}}},
		{"by reply", routertest.Step{Reply: &router.Reply{Refused: []router.Refusal{said}}}, []router.Refusal{said}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := routertest.NewScript(t, c.step).Decide(t.Context(), router.Attempt{Request: ticket()})
			require.NoError(t, err)
			assert.Equal(t, c.want, got.Refused)
			assert.Len(t, got.Answers, len(ticket().Questions)-len(c.want))
			for _, refused := range c.want {
				_, answered := got.Answers.Get(refused.Question)
				assert.False(t, answered, refused.Question)
			}
		})
	}
}

// TestWhatIsNotHeldToTheLaws: the replies of Do, and rounding within the
// endpoint's tolerance.
func TestWhatIsNotHeldToTheLaws(t *testing.T) {
	rounded := routertest.Answers(ticket())
	rounded[0].Probabilities = []systemone.Probability{{Label: "billing", P: 0.33}, {Label: "technical", P: 0.33}, {Label: "sales", P: 0.33}}
	for name, s := range map[string]*routertest.Script{
		"Do": {Default: routertest.Step{Do: func(context.Context, router.Attempt) (router.Reply, error) {
			return router.Reply{}, nil
		}}},
		"rounding": {Tolerance: systemone.Tolerance{Rounding: 0.01}, Default: routertest.Step{Reply: &router.Reply{Answers: rounded}}},
	} {
		s.TB = t
		_, err := s.Decide(t.Context(), router.Attempt{Request: ticket()})
		require.NoError(t, err, name)
	}
	_, err := (&routertest.Script{Default: routertest.Step{Reply: &router.Reply{Answers: rounded}}}).Decide(t.Context(), router.Attempt{Request: ticket()})
	require.ErrorIs(t, err, systemone.ErrAnswer, "without a test, the error is the report")
}

func ExampleChoose() {
	script := &routertest.Script{Default: routertest.Step{Answers: []routertest.Answer{
		routertest.Choose("desk", "technical", 0.5),
		routertest.Yes("refund", 0.9),
		routertest.Rate("heat", 2, 1),
	}}}
	reply, err := script.Decide(context.Background(), router.Attempt{Request: ticket()})
	for _, a := range reply.Answers {
		fmt.Println(a.Name, a.Choice, a.Noul, a.Score, a.Probabilities)
	}
	fmt.Println(err)
	// Output:
	// desk technical 0 0 [{billing 0.25} {technical 0.5} {sales 0.25}]
	// refund  0.9 0 []
	// heat  0 2 [{0 0} {1 0} {2 1}]
	// <nil>
}
