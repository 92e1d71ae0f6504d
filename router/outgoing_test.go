package router_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// TestOptions is R24a to c.
func TestOptions(t *testing.T) {
	t.Parallel()
	const options = `{"options":{"ant":{"a":1},"ANT/EU":{"b":2},"bee":{"c":3},"dog":{"d":4},"Bee Two":{"e":5}},"sort":"price"}`
	g := newRig(t, "ant/eu bee", nil)
	g.upstreams["ant"].will(fails(t, "500"))
	c := &router.Call{Request: decision(options)}
	_, err := g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.JSONEq(t, `{"b":2}`, string(g.upstreams["ant"].attempts()[0].Options), "R24a")
	assert.JSONEq(t, `{"c":3}`, string(g.upstreams["bee"].attempts()[0].Options), "R24b")

	g = newRig(t, "ant", nil)
	c = &router.Call{Request: decision(`{"options":{"ant":{"model":"x","state":"y","zzz":1}}}`)}
	_, err = g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	a := g.upstreams["ant"].attempts()[0]
	assert.Equal(t, "ant-judge", a.Model, "R24c: the router's model")
	assert.JSONEq(t, `"My card was charged twice."`, string(a.Request.State), "R24c: and state")
	assert.JSONEq(t, `{"model":"x","state":"y","zzz":1}`, string(a.Options), "what an upstream's client knows it picks")

	_, _, err = g.decide()
	require.NoError(t, err)
	assert.Nil(t, g.upstreams["ant"].attempts()[1].Options)
}

// An attempt contains nothing that an upstream does not need.
func TestAttemptHoldsNothingElse(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant bee", nil, takesUser)
	q := decision(`{"only":["ant"]}`)
	q.Models = systemone.Texts(modelN)
	q.SessionID = "canary-session"
	q.Trace = json.RawMessage(`{"trace_id":"canary-trace"}`)
	q.User = "canary-user"
	_, err := g.router.Decide(t.Context(), &router.Call{
		Request: q, Secret: "canary-secret",
		Principal: router.Principal{Account: "canary-account", KeyHash: "canary-hash", Member: "canary-member"},
	})
	require.NoError(t, err)
	a := g.upstreams["ant"].attempts()[0]
	assert.NotContains(t, fmt.Sprintf("%+v %+v", a, *a.Request), "canary")
	assert.Equal(t, &systemone.Request{State: q.State, Questions: q.Questions}, a.Request)
	assert.Empty(t, a.User, "no key, no user")
	assert.Equal(t, "canary-session", q.SessionID, "the caller's request is untouched")
}

// A user goes upstream as a hash, the same within an account, and only where
// the endpoint takes it.
func TestUserIsHashed(t *testing.T) {
	t.Parallel()
	keyed := func(key string) func(*router.Config) {
		return func(cfg *router.Config) { cfg.UserKey = []byte(key) }
	}
	hash := func(g *rig, account, user string) string {
		q := decision("")
		q.User = user
		_, err := g.router.Decide(t.Context(), &router.Call{Request: q, Principal: router.Principal{Account: account}})
		require.NoError(t, err)
		seen := g.upstreams["ant"].attempts()
		return seen[len(seen)-1].User
	}
	g := newRig(t, "ant", keyed("k1"), takesUser)
	one := hash(g, "a", "u")
	assert.Regexp(t, "^[0-9a-f]{64}$", one)
	assert.Equal(t, one, hash(g, "a", "u"))
	assert.NotEqual(t, one, hash(g, "a", "v"))
	assert.NotEqual(t, one, hash(g, "b", "u"))
	assert.NotEqual(t, hash(g, "a", "bc"), hash(g, "ab", "c"), "account and user do not run together")
	assert.Empty(t, hash(g, "a", ""))
	assert.NotEqual(t, one, hash(newRig(t, "ant", keyed("k2"), takesUser), "a", "u"))
	assert.Empty(t, hash(newRig(t, "ant", keyed("k1")), "a", "u"), "an endpoint that takes no user")
}

// Parts are unwrapped for endpoints that do not take them.
func TestStateParts(t *testing.T) {
	t.Parallel()
	const parts = `[{"type":"text","text":"hello"},{"type":"json","value":{"a":1}}]`
	g := newRig(t, "ant bee", nil, func(e *router.Endpoint) { e.Limits.Parts = e.Provider == "ant" })
	g.upstreams["ant"].will(fails(t, "500"))
	q := decision(byPrice)
	q.State = json.RawMessage(parts)
	_, err := g.router.Decide(t.Context(), &router.Call{Request: q})
	require.NoError(t, err)
	assert.JSONEq(t, parts, string(g.upstreams["ant"].attempts()[0].Request.State))
	assert.JSONEq(t, `["hello",{"a":1}]`, string(g.upstreams["bee"].attempts()[0].Request.State))
	assert.JSONEq(t, parts, string(q.State))
}

// Without a key no user goes upstream, so no endpoint counts as taking it.
func TestRequiredUserWithoutKey(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "k1"} {
		g := newRig(t, "ant", func(cfg *router.Config) { cfg.UserKey = []byte(key) }, takesUser)
		q := decision(`{"require_parameters":true}`)
		q.User = "u"
		_, err := g.router.Decide(t.Context(), &router.Call{Request: q})
		if key != "" {
			require.NoError(t, err)
			continue
		}
		e := fault(t, err)
		assert.Equal(t, router.NotFound, e.Class)
		assert.Equal(t, []string{"require_parameters"}, e.ExcludedBy)
		q.User = ""
		_, err = g.router.Decide(t.Context(), &router.Call{Request: q})
		require.NoError(t, err)
	}
}

// A request built by hand means the same however it spells null. Providers,
// observers and answers see nil, as over HTTP.
func TestNullsOfARequestBuiltByHand(t *testing.T) {
	t.Parallel()
	request := func(null json.RawMessage) *systemone.Request {
		q := decision("")
		q.Dialect, q.State, q.Trace = systemone.Native, null, null
		q.Questions[0].Instructions, q.Questions[0].True, q.Questions[0].False = null, q.State, json.RawMessage(`"no"`)
		q.Questions[1].Options[0].Guidance = null
		q.Questions[2].Levels[1] = null
		return q
	}
	for _, null := range []string{"null", " null\n", ""} {
		var observed observer
		g := newRig(t, "ant bee", intercepted(router.Observe(&observed)),
			func(e *router.Endpoint) { e.Limits.NoNulls = e.Provider == "ant" })
		q := request(json.RawMessage(null))
		res, err := g.router.Decide(t.Context(), &router.Call{Request: q})
		require.NoError(t, err, "%q", null)
		assert.Empty(t, g.upstreams["ant"].attempts(), "it takes no nulls")
		want := request(nil)
		assert.Equal(t, &systemone.Request{Dialect: systemone.Native, Questions: want.Questions}, g.upstreams["bee"].attempts()[0].Request, "%q", null)
		assert.Nil(t, observed.seen[0].Trace)
		assert.Equal(t, want.Questions[2].Levels, res.Response.Answers[2].Legend)
		assert.Equal(t, request(json.RawMessage(null)), q, "the caller's request is untouched")
	}
}
