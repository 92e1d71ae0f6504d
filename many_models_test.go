package signalbox_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestManyModels runs testdata/many-models. -run 'ManyModels/S4$' runs one case. Each case
// has a service, a clock and upstreams of its own.
func TestManyModels(t *testing.T) {
	t.Parallel()
	cases, words := readManyCases(t)
	require.GreaterOrEqual(t, len(cases), 60)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.run(t, words)
			})
		})
	}
}

func (c *manyCase) run(t *testing.T, words map[string]string) {
	t.Helper()
	w := newManyWorld(t, c, words)
	for _, text := range c.all("given") {
		w.give(t, text)
	}
	for _, text := range c.all("before") {
		times, rest := repeated(t, text)
		members, questions := cutJSON(t, rest)
		for range times {
			got := w.post(t.Context(), manyBody(t, members, "x", parseManyQuestions(t, questions)))
			require.Equal(t, http.StatusOK, got.Code, "a request before: %s", got.Body)
		}
	}
	synctest.Wait()
	before, began := w.account(t), time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w.hangUp(cancel)
	state := c.one("state")
	if state == "" {
		state = "x"
	}
	questions := parseManyQuestions(t, c.one("ask"))
	body := manyBody(t, c.one("send"), state, questions)
	got := w.post(ctx, body)
	took := time.Since(began)
	synctest.Wait()
	if c.one("reply") != "none" {
		reply := c.checkReply(t, got, questions)
		if got.Code == http.StatusOK {
			w.checkUsage(t, reply)
		}
	}
	w.checkUpstreams(t)
	w.checkMoney(t, before)
	if want := c.one("lasts"); want != "" {
		assert.Equal(t, want, took.String(), "lasts")
	}
	if t.Failed() {
		t.Logf("%s: %s: %s\nthe request: %s\nthe reply: %d %s", c.file, c.name, c.title, body, got.Code, got.Body)
	}
}

// manyReply is a reply, of which the metadata are those of legs and answers.
type manyReply struct {
	Answers  map[string]manyAnswer `json:"answers"`
	Model    string                `json:"model"`
	Provider string                `json:"provider"`
	Usage    manyUsage             `json:"usage"`
	Error    struct {
		Code     int    `json:"code"`
		Message  string `json:"message"`
		Metadata struct {
			ExcludedBy []string    `json:"excluded_by"`
			Issues     []manyIssue `json:"issues"`
		} `json:"metadata"`
	} `json:"error"`
	Metadata manyMetadata `json:"router_metadata"`
}

type manyUsage struct {
	Input  int64       `json:"input_tokens"`
	Output int64       `json:"output_tokens"`
	Cost   json.Number `json:"cost"`
}

type manyIssue struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// checkReply compares the reply with what the case says of it.
func (c *manyCase) checkReply(t *testing.T, got *httptest.ResponseRecorder, asked []manyQuestion) *manyReply {
	t.Helper()
	var reply manyReply
	require.NoError(t, json.Unmarshal(got.Body.Bytes(), &reply), "%s", got.Body)
	want := c.one("reply")
	if want == "" {
		want = "400 Invalid request parameters" // of a case with issues
	}
	status, text, _ := strings.Cut(want, " ")
	if !assert.Equal(t, status, strconv.Itoa(got.Code), "status: %s", got.Body) {
		return &reply
	}
	if got.Code != http.StatusOK {
		if text != "…" {
			assert.Equal(t, text, reply.Error.Message)
		}
		assert.Equal(t, c.one("excluded"), strings.Join(reply.Error.Metadata.ExcludedBy, " "), "excluded_by")
		c.checkIssues(t, reply.Error.Metadata.Issues)
		c.checkLegs(t, &reply)
	} else {
		model, provider, _ := strings.Cut(text, " ")
		assert.Equal(t, longModel(model), reply.Model, "model")
		assert.Equal(t, provider, reply.Provider, "provider")
		if assert.NotEmpty(t, reply.Metadata.Legs, "legs of the metadata") {
			c.checkLegs(t, &reply)
			c.checkAnswers(t, &reply, asked)
		}
	}
	assert.Equal(t, c.one("retry"), got.Header().Get("Retry-After"), "Retry-After")
	c.checkFallback(t, got.Header())
	for _, path := range c.all("warning") {
		assert.Contains(t, paths(reply.Metadata.Warnings), path, "warnings")
	}
	return &reply
}

func paths(issues []manyIssue) []string {
	list := make([]string, len(issues))
	for i, is := range issues {
		list[i] = is.Path
	}
	return list
}

// checkIssues requires that the issues are at the paths of the case, and nowhere else.
func (c *manyCase) checkIssues(t *testing.T, issues []manyIssue) {
	t.Helper()
	got, want := paths(issues), c.all("issue")
	if len(want) == 0 {
		return
	}
	for i := range got {
		for _, path := range want {
			if prefix, ok := strings.CutSuffix(path, "…"); ok && strings.HasPrefix(got[i], prefix) {
				got[i] = path
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	assert.Equal(t, want, slices.Compact(got), "issues: %v", issues)
}

// checkFallback compares the headers of a decision fallback. A case without the line
// wants none of them.
func (c *manyCase) checkFallback(t *testing.T, h http.Header) {
	t.Helper()
	const prefix = "X-Router-Decision-Fallback-"
	want := c.one("fallback")
	if want == "" {
		for name := range h {
			assert.NotContains(t, name, prefix)
		}
		return
	}
	primary, rest, _ := strings.Cut(want, " → ")
	final, names, _ := strings.Cut(rest, " ")
	assert.Equal(t, "true", h.Get(prefix+"Triggered"), prefix+"Triggered")
	assert.Equal(t, longModel(primary), h.Get(prefix+"Primary-Model"), prefix+"Primary-Model")
	assert.Equal(t, longModel(final), h.Get(prefix+"Final-Model"), prefix+"Final-Model")
	text := h.Get(prefix + "Triggering-Questions")
	assert.LessOrEqual(t, len(text), 4096, prefix+"Triggering-Questions")
	text, err := url.PathUnescape(text)
	require.NoError(t, err)
	got := []string{}
	assert.NoError(t, json.Unmarshal([]byte(text), &got), prefix+"Triggering-Questions: %q", text)
	wanted := strings.Fields(strings.Trim(names, "[]"))
	if n := len(wanted); n > 0 && wanted[n-1] == "…" {
		assert.Equal(t, "true", h.Get(prefix+"Triggering-Questions-Truncated"))
		wanted, got = wanted[:n-1], got[:min(n-1, len(got))]
	} else {
		assert.NotEqual(t, "true", h.Get(prefix+"Triggering-Questions-Truncated"))
	}
	assert.Equal(t, wanted, got, prefix+"Triggering-Questions")
}
