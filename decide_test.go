package signalbox_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// answering returns a gateway whose upstream answers and costs a cent a call.
func answering(t require.TestingT, with ...func(*signalbox.Config)) *gateway {
	g := &gateway{stores: memory.New()}
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-1"}},
		[]router.ProviderInfo{{Slug: "ant", Client: &routertest.Script{}}},
		[]router.Endpoint{{Provider: "ant", Model: "acme/judge", UpstreamModel: "j", Pricing: router.Pricing{Request: router.Dollars("0.01")}}},
	)
	require.NoError(t, err)
	cfg := signalbox.Config{
		Catalog: catalog, Stores: g.stores, SealingKeys: demo.SealingKeys(), Logger: discard(),
		Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
	}
	for _, f := range with {
		f(&cfg)
	}
	g.Service, err = signalbox.New(cfg)
	require.NoError(t, err)
	g.seeded, err = demo.Seed(context.Background(), g.Service)
	require.NoError(t, err)
	return g
}

// holder returns the principal of the seeded inference key.
func (g *gateway) holder(t require.TestingT) router.Principal {
	p, err := g.Keys.Authenticate(context.Background(), g.seeded.Inference)
	require.NoError(t, err)
	return p
}

// spent returns what an owner has spent in credits.
func (g *gateway) spent(t require.TestingT, o router.Owner, p router.Principal) router.USD {
	list, err := g.stores.Ledger.Balances(context.Background(), []router.Line{o.Line(p, "ever")})
	require.NoError(t, err)
	return list[0].Spent.Credit
}

// TestACallIsCountedForItsPrincipalAlone: a call counts for its account, workspace,
// member and key. A call of the program's own counts for no account.
func TestACallIsCountedForItsPrincipalAlone(t *testing.T) {
	t.Parallel()
	owners := []router.Owner{router.OwnerAccount, router.OwnerWorkspace, router.OwnerMember, router.OwnerKey}
	rapid.Check(t, func(t *rapid.T) {
		g := answering(t)
		_, err := g.Organization.CreateAccount(context.Background(), router.Actor{}, organization.NewAccount{
			ID: "rival", Name: "Rival", Owner: organization.Member{ID: "user_eve", Email: "eve@example.org"},
		})
		require.NoError(t, err)
		holder := g.holder(t)
		callers := []struct{ call, counted router.Principal }{
			{},
			{router.Principal{Account: demo.Account}, router.Principal{Account: demo.Account, Workspace: g.seeded.Home.ID}},
			{router.Principal{Account: "rival", Member: "user_eve"}, router.Principal{Account: "rival", Member: "user_eve"}},
			{
				router.Principal{Account: demo.Account, Workspace: g.seeded.Lab.ID, Member: demo.Member},
				router.Principal{Account: demo.Account, Workspace: g.seeded.Lab.ID, Member: demo.Member},
			},
			{holder, holder},
		}
		want := map[router.Line]router.USD{}
		for range rapid.IntRange(0, 12).Draw(t, "calls") {
			who := rapid.SampledFrom(callers).Draw(t, "caller")
			_, err := g.Decide(context.Background(), &router.Call{Principal: who.call, Request: request()})
			require.NoError(t, err)
			for _, o := range owners {
				if line := o.Line(who.counted, "ever"); line != (router.Line{}) {
					want[line] += router.Dollar / 100
				}
			}
		}
		for _, who := range callers {
			for _, o := range owners {
				if line := o.Line(who.counted, "ever"); line != (router.Line{}) {
					assert.Equal(t, want[line], g.spent(t, o, who.counted), "%s", line.Owner)
				}
			}
		}
		items, err := g.stores.Activity.Items(context.Background(), activity.Range{From: "2026-11-21", To: "2026-11-21"})
		require.NoError(t, err)
		assert.Empty(t, items)
	})
}

// TestNothingHoldsTheProgram: the program's own call is answered when the calls of an
// account, its key and its member are refused.
func TestNothingHoldsTheProgram(t *testing.T) {
	t.Parallel()
	g := answering(t)
	member := router.Principal{Account: demo.Account, Workspace: g.seeded.Home.ID, Member: demo.Member}
	decide := func(p router.Principal, secret router.Secret) error {
		_, err := g.Decide(t.Context(), &router.Call{Principal: p, Secret: secret, Request: request()})
		return err
	}
	require.NoError(t, decide(member, ""))
	_, err := g.Organization.TopUp(t.Context(), demo.Program(), "payment-1", 1)
	require.NoError(t, err)
	require.ErrorContains(t, decide(member, ""), "Insufficient credits")
	require.ErrorContains(t, decide(router.Principal{}, g.seeded.Inference), "Insufficient credits")
	require.NoError(t, decide(router.Principal{}, ""))
	assert.Equal(t, router.Dollar/100, g.spent(t, router.OwnerAccount, member), "of the member's first call")
}

// TestAPrincipalWithoutAKey: the limits of its account, workspace and member apply.
// Without a workspace those of the default one do.
func TestAPrincipalWithoutAKey(t *testing.T) {
	t.Parallel()
	home := func(*gateway) router.Principal { return router.Principal{Account: demo.Account} }
	lab := func(g *gateway) router.Principal {
		return router.Principal{Account: demo.Account, Workspace: g.seeded.Lab.ID}
	}
	ben := func(g *gateway) router.Principal {
		return router.Principal{Account: demo.Account, Workspace: g.seeded.Lab.ID, Member: demo.Member}
	}
	budget := func(t *testing.T, g *gateway) {
		t.Helper()
		g.manage(t, http.MethodPut, "/workspaces/default/budgets/monthly", `{"limit_usd":0.001}`)
	}
	guardrail := func(t *testing.T, g *gateway) {
		t.Helper()
		g.manage(t, http.MethodPatch, "/guardrails/"+g.seeded.Home.DefaultGuardrail, `{"allowed_providers":["nobody"]}`)
	}
	ofBen := func(t *testing.T, g *gateway) {
		t.Helper()
		id := g.made(t, "/guardrails", `{"name":"g","limit_usd":0.001,"reset_interval":"daily"}`)
		g.manage(t, http.MethodPost, "/guardrails/"+id+"/assignments/members", `{"member_user_ids":["`+demo.Member+`"]}`)
	}
	preset := func(t *testing.T, g *gateway) {
		t.Helper()
		g.manage(t, http.MethodPost, "/presets/p/chat/completions", `{"model":"acme/judge","messages":[{"role":"user","content":"x"}]}`)
	}
	nothing := func(*testing.T, *gateway) {}
	for _, c := range []struct {
		name   string
		who    func(*gateway) router.Principal
		with   func(*testing.T, *gateway)
		preset string
		want   string // in the error
	}{
		{"a budget of the default workspace", home, budget, "", "Workspace monthly budget"},
		{"a budget of another workspace", lab, budget, "", ""},
		{"the guardrail of the default workspace", home, guardrail, "", "No endpoints found"},
		{"the guardrail of another workspace", lab, guardrail, "", ""},
		{"a guardrail of the member", ben, ofBen, "", "Guardrail daily budget"},
		{"a guardrail of another member", lab, ofBen, "", ""},
		{"a preset", home, preset, "p", ""},
		{"no preset", home, nothing, "p", "not_found"},
		{"a preset for the program", func(*gateway) router.Principal { return router.Principal{} }, preset, "p", "not_found"},
		{"an unknown account", func(*gateway) router.Principal { return router.Principal{Account: "nobody"} }, nothing, "", "Invalid API key"},
		{"an unknown workspace", func(*gateway) router.Principal {
			return router.Principal{Account: demo.Account, Workspace: "99999999-9999-4999-8999-999999999999"}
		}, nothing, "", "Invalid API key"},
		{"a member of no account", func(*gateway) router.Principal { return router.Principal{Member: demo.Member} }, nothing, "", "without an Account"},
		{"a workspace of no account", func(g *gateway) router.Principal {
			return router.Principal{Workspace: g.seeded.Home.ID, Member: demo.Member}
		}, nothing, "", "without an Account"},
		{"a text that no account has", func(*gateway) router.Principal { return router.Principal{Account: "\xff"} }, nothing, "", "Invalid API key"},
		{"a member whom no store can count for", func(g *gateway) router.Principal {
			return router.Principal{Account: demo.Account, Workspace: g.seeded.Lab.ID, Member: strings.Repeat("m", 257)}
		}, nothing, "", "Invalid API key"},
		{"a member with a zero byte", func(g *gateway) router.Principal {
			return router.Principal{Account: demo.Account, Workspace: g.seeded.Lab.ID, Member: "a\x00"}
		}, nothing, "", "Invalid API key"},
		{"the key of another account", func(g *gateway) router.Principal {
			p := g.holder(t)
			p.Account = "rival"
			return p
		}, nothing, "", "Invalid API key"},
		{"the key of another workspace", func(g *gateway) router.Principal {
			p := g.holder(t)
			p.Workspace = g.seeded.Lab.ID
			return p
		}, nothing, "", "Invalid API key"},
		{"a key", func(g *gateway) router.Principal { return g.holder(t) }, nothing, "", ""},
		{"a key by its hash alone", func(g *gateway) router.Principal { return router.Principal{KeyHash: g.holder(t).KeyHash} }, nothing, "", ""},
		{"an administrator", func(*gateway) router.Principal {
			return router.Principal{Account: demo.Account, Member: demo.Admin, Management: true}
		}, nothing, "", "Management keys cannot be used for inference"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := answering(t)
			c.with(t, g)
			q := request()
			if c.preset != "" {
				q.Model, q.Preset = "", c.preset
			}
			_, err := g.Decide(t.Context(), &router.Call{Principal: c.who(g), Request: q})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

func request() *systemone.Request {
	return &systemone.Request{Model: "acme/judge", State: systemone.Text("x"), Questions: []systemone.Question{
		{Name: "q", Kind: systemone.Noul, Instructions: systemone.Text("?")},
	}}
}
