package router_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// upstream is a provider that follows its steps, one per attempt, and repeats the
// last. Without steps it answers.
type upstream struct {
	mu    sync.Mutex
	steps []step
	seen  []router.Attempt
}

type step func(ctx context.Context, a router.Attempt) (router.Reply, error)

func (u *upstream) Decide(ctx context.Context, a router.Attempt) (router.Reply, error) {
	u.mu.Lock()
	u.seen = append(u.seen, a)
	do := answer
	if len(u.steps) > 0 {
		do = u.steps[0]
		if len(u.steps) > 1 {
			u.steps = u.steps[1:]
		}
	}
	u.mu.Unlock()
	return do(ctx, a)
}

func (u *upstream) attempts() []router.Attempt {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.seen
}

// will sets what the upstream does from now on.
func (u *upstream) will(steps ...step) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.steps, u.seen = steps, nil
}

// answers returns valid answers to the request of decision.
func answers() systemone.Answers {
	return systemone.Answers{
		{Name: "refund", Kind: systemone.Noul, Noul: 0.75},
		{
			Name: "team", Kind: systemone.Choice, Choice: "billing",
			Probabilities: []systemone.Probability{{Label: "billing", P: 0.75}, {Label: "sales", P: 0.25}},
		},
		{
			Name: "urgency", Kind: systemone.Score, Score: 0.25,
			Probabilities: []systemone.Probability{{Label: "0", P: 0.75}, {Label: "1", P: 0.25}},
		},
	}
}

// answer answers the questions that are asked, of those of decision.
func answer(_ context.Context, a router.Attempt) (router.Reply, error) {
	return router.Reply{
		Answers: slices.DeleteFunc(answers(), func(answer systemone.Answer) bool {
			return a.Request != nil && !slices.ContainsFunc(a.Request.Questions, func(q systemone.Question) bool { return q.Name == answer.Name })
		}),
		Usage: systemone.Usage{InputTokens: 1000, OutputTokens: 10, Cost: "0.5"},
		ID:    "up-1", Model: "judge",
	}, nil
}

// reply returns a step that answers with a changed reply.
func reply(change func(*router.Reply)) step {
	return func(ctx context.Context, a router.Attempt) (router.Reply, error) {
		r, err := answer(ctx, a)
		change(&r)
		return r, err
	}
}

// slow returns a step that waits before another step; it honours its context.
func slow(d time.Duration, then step) step {
	return func(ctx context.Context, a router.Attempt) (router.Reply, error) {
		select {
		case <-time.After(d):
			return then(ctx, a)
		case <-ctx.Done():
			return router.Reply{}, &router.UpstreamError{Err: ctx.Err()}
		}
	}
}

var errUpstream = errors.New("upstream text, hunter2")

// fails reads a step from the notation of the routing cases: 429(7) is status
// 429 with Retry-After: 7.
func fails(t *testing.T, word string) step {
	t.Helper()
	up := &router.UpstreamError{Err: errUpstream}
	switch word {
	case "200":
		return answer
	case "timeout":
		return slow(time.Hour, answer)
	case "refused", "reset", "dns", "tls":
		up.Class = router.ProviderUnavailable
	case "html", "cut", "json":
		up.Class, up.Status, up.BadReply = router.ProviderUnavailable, 200, true
	case "plain":
		return func(context.Context, router.Attempt) (router.Reply, error) { return router.Reply{}, errUpstream }
	default:
		digits, hint, _ := strings.Cut(strings.TrimSuffix(word, ")"), "(")
		status, err := strconv.Atoi(digits)
		require.NoError(t, err)
		up.Status, up.Class = status, classOf(status)
		if hint != "" {
			up.RetryAfter, err = time.ParseDuration(hint + "s")
			require.NoError(t, err)
		}
	}
	return func(context.Context, router.Attempt) (router.Reply, error) { return router.Reply{}, up }
}

// classOf returns the class that clients give a status.
func classOf(status int) router.Class {
	switch status {
	case 400, 422:
		return router.InvalidRequest
	case 413:
		return router.PayloadTooLarge
	case 429:
		return router.RateLimitExceeded
	case 529:
		return router.ProviderOverloaded
	case 503:
		return router.NoCapacity
	case 408, 504, 524:
		return router.Timeout
	default:
		return router.ProviderUnavailable
	}
}

// rig is a router in front of scripted upstreams, in the order of a plan.
type rig struct {
	t         *testing.T
	router    *router.Router
	upstreams map[string]*upstream
	order     []string
}

// clock is a clock that moves only when a test sets it.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// names returns the providers of the routing cases.
func names() map[string]string {
	return map[string]string{
		"ant": "Ant Cloud", "bee": "Bee", "cat": "Cat Labs", "dog": "Dog", "elk": "Elk", "fox": "Fox",
	}
}

const (
	modelM = "acme/judge"
	modelN = "acme/judge-mini"
)

func models() []router.Model {
	return []router.Model{
		{ID: modelM, Permaslug: "acme/judge-20260901", Aliases: []string{"judge-latest"}},
		{ID: modelN, Permaslug: "acme/judge-mini-20260715", Aliases: []string{"judge-mini-latest"}},
	}
}

// newRig makes a rig of endpoints written "ant", "ant/eu" or "ant:N". Each costs a
// dollar per million tokens more than the one before.
func newRig(t *testing.T, endpoints string, change func(*router.Config), edit ...func(*router.Endpoint)) *rig {
	t.Helper()
	g := &rig{t: t, upstreams: make(map[string]*upstream)}
	catalog := g.catalog(endpoints, edit...)
	cfg := router.Config{Catalog: catalog, Seed: func() uint64 { return 7 }}
	if change != nil {
		change(&cfg)
	}
	var err error
	g.router, err = router.New(cfg)
	require.NoError(t, err)
	return g
}

// withClock gives a rig a clock of its own.
func withClock(c *clock) func(*router.Config) {
	return func(cfg *router.Config) { cfg.Now = c.now }
}

func (g *rig) catalog(endpoints string, edit ...func(*router.Endpoint)) *router.Catalog {
	g.t.Helper()
	var list []router.Endpoint
	var providers []router.ProviderInfo
	g.order = nil
	for i, text := range strings.Fields(endpoints) {
		tag, model, _ := strings.Cut(text, ":")
		slug, variant, _ := strings.Cut(tag, "/")
		e := router.Endpoint{
			Provider: slug, Variant: variant, Model: modelM, UpstreamModel: slug + "-judge",
			Pricing: router.Pricing{Prompt: (router.USD(i+1) * router.Dollar).Price(), Completion: router.Dollars("1")},
		}
		if model == "N" {
			e.Model = modelN
		}
		for _, f := range edit {
			f(&e)
		}
		list = append(list, e)
		if !strings.Contains(strings.Join(g.order, " ")+" ", slug+" ") {
			g.order = append(g.order, slug)
			if g.upstreams[slug] == nil {
				g.upstreams[slug] = &upstream{}
			}
			providers = append(providers, router.ProviderInfo{
				Slug: slug, Name: names()[slug], Client: g.upstreams[slug],
			})
		}
	}
	c, err := router.NewCatalog(models(), providers, list)
	require.NoError(g.t, err)
	return c
}

// endpoint returns the n-th endpoint.
func (g *rig) endpoint(n int) *router.Endpoint { return g.router.Catalog().Endpoints()[n] }

// decision returns a request with the three kinds of question. The plan has the
// order of the endpoints unless preferences say otherwise.
func decision(preferences string) *systemone.Request {
	q := &systemone.Request{
		Model: modelM,
		State: json.RawMessage(`"My card was charged twice."`),
		Questions: []systemone.Question{
			{Name: "refund", Kind: systemone.Noul, Instructions: json.RawMessage(`"Is a refund due?"`)},
			{
				Name: "team", Kind: systemone.Choice, Instructions: json.RawMessage(`"Who should take it?"`),
				Options: []systemone.Option{{Name: "billing"}, {Name: "sales"}},
			},
			{
				Name: "urgency", Kind: systemone.Score, Instructions: json.RawMessage(`"How urgent?"`),
				Levels: []json.RawMessage{json.RawMessage(`"low"`), json.RawMessage(`"high"`)},
			},
		},
	}
	if preferences != "" {
		p, err := systemone.DecodePreferences([]byte(preferences))
		if err != nil {
			panic(fmt.Sprint(preferences, ": ", err))
		}
		q.Provider = p
	}
	return q
}

// byPrice makes the plan of a rig the order of its endpoints.
const byPrice = `{"sort":"price"}`

// decide decides a request sorted by price.
func (g *rig) decide() (*router.Result, *router.Call, error) {
	c := &router.Call{Request: decision(byPrice)}
	res, err := g.router.Decide(g.t.Context(), c)
	return res, c, err
}

// fault returns an error as the *Error that it must be.
func fault(t *testing.T, err error) *router.Error {
	t.Helper()
	e, ok := errors.AsType[*router.Error](err)
	require.True(t, ok, "%v is no *router.Error", err)
	return e
}

// asked lists the endpoints of attempts, in order.
func asked(c *router.Call) string {
	var tags []string
	for a := range c.Report.Attempts() {
		tag := a.Endpoint.Provider
		if a.Endpoint.Variant != "" {
			tag += "/" + a.Endpoint.Variant
		}
		tags = append(tags, tag)
	}
	return strings.Join(tags, " ")
}
