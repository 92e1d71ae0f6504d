package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// canary is part of every text that must not reach a caller.
const canary = "hunter2"

// sound is a valid request, which every scripted provider answers.
const sound = `{"model":"acme/judge","state":"Paid twice for May","questions":{` +
	`"refund":{"type":"noul","instructions":"Money back?"},` +
	`"desk":{"type":"choice","instructions":"Owner?","criteria":{"billing":"charges","tech":null}},` +
	`"heat":{"type":"score","instructions":"Upset?","criteria":["calm","annoyed","furious"]}}}`

// scripted is a provider whose attempts return the errors of a script in order; nil and
// every later attempt answer.
type scripted struct {
	mu     sync.Mutex
	script []error
	seen   []router.Attempt
	wait   bool // until the context ends
	panics bool

	took       func()  // called during the attempt
	confidence float64 // of choices and scores; 0 is 0.9
	uncounted  router.Uncounted
	refused    map[string]string // by question, the words in which it is refused
}

func (p *scripted) Decide(ctx context.Context, a router.Attempt) (router.Reply, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, a)
	switch {
	case p.panics:
		panic("the provider panics: " + canary)
	case p.wait:
		<-ctx.Done()
		return router.Reply{}, ctx.Err()
	case len(p.script) > 0:
		err := p.script[0]
		p.script = p.script[1:]
		if err != nil {
			return router.Reply{}, err
		}
	}
	if p.took != nil {
		p.took()
	}
	reply := answer(a.Request)
	for i := range reply.Answers {
		if p.confidence != 0 && reply.Answers[i].Kind != systemone.Noul {
			reply.Answers[i].Confidence = p.confidence
		}
	}
	reply.Answers = slices.DeleteFunc(reply.Answers, func(a systemone.Answer) bool {
		text, refused := p.refused[a.Name]
		if refused {
			reply.Refused = append(reply.Refused, router.Refusal{Question: a.Name, Text: text})
		}
		return refused
	})
	if reply.Uncounted = p.uncounted; p.uncounted.Input && p.uncounted.Output {
		reply.Usage = systemone.Usage{}
	}
	return reply, nil
}

// answer answers every question, the choices with the first option.
func answer(q *systemone.Request) router.Reply {
	reply := router.Reply{ID: "up-1", Usage: systemone.Usage{InputTokens: 310, OutputTokens: 58, CachedTokens: 256, ReasoningTokens: 12}}
	for _, question := range q.Questions {
		a := systemone.Answer{Name: question.Name, Kind: question.Kind, Confidence: 0.9}
		switch question.Kind {
		case systemone.Noul:
			a.Noul, a.Confidence = 0.97, 0
		case systemone.Choice:
			for i, o := range question.Options {
				a.Probabilities = append(a.Probabilities, systemone.Probability{Label: o.Name, P: first(i)})
			}
			a.Choice = question.Options[0].Name
		case systemone.Score:
			for i := range question.Levels {
				a.Probabilities = append(a.Probabilities, systemone.Probability{Label: strconv.Itoa(i), P: first(i)})
			}
		}
		reply.Answers = append(reply.Answers, a)
	}
	return reply
}

func first(i int) float64 {
	if i == 0 {
		return 1
	}
	return 0
}

// upstream returns the error of a failed attempt, with the canary in its text.
func upstream(status int, class router.Class, retryAfter time.Duration) error {
	return &router.UpstreamError{Status: status, Class: class, RetryAfter: retryAfter, Err: errCanary}
}

type canaryError struct{}

func (canaryError) Error() string { return "inner text with " + canary }

var errCanary = canaryError{}

// rig is a handler in front of scripted providers.
type rig struct {
	handler  *httpapi.Handler
	native   http.Handler
	router   *router.Router
	ant, bee *scripted
	keys     map[string]router.Secret // by kind
	log      *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// option changes the configuration of a rig.
type option func(*httpapi.Config, *router.Config)

func newRig(tb testing.TB, options ...option) *rig {
	tb.Helper()
	g := &rig{ant: &scripted{}, bee: &scripted{}, keys: map[string]router.Secret{}, log: &lockedBuffer{}}
	catalog := newCatalog(tb, g.ant, g.bee)
	service, secrets := newKeys(tb)
	g.keys = secrets
	api := httpapi.Config{Keys: service, Logger: slog.New(slog.NewJSONHandler(g.log, nil))}
	engine := router.Config{Catalog: catalog, Seed: func() uint64 { return 7 }}
	for _, o := range append(services(tb), options...) {
		o(&api, &engine)
	}
	var err error
	g.router, err = router.New(engine)
	require.NoError(tb, err)
	api.Router = g.router
	g.handler, err = httpapi.New(api)
	require.NoError(tb, err)
	g.native = g.handler.Native()
	return g
}

// newCatalog has a model at two providers, of which ant is cheaper, a model whose
// endpoint is switched off, and a model without endpoints.
func newCatalog(tb testing.TB, ant, bee router.Provider) *router.Catalog {
	tb.Helper()
	released := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
	c, err := router.NewCatalog([]router.Model{
		{
			ID: "acme/judge", Permaslug: "acme/judge-20260901", Name: "Acme Judge", Aliases: []string{"judge-latest"},
			Description: "Judges <everything> & more", Categories: []string{"finance", "legal"}, Created: released, ContextLength: 32000,
		},
		{ID: "acme/idle", Permaslug: "acme/idle-20260901"},
		{ID: "acme/unserved", Permaslug: "acme/unserved-20260901"},
	}, []router.ProviderInfo{
		{Slug: "ant", Name: "Ant Cloud", Client: ant, PrivacyPolicyURL: "https://ant.example/privacy"},
		{Slug: "bee", Name: "Bee Two", Client: bee},
	}, []router.Endpoint{
		{
			Provider: "ant", Variant: "eu", Model: "acme/judge", UpstreamModel: "j1", Quantization: "fp8",
			Pricing:       router.Pricing{Prompt: router.Dollars("0.042"), Completion: router.Dollars("0.000000001"), Request: router.Dollars("0.000001")},
			ContextLength: 16000, Parameters: []string{"user"},
		},
		{Provider: "bee", Model: "acme/judge", UpstreamModel: "j2", Pricing: router.Pricing{Prompt: router.Dollars("2")}},
		{Provider: "bee", Model: "acme/idle", UpstreamModel: "j3", Off: true},
	})
	require.NoError(tb, err)
	return c
}

// newKeys returns one key of every kind.
func newKeys(tb testing.TB) (*keys.Service, map[string]router.Secret) {
	tb.Helper()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	service, err := keys.New(keys.Config{Store: memory.New().Keys, Now: func() time.Time { return now }})
	require.NoError(tb, err)
	secrets := map[string]router.Secret{"unknown": router.Secret("sk-rt-v1-" + strings.Repeat("a", 64)), "malformed": "x"}
	for kind, k := range map[string]keys.Key{
		"inference":   {Creator: "user_1"},
		"anonymous":   {},
		"management":  {Management: true, Creator: "user_2"},
		"disabled":    {Disabled: true},
		"expired":     {ExpiresAt: now.Add(time.Second)},
		"foreign":     {Account: "elsewhere"},
		"provisioned": {Provisioned: true},
	} {
		k.Name = kind
		_, secrets[kind], err = service.Create(tb.Context(), router.Actor{}, k)
		require.NoError(tb, err)
	}
	now = now.Add(time.Minute)
	return service, secrets
}

// request returns a request with the key of that kind; "" sends no key.
func (g *rig) request(tb testing.TB, method, path, body, key string) *http.Request {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), method, g.expand(path), strings.NewReader(body))
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+string(g.keys[key]))
	}
	return r
}

// serve serves a request and returns the reply. It asserts that the reply is complete,
// and that neither reply nor log contains the canary or a key.
func (g *rig) serve(tb testing.TB, h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	tb.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	assert.Equal(tb, "application/json", w.Header().Get("Content-Type"))
	assert.True(tb, json.Valid(w.Body.Bytes()), "%s", w.Body)
	assert.Equal(tb, w.Header().Get("Content-Length"), strconv.Itoa(w.Body.Len()))
	assert.NotEmpty(tb, w.Header().Get("X-Request-Id"))
	assert.NotContains(tb, w.Body.String(), canary)
	for name, values := range w.Header() {
		assert.NotContains(tb, strings.Join(values, ""), canary, name)
	}
	for kind, secret := range g.keys {
		if len(secret) > 1 {
			assert.NotContains(tb, w.Body.String(), string(secret), kind)
			assert.NotContains(tb, g.log.String(), string(secret), kind)
		}
	}
	return w
}

// at returns the value at a dotted path of a JSON document, or nil.
func at(tb testing.TB, body []byte, path string) any {
	tb.Helper()
	var v any
	require.NoError(tb, json.Unmarshal(body, &v), "%s", body)
	for name := range strings.SplitSeq(path, ".") {
		switch c := v.(type) {
		case map[string]any:
			v = c[name]
		case []any:
			var i int
			if json.Unmarshal([]byte(name), &i) != nil || i >= len(c) {
				return nil
			}
			v = c[i]
		default:
			return nil
		}
	}
	return v
}
