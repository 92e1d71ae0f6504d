package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

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
		"error fallback":  {body: entries(`"acme/strong"`), script: func(g *rig) { g.ant.fails() }},
		"the next group":  {body: entries(again), script: func(g *rig) { g.ant.fails() }},
		"kept":            {body: entries(again), script: func(g *rig) { g.bee.fails() }},
		"an error":        {body: entries(strings.Replace(again, "{", `{"required":true,`, 1)), script: func(g *rig) { g.bee.fails() }},
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
