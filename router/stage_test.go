package router_test

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// unsure is true where the team is not clear. The rig's answers have a confidence of
// a half there.
func unsure() *systemone.Condition {
	below := 0.6
	return &systemone.Condition{Question: "team", ConfidenceBelow: &below}
}

// sheets lists the names of the questions of each leg.
func sheets(c *router.Call) (list [][]string) {
	for _, l := range c.Report.Legs {
		var names []string
		for _, q := range l.Questions {
			names = append(names, q.Name)
		}
		list = append(list, names)
	}
	return list
}

// staged asks ant, of judge, and then bee, of judge-mini, what is unsure.
func staged(change func(*systemone.Request)) *router.Call {
	q := decision(byPrice)
	q.Model, q.Models = "judge", []systemone.Entry{{Model: "judge-mini", When: unsure()}}
	if change != nil {
		change(q)
	}
	return &router.Call{Request: q, Principal: who()}
}

// A later group is asked what its condition finds, and its answers replace the
// first ones.
func TestAStageAsksWhatIsUnsure(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant bee:N", nil)
	g.upstreams["bee"].will(reply(func(r *router.Reply) {
		r.Answers[0].Probabilities = []systemone.Probability{{Label: "billing", P: 0.05}, {Label: "sales", P: 0.95}}
		r.Answers[0].Choice = "sales"
	}))
	c := staged(nil)
	res, err := g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, [][]string{{"refund", "team", "urgency"}, {"team"}}, sheets(c))
	assert.Equal(t, router.LegEscalated, c.Report.Legs[1].Reason)
	assert.Equal(t, []string{"team"}, c.Report.Legs[1].TriggeredBy)
	assert.Equal(t, "sales", res.Response.Answers[1].Choice)
	from := c.Report.Provenance(1)
	assert.Equal(t, 1, from.Leg)
	assert.Equal(t, 0, from.Replaced.Leg)
	assert.Equal(t, "billing", from.Replaced.Answer.Choice)
	assert.Equal(t, router.Provenance{}, c.Report.Provenance(0))
	assert.Equal(t, "Ant Cloud", res.Response.Provider, "it answered most")
	require.Len(t, c.Events(res), 2)
	assert.Equal(t, res.Cost, c.Events(res)[0].Cost.Credit+c.Events(res)[1].Cost.Credit)
	assert.Equal(t, int64(2000), res.Response.Usage.InputTokens)
}

// A second opinion that fails keeps the first answer.
func TestASecondOpinionThatFailsKeepsTheFirst(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"500", "400", "429"} {
		g := newRig(t, "ant bee:N", nil)
		g.upstreams["bee"].will(fails(t, status))
		c := staged(nil)
		res, err := g.router.Decide(t.Context(), c)
		require.NoError(t, err, status)
		assert.Equal(t, router.KeptError, c.Report.Legs[1].Kept)
		assert.Equal(t, "billing", res.Response.Answers[1].Choice)
		assert.Len(t, c.Events(res), 1)
	}
}

// A first stage that costs nothing makes no hold. Where the ledger then fails for the
// second, and may or may not have made one, the first answers stay and nothing is left
// held.
func TestALedgerThatFailsBehindAFreeStageKeepsTheFirst(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]bool{"no hold": false, "hold": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ledger := &lossyLedger{Ledger: memory.New().Ledger, made: made}
			g := newRig(t, "ant bee:N", func(cfg *router.Config) { cfg.Ledger = ledger }, fee(0, cent))
			c := staged(nil)
			res, err := g.router.Decide(t.Context(), c)
			require.NoError(t, err)
			assert.Equal(t, router.KeptError, c.Report.Legs[1].Kept)
			assert.Equal(t, "billing", res.Response.Answers[1].Choice)
			assert.Zero(t, res.Cost)
			assert.Empty(t, g.upstreams["bee"].attempts())
			b, err := ledger.Balances(t.Context(), []router.Line{router.OwnerKey.Line(who(), "ever")})
			require.NoError(t, err)
			assert.Zero(t, b[0])
		})
	}
}

// lossyLedger loses the reply to every reservation, and its effect too unless made.
type lossyLedger struct {
	router.Ledger

	made bool
}

func (l *lossyLedger) Reserve(ctx context.Context, h router.Hold) error {
	if l.made {
		if err := l.Ledger.Reserve(ctx, h); err != nil {
			return err
		}
	}
	return io.ErrUnexpectedEOF
}

// R71: what one endpoint refuses is asked of the next, it alone.
func TestARefusedQuestionIsAskedElsewhere(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant bee", nil)
	g.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
		r, err := answer(ctx, a)
		r.Answers, r.Refused = r.Answers[:2], []router.Refusal{{Question: "urgency"}}
		return r, err
	})
	res, c, err := g.decide()
	require.NoError(t, err)
	assert.Equal(t, [][]string{{"refund", "team", "urgency"}, {"urgency"}}, sheets(c))
	assert.Equal(t, router.LegRefused, c.Report.Legs[1].Reason)
	assert.Len(t, res.Response.Answers, 3)
	assert.Equal(t, "Ant Cloud", res.Response.Provider)

	alone := newRig(t, "ant", nil)
	alone.upstreams["ant"].will(reply(func(r *router.Reply) {
		r.Answers, r.Refused = r.Answers[:2], []router.Refusal{{Question: "urgency"}}
	}))
	_, c, err = alone.decide()
	e := fault(t, err)
	assert.Equal(t, router.ProviderUnavailable, e.Class)
	assert.Empty(t, c.Events(nil), "a request that ends in an error costs nothing")
}
