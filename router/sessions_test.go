package router_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// session is a request of account A in session s, changed.
type session struct {
	account, id, model, preferences string
}

func (s session) call() *router.Call {
	c := &router.Call{Request: decision(s.preferences), Principal: router.Principal{Account: s.account}}
	if s.model != "" {
		c.Request.Model = s.model
	}
	c.Request.SessionID = s.id
	return c
}

// plan decides and returns the plan as "cat > ant > bee", with an asterisk
// where the first is pinned.
func (g *rig) plan(s session) string {
	g.t.Helper()
	c := s.call()
	_, err := g.router.Decide(g.t.Context(), c)
	if err != nil {
		_ = fault(g.t, err)
	}
	var tags []string
	for _, candidate := range c.Report.Legs[0].Plan.Candidates {
		tags = append(tags, candidate.Endpoint.Tag())
	}
	if len(tags) > 0 && c.Report.Legs[0].Plan.Candidates[0].Reason == router.ReasonPinned {
		tags[0] += "*"
	}
	return strings.Join(tags, " > ")
}

// TestSessions is R50 to R52: what pins a session and for how long.
func TestSessions(t *testing.T) {
	t.Parallel()
	in := func(preferences string) session { return session{account: "A", id: "s", preferences: preferences} }
	pinCat := in(`{"only":["cat"]}`)
	const pinned = "cat* > ant > bee"
	for _, tt := range []struct {
		row  string
		with string // endpoints, default ant bee cat
		do   func(g *rig, c *clock)
		ask  session
		want string // "" is a draw: no pin
	}{
		{row: "R50a", do: func(g *rig, c *clock) { g.plan(pinCat); c.step(9*time.Minute + 59*time.Second) }, ask: in(""), want: pinned},
		{row: "R50b", do: func(g *rig, c *clock) { g.plan(pinCat); c.step(10 * time.Minute) }, ask: in("")},
		{row: "R50c", ask: in("")},
		{row: "R50d a success renews", do: func(g *rig, c *clock) {
			g.plan(pinCat)
			c.step(9 * time.Minute)
			g.plan(in(""))
			c.step(9 * time.Minute)
		}, ask: in(""), want: pinned},
		{row: "R50e a failure does not renew", do: func(g *rig, c *clock) {
			g.plan(pinCat)
			c.step(9 * time.Minute)
			g.failAll(1)
			g.plan(in(""))
			c.step(time.Minute)
		}, ask: in("")},
		{row: "R50f nor remove", do: func(g *rig, c *clock) {
			g.plan(pinCat)
			g.failAll(1)
			g.plan(in(""))
		}, ask: in(""), want: pinned},
		{row: "R51a", do: func(g *rig, _ *clock) { g.plan(pinCat) }, ask: in(`{"order":["bee"]}`), want: "bee > ant > cat"},
		{row: "R51a leaves the pin", do: func(g *rig, _ *clock) {
			g.plan(pinCat)
			g.plan(in(`{"order":["bee"]}`))
		}, ask: in(""), want: pinned},
		{row: "R51b", do: func(g *rig, _ *clock) { g.plan(pinCat) }, ask: in(`{"sort":"price"}`), want: "ant > bee > cat"},
		{row: "R51b leaves the pin", do: func(g *rig, _ *clock) {
			g.plan(pinCat)
			g.plan(in(`{"sort":"price"}`))
		}, ask: in(""), want: pinned},
		{
			row: "R51c", do: func(g *rig, _ *clock) { g.plan(pinCat) },
			ask: session{account: "A", id: "s", model: "judge:floor"}, want: "ant > bee > cat",
		},
		{row: "R51c leaves the pin", do: func(g *rig, _ *clock) {
			g.plan(pinCat)
			g.plan(session{account: "A", id: "s", model: "judge:floor"})
		}, ask: in(""), want: pinned},
		{row: "R51e and does not renew it", do: func(g *rig, c *clock) {
			g.plan(pinCat)
			c.step(9 * time.Minute)
			g.plan(in(`{"order":["cat"]}`))
			c.step(time.Minute)
		}, ask: in("")},
		{row: "R52a", do: func(g *rig, _ *clock) { g.plan(pinCat) }, ask: in(`{"ignore":["cat"]}`)},
		{row: "R52b stronger than an outage", do: func(g *rig, _ *clock) {
			g.plan(pinCat)
			g.upstreams["cat"].will(fails(g.t, "429(30)"), answer)
			require.Error(g.t, g.decideOnly("cat"))
		}, ask: in(""), want: pinned},
		{row: "R52b the first failover moves it", do: func(g *rig, _ *clock) {
			g.plan(pinCat)
			g.upstreams["cat"].will(fails(g.t, "500"))
			g.plan(in(""))
		}, ask: in(""), want: "ant* > bee > cat"},
		{row: "R52d", do: func(g *rig, _ *clock) { g.plan(pinCat) }, ask: in(`{"allow_fallbacks":false}`), want: "cat*"},
	} {
		t.Run(tt.row, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			g := newRig(t, "ant bee cat", withClock(c))
			if tt.do != nil {
				tt.do(g, c)
			}
			got := g.plan(tt.ask)
			if tt.want == "" {
				assert.NotContains(t, got, "*")
				return
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

// failAll makes every upstream fail n times, then answer.
func (g *rig) failAll(n int) {
	for _, u := range g.upstreams {
		var steps []step
		for range n {
			steps = append(steps, fails(g.t, "413"))
		}
		u.will(append(steps, answer)...)
	}
}

// decideOnly asks one provider, outside of any session.
func (g *rig) decideOnly(slug string) error {
	_, err := g.router.Decide(g.t.Context(), &router.Call{Request: decision(`{"only":["` + slug + `"]}`)})
	return err
}

// TestSessionBelowTiers is R52c.
func TestSessionBelowTiers(t *testing.T) {
	t.Parallel()
	c := newClock()
	g := newRig(t, "ant bee cat", withClock(c))
	latency := map[string]time.Duration{"ant": 500 * time.Millisecond, "cat": 2 * time.Second}
	for slug, d := range latency {
		g.upstreams[slug].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
			c.step(d)
			return answer(ctx, a)
		})
		for range 10 {
			require.NoError(t, g.decideOnly(slug))
		}
	}
	g.plan(session{account: "A", id: "s", preferences: `{"only":["cat"]}`})
	got := g.plan(session{account: "A", id: "s", preferences: `{"preferred_max_latency":1}`})
	assert.Equal(t, "ant > bee > cat", got)
}

// TestSessionKeys is R53: the key of a pin.
func TestSessionKeys(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		row    string
		ask    session
		pinned bool
	}{
		{"R53a", session{account: "A", id: "s"}, true},
		{"R53a another name of the model", session{account: "A", id: "s", model: "judge-latest"}, true},
		{"R53b", session{account: "B", id: "s"}, false},
		{"R53c", session{account: "A", id: "s", model: modelN}, false},
		{"R53d", session{account: "A", id: "S"}, false},
		{"R53g", session{account: "A", id: ""}, false},
	} {
		t.Run(tt.row, func(t *testing.T) {
			t.Parallel()
			g := newRig(t, "ant bee cat cat:N dog:N", nil)
			g.plan(session{account: "A", id: "s", preferences: `{"only":["cat"]}`})
			g.plan(session{account: "A", id: "", preferences: `{"only":["cat"]}`})
			assert.Equal(t, tt.pinned, strings.Contains(g.plan(tt.ask), "*"))
		})
	}
}

// Each model of a list has its own pin.
func TestSessionOfFallbackModel(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant:M bee:N cat:N", nil)
	call := func() *router.Call {
		c := session{account: "A", id: "s", preferences: `{"only":["ant","cat"]}`}.call()
		c.Request.Models = systemone.Texts(modelN)
		return c
	}
	g.upstreams["ant"].will(fails(t, "500"), answer)
	_, err := g.router.Decide(t.Context(), call())
	require.NoError(t, err)
	c := call()
	c.Request.Provider = nil
	_, err = g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	var tags []string
	for _, candidate := range c.Report.Legs[0].Plan.Candidates {
		tags = append(tags, candidate.Endpoint.Tag())
	}
	assert.Equal(t, []string{"ant", "cat", "bee"}, tags, "cat answered for N")
}

// sessionsOf is an implementation of Sessions by a map.
type sessionsOf map[router.SessionKey]uuid.UUID

func (m sessionsOf) Pinned(_ context.Context, key router.SessionKey, _ time.Time) uuid.UUID {
	return m[key]
}

func (m sessionsOf) Pin(_ context.Context, key router.SessionKey, endpoint uuid.UUID, _ time.Time) {
	m[key] = endpoint
}

func TestOwnSessions(t *testing.T) {
	t.Parallel()
	memory := sessionsOf{}
	g := newRig(t, "ant bee", func(cfg *router.Config) { cfg.Sessions = memory })
	key := router.SessionKey{Account: "A", Model: modelM, Session: "s"}
	memory[key] = g.endpoint(1).ID
	assert.Equal(t, "bee* > ant", g.plan(session{account: "A", id: "s"}))
	assert.Equal(t, "ant", g.plan(session{account: "A", id: "t", preferences: `{"only":["ant"]}`}))
	assert.Equal(t, g.endpoint(0).ID, memory[router.SessionKey{Account: "A", Model: modelM, Session: "t"}])
}

// The default Sessions is bounded and forgets the oldest.
func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	m := router.NewMemorySessions(100)
	now := newClock().now()
	key := func(i int) router.SessionKey { return router.SessionKey{Account: "A", Session: strconv.Itoa(i)} }
	for i := range 1000 {
		m.Pin(t.Context(), key(i), uuid.Max, now.Add(time.Minute))
	}
	kept := 0
	for i := range 1000 {
		if m.Pinned(t.Context(), key(i), now) == uuid.Max {
			kept++
		}
	}
	assert.LessOrEqual(t, kept, 100)
	assert.GreaterOrEqual(t, kept, 50)
	assert.Equal(t, uuid.Max, m.Pinned(t.Context(), key(999), now), "the last one is known")
	assert.NotEqual(t,
		router.SessionKey{Account: "a", Model: "bc"}.Digest(),
		router.SessionKey{Account: "ab", Model: "c"}.Digest(), "parts do not run together")
}
