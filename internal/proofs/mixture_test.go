package proofs

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/systemone"
)

// mixture is a router whose models cause legs of every kind:
//
//	acme/a  at ant and bee, the cheap ones: few questions and few options at once
//	acme/b  at cat, without limits
//	acme/c  at dog, one question at once
//	acme/d  at eel, free, and at fox, a last resort that costs something
//
// What is answered depends on the first letter of a question's name: at a and d a
// question u… is unsure, ant and bee refuse r…, all but dog refuse x….
type mixture struct {
	*world

	router *router.Router
	gave   *gave
}

// gave is what the replies of upstreams cost at list price, by their IDs.
type gave struct {
	mu    sync.Mutex
	costs map[string]router.USD
}

// add returns the ID of a new reply.
func (g *gave) add(slug string, cost router.USD) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	id := fmt.Sprintf("%s-%d", slug, len(g.costs))
	g.costs[id] = cost
	return id
}

func (w *world) mixture(ledger router.Ledger, budgets ...router.Budget) *mixture {
	w.t.Helper()
	return w.mixtureOf(router.Config{Ledger: ledger}, budgets...)
}

// mixtureOf returns a mixture with a router of this configuration.
func (w *world) mixtureOf(cfg router.Config, budgets ...router.Budget) *mixture {
	w.t.Helper()
	m := &mixture{world: w, gave: &gave{costs: map[string]router.USD{}}}
	price := func(fee router.USD) router.Pricing {
		return router.Pricing{Prompt: router.Dollar.Price(), Completion: (2 * router.Dollar).Price(), Request: fee.Price()}
	}
	endpoints := []router.Endpoint{
		{Provider: "ant", Model: "acme/a", Pricing: price(cent), Limits: router.EndpointLimits{Questions: 2, Options: 4}},
		{Provider: "bee", Model: "acme/a", Pricing: price(2 * cent), Limits: router.EndpointLimits{Questions: 3, Options: 4}},
		{Provider: "cat", Model: "acme/b", Pricing: price(5 * cent)},
		{Provider: "dog", Model: "acme/c", Pricing: price(3 * cent), Limits: router.EndpointLimits{Questions: 1}},
		{Provider: "eel", Model: "acme/d"},
		{Provider: "fox", Model: "acme/d", Pricing: price(cent / 2), LastResort: true},
	}
	var providers []router.ProviderInfo
	for i := range endpoints {
		endpoints[i].UpstreamModel = endpoints[i].Model
		providers = append(providers, router.ProviderInfo{Slug: endpoints[i].Provider, Client: actor{endpoints[i].Provider, endpoints[i].Pricing, m.gave}})
	}
	var models []router.Model
	for _, id := range []string{"acme/a", "acme/b", "acme/c", "acme/d"} {
		models = append(models, router.Model{ID: id, Permaslug: id + "-1"})
	}
	catalog, err := router.NewCatalog(models, providers, endpoints)
	require.NoError(w.t, err)
	limit := func(next router.Decider) router.Decider {
		return func(ctx context.Context, c *router.Call) (*router.Result, error) {
			c.Budgets = append(c.Budgets, budgets...)
			return next(ctx, c)
		}
	}
	cfg.Catalog, cfg.Interceptors, cfg.Now = catalog, []router.Interceptor{limit}, w.now
	m.router, err = router.New(cfg)
	require.NoError(w.t, err)
	return m
}

// mixed is a request of a mixture.
type mixed struct {
	name        string
	request     func() *systemone.Request
	credentials []router.Credential
	failing     string // providers that fail; a slash behind one means all but the first attempt
}

// mixedRequests are requests that cause legs of every kind.
func mixedRequests() []mixed {
	unsure := &systemone.Condition{Any: []systemone.Condition{
		{ProbabilityBetween: &[2]float64{.4, .6}}, {ConfidenceBelow: new(.5)},
	}}
	b := systemone.Entry{Model: "acme/b", When: unsure}
	c := systemone.Entry{Model: "acme/c", When: unsure}
	wide := func(e systemone.Entry) systemone.Entry { e.Scope = systemone.ScopeAll; return e }
	required := func(e systemone.Entry) systemone.Entry { e.Required = true; return e }
	text := systemone.Texts
	with := func(model, questions string, entries ...systemone.Entry) func() *systemone.Request {
		return func() *systemone.Request { return mixedRequest(model, questions, entries) }
	}
	own := []router.Credential{{ID: uuid.UUID{1}, Provider: "ant", Secret: "sk-of-their-own"}}
	return []mixed{
		{name: "plain", request: with("acme/a", "s1 s2")},
		{name: "stage", request: with("acme/a", "u1 s2", b)},
		{name: "two stages of all", request: with("acme/a", "u1 s2", wide(c), wide(b))},
		{name: "refused", request: with("acme/a", "r1 s2", b)},
		{name: "refused and unsure", request: with("acme/a", "r1 u2", b, text("acme/c")[0])},
		{name: "refused by all", request: with("acme/a", "x1 s2", b)},
		{name: "refusals are answers", request: func() *systemone.Request {
			q := mixedRequest("acme/a", "x1 s2", []systemone.Entry{b})
			q.Refusals = true
			return q
		}},
		{name: "all answers are refusals", request: func() *systemone.Request {
			q := mixedRequest("acme/a", "x1 x2", []systemone.Entry{b})
			q.Refusals = true
			return q
		}},
		{name: "sheets", request: with("acme/a", "u1 s2 s3 s4 u5", b)},
		{name: "options", request: with("acme/a", "s1 choice9", b)},
		{name: "options begin again", request: with("acme/a", "s1 choice9", b), failing: "ant/"},
		{name: "sheets of which one fails", request: with("acme/a", "s1 s2 s3 s4 u5", b), failing: "ant/ bee/"},
		{name: "group fails", request: with("acme/a", "u1 s2", required(b), c), failing: "ant bee"},
		{name: "stage fails", request: with("acme/a", "u1 s2", b, text("acme/c")[0]), failing: "cat"},
		{name: "required", request: with("acme/a", "u1 s2", required(b)), failing: "cat"},
		{name: "everything fails", request: with("acme/a", "u1 s2", b), failing: "ant bee cat"},
		{name: "own credential", request: with("acme/a", "u1 s2", b), credentials: own},
		{name: "free", request: with("acme/d", "u1 s2", b)},
		{name: "last resort", request: with("acme/d", "u1 s2", b), failing: "eel"},
		{name: "free behind", request: with("acme/a", "u1 s2", systemone.Entry{Model: "acme/d", When: unsure}, b)},
	}
}

func mixedRequest(model, questions string, entries []systemone.Entry) *systemone.Request {
	q := &systemone.Request{Model: model, Models: entries, State: systemone.Text("x"), Provider: &systemone.Preferences{Sort: systemone.Sort{By: systemone.SortPrice}}}
	for name := range strings.FieldsSeq(questions) {
		question := systemone.Question{Name: name, Kind: systemone.Noul, Instructions: systemone.Text("?")}
		var n int
		if _, err := fmt.Sscanf(name, "choice%d", &n); err == nil {
			question.Kind = systemone.Choice
			for i := range n {
				question.Options = append(question.Options, systemone.Option{Name: fmt.Sprint("o", i)})
			}
		}
		q.Questions = append(q.Questions, question)
	}
	return q
}

// tale is what happens to a call, and what its upstreams did.
type tale struct {
	mixed

	shares  bool       // upstream calls may be shared with other callers
	draw    *rand.Rand // of usages; nil is one token each way
	tokens  int64      // the most of a usage
	moments moments

	mu      sync.Mutex
	asked   map[string]int             // attempts by provider
	given   map[string]systemone.Usage // of complete answers, by upstream id
	started []router.USD               // for each attempt that costs: what the answers before it cost
	cost    router.USD                 // of the answers
	cut     int                        // attempts that ended because their context did
}

type taleKey struct{}

// actor is a provider that acts as the call's tale says.
type actor struct {
	slug    string
	pricing router.Pricing
	gave    *gave
}

func (p actor) Decide(ctx context.Context, a router.Attempt) (router.Reply, error) {
	t, _ := ctx.Value(taleKey{}).(*tale)
	fails := t.begin(p, a)
	if t.moments.at(ctx, p.slug+" begins") != nil || fails {
		return router.Reply{}, failing().Err
	}
	if err := ctx.Err(); err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.cut++
		return router.Reply{}, err
	}
	if t.shares {
		<-time.After(2 * time.Millisecond) // in which others join
	}
	r := t.reply(p.slug, a)
	if t.moments.at(ctx, p.slug+" ends") != nil {
		return router.Reply{}, failing().Err
	}
	t.give(p, a, &r)
	return r, nil
}

// begin counts an attempt and reports whether it fails.
func (t *tale) begin(p actor, a router.Attempt) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked[p.slug]++
	if a.Credential == "" && p.pricing != (router.Pricing{}) {
		t.started = append(t.started, t.cost)
	}
	for word := range strings.FieldsSeq(t.failing) {
		if word == p.slug || word == p.slug+"/" && t.asked[p.slug] > 1 {
			return true
		}
	}
	return false
}

// reply answers and refuses by the names of the questions.
func (t *tale) reply(slug string, a router.Attempt) router.Reply {
	r := router.Reply{Model: a.Model}
	first := a.Model == "acme/a" || a.Model == "acme/d"
	for _, answer := range routertest.Answers(a.Request) {
		letter := answer.Name[0]
		switch {
		case letter == 'x' && slug != "dog", letter == 'r' && (slug == "ant" || slug == "bee"):
			r.Refused = append(r.Refused, router.Refusal{Question: answer.Name, Text: "no"})
			continue
		case letter == 'u' && first:
			answer.Noul = .5
		}
		r.Answers = append(r.Answers, answer)
	}
	return r
}

// give gives a reply its usage and notes it.
func (t *tale) give(p actor, a router.Attempt, r *router.Reply) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.Usage = systemone.Usage{InputTokens: 1, OutputTokens: 1}
	if t.draw != nil {
		r.Usage = systemone.Usage{InputTokens: t.draw.Int64N(t.tokens), OutputTokens: t.draw.Int64N(t.tokens)}
	}
	cost := p.pricing.Cost(r.Usage.InputTokens, r.Usage.OutputTokens)
	r.ID = p.gave.add(p.slug, cost)
	t.given[r.ID] = r.Usage
	if a.Credential == "" {
		t.cost += cost
	}
}

// told is a call with its outcome.
type told struct {
	*tale

	call  *router.Call
	res   *router.Result
	err   error
	ended bool // the caller hung up, or the deadline is over
}

// tell makes a call.
func (m *mixture) tell(t *tale, edit ...func(*router.Call)) *told {
	ctx, cancel := context.WithCancel(context.WithValue(m.t.Context(), taleKey{}, t))
	defer cancel()
	t.asked, t.given, t.moments.hangUp = map[string]int{}, map[string]systemone.Usage{}, cancel
	c := &router.Call{Principal: m.who(), Request: t.request(), Credentials: t.credentials}
	for _, e := range edit {
		e(c)
	}
	res, err := m.router.Decide(ctx, c)
	return &told{tale: t, call: c, res: res, err: err, ended: ctx.Err() != nil}
}

// text returns the response as the caller gets it.
func (o *told) text(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(o.res.Response)
	require.NoError(t, err)
	return string(text)
}
