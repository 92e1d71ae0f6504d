package proofs

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// metered is a provider that counts what it has reported. Its calls end when wait does.
type metered struct {
	wait                func(ctx context.Context) error
	calls, prompt, done atomic.Int64
}

func (m *metered) Decide(ctx context.Context, a router.Attempt) (router.Reply, error) {
	n := m.calls.Add(1)
	if err := m.wait(ctx); err != nil {
		return router.Reply{}, &router.UpstreamError{Class: router.Timeout, Err: err}
	}
	m.prompt.Add(1000 + n)
	m.done.Add(1)
	return router.Reply{
		Answers: systemone.Answers{{Name: a.Request.Questions[0].Name, Kind: systemone.Noul, Noul: 0.5}},
		Usage:   systemone.Usage{InputTokens: 1000 + n, OutputTokens: 1},
	}, nil
}

// shared are callers with keys of their own, of one account whose calls are shared.
type shared struct {
	t     *testing.T
	e     engine
	up    *metered
	price router.Pricing
	made  *router.Router
}

func newShared(t *testing.T, e engine, up *metered) *shared {
	t.Helper()
	s := &shared{t: t, e: e, up: up, price: router.Pricing{Prompt: router.Dollars("0.001"), Request: router.Dollars("0.000000011")}}
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-1"}},
		[]router.ProviderInfo{{Slug: "ant", Client: up}},
		[]router.Endpoint{{Provider: "ant", Model: "acme/judge", UpstreamModel: "judge", Pricing: s.price}},
	)
	require.NoError(t, err)
	s.made, err = router.New(router.Config{Catalog: catalog, Ledger: e.one.Ledger, Share: true, Now: noon})
	require.NoError(t, err)
	return s
}

func (s *shared) principal(n int) router.Principal {
	return router.Principal{Account: "acme", Workspace: "ws", Member: "ann", KeyHash: fmt.Sprint("key", n)}
}

func (s *shared) call(n int) *router.Call {
	return &router.Call{
		Principal: s.principal(n),
		Request: &systemone.Request{
			Model: "acme/judge", State: json.RawMessage(`"the same state"`),
			Questions: []systemone.Question{{Name: "q", Kind: systemone.Noul, Instructions: json.RawMessage(`"Is it?"`)}},
		},
	}
}

// spent returns what the ledger and activity show for the account. Nothing may be held.
func (s *shared) spent(keys int) (spent router.USD, shown activity.Item) {
	s.t.Helper()
	lines := []router.Line{router.OwnerAccount.Line(s.principal(0), "ever")}
	for n := range keys {
		lines = append(lines, router.OwnerKey.Line(s.principal(n), "ever"))
	}
	balances, err := s.e.other.Ledger.Balances(context.Background(), lines)
	require.NoError(s.t, err)
	var ofKeys router.USD
	for i, b := range balances {
		assert.Zero(s.t, b.Held)
		if i > 0 {
			ofKeys += b.Spent.Credit
		}
	}
	assert.Equal(s.t, balances[0].Spent.Credit, ofKeys, "the keys and the account")
	items, err := s.e.other.Activity.Items(context.Background(), activity.Range{Account: "acme", From: "1999-01-01", To: "2999-12-31"})
	require.NoError(s.t, err)
	for _, item := range items {
		shown.Add(item)
	}
	return balances[0].Spent.Credit, shown
}

// TestSharersPayWhatTheUpstreamReported: 32 callers with keys of their own ask one
// sheet at once. The ledger, activity and the replies add up to what the upstream
// reported, on every storage.
func TestSharersPayWhatTheUpstreamReported(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, e engine) {
		t.Helper()
		const callers = 32
		up := &metered{wait: func(context.Context) error { <-time.After(200 * time.Millisecond); return nil }}
		s := newShared(t, e, up)
		var all sync.WaitGroup
		var cost, prompt atomic.Int64
		for n := range callers {
			all.Go(func() {
				res, err := s.made.Decide(t.Context(), s.call(n))
				if assert.NoError(t, err) {
					cost.Add(int64(res.Cost))
					prompt.Add(res.Response.Usage.InputTokens)
				}
			})
		}
		all.Wait()
		spent, shown := s.spent(callers)
		total := s.reported()
		assert.Less(t, up.calls.Load(), int64(callers), "one, unless a caller comes after its end")
		assert.Equal(t, total, spent)
		assert.EqualValues(t, total, cost.Load())
		assert.Equal(t, up.prompt.Load(), prompt.Load())
		assert.Equal(t, total, shown.Cost.Credit)
		assert.Equal(t, up.prompt.Load(), shown.Prompt)
		assert.EqualValues(t, callers, shown.Requests)
	})
}

// reported returns what the upstream's answers cost: a fee each, and a nano-dollar for
// each token.
func (s *shared) reported() router.USD {
	fee := s.price.Cost(0, 0)
	return fee*router.USD(s.up.done.Load()) + s.price.Cost(s.up.prompt.Load(), 0) - fee
}

// TestSharersThatHangUp: whoever hangs up when, the books show what the upstream
// reported for the calls that it answered, and one estimate for each that nobody
// stayed for.
func TestSharersThatHangUp(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, e engine) {
		t.Helper()
		const callers, keys = 200, 20
		up := &metered{wait: func(ctx context.Context) error {
			select {
			case <-time.After(rand.N(10 * time.Millisecond)):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
		s := newShared(t, e, up)
		var all sync.WaitGroup
		for n := range callers {
			all.Go(func() {
				<-time.After(rand.N(100 * time.Millisecond))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if n%2 == 0 {
					defer time.AfterFunc(rand.N(20*time.Millisecond), cancel).Stop()
				}
				_, _ = s.made.Decide(ctx, s.call(n%keys))
			})
		}
		all.Wait()
		prompt := router.ShapeOf(s.call(0).Request).PromptTokens
		cancelled := up.calls.Load() - up.done.Load()
		spent, shown := s.spent(keys)
		want := s.reported() + s.price.Cost(prompt, 0)*router.USD(cancelled)
		assert.Equal(t, want, spent, "%d answered, %d cancelled", up.done.Load(), cancelled)
		assert.Equal(t, want, shown.Cost.Credit)
		assert.Equal(t, up.prompt.Load()+prompt*cancelled, shown.Prompt)
	})
}
