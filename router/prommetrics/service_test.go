package prommetrics_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/systemone"
)

// asking returns a request with a noul and, of two options, a choice. Scripts answer them
// with confidences of 1/2 and 1/3.
func asking(model string) string {
	return `{"model":"` + model + `","provider":{"order":["ant","bee"]},"state":"Paid twice","questions":{` +
		`"refund":{"type":"noul","instructions":"Money back?"},` +
		`"desk":{"type":"choice","instructions":"Owner?","criteria":{"billing":"charges","tech":"bugs"}}}}`
}

// sender sends requests to a world.
type sender struct {
	*world

	t *testing.T
}

// expect sends a request and requires a status.
func (s *sender) expect(status int, key router.Secret, path, body string, header ...string) {
	s.t.Helper()
	assert.Equal(s.t, status, s.post(s.t, key, path, body, header...))
}

// readOutcomes returns the expected changes by the name of the case.
func readOutcomes(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("testdata/outcomes.txt")
	require.NoError(t, err)
	want := map[string][]string{}
	for section := range strings.SplitSeq(string(text), "\n# ") {
		lines := strings.Split(strings.TrimSpace(section), "\n")
		if len(lines) > 1 { // the heading of the file, and a case that changes nothing
			want[lines[0]] = lines[1:]
		}
	}
	return want
}

// TestOutcomesBySeries: what each kind of call changes, in every series but the buckets.
func TestOutcomesBySeries(t *testing.T) {
	t.Parallel()
	want := readOutcomes(t)
	fail := func(status int) routertest.Step { return routertest.Step{Err: routertest.Fail(status, 0)} }
	cases := []struct {
		name   string
		with   func(*signalbox.Config)
		script func(*world)
		send   func(*sender)
	}{
		{
			name: "nothing",
			send: func(*sender) {},
		},
		{
			name: "answered",
			send: func(s *sender) {
				s.expect(200, s.seeded.Inference, "/api/v1/systemone", asking("first-latest"))
			},
		},
		{
			name:   "answered after a failover",
			script: func(w *world) { w.ant.Add(fail(500)) },
			send: func(s *sender) {
				s.expect(200, s.seeded.Inference, "/v1/systemone", asking("acme/first:floor"))
			},
		},
		{
			name: "a cascade that escalates after a failover",
			script: func(w *world) {
				w.ant.Add(fail(429))
			},
			send: func(s *sender) {
				s.expect(200, s.seeded.Inference, "/api/v1/systemone", asking("acme/cascade"))
			},
		},
		{
			name:   "a cascade whose second stage fails",
			script: func(w *world) { w.bee.Add(fail(529)) },
			send: func(s *sender) {
				s.expect(200, s.seeded.Inference, "/api/v1/systemone", asking("acme/cascade"))
			},
		},
		{
			name: "a cascade whose second stage has no budget",
			send: func(s *sender) {
				limit := router.Dollar / 200
				_, key, err := s.Keys.Create(s.t.Context(), router.Actor{Principal: router.Principal{Account: "demo"}}, keys.Key{Name: "poor", Limit: &limit})
				require.NoError(s.t, err)
				s.expect(200, key, "/api/v1/systemone", asking("acme/cascade"))
			},
		},
		{
			name: "more than was held",
			script: func(w *world) {
				w.bee.Add(routertest.Step{Reply: &router.Reply{Usage: systemone.Usage{InputTokens: 1_000_000, OutputTokens: 1}}})
			},
			send: func(s *sender) {
				s.expect(200, s.seeded.Inference, "/api/v1/systemone", asking("acme/strong"))
			},
		},
		{
			name:   "failed by all upstreams",
			script: func(w *world) { w.ant.Add(fail(500)); w.bee.Add(fail(504)) },
			send: func(s *sender) {
				s.expect(502, s.seeded.Inference, "/api/v1/systemone", asking("acme/first"))
			},
		},
		{
			name:   "failed because all upstreams limit their rates",
			script: func(w *world) { w.bee.Add(fail(429)) },
			send: func(s *sender) {
				s.expect(429, s.seeded.Inference, "/api/v1/systemone", asking("acme/strong"))
			},
		},
		{
			name: "failed because the caller hung up",
			send: func(s *sender) {
				ctx, cancel := context.WithCancel(s.t.Context())
				cancel()
				request, err := systemone.Decoder{}.Decode([]byte(asking("acme/first")))
				require.NoError(s.t, err)
				_, err = s.Decide(ctx, &router.Call{Request: request})
				require.ErrorIs(s.t, err, context.Canceled)
			},
		},
		{
			name:   "refused by the upstream as invalid",
			script: func(w *world) { w.ant.Add(fail(400)) },
			send: func(s *sender) {
				s.expect(400, s.seeded.Inference, "/api/v1/systemone", asking("acme/first"))
			},
		},
		{
			name: "refused for an unknown model",
			send: func(s *sender) {
				s.expect(400, s.seeded.Inference, "/api/v1/systemone", asking("acme/nobody"))
			},
		},
		{
			name: "refused for lack of budget",
			send: func(s *sender) {
				limit := router.USD(1)
				_, key, err := s.Keys.Create(s.t.Context(), router.Actor{Principal: router.Principal{Account: "demo"}}, keys.Key{Name: "poor", Limit: &limit})
				require.NoError(s.t, err)
				s.expect(402, key, "/api/v1/systemone", asking("acme/first"))
			},
		},
		{
			name: "refused by the program's own policy",
			with: func(cfg *signalbox.Config) {
				cfg.Interceptors.First = []router.Interceptor{func(router.Decider) router.Decider {
					return func(context.Context, *router.Call) (*router.Result, error) {
						return nil, &router.Error{Class: router.PermissionDenied}
					}
				}}
			},
			send: func(s *sender) {
				s.expect(403, s.seeded.Inference, "/api/v1/systemone", asking("acme/first"))
			},
		},
		{
			name: "refused before a decision begins",
			with: func(cfg *signalbox.Config) {
				cfg.Keys.Rates = keys.RateLimits{Key: keys.Rate{Requests: 1, Per: time.Hour}}
			},
			send: func(s *sender) {
				s.expect(401, "", "/api/v1/systemone", asking("acme/first"))
				s.expect(401, "sk-unknown", "/api/v1/systemone", asking("acme/first"))
				s.expect(400, s.seeded.Inference, "/api/v1/systemone", "{")
				s.expect(429, s.seeded.Inference, "/api/v1/systemone", asking("acme/first"))
				s.expect(404, "", "/api/v1/no/such/path", "")
				s.expect(405, "", "/api/v1/models", "")
			},
		},
		{
			name: "a dry run",
			send: func(s *sender) {
				s.expect(200, s.seeded.Inference, "/api/v1/systemone", asking("acme/first"), "X-Router-Dry-Run", "true")
			},
		},
		{
			name: "answers that are remembered",
			with: func(cfg *signalbox.Config) { cfg.Router.Remember = &router.Remembering{} },
			send: func(s *sender) {
				for range 2 {
					s.expect(200, s.seeded.Inference, "/api/v1/systemone", asking("acme/cascade"))
				}
			},
		},
		{
			name: "a reply that is repeated",
			send: func(s *sender) {
				for range 2 {
					s.expect(200, s.seeded.Inference, "/api/v1/systemone", asking("acme/first"), "Idempotency-Key", "k")
				}
			},
		},
	}
	assert.Len(t, want, len(cases)-1, "each case but the first changes something")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			with := func(*signalbox.Config) {}
			if c.with != nil {
				with = c.with
			}
			w := newWorld(t, with)
			if c.script != nil {
				c.script(w)
			}
			before := scrape(t, w.registry)
			c.send(&sender{w, t})
			assert.Equal(t, want[c.name], changes(before, scrape(t, w.registry)))
		})
	}
}
