package activity_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// counted is a store that counts the calls of Record.
type counted struct {
	activity.Store

	events []router.Event
	calls  int
}

func (s *counted) Record(ctx context.Context, events []router.Event) error {
	s.calls++
	s.events = append(s.events, events...)
	return s.Store.Record(ctx, events)
}

// clerk is a ledger that records events in a store of its own choice.
type clerk struct {
	router.Ledger
	router.Recorder

	to     any
	events []router.Event
}

func (l *clerk) SettleWith(ctx context.Context, id uuid.UUID, cost router.Amount, events []router.Event) error {
	l.events = append(l.events, events...)
	return l.Recorder.SettleWith(ctx, id, cost, events)
}

func (l *clerk) RecordsTo(store any) bool { return store == l.to }

// Intercept does not record again what the ledger recorded in the service's own
// store. Everything else it records, and nothing counts twice.
func TestInterceptRecordsWhatTheLedgerDidNot(t *testing.T) {
	asks := router.Principal{Account: "acme", KeyHash: "k"}
	for name, c := range map[string]struct {
		who     router.Principal
		free    bool
		other   bool // the ledger records to another store
		plain   bool // the ledger does not record
		settled int  // events that came with a settlement
		calls   int  // of Record
	}{
		"the ledger records here":      {who: asks, settled: 1},
		"the ledger records elsewhere": {who: asks, other: true, settled: 1, calls: 1},
		"the ledger does not record":   {who: asks, plain: true, calls: 1},
		"nothing was held":             {who: asks, free: true, calls: 1},
		"nobody's account":             {who: router.Principal{KeyHash: "k"}},
	} {
		t.Run(name, func(t *testing.T) {
			set := memory.New()
			store := &counted{Store: set.Activity}
			recorder, ok := set.Ledger.(router.Recorder)
			require.True(t, ok)
			ledger := &clerk{Ledger: set.Ledger, Recorder: recorder, to: store}
			if c.other {
				ledger.to = nil
			}
			call := decide(t, store, ledger, c.plain, c.free, c.who)
			assert.Len(t, ledger.events, c.settled)
			assert.Equal(t, c.calls, store.calls)
			if c.settled > 0 && c.calls > 0 {
				assert.Equal(t, ledger.events, store.events)
			}
			items, err := set.Activity.Items(t.Context(), activity.Range{Account: "acme", From: "2026-11-21", To: "2026-11-21"})
			require.NoError(t, err)
			if c.who.Account == "" {
				assert.Empty(t, items)
				return
			}
			require.Len(t, items, 1)
			assert.EqualValues(t, 1, items[0].Requests)
			assert.Equal(t, call.Report.Legs[0].Attempts[0].Cost, items[0].Cost.Credit)
		})
	}
}

// decide makes a call that is answered.
func decide(t *testing.T, store activity.Store, ledger router.Ledger, plain, free bool, who router.Principal) *router.Call {
	t.Helper()
	s, err := activity.New(activity.Config{Store: store})
	require.NoError(t, err)
	if plain {
		ledger = struct{ router.Ledger }{ledger}
	}
	endpoint := router.Endpoint{Provider: "ant", Model: "acme/judge"}
	if !free {
		endpoint.Pricing.Request = router.Dollars("0.01")
	}
	catalog, err := router.NewCatalog([]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-20260901"}},
		[]router.ProviderInfo{{Slug: "ant", Client: routertest.NewScript(t)}}, []router.Endpoint{endpoint})
	require.NoError(t, err)
	r, err := router.New(router.Config{Catalog: catalog, Ledger: ledger, Interceptors: []router.Interceptor{s.Intercept}})
	require.NoError(t, err)
	call := &router.Call{
		Request: &systemone.Request{Model: "acme/judge", State: []byte(`"s"`), Questions: []systemone.Question{
			{Name: "q", Kind: systemone.Noul, Instructions: []byte(`"i"`)},
		}},
		Principal: who, Admitted: noon,
	}
	_, err = r.Decide(t.Context(), call)
	require.NoError(t, err)
	return call
}

// An item whose events were taken back is all zeros, and Items does not show it.
func TestItemsLeavesOutZeroItems(t *testing.T) {
	now := noon
	s, store := newService(t, &now)
	yesterday := noon.AddDate(0, 0, -1)
	held := event(1, yesterday, router.Principal{Workspace: side})
	answered := event(2, yesterday, router.Principal{Workspace: home})
	require.NoError(t, store.Record(t.Context(), []router.Event{held, held.Corrected(), answered}))
	items, err := s.Items(t.Context(), "acme", activity.Query{ByWorkspace: true})
	require.NoError(t, err)
	require.Len(t, items, 1)
	assert.Equal(t, home, items[0].Workspace)
	require.NoError(t, store.Record(t.Context(), []router.Event{answered.Corrected()}))
	items, err = s.Items(t.Context(), "acme", activity.Query{})
	require.NoError(t, err)
	assert.Empty(t, items)
	assert.NotNil(t, items, "no items are an empty list")
}
