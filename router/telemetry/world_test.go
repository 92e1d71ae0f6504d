package telemetry_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/telemetry"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// Canaries stand in the content of every call. No span has them without Config.Content.
const (
	canaryState       = "canary-state"
	canaryInstruction = "canary-instruction"
	canaryOption      = "canary-option"
	canaryUser        = "canary-user"
	canaryUpstream    = "canary-upstream"
)

// provider answers after 20 ms with p, or fails with a status.
type provider struct {
	busy   bool // answers at once and notes nothing
	host   string
	p      float64
	status int

	mu   sync.Mutex
	seen []router.Attempt
}

func (p *provider) Address() (string, int) { return p.host, 8443 }

func (p *provider) attempts() []router.Attempt {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.seen)
}

func (p *provider) Decide(ctx context.Context, a router.Attempt) (router.Reply, error) {
	if !p.busy {
		p.mu.Lock()
		p.seen = append(p.seen, a)
		p.mu.Unlock()
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return router.Reply{}, &router.UpstreamError{Err: ctx.Err()}
		}
	}
	if p.status != 0 {
		return router.Reply{}, &router.UpstreamError{Status: p.status, Class: router.NoCapacity, Err: errors.New(canaryUpstream)}
	}
	reply := router.Reply{ID: "up-" + p.host, Usage: systemone.Usage{InputTokens: 100, OutputTokens: 3}}
	for _, q := range a.Request.Questions {
		reply.Answers = append(reply.Answers, systemone.Answer{Name: q.Name, Kind: systemone.Choice, Choice: canaryOption, Probabilities: []systemone.Probability{
			{Label: canaryOption, P: p.p}, {Label: "no", P: 1 - p.p},
		}})
	}
	return reply, nil
}

// world is a router with a cheap model at ant and a better one at bee and cat.
type world struct {
	*router.Router

	ant, bee, cat *provider
}

func newWorld(tb testing.TB, cfg telemetry.Config, more ...router.Interceptor) *world {
	tb.Helper()
	t, err := telemetry.New(cfg)
	require.NoError(tb, err)
	return wrapped(tb, append([]router.Interceptor{t.Intercept}, more...)...)
}

func wrapped(tb testing.TB, all ...router.Interceptor) *world {
	tb.Helper()
	w := &world{ant: &provider{host: "ant.example", p: 0.6}, bee: &provider{host: "bee.example", p: 0.9}, cat: &provider{host: "cat.example", p: 0.9}}
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/mini", Permaslug: "acme/mini-1"}, {ID: "acme/judge", Permaslug: "acme/judge-2"}},
		[]router.ProviderInfo{{Slug: "ant", Client: w.ant}, {Slug: "bee", Client: w.bee}, {Slug: "cat", Client: w.cat}},
		[]router.Endpoint{
			{Provider: "ant", Model: "acme/mini", UpstreamModel: "m", Pricing: router.Pricing{Request: router.Dollars("0.001")}},
			{Provider: "bee", Model: "acme/judge", UpstreamModel: "j", Pricing: router.Pricing{Request: router.Dollars("0.002")}},
			{Provider: "cat", Variant: "eu", Model: "acme/judge", UpstreamModel: "j", Pricing: router.Pricing{Request: router.Dollars("0.003")}, Parameters: []string{"user"}},
		})
	require.NoError(tb, err)
	w.Router, err = router.New(router.Config{
		Catalog: catalog, Interceptors: all, UserKey: []byte("key"), Ledger: memory.New().Ledger, Seed: func() uint64 { return 7 },
	})
	require.NoError(tb, err)
	return w
}

// plain is a call of one model.
func plain() *router.Call {
	return &router.Call{
		ID: "gen-dec-1", RequestID: "req-1",
		Principal: router.Principal{Account: "acc", Workspace: "ws", KeyHash: "hash"},
		Request: &systemone.Request{
			Model: "acme/mini", State: systemone.Text(canaryState), SessionID: "s-1", User: canaryUser,
			Questions: []systemone.Question{{
				Name: "team", Kind: systemone.Choice, Instructions: systemone.Text(canaryInstruction),
				Options: []systemone.Option{{Name: canaryOption}, {Name: "no"}},
			}},
			Provider: &systemone.Preferences{Sort: systemone.Sort{By: systemone.SortPrice}},
		},
	}
}

// cascade is a call that asks the better model too if the cheap one is not sure.
func cascade() *router.Call {
	c := plain()
	c.Request.Models = []systemone.Entry{{Model: "acme/judge", When: &systemone.Condition{ConfidenceBelow: new(0.8)}}}
	return c
}

// tape is a sink that keeps the spans of each call.
type tape struct {
	mu    sync.Mutex
	calls [][]telemetry.Span
}

func (t *tape) Offer(spans []telemetry.Span) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, spans)
}

func (t *tape) sinks(router.Principal) []telemetry.Sink { return []telemetry.Sink{t} }
