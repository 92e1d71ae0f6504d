package router_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// changed answers with one answer changed.
func changed(change func(systemone.Answers)) step {
	return reply(func(r *router.Reply) { change(r.Answers) })
}

// classCase is one row of section 11 of the routing cases: one attempt.
type classCase struct {
	row     string
	what    string // notation, unless do is given
	do      step
	next    bool // the next candidate is asked
	uptime  bool // counts against the endpoint
	checked bool // counts in exacto
	class   router.Class
	status  int // of the attempt
}

func classCases() []classCase {
	const (
		invalid     = router.InvalidRequest
		large       = router.PayloadTooLarge
		limited     = router.RateLimitExceeded
		unavailable = router.ProviderUnavailable
		timeout     = router.Timeout
	)
	unknownModel := func(context.Context, router.Attempt) (router.Reply, error) {
		return router.Reply{}, &router.UpstreamError{Status: 400, Class: unavailable}
	}
	tooLarge := func(context.Context, router.Attempt) (router.Reply, error) {
		return router.Reply{}, &router.UpstreamError{Status: 400, Class: large}
	}
	oddClass := func(context.Context, router.Attempt) (router.Reply, error) {
		return router.Reply{}, &router.UpstreamError{Status: 500, Class: router.PermissionDenied}
	}
	noClass := func(context.Context, router.Attempt) (router.Reply, error) {
		return router.Reply{}, &router.UpstreamError{}
	}
	return []classCase{
		{"R62a", "400", nil, false, false, false, invalid, 400},
		{"R62b", "422", nil, false, false, false, invalid, 422},
		{"R63a", "413", nil, true, false, false, large, 413},
		{"R63b a 400 that means too large", "", tooLarge, true, false, false, large, 400},
		{"R64a", "401", nil, true, true, false, unavailable, 401},
		{"R64b", "402", nil, true, true, false, unavailable, 402},
		{"R64c", "403", nil, true, false, false, unavailable, 403},
		{"R65a", "404", nil, true, true, false, unavailable, 404},
		{"R65b", "418", nil, true, true, false, unavailable, 418},
		{"R65c", "302", nil, true, true, false, unavailable, 302},
		{"R65d a 400 that means unknown model", "", unknownModel, true, true, false, unavailable, 400},
		{"R66", "429", nil, true, false, false, limited, 429},
		{"R67a", "529", nil, true, true, false, router.ProviderOverloaded, 529},
		{"R67b", "503", nil, true, true, false, router.NoCapacity, 503},
		{"R68a", "408", nil, true, true, false, timeout, 408},
		{"R68b", "504", nil, true, true, false, timeout, 504},
		{"R68c", "524", nil, true, true, false, timeout, 524},
		{"R68d no reply in time", "timeout", nil, true, true, false, timeout, 0},
		{"R68e the client's own deadline", "", func(context.Context, router.Attempt) (router.Reply, error) {
			return router.Reply{}, context.DeadlineExceeded
		}, true, true, false, timeout, 0},
		{"R68f no reply in time, put otherwise", "", func(ctx context.Context, _ router.Attempt) (router.Reply, error) {
			<-ctx.Done()
			return router.Reply{}, &router.UpstreamError{Class: unavailable, Err: errUpstream}
		}, true, true, false, timeout, 0},
		{"R68g a reply in time, read too late", "", func(ctx context.Context, _ router.Attempt) (router.Reply, error) {
			<-ctx.Done()
			return router.Reply{}, &router.UpstreamError{Status: 500, Class: unavailable, Err: errUpstream}
		}, true, true, false, unavailable, 500},
		{"R69a", "500", nil, true, true, false, unavailable, 500},
		{"R69b", "520", nil, true, true, false, unavailable, 520},
		{"R69c connection refused", "refused", nil, true, true, false, unavailable, 0},
		{"R69d connection reset", "reset", nil, true, true, false, unavailable, 0},
		{"R69e DNS", "dns", nil, true, true, false, unavailable, 0},
		{"R69f TLS", "tls", nil, true, true, false, unavailable, 0},
		{"R69g an error of no kind", "plain", nil, true, true, false, unavailable, 0},
		{"R69h no class", "", noClass, true, true, false, unavailable, 0},
		{"R69i not a class of attempts", "", oddClass, true, true, false, unavailable, 500},
		{"R70a HTML", "html", nil, true, true, false, unavailable, 502},
		{"R70b cut", "cut", nil, true, true, false, unavailable, 502},
		{"R70c invalid JSON", "json", nil, true, true, false, unavailable, 502},
		{"R70d question missing", "", reply(func(r *router.Reply) { r.Answers = r.Answers[:2] }), true, true, true, unavailable, 502},
		{"R70e question invented", "", reply(func(r *router.Reply) {
			r.Answers = append(r.Answers, systemone.Answer{Name: "more", Kind: systemone.Noul})
		}), true, true, true, unavailable, 502},
		{"R70f wrong type", "", changed(func(a systemone.Answers) { a[0].Kind = systemone.Score }), true, true, true, unavailable, 502},
		{"R70g unknown label", "", changed(func(a systemone.Answers) { a[1].Probabilities[1].Label = "x" }), true, true, true, unavailable, 502},
		{"R70h sum off", "", changed(func(a systemone.Answers) { a[1].Probabilities[0].P = 0.9 }), true, true, true, unavailable, 502},
		{"R70i argmax wrong", "", changed(func(a systemone.Answers) { a[1].Choice = "sales" }), true, true, true, unavailable, 502},
		{"R70j mean wrong", "", changed(func(a systemone.Answers) { a[2].Score = 0.9 }), true, true, true, unavailable, 502},
		{"R70k no answers at all", "", reply(func(r *router.Reply) { r.Answers = nil }), true, true, true, unavailable, 502},
		{"R70l negative usage", "", reply(func(r *router.Reply) { r.Usage.InputTokens = -1 }), true, true, true, unavailable, 502},
		{"R70m absurd usage", "", reply(func(r *router.Reply) { r.Usage.OutputTokens = 1 << 60 }), true, true, true, unavailable, 502},
		{"R70n refuses what was not asked", "", reply(func(r *router.Reply) {
			r.Answers, r.Refused = nil, []router.Refusal{{Question: "invented"}}
		}), true, true, true, unavailable, 502},
		{"R70o a client's word for answers that fail the check", "", func(context.Context, router.Attempt) (router.Reply, error) {
			return router.Reply{}, &router.UpstreamError{Status: 200, BadReply: true, Checked: true, Err: errUpstream}
		}, true, true, true, unavailable, 502},
		{"R70p nothing was checked without a reply", "", func(context.Context, router.Attempt) (router.Reply, error) {
			return router.Reply{}, &router.UpstreamError{Status: 500, Checked: true, Err: errUpstream}
		}, true, true, false, unavailable, 500},
		{"a reply that this side cannot hold", "", func(context.Context, router.Attempt) (router.Reply, error) {
			return router.Reply{}, &router.UpstreamError{Class: router.NoCapacity, Local: true, Err: errUpstream}
		}, true, false, false, router.NoCapacity, 0},
		{"R71 all questions refused", "", reply(func(r *router.Reply) {
			r.Answers, r.Refused = nil, []router.Refusal{{Question: "refund"}, {Question: "team"}, {Question: "urgency"}}
		}), true, false, false, unavailable, 502},
	}
}

// TestClasses is R62 to R71: what the outcome of one attempt means for the walk,
// the endpoint's uptime and the caller.
func TestClasses(t *testing.T) {
	t.Parallel()
	for _, tt := range classCases() {
		t.Run(tt.row, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				do := tt.do
				if do == nil {
					do = fails(t, tt.what)
				}
				alone(t, tt, do)
				together(t, tt, do)
			})
		})
	}
}

// alone runs the case as the only attempt, after a hundred answers.
func alone(t *testing.T, tt classCase, do step) {
	t.Helper()
	g := newRig(t, "ant", nil)
	for range 100 {
		_, _, err := g.decide()
		require.NoError(t, err)
	}
	g.upstreams["ant"].will(do)
	res, c, err := g.decide()
	assert.Nil(t, res)
	e := fault(t, err)
	assert.Equal(t, tt.class, e.Class)
	assert.Equal(t, "Ant Cloud", e.Metadata["provider_name"])
	assert.Equal(t, []router.PreviousError{}, e.Metadata["previous_errors"])
	require.Len(t, c.Report.Legs[0].Attempts, 1)
	a := c.Report.Legs[0].Attempts[0]
	assert.Equal(t, tt.class, a.Class)
	assert.Equal(t, tt.status, a.Status)
	assert.Zero(t, a.Cost)
	assert.Nil(t, a.Answers)

	h := g.router.Health(g.endpoint(0).ID)
	require.NotNil(t, h.Uptime5m)
	assert.Equal(t, tt.uptime, *h.Uptime5m < 100, "counts against uptime")
	time.Sleep(time.Second) // of the bubble's clock: the next snapshot
	s := g.router.StatsOf(g.endpoint(0).ID)
	assert.Equal(t, int64(100), s.Passed)
	assert.Equal(t, tt.checked, s.Checked > 100, "counts as checked")
}

// together runs the case in front of a working endpoint.
func together(t *testing.T, tt classCase, do step) {
	t.Helper()
	g := newRig(t, "ant bee", nil)
	g.upstreams["ant"].will(do)
	_, c, err := g.decide()
	if tt.next {
		require.NoError(t, err)
		assert.Equal(t, "ant bee", asked(c))
		assert.Equal(t, router.Class(""), c.Report.Legs[0].Attempts[1].Class)
		assert.Equal(t, http.StatusOK, c.Report.Legs[0].Attempts[1].Status)
		return
	}
	assert.Equal(t, tt.class, fault(t, err).Class)
	assert.Equal(t, "ant", asked(c))
}

// An upstream refuses by Reply.Refused. A refusal among its answers is a bad reply,
// also where the caller's dialect has refusals, because such a question would not be
// asked elsewhere.
func TestAnUpstreamAnswersNothingWithARefusal(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant bee", nil)
	g.upstreams["ant"].will(changed(func(a systemone.Answers) {
		a[2] = systemone.Answer{Name: a[2].Name, Kind: a[2].Kind, Refusal: "I cannot say."}
	}))
	q := decision(byPrice)
	q.Refusals = true
	c := &router.Call{Request: q, Principal: who()}
	res, err := g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, "Bee", res.Response.Provider)
	assert.True(t, q.Refusals, "unchanged")
}
