package signalbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

const cent = router.Dollar / 100

// hand is a clock that is set by hand.
type hand struct {
	mu sync.Mutex
	at time.Time
}

func (h *hand) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

func (h *hand) move(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(d)
}

// holder is a key with its account, workspace and member.
type holder struct {
	router.Principal

	secret, management router.Secret
	gone               bool
}

// books is a whole service, with the costs that its answers named.
type books struct {
	*signalbox.Service
	clock    hand
	stores   store.Set
	ledger   *lossyLedger
	records  bool // the ledger keeps activity as well
	home     organization.Workspace
	holders  []*holder
	guards   []string // guardrails whose budgets may change
	answered map[string]int64
	told     map[string]router.USD // sum of the costs in the answers, by account
}

// newBooks needs empty stores. Its clock starts shortly before the end of a day, a
// month, a year or a leap day.
func newBooks(t *rapid.T, stores store.Set) *books {
	begin := rapid.SampledFrom([]string{"2026-11-29T20:00:00Z", "2026-12-30T22:00:00Z", "2028-02-27T23:30:00Z", "2026-03-10T12:00:00Z"}).Draw(t, "begin")
	at, err := time.Parse(time.RFC3339, begin)
	require.NoError(t, err)
	b := &books{clock: hand{at: at}, stores: stores, answered: map[string]int64{}, told: map[string]router.USD{}}
	b.ledger = newLossyLedger(b.stores.Ledger)
	recorder, ok := b.stores.Ledger.(router.Recorder)
	require.True(t, ok)
	b.stores.Ledger = b.ledger
	if b.records = rapid.Bool().Draw(t, "the ledger records"); b.records {
		b.stores.Ledger = recordingLedger{b.ledger, recorder}
	}
	var providers []router.ProviderInfo
	var endpoints []router.Endpoint
	for i, slug := range []string{"ant", "bee", "cat"} {
		price := func(name string, unit router.USD) router.USD {
			return router.USD(rapid.Int64Range(0, 3).Draw(t, slug+" "+name)) * unit
		}
		providers = append(providers, router.ProviderInfo{Slug: slug, Client: fated{slug}})
		endpoints = append(endpoints, router.Endpoint{
			Provider: slug, Model: "acme/judge", UpstreamModel: fmt.Sprint("j", i),
			Pricing: router.Pricing{Prompt: price("prompt", router.Dollar).Price(), Completion: price("completion", router.Dollar).Price(), Request: price("fee", cent).Price()},
		})
	}
	catalog, err := router.NewCatalog([]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-1"}}, providers, endpoints)
	require.NoError(t, err)
	b.Service, err = signalbox.New(signalbox.Config{
		Catalog: catalog, Stores: b.stores, SealingKeys: demo.SealingKeys(), Logger: slog.New(slog.DiscardHandler), Now: b.clock.now,
	})
	require.NoError(t, err)
	b.populate(t)
	return b
}

// populate makes two accounts with two workspaces, and keys with and without a
// member.
func (b *books) populate(t *rapid.T) {
	ctx := context.Background()
	seeded, err := demo.Seed(ctx, b.Service)
	require.NoError(t, err)
	b.home = seeded.Home
	own := demo.Program()
	rival := router.Actor{Principal: router.Principal{Account: "rival"}}
	_, err = b.Organization.CreateAccount(ctx, rival, organization.NewAccount{
		ID: "rival", Name: "Rival", Owner: organization.Member{ID: demo.Admin, Email: "ada@example.net"},
	})
	require.NoError(t, err)
	_, theirs, err := b.Keys.Create(ctx, rival, keys.Key{Name: "management", Creator: demo.Admin, Management: true})
	require.NoError(t, err)
	for _, k := range []keys.Key{
		{Creator: demo.Admin},
		{Creator: demo.Member},
		{Creator: demo.Member, Workspace: seeded.Lab.ID},
		{Workspace: seeded.Lab.ID},
		{Account: "rival", Creator: demo.Admin},
	} {
		by, management := own, seeded.Management
		if k.Account != "" {
			by, management = rival, theirs
		}
		k.Name = "key"
		r, secret, err := b.Keys.Create(ctx, by, k)
		require.NoError(t, err)
		b.holders = append(b.holders, &holder{
			Principal: router.Principal{Account: r.Account, Workspace: r.Workspace, KeyHash: r.Hash, Member: r.Creator},
			secret:    secret, management: management,
		})
	}
	b.guards = []string{seeded.Home.DefaultGuardrail, seeded.Lab.DefaultGuardrail}
	for _, to := range []string{
		fmt.Sprintf(`keys {"key_hashes":[%q]}`, b.holders[2].KeyHash), fmt.Sprintf(`members {"member_user_ids":[%q]}`, demo.Member),
	} {
		kind, body, _ := strings.Cut(to, " ")
		var made struct {
			Data struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		b.manage(t, b.holders[0], http.MethodPost, "/guardrails", `{"name":"assigned"}`, &made)
		b.manage(t, b.holders[0], http.MethodPost, "/guardrails/"+made.Data.ID+"/assignments/"+kind, body, nil)
		b.guards = append(b.guards, made.Data.ID)
	}
	for _, h := range b.holders[1:] { // one in each workspace, and two in one
		if rapid.Bool().Draw(t, "has a credential") {
			b.giveCredential(t, h)
		}
	}
}

// giveCredential gives a key's workspace a credential of its own at a provider.
func (b *books) giveCredential(t *rapid.T, h *holder) {
	provider := rapid.SampledFrom([]string{"ant", "bee", "cat"}).Draw(t, "credential at")
	b.manage(t, h, http.MethodPost, "/byok", fmt.Sprintf(`{"provider":%q,"key":"sk-of-their-own","workspace_id":%q,"is_fallback":%t}`,
		provider, h.Workspace, rapid.Bool().Draw(t, "fallback")), nil)
}

func (b *books) do(ctx context.Context, method, path, body string, key router.Secret) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, "/api/v1"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+string(key))
	w := httptest.NewRecorder()
	b.Handler.ServeHTTP(w, r)
	return w
}

// manage sends a management request that must succeed, unless it is refused because
// a narrower budget must be lower than a wider one.
func (b *books) manage(t *rapid.T, of *holder, method, path, body string, into any) {
	w := b.do(context.Background(), method, path, body, of.management)
	if w.Code == http.StatusBadRequest && strings.Contains(w.Body.String(), "strictly decreasing") {
		return
	}
	require.Less(t, w.Code, 300, "%s %s %s: %s", method, path, body, w.Body)
	if into != nil {
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), into))
	}
}

// calls makes up to four calls at once and waits for them.
func (b *books) calls(t *rapid.T) {
	const body = `{"model":"acme/judge","state":"x","questions":{"q":{"type":"noul","instructions":"?"}}}`
	var all sync.WaitGroup
	var mu sync.Mutex
	for range rapid.IntRange(1, 4).Draw(t, "at once") {
		h, f := b.drawHolder(t), b.drawFate(t)
		ctx, hangUp := context.WithCancel(context.WithValue(context.Background(), fateKey{}, f))
		f.hangUp = hangUp
		all.Go(func() {
			defer hangUp()
			w := b.do(ctx, http.MethodPost, "/systemone", body, h.secret)
			if w.Code != http.StatusOK {
				return
			}
			var reply struct {
				Usage struct {
					Cost router.USD `json:"cost"`
				} `json:"usage"`
			}
			mu.Lock()
			defer mu.Unlock()
			b.answered[h.Account]++
			if json.Unmarshal(w.Body.Bytes(), &reply) == nil {
				b.told[h.Account] += reply.Usage.Cost
			}
		})
	}
	all.Wait()
}

func (b *books) drawHolder(t *rapid.T) *holder {
	return b.holders[rapid.IntRange(0, len(b.holders)-1).Draw(t, "key")]
}

func (b *books) drawFate(t *rapid.T) *fate {
	f := &fate{upstream: map[string]string{}, tokens: rapid.Int64Range(1, 60).Draw(t, "tokens")}
	f.later = func() { b.clock.move(2 * time.Hour) }
	for _, slug := range []string{"ant", "bee", "cat", "own ant", "own bee", "own cat"} {
		f.upstream[slug] = rapid.SampledFrom(outcomes()).Draw(t, slug)
	}
	how := rapid.SampledFrom([]string{undone, done}).Draw(t, "how")
	f.times = rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "times")
	broken := rapid.SampledFrom([]string{"", "", "", "", "", "reserve", "settle", "void", "all"}).Draw(t, "broken")
	for name, to := range map[string]*string{"reserve": &f.reserve, "settle": &f.settle, "void": &f.void} {
		if broken == name || broken == "all" {
			*to = how
		}
	}
	return f
}
