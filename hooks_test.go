package signalbox_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/hooks"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// news is a receiver that keeps events.
type news struct {
	mu     sync.Mutex
	events []hooks.Event
}

func (n *news) Handle(_ context.Context, e hooks.Event) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events = append(n.events, e)
	return nil
}

// take returns the events of some types and forgets all.
func (n *news) take(types ...hooks.Type) (list []hooks.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, e := range n.events {
		for _, t := range types {
			if e.Data.Type() == t {
				list = append(list, e)
			}
		}
	}
	n.events = nil
	return list
}

// sometimes is an upstream that fails when told to.
type sometimes struct {
	ready
	down bool
}

func (p *sometimes) Decide(ctx context.Context, a router.Attempt) (router.Reply, error) {
	if p.down {
		return router.Reply{}, &router.UpstreamError{Class: router.ProviderOverloaded, Status: 529}
	}
	return p.ready.Decide(ctx, a)
}

func hooked(t *testing.T, set store.Set, client router.Provider, handler hooks.Handler) *signalbox.Service {
	t.Helper()
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-1"}},
		[]router.ProviderInfo{{Slug: "ant", Name: "Ant Cloud", Client: client}},
		[]router.Endpoint{{Provider: "ant", Model: "acme/judge", UpstreamModel: "j", Pricing: router.Pricing{
			Request: router.Dollars("0.01"), Prompt: router.Dollars("1"),
		}}},
	)
	require.NoError(t, err)
	s, err := signalbox.New(signalbox.Config{
		Catalog: catalog, Stores: set, SealingKeys: demo.SealingKeys(), Logger: slog.New(slog.DiscardHandler),
		Hooks: hooks.Config{Receivers: []hooks.Receiver{{Handler: handler}}},
	})
	require.NoError(t, err)
	return s
}

// TestHooksTellWhatHappens runs two services on one storage. Their receiver hears of a
// key's budget at each percentage once, before the first call is refused, of that refusal,
// and of changes, an outage and an overrun.
func TestHooksTellWhatHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, in := memory.New(), &news{}
		client := &sometimes{ready: ready{router.Reply{
			Answers: systemone.Answers{{Name: "q", Kind: systemone.Noul, Noul: 0.5}}, Usage: systemone.Usage{InputTokens: 0},
		}}}
		one, two := hooked(t, set, client, in), hooked(t, set, client, in)
		ctx, stop := context.WithCancel(t.Context())
		var work sync.WaitGroup
		work.Go(func() { one.Run(ctx) })
		work.Go(func() { two.Run(ctx) })

		seeded, err := demo.Seed(ctx, one)
		require.NoError(t, err)
		p, err := one.Keys.Authenticate(ctx, seeded.Inference)
		require.NoError(t, err)
		limit := router.Dollar
		_, err = one.Keys.Update(ctx, demo.Program(), p.KeyHash, keys.Patch{Limit: router.To(&limit)})
		require.NoError(t, err)
		synctest.Wait()
		records, _, err := one.Organization.Changes(ctx, demo.Account, 0, 100)
		require.NoError(t, err)
		changes := in.take(hooks.SettingsChanged)
		require.Len(t, changes, len(records), "seeding")
		for i, e := range changes {
			c, ok := e.Data.(hooks.Change)
			require.True(t, ok)
			assert.Equal(t, records[len(records)-1-i], c.Record)
		}

		decide := func(s *signalbox.Service, n int) (err error) {
			for range n {
				_, err = s.Decide(ctx, &router.Call{Secret: seeded.Inference, Request: request()})
			}
			time.Sleep(5 * time.Second) // of the bubble's clock: one comparison
			synctest.Wait()
			return err
		}
		percent := func() (list []int) {
			for _, e := range in.take(hooks.BudgetReached, hooks.BudgetRefused) {
				b, ok := e.Data.(hooks.Budget)
				require.True(t, ok)
				list = append(list, b.Percent)
			}
			return list
		}
		require.NoError(t, decide(one, 25))
		require.NoError(t, decide(two, 24))
		assert.Empty(t, percent())
		require.NoError(t, decide(one, 1))
		assert.Equal(t, []int{50}, percent())
		require.NoError(t, decide(one, 15))
		require.NoError(t, decide(two, 25))
		assert.Equal(t, []int{80}, percent())

		client.reply.Usage.InputTokens = 5_000_000 // far more than the request has bytes
		require.NoError(t, decide(two, 1))
		got := in.take(hooks.HoldExceeded, hooks.BudgetReached)
		require.Len(t, got, 2)
		over, ok := got[0].Data.(hooks.Overrun)
		require.True(t, ok)
		assert.Equal(t, router.USD(5_010_000_000), over.Cost)
		assert.Equal(t, hooks.BudgetReached, got[1].Data.Type(), "100 %%, before the next call is refused")

		require.Error(t, decide(one, 3))
		require.Error(t, decide(two, 3))
		refused := in.take(hooks.BudgetRefused, hooks.BudgetReached)
		require.Len(t, refused, 1)
		assert.Equal(t, hooks.BudgetRefused, refused[0].Data.Type())

		client.down = true
		ask := func() {
			_, _ = one.Decide(ctx, &router.Call{Request: request()})
			synctest.Wait()
		}
		for range 30 {
			ask()
		}
		began := in.take(hooks.OutageBegan, hooks.OutageEnded)
		require.Len(t, began, 1)
		client.down = false
		time.Sleep(time.Minute)
		ask()
		ended := in.take(hooks.OutageBegan, hooks.OutageEnded)
		require.Len(t, ended, 1)
		assert.Equal(t, hooks.OutageEnded, ended[0].Data.Type())
		stop()
		work.Wait()
	})
}
