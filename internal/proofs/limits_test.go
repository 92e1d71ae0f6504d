package proofs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/store"
)

// program is a whole service, one of two that share their storage.
type program struct {
	*signalbox.Service

	t *testing.T
}

// two are programs that share storage and a clock. A call costs a dollar.
type two struct {
	one, other program
	seeded     demo.Seeded
	hash       string // of the inference key
	days       atomic.Int64
}

func newTwo(t *testing.T, e engine) *two {
	t.Helper()
	w := &two{}
	open := func(set store.Set) program {
		catalog, err := router.NewCatalog(
			[]router.Model{{ID: routertest.Model, Permaslug: routertest.Model + "-1"}},
			[]router.ProviderInfo{{Slug: "ant", Client: &routertest.Script{}}},
			[]router.Endpoint{{Provider: "ant", Model: routertest.Model, UpstreamModel: "1", Pricing: fee(router.Dollar)}},
		)
		require.NoError(t, err)
		s, err := signalbox.New(signalbox.Config{
			Catalog: catalog, Stores: set, SealingKeys: demo.SealingKeys(), Logger: slog.New(slog.DiscardHandler),
			Now: func() time.Time { return noon().AddDate(0, 0, int(w.days.Load())) },
		})
		require.NoError(t, err)
		return program{s, t}
	}
	w.one, w.other = open(e.one), open(e.other)
	var err error
	w.seeded, err = demo.Seed(t.Context(), w.one.Service)
	require.NoError(t, err)
	p, err := w.one.Keys.Authenticate(t.Context(), w.seeded.Inference)
	require.NoError(t, err)
	w.hash = p.KeyHash
	return w
}

// do sends a request to a program and returns the status, and the error message of the
// reply or its whole text.
func (p program) do(method, path, body string, key router.Secret) (status int, said string) {
	p.t.Helper()
	r := httptest.NewRequestWithContext(p.t.Context(), method, "/api/v1"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+string(key))
	w := httptest.NewRecorder()
	p.Handler.ServeHTTP(w, r)
	var reply struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil || reply.Error.Message == "" {
		return w.Code, w.Body.String()
	}
	return w.Code, reply.Error.Message
}

// spend makes a call that costs a dollar.
func (p program) spend(key router.Secret) (status int, said string) {
	p.t.Helper()
	return p.do(http.MethodPost, "/systemone",
		`{"model":"`+routertest.Model+`","state":"x","questions":{"q":{"type":"noul","instructions":"?"}}}`, key)
}

// manage sends a management request to the first program.
func (w *two) manage(method, path, body string) string {
	w.one.t.Helper()
	status, said := w.one.do(method, path, body, w.seeded.Management)
	require.Less(w.one.t, status, 300, "%s %s %s: %s", method, path, body, said)
	return said
}

func (w *two) key(patch string) { w.manage(http.MethodPatch, "/keys/"+w.hash, patch) }

// guardrail creates a guardrail and returns its id.
func (w *two) guardrail(settings string) string {
	var made struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	require.NoError(w.one.t, json.Unmarshal([]byte(w.manage(http.MethodPost, "/guardrails", `{"name":"g"`+settings+`}`)), &made))
	return made.Data.ID
}

func (w *two) assign(guardrail, kind, who string) {
	w.manage(http.MethodPost, "/guardrails/"+guardrail+"/assignments/"+kind, fmt.Sprintf(`{%q:[%q]}`, map[string]string{
		"keys": "key_hashes", "members": "member_user_ids",
	}[kind], who))
}

func (w *two) defaultGuardrail(patch string) {
	w.manage(http.MethodPatch, "/guardrails/"+w.seeded.Home.DefaultGuardrail, patch)
}

// change is a change at one program, with the result of the next call at the other
// one. First before runs, and a call is answered or ends as first says.
type change struct {
	name    string
	before  func(w *two)
	first   int
	change  func(w *two)
	then    int
	message string
}

func changes() []change {
	const limit, answered = "Key limit exceeded", http.StatusOK
	nothing := func(*two) {}
	var id string
	guarded := func(kind string) func(w *two) {
		return func(w *two) {
			id = w.guardrail("")
			w.assign(id, kind, map[string]string{"keys": w.hash, "members": demo.Admin}[kind])
		}
	}
	patch := func(settings string) func(w *two) {
		return func(w *two) { w.manage(http.MethodPatch, "/guardrails/"+id, settings) }
	}
	const guardrail = "Guardrail lifetime budget of $1.00 exceeded"
	return []change{
		{"a key gets a limit", nothing, 0, func(w *two) { w.key(`{"limit":1}`) }, 402, limit},
		{"a key's limit is lowered", func(w *two) { w.key(`{"limit":9}`) }, 0, func(w *two) { w.key(`{"limit":1}`) }, 402, limit},
		{
			"a key's limit is raised", func(w *two) { w.key(`{"limit":0}`) }, 402, func(w *two) { w.key(`{"limit":1}`) }, answered, "",
		},
		{
			"a key's limit no longer begins anew", func(w *two) {
				w.key(`{"limit":2,"limit_reset":"daily"}`)
				w.one.spend(w.seeded.Inference)
				w.days.Add(1)
			}, 0, func(w *two) { w.key(`{"limit_reset":null}`) }, 402, limit,
		},
		{"a key is disabled", nothing, 0, func(w *two) { w.key(`{"disabled":true}`) }, 401, "API key disabled"},
		{
			"a key is deleted", nothing, 0, func(w *two) { w.manage(http.MethodDelete, "/keys/"+w.hash, "") }, 401, "Invalid API key",
		},
		{
			"a workspace gets a budget", nothing, 0,
			func(w *two) { w.manage(http.MethodPut, "/workspaces/default/budgets/lifetime", `{"limit_usd":1}`) },
			403, "Workspace lifetime budget of $1.00 exceeded. Contact your org admin.",
		},
		{
			"a workspace loses its budget",
			func(w *two) { w.manage(http.MethodPut, "/workspaces/default/budgets/lifetime", `{"limit_usd":0.1}`) }, 403,
			func(w *two) { w.manage(http.MethodDelete, "/workspaces/default/budgets/lifetime", "") }, answered, "",
		},
		{
			"an account pays in advance", nothing, 0, func(w *two) {
				by := demo.Program()
				_, err := w.one.Organization.TopUp(w.one.t.Context(), by, "payment", router.Dollar)
				require.NoError(w.one.t, err)
			}, 402, "Insufficient credits",
		},
		{
			"a default guardrail gets a limit", nothing, 0, func(w *two) { w.defaultGuardrail(`{"limit_usd":1}`) }, 403, guardrail,
		},
		{
			"a default guardrail's limit is lowered", func(w *two) { w.defaultGuardrail(`{"limit_usd":9}`) }, 0,
			func(w *two) { w.defaultGuardrail(`{"limit_usd":1}`) }, 403, guardrail,
		},
		{
			"a key is guarded", nothing, 0, func(w *two) { w.assign(w.guardrail(`,"limit_usd":1`), "keys", w.hash) }, 403, guardrail,
		},
		{
			"a member is guarded", nothing, 0,
			func(w *two) { w.assign(w.guardrail(`,"limit_usd":1`), "members", demo.Admin) }, 403, guardrail,
		},
		{"the guardrail of a key gets a limit", guarded("keys"), 0, patch(`{"limit_usd":1}`), 403, guardrail},
		{"the guardrail of a member gets a limit", guarded("members"), 0, patch(`{"limit_usd":1}`), 403, guardrail},
		{
			"a key is guarded no longer", func(w *two) {
				id = w.guardrail(`,"limit_usd":0.5`)
				w.assign(id, "keys", w.hash)
			}, 403, func(w *two) {
				w.manage(http.MethodPost, "/guardrails/"+id+"/assignments/keys/remove", fmt.Sprintf(`{"key_hashes":[%q]}`, w.hash))
			}, answered, "",
		},
		{
			"the guardrail of a member is deleted", func(w *two) {
				id = w.guardrail(`,"limit_usd":0.5`)
				w.assign(id, "members", demo.Admin)
			}, 403, func(w *two) { w.manage(http.MethodDelete, "/guardrails/"+id, "") }, answered, "",
		},
	}
}

// A change at one program takes effect on the next call of the other one, whatever that
// one has cached.
func TestALimitThatOneProgramChangesActsInTheOther(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, open func(*testing.T) engine) {
		t.Helper()
		for _, c := range changes() {
			t.Run(c.name, func(t *testing.T) {
				w := newTwo(t, open(t))
				c.before(w)
				status, said := w.other.spend(w.seeded.Inference)
				require.Equal(t, cmp.Or(c.first, http.StatusOK), status, said)
				c.change(w)
				status, said = w.other.spend(w.seeded.Inference)
				require.Equal(t, c.then, status, said)
				if c.message != "" {
					assert.Equal(t, c.message, said)
				}
			})
		}
	})
}

// While callers of both programs spend, a limit is lowered to what was spent. Neither
// program admits a call that begins afterwards.
func TestNothingIsSpentPastALoweredLimit(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, e engine) {
		t.Helper()
		w := newTwo(t, e)
		var lowered atomic.Bool
		var spent, past atomic.Int64
		var all sync.WaitGroup
		warm := make(chan struct{})
		for i := range 20 {
			p := []program{w.one, w.other}[i%2]
			all.Go(func() {
				for rest := 10; rest > 0; {
					late := lowered.Load()
					if late {
						rest--
					}
					status, _ := p.spend(w.seeded.Inference)
					if status == http.StatusOK {
						spent.Add(1)
						if late {
							past.Add(1)
						}
					}
					if !late {
						select {
						case warm <- struct{}{}:
						default:
						}
					}
				}
			})
		}
		for range 40 {
			<-warm
		}
		w.key(`{"limit":1}`)
		lowered.Store(true)
		all.Wait()
		t.Logf("$%d were spent past the lowered limit, $%d in all", past.Load(), spent.Load())
		assert.Zero(t, past.Load())
	})
}
