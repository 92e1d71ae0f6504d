package presets_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// The workspaces of account acme: the default one and two more.
const (
	usual = "0190f5a0-0000-7000-8000-00000000000a"
	shop  = "0190f5a0-0000-7000-8000-00000000000b"
	lab   = "0190f5a0-0000-7000-8000-00000000000c"
)

var (
	noon    = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	manager = router.Actor{Principal: router.Principal{Account: "acme", Member: "user_1", Management: true}, RequestID: "r-1"}
)

// workspaces is the Workspace function of the tests.
func workspaces(_ context.Context, account, id string) (string, error) {
	switch {
	case account == "acme" && id == "":
		return usual, nil
	case account == "acme" && (id == usual || id == shop || id == lab):
		return id, nil
	}
	return "", presets.ErrNotFound
}

// rig is a service over an empty storage.
type rig struct {
	*presets.Service

	set store.Set
	now time.Time
}

func newRig(tb testing.TB) *rig {
	tb.Helper()
	g := &rig{set: memory.New(), now: noon}
	g.Service = g.another(tb, g.set.Presets)
	return g
}

// another returns a second service over the same store, as of another process.
func (g *rig) another(tb testing.TB, s presets.Store) *presets.Service {
	tb.Helper()
	service, err := presets.New(presets.Config{Store: s, Workspace: workspaces, Now: func() time.Time { return g.now }})
	require.NoError(tb, err)
	return service
}

// make makes a version of a preset from the members of a chat.
func (g *rig) make(tb testing.TB, workspace, slug, members string) presets.Preset {
	tb.Helper()
	p, err := g.Create(tb.Context(), manager, workspace, slug, presets.ChatCompletions, []byte(chat(members)))
	require.NoError(tb, err)
	return p
}

// answering is a provider that answers the one question of these tests.
type answering struct{}

func (answering) Decide(context.Context, router.Attempt) (router.Reply, error) {
	return router.Reply{Answers: systemone.Answers{{Name: "q", Kind: systemone.Noul, Noul: 0.5}}}, nil
}

// newRouter has the catalog K2 of the routing cases with every endpoint zdr.
func newRouter(tb testing.TB, interceptors ...router.Interceptor) *router.Router {
	tb.Helper()
	endpoint := func(provider, model string, dollars router.USD) router.Endpoint {
		return router.Endpoint{
			Provider: provider, Model: model, UpstreamModel: model, ZDR: true,
			Pricing: router.Pricing{Prompt: (dollars * router.Dollar).Price()},
		}
	}
	catalog, err := router.NewCatalog([]router.Model{
		{ID: "acme/judge", Permaslug: "acme/judge-20260901", Aliases: []string{"judge-latest"}},
		{ID: "acme/judge-mini", Permaslug: "acme/judge-mini-20260715", Aliases: []string{"judge-mini-latest"}},
	}, []router.ProviderInfo{
		{Slug: "ant", Name: "Ant Cloud", Client: answering{}}, {Slug: "bee", Name: "Bee", Client: answering{}}, {Slug: "cat", Name: "Cat Labs", Client: answering{}},
	}, []router.Endpoint{
		endpoint("ant", "acme/judge", 4), endpoint("bee", "acme/judge", 2),
		endpoint("ant", "acme/judge-mini", 1), endpoint("cat", "acme/judge-mini", 3),
	})
	require.NoError(tb, err)
	r, err := router.New(router.Config{Catalog: catalog, Interceptors: interceptors, Now: func() time.Time { return noon }})
	require.NoError(tb, err)
	return r
}
