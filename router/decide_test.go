package router_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

func takesUser(e *router.Endpoint) { e.Parameters = []string{"user"} }

func TestNewRefusesMistakes(t *testing.T) {
	t.Parallel()
	catalog := newRig(t, "ant", nil).router.Catalog()
	for name, cfg := range map[string]router.Config{
		"no catalog":        {},
		"negative timeout":  {Catalog: catalog, Timeout: -1},
		"negative attempt":  {Catalog: catalog, AttemptTimeout: -1},
		"negative attempts": {Catalog: catalog, MaxAttempts: -1},
		"negative limit":    {Catalog: catalog, Limits: systemone.Limits{Options: -1}},
		"a nil interceptor": {Catalog: catalog, Interceptors: []router.Interceptor{router.Log(nil), nil}},
	} {
		_, err := router.New(cfg)
		require.ErrorIs(t, err, router.ErrConfig, name)
	}
	_, err := router.New(router.Config{Catalog: catalog, Interceptors: []router.Interceptor{
		router.Log(nil), func(router.Decider) router.Decider { return nil },
	}})
	require.ErrorIs(t, err, router.ErrConfig)
	require.ErrorContains(t, err, "Interceptors[1]")
}

// A call that is decided again would carry the id, the attempts and the costs of
// the first decision into the second.
func TestACallIsDecidedOnce(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant", nil)
	res, call, err := g.decide()
	require.NoError(t, err)
	require.NotNil(t, res)
	_, err = g.router.Decide(t.Context(), call)
	failed, ok := errors.AsType[*router.Error](err)
	require.True(t, ok)
	assert.Equal(t, router.Server, failed.Class)
	require.ErrorContains(t, err, "decided before")
	assert.Len(t, call.Report.Legs[0].Attempts, 1, "nothing was sent")
}

// An answered call: what the caller gets, what it costs and what is reported.
func TestDecide(t *testing.T) {
	t.Parallel()
	c := newClock()
	ids := []uuid.UUID{uuid.MustParse("01900000-0000-7000-8000-000000000001"), uuid.MustParse("01900000-0000-7000-8000-000000000002")}
	g := newRig(t, "ant bee", func(cfg *router.Config) {
		cfg.Now = c.now
		cfg.NewID = func() uuid.UUID {
			id := ids[0]
			ids = ids[1:]
			return id
		}
	})
	g.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
		c.step(250 * time.Millisecond)
		return router.Reply{}, &router.UpstreamError{Status: 500, Err: errUpstream}
	})
	g.upstreams["bee"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
		c.step(500 * time.Millisecond)
		r, err := answer(ctx, a)
		r.Usage.ReasoningTokens, r.Usage.CachedTokens = 3, 4
		return r, err
	})
	res, call, err := g.decide()
	require.NoError(t, err)

	assert.Equal(t, "gen-dec-01900000000070008000000000000001", call.ID)
	assert.Equal(t, "01900000-0000-7000-8000-000000000002", call.RequestID)
	assert.Equal(t, newClock().now(), call.Admitted)
	assert.Equal(t, uint64(7), call.Seed)

	assert.Same(t, g.endpoint(1), res.Endpoint)
	assert.Equal(t, router.USD(2_010_000), res.Cost, "1,000 at $2 and 10 at $1 per million: bee's attempt only (R77b)")
	p := res.Response
	assert.Equal(t, call.ID, p.ID)
	assert.Equal(t, "acme/judge-20260901", p.Model)
	assert.Equal(t, "Bee", p.Provider)
	assert.Equal(t, systemone.Usage{
		InputTokens: 1000, OutputTokens: 10, ReasoningTokens: 3, CachedTokens: 4, Cost: "0.00201",
	}, p.Usage)
	require.Len(t, p.Answers, 3)
	assert.InDelta(t, 0.5, p.Answers[1].Confidence, 1e-9, "recomputed")
	assert.Len(t, p.Answers[2].Legend, 2, "the request's")

	assert.Equal(t, modelM, call.Report.Requested)
	assert.Equal(t, uint64(7), call.Report.Legs[0].Plan.Seed)
	require.Len(t, call.Report.Legs[0].Attempts, 2)
	first, second := call.Report.Legs[0].Attempts[0], call.Report.Legs[0].Attempts[1]
	assert.Equal(t, router.AttemptRecord{
		Endpoint: g.endpoint(0), Model: g.router.Catalog().Models()[0], Provider: "Ant Cloud",
		Started: newClock().now(), Duration: 250 * time.Millisecond,
		Class: router.ProviderUnavailable, Status: 500, Err: first.Err,
	}, first)
	require.ErrorIs(t, first.Err, errUpstream)
	assert.Equal(t, newClock().now().Add(250*time.Millisecond), second.Started)
	assert.Equal(t, 500*time.Millisecond, second.Duration)
	assert.Equal(t, "up-1", second.UpstreamID)
	assert.Equal(t, json.Number("0.5"), second.Usage.Cost, "what the upstream says it charged")
	assert.Equal(t, res.Cost, second.Cost)
	assert.Equal(t, answers(), second.Answers, "as the upstream gave them")
}

// The default ids have the documented form and are unique.
func TestDefaultIDs(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant", nil)
	_, one, err := g.decide()
	require.NoError(t, err)
	_, two, err := g.decide()
	require.NoError(t, err)
	assert.Regexp(t, `^gen-dec-[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$`, one.ID)
	assert.NotEqual(t, one.ID, two.ID)
	assert.NotEqual(t, one.RequestID, two.RequestID)
}

// Fields that the caller set are kept; an id that no header can carry is replaced.
func TestCallKeepsWhatIsGiven(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant", nil)
	admitted := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for id, kept := range map[string]bool{
		"req-1": true, strings.Repeat("x", 128): true, strings.Repeat("x", 129): false,
		"a b": false, "a\r\nb": false, "é": false,
	} {
		c := &router.Call{Request: decision(""), ID: "gen-dec-1", RequestID: id, Admitted: admitted, Seed: 99}
		_, err := g.router.Decide(t.Context(), c)
		require.NoError(t, err)
		assert.Equal(t, "gen-dec-1", c.ID)
		assert.Equal(t, admitted, c.Admitted)
		assert.Equal(t, uint64(99), c.Report.Legs[0].Plan.Seed)
		assert.Equal(t, kept, c.RequestID == id, "%q", id)
		seen := g.upstreams["ant"].attempts()
		assert.Equal(t, c.RequestID, seen[len(seen)-1].RequestID)
	}
}

// A seed of 0 would be replaced in a replay, so no plan ever has it.
func TestSeedIsNeverZero(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant", func(cfg *router.Config) { cfg.Seed = func() uint64 { return 0 } })
	_, c, err := g.decide()
	require.NoError(t, err)
	assert.NotZero(t, c.Report.Legs[0].Plan.Seed)
}

// Answers are checked with the endpoint's tolerance.
func TestToleranceIsTheEndpoints(t *testing.T) {
	t.Parallel()
	rounded := changed(func(a systemone.Answers) { a[1].Probabilities[0].P = 0.74 })
	g := newRig(t, "ant bee", nil, func(e *router.Endpoint) {
		if e.Provider == "bee" {
			e.Tolerance.Rounding = 0.01
		}
	})
	g.upstreams["ant"].will(rounded)
	g.upstreams["bee"].will(rounded)
	res, c, err := g.decide()
	require.NoError(t, err)
	assert.Equal(t, "ant bee", asked(c))
	assert.Equal(t, 502, c.Report.Legs[0].Attempts[0].Status)
	require.ErrorIs(t, c.Report.Legs[0].Attempts[0].Err, systemone.ErrAnswer)
	p := res.Response.Answers[1].Probabilities
	assert.InDelta(t, 1, p[0].P+p[1].P, 1e-9, "repaired")
}

// Errors before any attempt.
func TestRefusals(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant", nil)
	with := func(change func(*systemone.Request)) *router.Call {
		q := decision("")
		change(q)
		return &router.Call{Request: q}
	}
	for name, tt := range map[string]struct {
		call  *router.Call
		class router.Class
	}{
		"no call":              {nil, router.InvalidRequest},
		"no request":           {&router.Call{}, router.InvalidRequest},
		"not valid":            {with(func(q *systemone.Request) { q.Questions = nil }), router.InvalidRequest},
		"no such model":        {with(func(q *systemone.Request) { q.Model = "nope/x" }), router.InvalidRequest},
		"no such preset":       {with(func(q *systemone.Request) { q.Preset = "p" }), router.NotFound},
		"nobody is left":       {&router.Call{Request: decision(`{"only":["nobody"]}`)}, router.NotFound},
		"without any endpoint": {with(func(q *systemone.Request) { q.Model = modelN }), router.NotFound},
	} {
		_, err := g.router.Decide(t.Context(), tt.call)
		e := fault(t, err)
		assert.Equal(t, tt.class, e.Class, name)
		if tt.class == router.InvalidRequest && name != "no such model" {
			assert.NotEmpty(t, e.Issues, name)
		}
	}
	assert.Empty(t, g.upstreams["ant"].attempts())

	c := &router.Call{Request: decision(`{"only":["nobody"]}`)}
	_, err := g.router.Decide(t.Context(), c)
	assert.Equal(t, []string{"allowed_providers"}, fault(t, err).ExcludedBy)
	assert.Equal(t, modelM, c.Report.Requested)
	assert.Len(t, c.Report.Legs[0].Plan.Excluded, 1, "the report is filled on failure too")
}

// Config.Limits bound every request.
func TestLimits(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant", func(cfg *router.Config) { cfg.Limits.Questions = 2 })
	_, _, err := g.decide()
	assert.Equal(t, router.InvalidRequest, fault(t, err).Class)
}

// MaxAttempts bounds the walk, and so does allow_fallbacks.
func TestMaxAttempts(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant bee cat", func(cfg *router.Config) { cfg.MaxAttempts = 2 })
	for _, u := range g.upstreams {
		u.will(fails(t, "500"))
	}
	_, c, err := g.decide()
	require.Error(t, err)
	assert.Equal(t, "ant bee", asked(c))

	c = &router.Call{Request: decision(`{"sort":"price","allow_fallbacks":false}`)}
	g.upstreams["ant"].will(fails(t, "429(7)"))
	_, err = g.router.Decide(t.Context(), c)
	e := fault(t, err)
	assert.Equal(t, router.RateLimitExceeded, e.Class)
	assert.Equal(t, 7*time.Second, e.RetryAfter)
	assert.Equal(t, "ant", asked(c))
}

// Whatever an interceptor returns, Decide returns an *Error or a result.
func TestErrorsOfInterceptors(t *testing.T) {
	t.Parallel()
	fixed := func(res *router.Result, err error) func(*router.Config) {
		return func(cfg *router.Config) {
			cfg.Interceptors = []router.Interceptor{func(router.Decider) router.Decider {
				return func(context.Context, *router.Call) (*router.Result, error) { return res, err }
			}}
		}
	}
	plain := errors.New("the database is gone")
	refused := &router.Error{Class: router.PaymentRequired, Message: "Insufficient credits"}
	for name, tt := range map[string]struct {
		err   error
		class router.Class
	}{
		"an *Error":          {refused, router.PaymentRequired},
		"a wrapped *Error":   {fmt.Errorf("wrapped: %w", refused), router.PaymentRequired},
		"a plain error":      {plain, router.Server},
		"an invalid request": {&systemone.InvalidError{Issues: []systemone.Issue{{Path: "state"}}}, router.InvalidRequest},
		"the deadline":       {context.DeadlineExceeded, router.Timeout},
		"a hang-up":          {context.Canceled, router.Timeout},
		"nothing at all":     {nil, router.Server},
	} {
		g := newRig(t, "ant", fixed(nil, tt.err))
		_, _, err := g.decide()
		assert.Equal(t, tt.class, fault(t, err).Class, name)
		if tt.err != nil {
			require.ErrorIs(t, err, tt.err, name)
		}
	}
}

// An interceptor that loses the request or the call is a failure of the program,
// not of the caller.
func TestInterceptorThatPassesNothingOn(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*router.Call) *router.Call{
		"no request": func(c *router.Call) *router.Call {
			c.Request = nil
			return c
		},
		"no call": func(*router.Call) *router.Call { return nil },
	} {
		g := newRig(t, "ant", intercepted(func(next router.Decider) router.Decider {
			return func(ctx context.Context, c *router.Call) (*router.Result, error) { return next(ctx, lose(c)) }
		}))
		_, _, err := g.decide()
		assert.Equal(t, router.Server, fault(t, err).Class, name)
	}
}

// A provider's panic reaches the program, and releases what the call had taken.
func TestPanicGivesBackItsPlace(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant", nil, func(e *router.Endpoint) { e.Limits.Concurrency = 1 })
	g.upstreams["ant"].will(func(context.Context, router.Attempt) (router.Reply, error) { panic("bug") }, answer)
	assert.PanicsWithValue(t, "bug", func() { _, _, _ = g.decide() })
	assert.Zero(t, g.router.InFlight(g.endpoint(0).ID))
	_, _, err := g.decide()
	require.NoError(t, err)
}

// A cost text longer than any amount is not kept.
func TestUpstreamCostIsBounded(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant", nil)
	g.upstreams["ant"].will(reply(func(r *router.Reply) { r.Usage.Cost = json.Number(strings.Repeat("9", 65)) }))
	_, c, err := g.decide()
	require.NoError(t, err)
	assert.Empty(t, c.Report.Legs[0].Attempts[0].Usage.Cost)
}
