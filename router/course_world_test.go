package router_test

import (
	"context"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// courseWorld is a random catalog with scripted upstreams, and a random request. What
// an upstream does depends on nothing but itself and what it is asked, so that a call
// can be made again.
type courseWorld struct {
	salt      uint64
	endpoints []router.Endpoint
	request   *systemone.Request
	policy    []router.Rule
	budget    router.USD // 0 is none
	attempts  int
	seed      uint64
	slow      bool // upstreams take time, and some never answer
}

// courseRun is what came of one call.
type courseRun struct {
	res     *router.Result
	call    *router.Call
	err     error
	elapsed time.Duration
	most    int // attempts that ran at once
	balance router.Balance
	asked   []string // what upstreams were asked: "endpoint question"
}

func drawCourse(t *rapid.T) *courseWorld {
	w := &courseWorld{
		salt: rapid.Uint64().Draw(t, "salt"), seed: rapid.Uint64Range(1, math.MaxUint64).Draw(t, "seed"),
		attempts: rapid.IntRange(1, 4).Draw(t, "attempts"), slow: rapid.Bool().Draw(t, "slow"),
	}
	limit := rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3})
	for i := range rapid.IntRange(1, 8).Draw(t, "endpoints") {
		w.endpoints = append(w.endpoints, router.Endpoint{
			ID: uuid.NewSHA1(uuid.NameSpaceURL, []byte{byte(i)}), Provider: rapid.SampledFrom([]string{"ant", "bee", "cat"}).Draw(t, "provider"),
			Variant: "v" + strconv.Itoa(i), Model: "acme/" + rapid.SampledFrom([]string{"a", "a", "b", "c", "d"}).Draw(t, "model"),
			UpstreamModel: strconv.Itoa(i),
			Pricing: router.Pricing{
				Request:    (router.USD(rapid.IntRange(0, 3).Draw(t, "fee")) * cent).Price(),
				Prompt:     router.Dollar.Price(),
				Completion: router.Dollar.Price(),
			},
			Limits:     router.EndpointLimits{Questions: limit.Draw(t, "questions"), Options: limit.Draw(t, "options")},
			Tolerance:  systemone.Tolerance{NoDistribution: rapid.IntRange(0, 6).Draw(t, "no distribution") == 0},
			LastResort: rapid.IntRange(0, 7).Draw(t, "last resort") == 0,
		})
	}
	w.request = drawSheet(t)
	if rapid.IntRange(0, 2).Draw(t, "policy") == 0 {
		w.policy = []router.Rule{{IgnoredProviders: []string{rapid.SampledFrom([]string{"ant", "bee", "cat"}).Draw(t, "denied")}}}
	}
	if rapid.IntRange(0, 2).Draw(t, "budget") == 0 {
		w.budget = router.USD(rapid.IntRange(1, 12).Draw(t, "cents")) * cent
	}
	return w
}

func drawSheet(t *rapid.T) *systemone.Request {
	q := &systemone.Request{State: systemone.Text("hello"), Refusals: rapid.Bool().Draw(t, "refusals")}
	for i := range rapid.IntRange(1, 12).Draw(t, "questions") {
		name := "q" + strconv.Itoa(i)
		question := systemone.Question{Name: name, Kind: systemone.Noul, Instructions: systemone.Text("?")}
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 1:
			question.Kind = systemone.Choice
			for j := range rapid.IntRange(1, 9).Draw(t, "options") {
				question.Options = append(question.Options, systemone.Option{Name: name + "-" + strconv.Itoa(j), Guidance: systemone.Text("g")})
			}
		case 2:
			question.Kind = systemone.Score
			for range rapid.IntRange(2, 4).Draw(t, "levels") {
				question.Levels = append(question.Levels, systemone.Text("level"))
			}
		}
		q.Questions = append(q.Questions, question)
	}
	model := rapid.SampledFrom([]string{"a", "a", "b", "c", "d"})
	q.Model = model.Draw(t, "model")
	for range rapid.IntRange(0, 5).Draw(t, "entries") {
		e := systemone.Entry{Model: model.Draw(t, "entry")}
		if rapid.IntRange(0, 3).Draw(t, "object") > 0 {
			e.When = drawCondition(t, q.Questions, 1)
			e.Scope = rapid.SampledFrom([]systemone.Scope{"", systemone.ScopeMatched, systemone.ScopeAll}).Draw(t, "scope")
			e.Required = rapid.IntRange(0, 4).Draw(t, "required") == 0
			e.ShopRefusals = rapid.Bool().Draw(t, "shop")
		}
		q.Models = append(q.Models, e)
	}
	switch rapid.IntRange(0, 5).Draw(t, "preferences") {
	case 0:
		q.Provider = &systemone.Preferences{AllowFallbacks: new(false)}
	case 1:
		q.Provider = &systemone.Preferences{Only: []string{"ant", "bee"}}
	case 2:
		q.Provider = &systemone.Preferences{Ignore: []string{"cat"}}
	}
	q.Routing = &systemone.Routing{Split: rapid.SampledFrom([]systemone.Split{"", systemone.SplitAuto, systemone.SplitNever}).Draw(t, "split")}
	if rapid.IntRange(0, 2).Draw(t, "max cost") == 0 {
		q.Routing.MaxCost = "0.0" + strconv.Itoa(rapid.IntRange(1, 9).Draw(t, "most"))
	}
	if rapid.Bool().Draw(t, "hurried") {
		q.Routing.DeadlineMS = rapid.IntRange(1, 9000).Draw(t, "deadline")
	}
	return q
}

func drawCondition(t *rapid.T, questions []systemone.Question, depth int) *systemone.Condition {
	bound := rapid.SampledFrom([]float64{0, 0.3, 0.5, 0.7, 1})
	if depth < 4 && rapid.IntRange(0, 2).Draw(t, "nest") == 0 {
		var list []systemone.Condition
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			list = append(list, *drawCondition(t, questions, depth+1))
		}
		switch rapid.IntRange(0, 2).Draw(t, "form") {
		case 0:
			return &systemone.Condition{Any: list}
		case 1:
			return &systemone.Condition{All: list}
		}
		return &systemone.Condition{AtLeast: &systemone.AtLeast{Count: rapid.IntRange(1, len(list)).Draw(t, "count"), Conditions: list}}
	}
	q := rapid.SampledFrom(questions).Draw(t, "question")
	c := &systemone.Condition{Question: q.Name}
	if rapid.IntRange(0, 2).Draw(t, "every") == 0 {
		c.Question = ""
	}
	if q.Kind == systemone.Noul {
		pair := []float64{bound.Draw(t, "from"), bound.Draw(t, "to")}
		slices.Sort(pair)
		c.ProbabilityBetween = (*[2]float64)(pair)
		return c
	}
	c.ConfidenceBelow = new(bound.Draw(t, "below"))
	return c
}

// number is a number from 0 to below n for words.
func (w *courseWorld) number(n uint64, words ...string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strconv.FormatUint(w.salt, 16) + "/" + strings.Join(words, "/")))
	sum := h.Sum64()
	return (sum ^ sum>>29) % n
}

// answer is what the upstream of an endpoint answers to a question that it does not
// refuse.
func (w *courseWorld) answer(e *router.Endpoint, q systemone.Question) systemone.Answer {
	logit := func(label string) float64 { return float64(w.number(8, e.UpstreamModel, "logit", label)) }
	var a systemone.Answer
	switch q.Kind {
	case systemone.Noul:
		return systemone.Answer{Name: q.Name, Kind: q.Kind, Noul: float64(w.number(11, e.UpstreamModel, q.Name)) / 10}
	case systemone.Choice:
		a = softmaxAnswer(q, logit)
	default:
		a = systemone.Answer{Name: q.Name, Kind: q.Kind}
		sum := 0.0
		for i := range q.Levels {
			sum += math.Exp(logit(q.Name + strconv.Itoa(i)))
		}
		for i := range q.Levels {
			p := math.Exp(logit(q.Name+strconv.Itoa(i))) / sum
			a.Probabilities = append(a.Probabilities, systemone.Probability{Label: strconv.Itoa(i), P: p})
			a.Score += float64(i) * p
		}
	}
	if e.Tolerance.NoDistribution {
		a.Probabilities = nil
	}
	return a
}

// courseUpstream is the client of all providers of a world.
type courseUpstream struct {
	w *courseWorld

	mu            sync.Mutex
	running, most int
	asked         []string
}

func (u *courseUpstream) Decide(ctx context.Context, a router.Attempt) (router.Reply, error) {
	names := make([]string, len(a.Request.Questions))
	at, _ := strconv.Atoi(a.Model)
	e := &u.w.endpoints[at]
	u.mu.Lock()
	u.running++
	u.most = max(u.most, u.running)
	for i, q := range a.Request.Questions {
		names[i] = q.Name
		u.asked = append(u.asked, e.UpstreamModel+" "+q.Name)
	}
	u.mu.Unlock()
	defer func() {
		u.mu.Lock()
		u.running--
		u.mu.Unlock()
	}()
	sheet := strings.Join(names, " ")
	if u.w.slow {
		takes := time.Duration(u.w.number(4, e.UpstreamModel, "time", sheet)) * 400 * time.Millisecond
		if u.w.number(12, e.UpstreamModel, "hangs", sheet) == 0 {
			takes = time.Hour
		}
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return router.Reply{}, &router.UpstreamError{Err: ctx.Err()}
		}
	}
	switch u.w.number(10, e.UpstreamModel, "fails", sheet) {
	case 0:
		return router.Reply{}, &router.UpstreamError{Class: router.ProviderUnavailable, Status: 500, Err: errUpstream}
	case 1:
		if u.w.number(4, e.UpstreamModel, "400", sheet) == 0 {
			return router.Reply{}, &router.UpstreamError{Class: router.InvalidRequest, Status: 400, Err: errUpstream}
		}
	}
	r := router.Reply{Usage: systemone.Usage{InputTokens: 1, OutputTokens: 1}}
	for _, q := range a.Request.Questions {
		if n := u.w.number(24, e.UpstreamModel, "refuses", q.Name); n < 3 {
			r.Refused = append(r.Refused, router.Refusal{Question: q.Name, Safety: n == 0})
			continue
		}
		r.Answers = append(r.Answers, u.w.answer(e, q))
	}
	return r, nil
}

// run makes the call, in a world of its own.
func (w *courseWorld) run(t *testing.T) (out courseRun) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		u := &courseUpstream{w: w}
		var models []router.Model
		for _, m := range []string{"a", "b", "c", "d"} {
			models = append(models, router.Model{ID: "acme/" + m, Permaslug: "acme/" + m + "-1"})
		}
		var providers []router.ProviderInfo
		for _, slug := range []string{"ant", "bee", "cat"} {
			providers = append(providers, router.ProviderInfo{Slug: slug, Name: slug, Client: u})
		}
		catalog, err := router.NewCatalog(models, providers, w.endpoints)
		require.NoError(t, err)
		ledger := memory.New().Ledger
		r, err := router.New(router.Config{Catalog: catalog, Ledger: ledger, MaxAttempts: w.attempts})
		require.NoError(t, err)
		request := *w.request
		out.call = &router.Call{Request: &request, Principal: who(), Policy: w.policy, Seed: w.seed}
		if w.budget > 0 {
			out.call.Budgets = []router.Budget{{Owner: router.OwnerKey, Interval: router.Lifetime, Max: w.budget, Check: router.Check{Word: "key"}}}
		}
		began := time.Now()
		out.res, out.err = r.Decide(t.Context(), out.call)
		out.elapsed = time.Since(began)
		out.most, out.asked = u.most, u.asked
		balances, err := ledger.Balances(t.Context(), []router.Line{router.OwnerKey.Line(who(), router.Lifetime.Window(time.Now()))})
		require.NoError(t, err)
		out.balance = balances[0]
	})
	return out
}
