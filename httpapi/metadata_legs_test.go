package httpapi_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
)

var update = flag.Bool("update", false, "write the golden files anew")

// again is the second entry of a request that asks acme/strong again what acme/judge
// is certain of.
const again = `{"model":"acme/strong","when":{"probabilityBetween":[0.9,1]}}`

func entries(list string) string { return with(`"models":[` + list + `]`) }

// newCascade returns a rig that has acme/judge at ant and acme/strong at bee.
func newCascade(t *testing.T, options ...option) *rig {
	t.Helper()
	ant, bee := &scripted{}, &scripted{}
	g := newRig(t, append([]option{func(_ *httpapi.Config, cfg *router.Config) {
		strong := router.Endpoint{Provider: "bee", Model: "acme/strong", Pricing: router.Pricing{Request: router.Dollars("0.02")}}
		strong.Tolerance.NoDistribution = true
		var err error
		cfg.Catalog, err = router.NewCatalog([]router.Model{
			{ID: "acme/judge", Permaslug: "acme/judge-20260901"}, {ID: "acme/strong", Permaslug: "acme/strong-20260901"},
		}, []router.ProviderInfo{{Slug: "ant", Name: "Ant Cloud", Client: ant}, {Slug: "bee", Name: "Bee Two", Client: bee}}, []router.Endpoint{
			{Provider: "ant", Variant: "eu", Model: "acme/judge", Pricing: router.Pricing{Request: router.Dollars("0.001")}}, strong,
		})
		require.NoError(t, err)
	}}, options...)...)
	g.ant, g.bee = ant, bee
	return g
}

// ask returns the reply to a request that asks for metadata, which docs/openapi.yaml
// must describe.
func (g *rig) ask(t *testing.T, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := g.request(t, http.MethodPost, "/systemone", body, "inference")
	r.Header.Set("X-Router-Metadata", "enabled")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := g.serve(t, g.handler, r)
	d := openAPI(t)
	response := d.object(d.operations()["POST /api/v1/systemone"], "responses", strconv.Itoa(w.Code))
	var reply any
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &reply))
	assert.Empty(t, d.check(d.object(response, "content", "application/json", "schema"), reply, "$"), "%s", w.Body)
	d.checkHeaders(t, response, w.Header(), body)
	return w
}

// fails makes every attempt at a provider fail.
func (p *scripted) fails() { p.script = slices.Repeat([]error{upstream(500, "", 0)}, 9) }

// TestMetadataShowsLegs compares what the metadata say of legs and answers with golden
// files.
func TestMetadataShowsLegs(t *testing.T) {
	tests := map[string]struct {
		body   string
		header []string
		script func(*rig)
		status int
	}{
		"one leg":         {body: sound},
		"replaced":        {body: entries(again)},
		"error fallback":  {body: entries(`"acme/strong"`), script: func(g *rig) { g.ant.fails() }},
		"the next group":  {body: entries(again), script: func(g *rig) { g.ant.fails() }},
		"kept, error":     {body: entries(again), script: func(g *rig) { g.bee.fails() }},
		"kept, excluded":  {body: with(`"provider":{"only":["ant"]},"models":[` + again + `]`)},
		"required":        {body: entries(strings.Replace(again, "{", `{"required":true,`, 1)), script: func(g *rig) { g.bee.fails() }, status: 502},
		"dry run":         {body: entries(again), header: []string{"X-Router-Dry-Run", "true"}},
		"excluded at all": {body: with(`"provider":{"only":["nobody"]},"models":[` + again + `]`), status: 404},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := newCascade(t)
			if test.script != nil {
				test.script(g)
			}
			w := g.ask(t, test.body, test.header...)
			require.Equal(t, max(test.status, 200), w.Code, "%s", w.Body)
			shown := map[string]any{}
			for _, member := range []string{"summary", "attempt", "endpoints", "attempts", "legs", "answers"} {
				shown[member] = at(t, w.Body.Bytes(), "router_metadata."+member)
			}
			golden(t, "testdata/legs/"+strings.NewReplacer(" ", "-", ",", "").Replace(name)+".json", shown)
			if at(t, w.Body.Bytes(), "usage") != nil {
				checkSums(t, w.Body.Bytes())
			}
		})
	}
}

// TestMetadataOfASplitChoice: its legs show the name of the question, once, and not
// those of its parts.
func TestMetadataOfASplitChoice(t *testing.T) {
	g := newCascade(t, func(_ *httpapi.Config, c *router.Config) {
		list := slices.Clone(c.Catalog.Endpoints())
		var err error
		first := *list[0]
		first.Limits.Options = 2
		c.Catalog, err = router.NewCatalog([]router.Model{*c.Catalog.Model("acme/judge")},
			[]router.ProviderInfo{*c.Catalog.Provider("ant")}, []router.Endpoint{first})
		require.NoError(t, err)
	})
	body := `{"model":"acme/judge","state":"x","questions":{"desk":{"type":"choice","instructions":"x","criteria":{"a":null,"b":null,"c":null,"d":null}},` +
		`"heat":{"type":"score","instructions":"x","criteria":["calm","hot"]}}}`
	w := g.ask(t, body)
	require.Equal(t, 200, w.Code, "%s", w.Body)
	assert.Equal(t, []any{"desk", "heat"}, at(t, w.Body.Bytes(), "router_metadata.legs.0.asked"))
	assert.Equal(t, []any{"desk"}, at(t, w.Body.Bytes(), "router_metadata.legs.1.asked"))
	assert.Equal(t, map[string]any{"heat": 0.9}, at(t, w.Body.Bytes(), "router_metadata.attempts.0.upstream_confidence"))
	assert.EqualValues(t, 1, at(t, w.Body.Bytes(), "router_metadata.answers.desk.leg"))
	assert.NotContains(t, w.Body.String(), "desk_")
	checkSums(t, w.Body.Bytes())
	assert.Empty(t, fallbackHeaders(w.Header(), "Router"), "it is one stage")
	w = g.ask(t, body, "X-Router-Dry-Run", "true")
	assert.Equal(t, "split", at(t, w.Body.Bytes(), "router_metadata.legs.1.reason"))
	assert.Equal(t, []any{"desk"}, at(t, w.Body.Bytes(), "router_metadata.legs.1.asked"))
}

// golden compares a value, as indented JSON, with a golden file.
func golden(t *testing.T, file string, v any) {
	t.Helper()
	got, err := json.MarshalIndent(v, "", "  ")
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(file, append(got, '\n'), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got)+"\n", "run with -update if this is right")
}

type countedUsage struct {
	Cost   float64 `json:"cost"`
	Input  int64   `json:"input_tokens"`
	Output int64   `json:"output_tokens"`
}

// checkSums checks that the usage of the legs, and the costs of the attempts, add up to
// the usage of the reply.
func checkSums(t *testing.T, body []byte) {
	t.Helper()
	var reply struct {
		Usage    countedUsage `json:"usage"`
		Metadata struct {
			Legs []struct {
				Usage countedUsage `json:"usage"`
			} `json:"legs"`
			Attempts []struct {
				Cost float64 `json:"cost"`
			} `json:"attempts"`
		} `json:"router_metadata"`
	}
	require.NoError(t, json.Unmarshal(body, &reply))
	var legs countedUsage
	cost := 0.0
	for _, l := range reply.Metadata.Legs {
		legs.Cost, legs.Input, legs.Output = legs.Cost+l.Usage.Cost, legs.Input+l.Usage.Input, legs.Output+l.Usage.Output
	}
	for _, a := range reply.Metadata.Attempts {
		cost += a.Cost
	}
	assert.InDelta(t, reply.Usage.Cost, legs.Cost, 1e-12)
	assert.InDelta(t, reply.Usage.Cost, cost, 1e-12)
	assert.Equal(t, reply.Usage.Input, legs.Input)
	assert.Equal(t, reply.Usage.Output, legs.Output)
}

// TestMetadataWarnsOfCalibrations: none is in force, so every one that a condition names
// is a warning, at its path.
func TestMetadataWarnsOfCalibrations(t *testing.T) {
	g := newCascade(t)
	entry := strings.Replace(again, `"when":{`, `"when":{"calibration":"cal-1",`, 1)
	w := g.ask(t, with(`"provider":{"ignore":["x"]},"models":["acme/judge",`+entry+`]`))
	require.Equal(t, 200, w.Code)
	assert.Equal(t, []any{
		map[string]any{"path": "provider.ignore.0", "message": "x is not in the catalog"},
		map[string]any{"path": "models.1.when.calibration", "message": "cal-1 is not a calibration in force; the condition looks at the answers as they are"},
	}, at(t, w.Body.Bytes(), "router_metadata.warnings"))
	assert.Len(t, at(t, w.Body.Bytes(), "router_metadata.legs"), 2, "the condition counts all the same")
}
