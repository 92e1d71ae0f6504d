package presets_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

const (
	presetP = `"model":"acme/judge","models":["acme/judge-mini"],"provider":{"sort":"price","zdr":true},"temperature":0.2`

	allOfP   = "bee:M > ant:M > ant:N > cat:N"
	miniOfP  = "ant:N > cat:N"
	notFound = "404"
)

// cases are rows R89 and R90 of the routing cases, but for those of R90 that
// are about what is stored: see TestRoute.
var cases = []struct{ name, request, outcome string }{
	{"R89a", `"model":"@preset/p"`, allOfP},
	{"R89b", `"model":"judge-mini@preset/p"`, miniOfP},
	{"R89c", `"model":"acme/judge-mini","preset":"p"`, miniOfP},
	{"R89d", `"models":["acme/judge-mini"],"preset":"p"`, miniOfP},
	{"R89d with the mark", `"models":["acme/judge-mini"],"model":"@preset/p"`, miniOfP},
	{"R89d with an empty list", `"models":[],"model":"@preset/p"`, allOfP},
	{"R89e", `"preset":"p"`, allOfP},
	{"R89f", `"model":"@preset/p","preset":"q"`, "400 preset"},
	{"R89f before the preset is looked for", `"model":"@preset/none","preset":"p"`, "400 preset"},
	{"R89f the same twice", `"model":"@preset/p","preset":"p"`, allOfP},
	{"R89g unknown", `"model":"@preset/none"`, notFound},
	{"R89g disabled", `"model":"@preset/disabled"`, notFound},
	{"R89g archived", `"preset":"archived"`, notFound},
	{"R89g of another workspace", `"preset":"lab"`, notFound},
	{"R89g of another account", `"preset":"foreign"`, notFound},
	{"R89g no slug", `"model":"@preset/"`, notFound},
	{"R89g not a slug", `"model":"@preset/a/b"`, notFound},
	{"R89g another case", `"preset":"P"`, notFound},
	{"R89g before the model is looked for", `"model":"nope/x@preset/none"`, notFound},
	{"R89g inactive hides the default workspace's", `"preset":"hidden"`, notFound},
	{"R89h", `"preset":"modelless"`, "400 model"},
	{"R89h with a model", `"model":"judge-mini@preset/modelless"`, miniOfP},
	{"R89i", `"preset":"gone"`, "400 acme/gone is not a valid model ID"},
	{"R89i a preset names no preset", `"preset":"nested"`, "400 @preset/p is not a valid model ID"},
	{"R89j", `"model":"judge:floor@preset/p"`, "bee:M > ant:M"},
	{"R89j without the preset's sort", `"model":"judge:floor@preset/plain"`, "bee:M > ant:M"},
	{"R90a", `"model":"@preset/p","provider":{"only":["ant"]}`, "ant:M > ant:N"},
	{"R90b", `"model":"@preset/p","provider":null`, allOfP},
	{"R90c", `"model":"@preset/p","provider":{}`, "{bee:M 4/5, ant:M 1/5} > ant:N > cat:N"},
	{"of the default workspace", `"preset":"shared"`, miniOfP},
	{"the key's workspace comes first", `"preset":"both"`, miniOfP},
	{"the designated version counts", `"preset":"versions"`, miniOfP},
	{"a mark within models is a name", `"models":["@preset/p"]`, "400 @preset/p is not a valid model ID"},
}

// seed makes the presets of the cases; p and most others in the workspace shop.
func seed(t *testing.T, g *rig) {
	t.Helper()
	g.make(t, shop, "p", presetP)
	const mini = `"model":"acme/judge-mini","provider":{"sort":"price"}`
	for slug, status := range map[string]presets.Status{"disabled": presets.Disabled, "archived": presets.Archived, "hidden": presets.Disabled} {
		g.make(t, shop, slug, mini)
		_, err := g.SetStatus(t.Context(), manager, shop, slug, status)
		require.NoError(t, err)
	}
	g.make(t, usual, "hidden", mini)
	g.make(t, lab, "lab", mini)
	g.make(t, shop, "modelless", `"provider":{"sort":"price"}`)
	g.make(t, shop, "gone", `"model":"acme/gone"`)
	g.make(t, shop, "nested", `"model":"@preset/p"`)
	g.make(t, shop, "plain", `"temperature":1`)
	g.make(t, usual, "shared", mini)
	g.make(t, usual, "both", presetP)
	g.make(t, shop, "both", mini)
	g.make(t, shop, "versions", presetP)
	g.make(t, shop, "versions", mini)
	_, err := g.set.Presets.AddVersion(t.Context(), presets.Preset{Account: "other", Workspace: shop, Slug: "foreign", Status: presets.Active},
		presets.Version{Config: []byte(`{"model":"acme/judge"}`)}, presets.Bounds{}, router.Change{Account: "other"})
	require.NoError(t, err)
}

func request(t *testing.T, members string) *systemone.Request {
	t.Helper()
	q, err := systemone.Decoder{}.Decode([]byte(`{"state":"s","questions":{"q":{"type":"noul","instructions":"i"}},` + members + `}`))
	require.NoError(t, err)
	return q
}

// ask decides a request of the workspace shop and returns the outcome in the
// notation of the cases.
func ask(t *testing.T, r *router.Router, members string) string {
	t.Helper()
	q := request(t, members)
	sent := q.AppendJSON(nil)
	c := &router.Call{Request: q, Principal: router.Principal{Account: "acme", Workspace: shop, KeyHash: "k"}}
	_, err := r.Decide(t.Context(), c)
	assert.JSONEq(t, string(sent), string(q.AppendJSON(nil)), "the caller's request stays as it was")
	if err == nil {
		assert.Empty(t, c.Request.Preset)
		return planned(c.Report.Legs[0].Plan)
	}
	var refused *router.Error
	require.ErrorAs(t, err, &refused)
	switch {
	case refused.Class == router.NotFound:
		assert.Empty(t, refused.Message, "the sentence of the class")
		return notFound
	case refused.Message != "":
		return "400 " + refused.Message
	}
	require.Len(t, refused.Issues, 1)
	require.Equal(t, router.InvalidRequest, refused.Class)
	return "400 " + refused.Issues[0].Path
}

// planned writes a plan as the cases do.
func planned(p router.Plan) string {
	letter := map[string]string{"acme/judge": "M", "acme/judge-mini": "N"}
	var drawn, rest []string
	for _, c := range p.Candidates {
		name := c.Endpoint.Provider + ":" + letter[c.Endpoint.Model]
		switch c.Weight {
		case 0, 1:
			rest = append(rest, name)
		case 0.8:
			drawn = append([]string{name + " 4/5"}, drawn...)
		default:
			drawn = append(drawn, fmt.Sprintf("%s %.0f/5", name, 5*c.Weight))
		}
	}
	if drawn != nil {
		rest = append([]string{"{" + strings.Join(drawn, ", ") + "}"}, rest...)
	}
	return strings.Join(rest, " > ")
}

func TestCases(t *testing.T) {
	g := newRig(t)
	seed(t, g)
	r := newRouter(t, g.Intercept)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.outcome, ask(t, r, c.request))
			assert.Equal(t, c.outcome, ask(t, r, c.request), "from the cache")
		})
	}
}

func TestARequestWithoutWorkspaceUsesTheDefaultOne(t *testing.T) {
	g := newRig(t)
	g.make(t, "", "p", presetP)
	c := &router.Call{Request: request(t, `"preset":"p"`), Principal: router.Principal{Account: "acme"}}
	_, err := newRouter(t, g.Intercept).Decide(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, allOfP, planned(c.Report.Legs[0].Plan))
}

func TestAProgramWithoutWorkspaces(t *testing.T) {
	g := newRig(t)
	s, err := presets.New(presets.Config{Store: g.set.Presets})
	require.NoError(t, err)
	by := router.Actor{Principal: router.Principal{Account: "acme"}}
	p, err := s.Create(t.Context(), by, "", "p", presets.ChatCompletions, []byte(chat(presetP)))
	require.NoError(t, err)
	assert.Empty(t, p.Workspace)
	c := &router.Call{Request: request(t, `"preset":"p"`), Principal: by.Principal}
	_, err = newRouter(t, s.Intercept).Decide(t.Context(), c)
	require.NoError(t, err)
	_, err = s.Get(t.Context(), by, shop, "p")
	require.ErrorIs(t, err, presets.ErrNotFound)
}

// A preset keeps models with conditions. The questions that they name are those of
// the request, which is checked when it uses the preset.
func TestAPresetMayHaveConditions(t *testing.T) {
	g := newRig(t)
	g.make(t, shop, "cascade", `"model":"acme/judge","models":["acme/judge-mini",{"model":"acme/judge","when":{"question":"q","probabilityBetween":[0.4,0.6]},"scope":"all"}]`)
	g.make(t, shop, "other", `"models":["acme/judge",{"model":"acme/judge-mini","when":{"any":[{"question":"desk","confidenceBelow":0.6}]}}]`)
	var got *systemone.Request
	intercepted := func(next router.Decider) router.Decider {
		return g.Intercept(func(ctx context.Context, c *router.Call) (*router.Result, error) {
			got = c.Request
			return next(ctx, c)
		})
	}
	decide := func(members string) error {
		_, err := newRouter(t, intercepted).Decide(t.Context(), &router.Call{
			Request: request(t, members), Principal: router.Principal{Account: "acme", Workspace: shop},
		})
		return err
	}
	require.NoError(t, decide(`"preset":"cascade"`))
	assert.Equal(t, []systemone.Entry{
		{Model: "acme/judge-mini"},
		{Model: "acme/judge", Scope: systemone.ScopeAll, When: &systemone.Condition{Question: "q", ProbabilityBetween: &[2]float64{0.4, 0.6}}},
	}, got.Models)
	require.NoError(t, decide(`"model":"acme/judge","preset":"cascade"`))
	assert.Empty(t, got.Models, "a request that names any model takes none from the preset")

	var refused *router.Error
	require.ErrorAs(t, decide(`"preset":"other"`), &refused)
	assert.Equal(t, router.InvalidRequest, refused.Class)
	assert.Equal(t, []systemone.Issue{{Path: "models.1.when.any.0.question", Message: "is not a question of the request"}}, refused.Issues)
}

func TestFailuresAreNotTheCallers(t *testing.T) {
	g := newRig(t)
	s := &counting{Store: g.set.Presets, fail: errors.New("disk on fire")}
	r := newRouter(t, g.another(t, s).Intercept)
	decide := func(ctx context.Context) error {
		_, err := r.Decide(ctx, &router.Call{Request: request(t, `"preset":"p"`), Principal: router.Principal{Account: "acme", Workspace: shop}})
		return err
	}
	var refused *router.Error
	require.ErrorAs(t, decide(t.Context()), &refused)
	assert.Equal(t, router.Server, refused.Class)
	s.fail = context.DeadlineExceeded
	require.ErrorAs(t, decide(t.Context()), &refused)
	assert.Equal(t, router.Timeout, refused.Class)

	s.fail = nil
	for _, config := range []string{`{"provider":{"sort":"odd"}}`, `{"models":3}`, `{"models":[{}]}`} {
		_, err := g.set.Presets.AddVersion(t.Context(), presets.Preset{Account: "acme", Workspace: shop, Slug: "p", Status: presets.Active},
			presets.Version{Config: []byte(config)}, presets.Bounds{}, router.Change{Account: "acme"})
		require.NoError(t, err)
		require.ErrorAs(t, decide(t.Context()), &refused)
		assert.Equal(t, router.Server, refused.Class, "what the storage holds is not the caller's mistake")
	}
}

func TestWithoutAPresetNothingIsAllocated(t *testing.T) {
	g := newRig(t)
	next := g.Intercept(func(context.Context, *router.Call) (*router.Result, error) { return nil, nil })
	c := &router.Call{Request: request(t, `"model":"acme/judge"`)}
	ctx := t.Context()
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = next(ctx, c) }))
}

func BenchmarkIntercept(b *testing.B) {
	g := newRig(b)
	g.make(b, shop, "p", presetP)
	next := g.Intercept(func(context.Context, *router.Call) (*router.Result, error) { return nil, nil })
	for name, q := range map[string]systemone.Request{"without": {Model: "acme/judge"}, "with": {Model: "@preset/p"}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c := router.Call{Request: &q, Principal: router.Principal{Account: "acme", Workspace: shop}}
				if _, err := next(b.Context(), &c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
