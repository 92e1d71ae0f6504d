package signalbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// twoDecisions are twoQuestions in the Decisions dialect of OpenAI.
const twoDecisions = `{"model":"acme/judge","input":"x","questions":[{"type":"predicate","name":"q1","instructions":"?"},{"type":"predicate","instructions":"?"}]}`

const twoQuestions = `{"model":"acme/judge","state":"x","questions":{"q1":{"type":"noul","instructions":"?"},"q2":{"type":"noul","instructions":"?"}}}`

// story is a whole service that plays a row.
type story struct {
	*signalbox.Service
	t         *testing.T
	clock     hand
	set       store.Set
	scales    *scales
	tokens    router.USD // that the request may take as a prompt
	seeded    demo.Seeded
	holders   map[string]holder
	meanwhile string // a verb to run while the next ask is at its upstream
	refuse    bool
}

func newStory(t *testing.T) *story {
	t.Helper()
	s := &story{t: t, clock: hand{at: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}, set: memory.New(), holders: map[string]holder{}}
	s.scales = &scales{Ledger: s.set.Ledger}
	s.set.Ledger = s.scales
	var err error
	s.Service, err = signalbox.New(signalbox.Config{
		Catalog: s.catalog(router.Pricing{}), Stores: s.set, SealingKeys: demo.SealingKeys(), Logger: slog.New(slog.DiscardHandler), Now: s.clock.now,
	})
	require.NoError(t, err)
	s.seeded, err = demo.Seed(t.Context(), s.Service)
	require.NoError(t, err)
	by := demo.Program()
	for name, creator := range map[string]string{"a": demo.Member, "b": demo.Member, "c": demo.Admin, "n": ""} {
		r, secret, err := s.Keys.Create(t.Context(), by, keys.Key{Name: name, Creator: creator})
		require.NoError(t, err)
		s.holders[name] = holder{
			Principal: router.Principal{Account: r.Account, Workspace: r.Workspace, KeyHash: r.Hash, Member: r.Creator}, secret: secret,
		}
	}
	s.weigh()
	return s
}

// scales is a ledger that remembers the last reservation.
type scales struct {
	router.Ledger

	held router.USD
}

func (l *scales) Reserve(ctx context.Context, h router.Hold) error {
	l.held = h.Amount.Credit
	return l.Ledger.Reserve(ctx, h)
}

// weigh finds how many prompt tokens the router reserves for the request, from the
// reservation at a price of a dollar per million.
func (s *story) weigh() {
	s.t.Helper()
	s.refuse = true
	s.Router.SetCatalog(s.catalog(router.Pricing{Prompt: router.Dollars("1")}))
	s.do(http.MethodPost, "/systemone", twoQuestions, s.holder("a").secret)
	s.refuse, s.tokens = false, s.scales.held/1000
	require.NotZero(s.t, s.tokens)
}

// price returns prices at which the request costs cost, and at most most.
func (s *story) price(most, cost router.USD) router.Pricing {
	s.t.Helper()
	p := router.Pricing{Request: cost.Price(), Prompt: ((most - cost) * 1_000_000 / s.tokens).Price()}
	require.Equal(s.t, most, p.Bound(int64(s.tokens), 0))
	return p
}

// catalog has an endpoint at ant and one at bee.
func (s *story) catalog(price router.Pricing) *router.Catalog {
	s.t.Helper()
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-1"}},
		[]router.ProviderInfo{{Slug: "ant", Client: s}, {Slug: "bee", Client: s}},
		[]router.Endpoint{
			{Provider: "ant", Model: "acme/judge", UpstreamModel: "j", Pricing: price},
			{Provider: "bee", Model: "acme/judge", UpstreamModel: "j", Pricing: price},
		},
	)
	require.NoError(s.t, err)
	return catalog
}

// Decide is the upstream. Its reply has no token counts.
func (s *story) Decide(_ context.Context, a router.Attempt) (router.Reply, error) {
	if line := s.meanwhile; line != "" {
		s.meanwhile = ""
		s.tell(line) //nolint:contextcheck // a separate request by the test
	}
	if s.refuse {
		a := systemone.Answer{Name: "q1", Kind: systemone.Noul}
		return router.Reply{Answers: systemone.Answers{a}, Refused: []router.Refusal{{Question: "q2"}}}, nil
	}
	var reply router.Reply
	for _, q := range a.Request.Questions {
		reply.Answers = append(reply.Answers, systemone.Answer{Name: q.Name, Kind: q.Kind})
	}
	return reply, nil
}

func (s *story) tell(lines string) {
	s.t.Helper()
	verbs := map[string]func(words []string){
		"spent": s.spent, "ask": s.ask, "left": s.left, "usage": s.usage, "guard": s.guard,
		"now":    func(w []string) { s.clock.at = s.instant(w[0]) },
		"limit":  func(w []string) { s.manage(http.MethodPatch, "/keys/"+s.holder(w[0]).KeyHash, w[1]) },
		"refuse": func([]string) { s.refuse = true },
		"credential": func([]string) {
			s.manage(http.MethodPost, "/byok", `{"provider":"bee","key":"sk-of-their-own"}`)
		},
		"budget": func(w []string) {
			body := fmt.Sprintf(`{"limit_usd":%s,"include_byok_in_budgets":%t}`, w[1], len(w) > 2)
			s.manage(http.MethodPut, "/workspaces/default/budgets/"+w[0], body)
		},
	}
	for line := range strings.Lines(strings.TrimSpace(lines)) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if verb == "meanwhile" {
			s.meanwhile = rest
			continue
		}
		do, ok := verbs[verb]
		require.True(s.t, ok, "no verb %q", verb)
		do(strings.Fields(rest))
	}
	assert.Empty(s.t, s.meanwhile, "nobody was asked meanwhile")
}

func (s *story) holder(name string) holder {
	s.t.Helper()
	h, ok := s.holders[name]
	require.True(s.t, ok, "no key %q", name)
	return h
}

func (s *story) usd(text string) router.USD {
	s.t.Helper()
	amount, err := router.ParseUSD(text)
	require.NoError(s.t, err)
	return amount
}

func (s *story) instant(text string) time.Time {
	s.t.Helper()
	if len(text) == len(time.DateOnly) {
		text += "T11:00:00Z"
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	require.NoError(s.t, err)
	return at
}

func (s *story) do(method, path, body string, key router.Secret) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(s.t.Context(), method, "/api/v1"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+string(key))
	w := httptest.NewRecorder()
	s.Handler.ServeHTTP(w, r)
	return w
}

func (s *story) manage(method, path, body string) []byte {
	s.t.Helper()
	w := s.do(method, path, body, s.seeded.Management)
	require.Less(s.t, w.Code, 300, "%s %s %s: %s", method, path, body, w.Body)
	return w.Body.Bytes()
}

// spent enters an amount as the router does, on all lines of the key.
func (s *story) spent(w []string) {
	s.t.Helper()
	p, at := s.holder(w[0]).Principal, s.instant(w[1])
	cost := router.Amount{Credit: s.usd(w[2]), Total: s.usd(w[2])}
	if len(w) > 3 {
		cost.Total += s.usd(w[3])
	}
	h := router.Hold{ID: uuid.New(), Deadline: at}
	for o := range router.OwnerKey + 1 {
		for i := range router.Daily + 1 {
			if line := o.Line(p, i.Window(at)); line != (router.Line{}) {
				h.Lines = append(h.Lines, line)
			}
		}
	}
	require.NoError(s.t, s.set.Ledger.Reserve(s.t.Context(), h))
	require.NoError(s.t, s.set.Ledger.Settle(s.t.Context(), h.ID, cost))
}

func (s *story) ask(words []string) {
	s.t.Helper()
	asked, want, found := strings.Cut(strings.Join(words, " "), " → ")
	require.True(s.t, found)
	words = strings.Fields(asked)
	most := s.usd(words[1])
	cost := most
	if len(words) > 2 {
		cost = s.usd(words[2])
	}
	s.Router.SetCatalog(s.catalog(s.price(most, cost)))
	w := s.do(http.MethodPost, "/systemone", twoQuestions, s.holder(words[0]).secret)
	var reply struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	require.NoError(s.t, json.Unmarshal(w.Body.Bytes(), &reply))
	assert.Equal(s.t, want, strings.TrimSpace(fmt.Sprint(w.Code, " ", reply.Error.Message)), "ask %s", asked)
}

// shown returns the usage and limit_remaining of GET /keys/{hash}.
func (s *story) shown(name string) (usage, left router.USD) {
	s.t.Helper()
	var got struct {
		Data struct {
			Usage router.USD  `json:"usage"`
			Left  *router.USD `json:"limit_remaining"`
		} `json:"data"`
	}
	body := s.manage(http.MethodGet, "/keys/"+s.holder(name).KeyHash, "")
	require.NoError(s.t, json.Unmarshal(body, &got))
	if got.Data.Left == nil {
		return got.Data.Usage, -1
	}
	return got.Data.Usage, *got.Data.Left
}

func (s *story) left(w []string) {
	s.t.Helper()
	_, left := s.shown(w[0])
	assert.Equal(s.t, s.usd(w[1]), left, "left of %s", w)
}

func (s *story) usage(w []string) {
	s.t.Helper()
	usage, _ := s.shown(w[0])
	assert.Equal(s.t, s.usd(w[1]), usage, "usage of %s", w)
}

// guard creates a guardrail with a budget and assigns it.
func (s *story) guard(w []string) {
	s.t.Helper()
	reset := `"` + w[2] + `"`
	if w[2] == "null" {
		reset = w[2]
	}
	body := fmt.Sprintf(`{"name":"g","limit_usd":%s,"reset_interval":%s}`, w[1], reset)
	if w[0] == "default" {
		s.manage(http.MethodPatch, "/guardrails/"+s.seeded.Home.DefaultGuardrail, strings.Replace(body, `"name":"g",`, "", 1))
		return
	}
	var made struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	require.NoError(s.t, json.Unmarshal(s.manage(http.MethodPost, "/guardrails", body), &made))
	path := "/guardrails/" + made.Data.ID + "/assignments/"
	if w[0] == "ben" {
		s.manage(http.MethodPost, path+"members", `{"member_user_ids":["`+demo.Member+`"]}`)
		return
	}
	var hashes []string
	for name := range strings.SplitSeq(w[0], ",") {
		hashes = append(hashes, `"`+s.holder(name).KeyHash+`"`)
	}
	s.manage(http.MethodPost, path+"keys", `{"key_hashes":[`+strings.Join(hashes, ",")+`]}`)
}
