package router_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// A question that an upstream refused without a word is a refusal answer all the same,
// and of many words at most 4 KiB are kept.
func TestRefusalAnswersHaveAText(t *testing.T) {
	for name, text := range map[string]string{
		"silence": "", "a text": "I cannot judge that.", "a long text": strings.Repeat("x\u4e16", 4<<10), "broken": "\xff",
	} {
		t.Run(name, func(t *testing.T) {
			script := &routertest.Script{Default: routertest.Step{Do: func(_ context.Context, a router.Attempt) (router.Reply, error) {
				return router.Reply{Answers: routertest.Answers(a.Request)[1:], Refused: []router.Refusal{{Question: "desk", Text: text}}}, nil
			}}}
			catalog, err := routertest.Catalog(script)
			require.NoError(t, err)
			r, err := router.New(router.Config{Catalog: catalog})
			require.NoError(t, err)
			q := &systemone.Request{Model: routertest.Model, State: systemone.Text("Paid twice."), Refusals: true, Questions: []systemone.Question{
				{Name: "desk", Kind: systemone.Noul, Instructions: systemone.Text("Is it for billing?")},
				{Name: "refund", Kind: systemone.Noul, Instructions: systemone.Text("Is money asked back?")},
			}}
			res, err := r.Decide(t.Context(), &router.Call{Request: q})
			require.NoError(t, err)
			require.NoError(t, systemone.Check(q, res.Response.Answers, systemone.Tolerance{}))
			desk, ok := res.Response.Answers.Get("desk")
			require.True(t, ok)
			assert.NotEmpty(t, desk.Refusal)
			assert.LessOrEqual(t, len(desk.Refusal), 4<<10)
			assert.True(t, utf8.ValidString(desk.Refusal))
			if name == "a text" {
				assert.Equal(t, text, desk.Refusal)
			}
			refund, _ := res.Response.Answers.Get("refund")
			assert.Empty(t, refund.Refusal)
		})
	}
}

// refuses answers what it is asked, except for some questions, which it declines.
func refuses(names ...string) step {
	return reply(func(r *router.Reply) {
		r.Answers = slices.DeleteFunc(r.Answers, func(a systemone.Answer) bool {
			declined := slices.Contains(names, a.Name)
			if declined {
				r.Refused = append(r.Refused, router.Refusal{Question: a.Name, Text: "no"})
			}
			return declined
		})
	})
}

// A call of which a question was refused everywhere says that no candidate was left.
func TestARefusedCallSaysWhyItStopped(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant", nil)
	g.upstreams["ant"].will(refuses("team"))
	_, c, err := g.decide()
	assert.Equal(t, router.ProviderUnavailable, fault(t, err).Class)
	assert.Equal(t, router.StopCandidates, c.Report.Stopped)
}

// A ledger that fails before a refused question is asked again ends the call with that
// failure, as it does between two attempts of a leg.
func TestALedgerFailsBeforeARefusedQuestionIsAskedAgain(t *testing.T) {
	t.Parallel()
	for _, answers := range []bool{false, true} { // a refusal may be an answer
		ledger := &failing{Ledger: memory.New().Ledger, holds: 1}
		g := newRig(t, "ant bee cat:N", func(cfg *router.Config) { cfg.Ledger = ledger })
		g.upstreams["ant"].will(refuses("team"))
		c := staged(func(q *systemone.Request) { q.Refusals = answers })
		_, err := g.router.Decide(t.Context(), c)
		require.ErrorIs(t, err, router.ErrUnavailable)
		assert.Equal(t, "ant", asked(c))
		assert.Len(t, c.Report.Legs, 2, "the next group is not asked")
	}
}

// A sheet of a split request of which everything is refused is a refusal like that of
// one question: the answers of the other sheets stay, and a refusal may be an answer.
func TestARefusedSheetIsNoFailure(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant", nil, limited(1, 0))
	g.upstreams["ant"].will(refuses("team"))
	c := &router.Call{Request: decision(""), Principal: who()}
	c.Request.Refusals = true
	res, err := g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	require.NoError(t, systemone.Check(c.Request, res.Response.Answers, systemone.Tolerance{}))
	assert.Equal(t, "no", res.Response.Answers[1].Refusal)
	assert.Len(t, c.Events(res), 3, "the refusal is charged, because it is an answer")
}
