package router_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// A question of one sheet that is refused is asked of every endpoint that has not
// refused it, also of one that answered another sheet.
func TestARefusedQuestionIsAskedWhereAnotherSheetWasAnswered(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant bee", nil, limited(2, 0))
	down := fails(t, "500")
	ant := func(ctx context.Context, a router.Attempt) (router.Reply, error) {
		if a.Request.Questions[0].Name == "urgency" {
			return down(ctx, a)
		}
		r, err := answer(ctx, a)
		r.Answers, r.Refused = r.Answers[:1], []router.Refusal{{Question: "team"}}
		return r, err
	}
	g.upstreams["ant"].will(ant, ant)
	res, c, err := g.decide()
	require.NoError(t, err)
	assert.Len(t, res.Response.Answers, 3)
	assert.Equal(t, router.LegRefused, c.Report.Legs[2].Reason)
	assert.Equal(t, "bee", c.Report.Legs[2].Attempts[0].Endpoint.Provider)
}
