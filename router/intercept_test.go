package router_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

func intercepted(list ...router.Interceptor) func(*router.Config) {
	return func(cfg *router.Config) { cfg.Interceptors = list }
}

// Interceptors run in the order given, the first one outermost.
func TestInterceptorsRunOutermostFirst(t *testing.T) {
	t.Parallel()
	var order []string
	mark := func(name string) router.Interceptor {
		return func(next router.Decider) router.Decider {
			return func(ctx context.Context, c *router.Call) (*router.Result, error) {
				order = append(order, name+" in")
				defer func() { order = append(order, name+" out") }()
				return next(ctx, c)
			}
		}
	}
	g := newRig(t, "ant", intercepted(mark("a"), mark("b")))
	_, _, err := g.decide()
	require.NoError(t, err)
	assert.Equal(t, []string{"a in", "b in", "b out", "a out"}, order)
}

// An interceptor may replace the request; the engine uses the replacement.
func TestInterceptorReplacesTheRequest(t *testing.T) {
	t.Parallel()
	preset := func(next router.Decider) router.Decider {
		return func(ctx context.Context, c *router.Call) (*router.Result, error) {
			q := *c.Request
			q.Preset, q.Model = "", modelM
			c.Request = &q
			return next(ctx, c)
		}
	}
	g := newRig(t, "ant", intercepted(preset))
	q := decision("")
	q.Model, q.Preset = "", "p"
	_, err := g.router.Decide(t.Context(), &router.Call{Request: q})
	require.NoError(t, err)
	assert.Equal(t, "p", q.Preset)
}

// Rules of the embedding program narrow every call; the call's own policy stays.
func TestRestrict(t *testing.T) {
	t.Parallel()
	rules := intercepted(
		router.Restrict(router.Rule{IgnoredProviders: []string{"ant"}}),
		router.Restrict(router.Rule{AllowedProviders: []string{"ant", "bee", "cat"}, Source: router.SourceWorkspace}),
	)
	g := newRig(t, "ant bee cat dog", rules)
	own := make([]router.Rule, 1, 10)
	own[0] = router.Rule{IgnoredProviders: []string{"bee"}, Source: router.SourceKey}
	c := &router.Call{Request: decision(""), Policy: own}
	_, err := g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, "cat", asked(c))
	assert.Equal(t, router.Rule{}, own[:2][1], "what lies behind the caller's rules is not written to")
	sources := make(map[string]router.Source)
	for _, x := range c.Report.Legs[0].Plan.Excluded {
		sources[x.Endpoint.Provider] = x.Source
	}
	assert.Equal(t, map[string]router.Source{
		"ant": router.SourceAccount, "bee": router.SourceKey, "dog": router.SourceWorkspace,
	}, sources)
}

// logged decides with a logger and returns the lines of the log.
func logged(t *testing.T, endpoints string, prepare func(*rig, *router.Call)) []map[string]any {
	t.Helper()
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c := newClock()
	g := newRig(t, endpoints, func(cfg *router.Config) {
		cfg.Now = c.now
		cfg.UserKey = []byte("canary-user-key")
		cfg.Interceptors = []router.Interceptor{router.Log(log)}
	}, takesUser)
	call := &router.Call{
		Request: decision(byPrice), Secret: "canary-secret", ID: "gen-dec-1", RequestID: "req-1",
		Principal: router.Principal{Account: "acct", Workspace: "ws", KeyHash: "hash"},
	}
	call.Request.State = json.RawMessage(`"canary-state"`)
	call.Request.User = "canary-user"
	call.Request.SessionID = "canary-session"
	call.Request.Trace = json.RawMessage(`{"trace_id":"canary-trace"}`)
	prepare(g, call)
	first := g.upstreams["ant"].steps
	if len(first) > 0 {
		do := first[0]
		g.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
			c.step(250 * time.Millisecond)
			return do(ctx, a)
		})
	}
	_, _ = g.router.Decide(t.Context(), call)
	assert.NotContains(t, out.String(), "canary")
	var lines []map[string]any
	for line := range strings.Lines(out.String()) {
		var m map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		delete(m, "time")
		lines = append(lines, m)
		if m["msg"] != "attempt failed" { // its cause is the provider's text
			assert.NotContains(t, line, "hunter2")
		}
	}
	return lines
}

func TestLog(t *testing.T) {
	t.Parallel()
	base := func(more map[string]any) map[string]any {
		m := map[string]any{
			"level": "INFO", "msg": "decision", "id": "gen-dec-1", "request_id": "req-1",
			"account": "acct", "workspace": "ws", "key": "hash", "requested": modelM,
			"legs": 1.0, "attempts": 1.0, "seed": 7.0, "duration": 2.5e8,
		}
		maps.Copy(m, more)
		return m
	}
	t.Run("an answer", func(t *testing.T) {
		t.Parallel()
		lines := logged(t, "ant/eu bee", func(g *rig, _ *router.Call) { g.upstreams["ant"].will(fails(t, "429(3)")) })
		assert.Equal(t, []map[string]any{{
			"level": "WARN", "msg": "attempt failed", "id": "gen-dec-1", "request_id": "req-1", "endpoint": "ant/eu", "model": modelM,
			"class": "rate_limit_exceeded", "status": 429.0, "duration": 2.5e8,
			"cause": "router: upstream rate_limit_exceeded (status 429): upstream text, hunter2",
		}, base(map[string]any{
			"attempts": 2.0, "tried": "ant/eu 429, bee 200", "model": "acme/judge-20260901", "provider": "Bee",
			"input_tokens": 1000.0, "output_tokens": 10.0, "cost": "0.00201",
		})}, lines)
	})
	t.Run("a failure of an upstream", func(t *testing.T) {
		t.Parallel()
		lines := logged(t, "ant", func(g *rig, _ *router.Call) { g.upstreams["ant"].will(fails(t, "refused")) })
		require.Len(t, lines, 2)
		assert.Equal(t, base(map[string]any{
			"level": "WARN", "tried": "ant provider_unavailable", "class": "provider_unavailable", "canceled": false,
			"stopped": "candidates",
		}), lines[1])
	})
	t.Run("stages", func(t *testing.T) {
		t.Parallel()
		for _, test := range []struct{ bee, tried, kept, provider string }{
			{"200", "ant 200; bee 200", "", "Ant Cloud"},
			{"500", "ant 200; bee 500", "error 1", "Ant Cloud"},
		} {
			lines := logged(t, "ant bee:N", func(g *rig, c *router.Call) {
				c.Request.Models = []systemone.Entry{{Model: modelN, When: unsure()}}
				g.upstreams["bee"].will(fails(t, test.bee))
			})
			last := lines[len(lines)-1]
			escalated := 1.0
			if test.kept != "" {
				escalated = 0
			}
			for name, want := range map[string]any{
				"legs": 2.0, "attempts": 2.0, "tried": test.tried, "kept": test.kept, "escalated": escalated, "provider": test.provider,
			} {
				assert.Equal(t, want, last[name], name)
			}
		}
	})
	t.Run("a long list of models is cut", func(t *testing.T) {
		t.Parallel()
		lines := logged(t, "ant", func(_ *rig, c *router.Call) { c.Request.Models = slices.Repeat(systemone.Texts(modelM), 30) })
		require.Len(t, lines, 1)
		assert.Equal(t, strings.Repeat(modelM+", ", 30)[:200]+"…", lines[0]["requested"])
	})
	t.Run("a name that is no model's is not shown", func(t *testing.T) {
		t.Parallel()
		lines := logged(t, "ant", func(_ *rig, c *router.Call) { c.Request.Models = systemone.Texts("canary-key") })
		assert.Equal(t, []map[string]any{base(map[string]any{
			"level": "WARN", "requested": "", "legs": 0.0, "attempts": 0.0, "tried": "", "duration": 0.0, "class": "invalid_request", "canceled": false,
		})}, lines)
	})
}

// A failure of the program itself is an error, and shows its cause.
func TestLogOfOwnFailures(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	broken := func(router.Decider) router.Decider {
		return func(context.Context, *router.Call) (*router.Result, error) {
			return nil, errors.New("the database is gone")
		}
	}
	g := newRig(t, "ant", intercepted(router.Log(slog.New(slog.NewTextHandler(&out, nil))), broken))
	_, _, err := g.decide()
	require.Error(t, err)
	assert.Contains(t, out.String(), "level=ERROR")
	assert.Contains(t, out.String(), `error="the database is gone"`)
	assert.Contains(t, out.String(), "class=server")
}

// A mistake that a policy finds in a request is the caller's fault in the log as in
// the reply, and the log shows nothing of the request.
func TestLogOfMistakesThatPoliciesFind(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	strict := func(router.Decider) router.Decider {
		return func(context.Context, *router.Call) (*router.Result, error) {
			return nil, fmt.Errorf("policy: %w", &systemone.InvalidError{Issues: []systemone.Issue{{Path: "preset", Message: "private words"}}})
		}
	}
	g := newRig(t, "ant", intercepted(router.Log(slog.New(slog.NewTextHandler(&out, nil))), strict))
	_, _, err := g.decide()
	require.Equal(t, router.InvalidRequest, fault(t, err).Class)
	assert.Contains(t, out.String(), "level=WARN")
	assert.Contains(t, out.String(), "class=invalid_request")
	assert.NotContains(t, out.String(), "private words")
}

// observer keeps the outcomes that it gets.
type observer struct {
	seen []router.Outcome
	ctx  []error
}

func (o *observer) Observe(ctx context.Context, out router.Outcome) {
	o.seen = append(o.seen, out)
	o.ctx = append(o.ctx, ctx.Err())
}

func TestObserve(t *testing.T) {
	t.Parallel()
	var o observer
	c := newClock()
	g := newRig(t, "ant", func(cfg *router.Config) {
		cfg.Now = c.now
		cfg.Interceptors = []router.Interceptor{router.Observe(&o), router.Observe(nil)}
	})
	ctx, cancel := context.WithCancel(t.Context())
	g.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
		c.step(time.Second)
		return answer(ctx, a)
	}, func(context.Context, router.Attempt) (router.Reply, error) {
		cancel()
		return router.Reply{}, context.Canceled
	})
	q := decision("")
	q.SessionID = "s"
	q.Trace = json.RawMessage(`{"trace_id":"t","mine":[1]}`)
	by := router.Principal{Account: "acct"}
	res, err := g.router.Decide(ctx, &router.Call{Request: q, Principal: by})
	require.NoError(t, err)
	require.Len(t, o.seen, 1)
	out := o.seen[0]
	assert.Same(t, res, out.Result)
	assert.Same(t, q, out.Request)
	require.NoError(t, out.Err)
	assert.Equal(t, res.Response.ID, out.ID)
	assert.NotEmpty(t, out.RequestID)
	assert.Equal(t, by, out.Principal)
	assert.Equal(t, newClock().now(), out.Admitted)
	assert.Equal(t, time.Second, out.Duration)
	assert.Equal(t, "s", out.SessionID)
	assert.JSONEq(t, `{"trace_id":"t","mine":[1]}`, string(out.Trace), "members of one's own are kept")
	assert.Len(t, out.Report.Legs[0].Attempts, 1)

	_, err = g.router.Decide(ctx, &router.Call{Request: q})
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, o.seen, 2, "a hang-up is an outcome too")
	require.ErrorIs(t, o.seen[1].Err, context.Canceled)
	assert.Nil(t, o.seen[1].Result)
	assert.Len(t, o.seen[1].Report.Legs[0].Attempts, 1)
	assert.NoError(t, o.ctx[1], "its context outlives the caller's")
}

// An interceptor also works without a router around it.
func TestInterceptorsAlone(t *testing.T) {
	t.Parallel()
	var o observer
	decide := router.Observe(&o)(func(context.Context, *router.Call) (*router.Result, error) {
		return &router.Result{Response: systemone.Response{ID: "x"}}, nil
	})
	_, err := decide(t.Context(), &router.Call{})
	require.NoError(t, err)
	assert.Zero(t, o.seen[0].Duration)
	assert.Nil(t, o.seen[0].Request)
}

// contexts is a log handler that keeps the state of the contexts it gets.
type contexts struct {
	slog.Handler

	seen []error
}

func (h *contexts) Handle(ctx context.Context, _ slog.Record) error {
	h.seen = append(h.seen, ctx.Err())
	return nil
}

// The line about a caller that hung up is written with a context that a handler may
// still use.
func TestLogOutlivesTheCaller(t *testing.T) {
	t.Parallel()
	h := &contexts{Handler: slog.NewTextHandler(new(bytes.Buffer), nil)}
	g := newRig(t, "ant", intercepted(router.Log(slog.New(h))))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := g.router.Decide(ctx, &router.Call{Request: decision("")})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, []error{nil}, h.seen)
}
