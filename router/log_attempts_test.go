package router_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// TestLogOfFailedAttempts: each line has its cause, whether or not another endpoint
// answered, and no text of an unknown origin.
func TestLogOfFailedAttempts(t *testing.T) {
	t.Parallel()
	type result struct {
		reply router.Reply
		err   error
	}
	canary := errors.New("canary")
	off := answers()
	off[0].Noul = 2
	for name, c := range map[string]struct {
		result
		cause string // "": no line
	}{
		"an upstream's failure": {
			result{err: &router.UpstreamError{Status: 401, Err: errors.New("upstream replied with an error")}},
			"router: upstream  (status 401): upstream replied with an error",
		},
		"a wrapped failure": {
			result{err: fmt.Errorf("%w: %w", canary, &router.UpstreamError{Status: 503, Class: router.NoCapacity})},
			"router: upstream no_capacity (status 503)",
		},
		"another error":  {result{err: &url.Error{Op: "Post", URL: "https://canary", Err: canary}}, "router: the provider returned a *url.Error"},
		"a wrong answer": {result{reply: router.Reply{Answers: off}}, "systemone: bad answer: noul is not in [0, 1]"},
		"a bad reply": {result{err: &router.UpstreamError{
			Status: 200, BadReply: true, Err: &systemone.AnswerError{Question: "canary", Problem: "is wrong"},
		}}, "systemone: bad answer: is wrong"},
		"a refusal":        {result{reply: router.Reply{Refused: []router.Refusal{{Question: "refund"}, {Question: "team"}, {Question: "urgency"}}}}, "router: the upstream refused questions"},
		"impossible usage": {result{reply: router.Reply{Usage: systemone.Usage{InputTokens: -1}}}, "router: the upstream's usage is impossible"},
		"more than its context": {
			result{reply: router.Reply{Usage: systemone.Usage{InputTokens: 100_001}}},
			"router: the upstream counts more input than its context holds",
		},
		"no usage": {
			result{reply: router.Reply{Answers: answers(), Uncounted: router.Uncounted{Input: true, Output: true}}},
			"router: the upstream does not report its usage",
		},
		"its own deadline": {result{err: fmt.Errorf("%w: %w", canary, context.DeadlineExceeded)}, "context deadline exceeded"},
		"hung up":          {result{err: fmt.Errorf("%w: %w", canary, context.Canceled)}, ""},
	} {
		for _, endpoints := range []string{"ant", "ant bee"} {
			got := logged(t, endpoints, func(g *rig, _ *router.Call) {
				g.router.SetCatalog(g.catalog(endpoints, func(e *router.Endpoint) {
					e.ContextLength, e.Counting.UsageRequired = 100_000, e.Provider == "ant"
				}))
				g.upstreams["ant"].will(func(context.Context, router.Attempt) (router.Reply, error) { return c.reply, c.err })
			})
			if c.cause == "" {
				require.Len(t, got, 1, name)
				continue
			}
			require.Len(t, got, 2, "%s at %s", name, endpoints)
			assert.Equal(t, "attempt failed", got[0]["msg"], name)
			assert.Equal(t, c.cause, got[0]["cause"], name)
			assert.Equal(t, "decision", got[1]["msg"], name)
		}
	}
}
