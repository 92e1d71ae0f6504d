package httpapi_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
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
func (p *scripted) fails(status int) { p.script = slices.Repeat([]error{upstream(status, "", 0)}, 9) }

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
		"error fallback":  {body: entries(`"acme/strong"`), script: func(g *rig) { g.ant.fails(500) }},
		"the next group":  {body: entries(again), script: func(g *rig) { g.ant.fails(500) }},
		"kept, error":     {body: entries(again), script: func(g *rig) { g.bee.fails(500) }},
		"kept, excluded":  {body: with(`"provider":{"only":["ant"]},"models":[` + again + `]`)},
		"required":        {body: entries(strings.Replace(again, "{", `{"required":true,`, 1)), script: func(g *rig) { g.bee.fails(500) }, status: 502},
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

// fallbackHeaders returns the headers of a decision fallback, by the end of their names.
func fallbackHeaders(h http.Header, brand string) map[string]string {
	found := map[string]string{}
	for name, values := range h {
		if end, ok := strings.CutPrefix(name, "X-"+brand+"-Decision-Fallback-"); ok {
			found[end] = strings.Join(values, "|")
		}
	}
	return found
}

// TestFallbackHeaders: a reply has them where a stage behind the first answered.
func TestFallbackHeaders(t *testing.T) {
	replaced := map[string]string{
		"Triggered": "true", "Primary-Model": "acme/judge-20260901", "Final-Model": "acme/strong-20260901",
		"Triggering-Questions": "%5B%22refund%22%5D",
	}
	tests := map[string]struct {
		body, dry string
		script    func(*rig)
		want      map[string]string
	}{
		"replaced":        {body: entries(again), want: replaced},
		"one leg":         {body: sound},
		"error fallback":  {body: entries(`"acme/strong"`), script: func(g *rig) { g.ant.fails(500) }},
		"the next group":  {body: entries(again), script: func(g *rig) { g.ant.fails(500) }},
		"kept":            {body: entries(again), script: func(g *rig) { g.bee.fails(500) }},
		"an error":        {body: entries(strings.Replace(again, "{", `{"required":true,`, 1)), script: func(g *rig) { g.bee.fails(500) }},
		"dry run":         {body: entries(again), dry: "true"},
		"condition false": {body: entries(strings.Replace(again, "[0.9,1]", "[0,0.1]", 1))},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := newCascade(t)
			if test.script != nil {
				test.script(g)
			}
			w := g.ask(t, test.body, "X-Router-Dry-Run", test.dry)
			if test.want == nil {
				test.want = map[string]string{}
			}
			assert.Equal(t, test.want, fallbackHeaders(w.Header(), "Router"))
		})
	}
}

// TestFallbackHeadersBearTheBrand: with the brand of a hosted gateway its clients find
// the headers, and pages of other origins may read them.
func TestFallbackHeadersBearTheBrand(t *testing.T) {
	g := newCascade(t, withOrigins(page), func(c *httpapi.Config, _ *router.Config) { c.Brand = "ai-gateway" })
	r := g.request(t, http.MethodPost, "/systemone", entries(again), "inference")
	r.Header.Set("Origin", page)
	r.Header.Set("X-Ai-Gateway-Metadata", "enabled")
	w := g.serve(t, g.handler, r)
	require.Equal(t, 200, w.Code)
	assert.NotNil(t, at(t, w.Body.Bytes(), "ai_gateway_metadata.legs"))
	got := fallbackHeaders(w.Header(), "Ai-Gateway")
	assert.Len(t, got, 4)
	assert.Equal(t, "true", w.Header().Get("x-ai-gateway-decision-fallback-triggered"))
	exposed := strings.Split(w.Header().Get("Access-Control-Expose-Headers"), ", ")
	for end := range got {
		assert.Contains(t, exposed, "X-Ai-Gateway-Decision-Fallback-"+end)
	}
	assert.Contains(t, exposed, "X-Ai-Gateway-Decision-Fallback-Triggering-Questions-Truncated")
}

// TestTriggeringQuestionsFit: the header has at most 4 KiB, of whole names, and is always
// the encoding of a JSON array.
func TestTriggeringQuestionsFit(t *testing.T) {
	for name, test := range map[string]struct {
		names []string
		fit   int
	}{
		"few":     {names: []string{`a "b" +%&`, "café", "<z>", "\u2028\u0001"}, fit: 4},
		"many":    {names: numbered("question", 900), fit: 210},
		"longest": {names: []string{strings.Repeat("😀", 250) + "1", strings.Repeat("😀", 250) + "2"}, fit: 1},
	} {
		t.Run(name, func(t *testing.T) {
			questions := make([]string, len(test.names))
			for i, n := range test.names {
				quoted, err := json.Marshal(n)
				require.NoError(t, err)
				questions[i] = string(quoted) + `:{"type":"noul","instructions":"x"}`
			}
			g := newCascade(t)
			w := g.ask(t, fmt.Sprintf(`{"model":"acme/judge","models":[%s],"state":"x","questions":{%s}}`, again, strings.Join(questions, ",")))
			require.Equal(t, 200, w.Code, "%s", w.Body)
			got := fallbackHeaders(w.Header(), "Router")
			text, err := url.PathUnescape(got["Triggering-Questions"])
			require.NoError(t, err)
			var list []string
			require.NoError(t, json.Unmarshal([]byte(text), &list), "%s", text)
			assert.LessOrEqual(t, len(got["Triggering-Questions"]), 4096)
			assert.Equal(t, test.names[:test.fit], list)
			cut := ""
			if test.fit < len(test.names) {
				cut = "true"
			}
			assert.Equal(t, cut, got["Triggering-Questions-Truncated"])
		})
	}
}

func numbered(word string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = word + strconv.Itoa(i)
	}
	return list
}

// TestAReplayHasNoLegs: neither metadata nor headers tell of those of the first request.
func TestAReplayHasNoLegs(t *testing.T) {
	g := newCascade(t, func(_ *httpapi.Config, c *router.Config) { c.Ledger = memory.New().Ledger })
	for _, replayed := range []string{"", "true"} {
		w := g.ask(t, entries(again), "Idempotency-Key", "once")
		require.Equal(t, 200, w.Code, "%s", w.Body)
		assert.Equal(t, replayed, w.Header().Get("Idempotent-Replayed"))
		assert.Equal(t, replayed == "", len(fallbackHeaders(w.Header(), "Router")) > 0)
		assert.Equal(t, replayed == "", at(t, w.Body.Bytes(), "router_metadata") != nil)
	}
}
