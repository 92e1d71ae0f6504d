package prommetrics_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/prommetrics"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/store/storetest"
)

// TestAMeasuredLedgerIsALedger: the suite of stores passes on a measured ledger, its
// optional interfaces included.
func TestAMeasuredLedgerIsALedger(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Set {
		t.Helper()
		inner := memory.New()
		measured := prommetrics.New(prommetrics.Config{}).Ledger(inner.Ledger)
		_, ok := measured.(router.Recorder)
		require.True(t, ok)
		return store.Set{Ledger: measured, Activity: inner.Activity}
	})
}

// plain is a ledger without optional interfaces.
type plain struct{ router.Ledger }

// TestAMeasuredLedgerClaimsNothing: a ledger that is measured is no Recorder and keeps no
// replies if the inner one does not.
func TestAMeasuredLedgerClaimsNothing(t *testing.T) {
	t.Parallel()
	m := prommetrics.New(prommetrics.Config{})
	ledger := m.Ledger(plain{memory.New().Ledger})
	_, ok := ledger.(router.Recorder)
	assert.False(t, ok, "its events would be lost")
	replies, ok := ledger.(router.Replies)
	require.True(t, ok)
	_, err := replies.Claim(t.Context(), router.Claim{})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorIs(t, replies.SettleKept(t.Context(), router.Kept{}, router.Amount{}, nil), errors.ErrUnsupported)
	require.ErrorIs(t, replies.Keep(t.Context(), router.Kept{}), errors.ErrUnsupported)
	require.ErrorIs(t, replies.Release(t.Context(), router.ReplyKey{}, uuid.Nil), errors.ErrUnsupported)
	assert.Nil(t, m.Ledger(nil))
}

// TestLedgerIsTimed: the time of each operation is under its name, also when it fails.
func TestLedgerIsTimed(t *testing.T) {
	t.Parallel()
	now := &clock{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	registry := prometheus.NewPedanticRegistry()
	m := prommetrics.New(prommetrics.Config{Registerer: registry, Now: now.Now})
	rt, err := router.New(router.Config{Catalog: newCatalog(t, routertest.NewScript(t), routertest.NewScript(t))})
	require.NoError(t, err)
	require.NoError(t, m.Register(rt))
	ledger := m.Ledger(late{memory.New().Ledger, now})
	require.Error(t, ledger.Void(t.Context(), uuid.New()))
	_, err = ledger.Balances(t.Context(), nil)
	require.NoError(t, err)
	values := scrape(t, registry)
	assert.InDelta(t, 2, values[`ledger_seconds_sum{op="void"}`], 0)
	assert.InDelta(t, 1, values[`ledger_seconds_count{op="void"}`], 0)
	assert.InDelta(t, 1, values[`ledger_seconds_count{op="balances"}`], 0)
}

// late is a ledger whose Void takes two seconds and fails.
type late struct {
	router.Ledger

	clock *clock
}

func (l late) Void(context.Context, uuid.UUID) error {
	l.clock.pass(2 * time.Second)
	return errors.New("broken")
}

// TestHeldIsWhatCallsInFlightHold: the gauge has the amount of each open hold, and of one
// that was never closed until it expires.
func TestHeldIsWhatCallsInFlightHold(t *testing.T) {
	t.Parallel()
	set := memory.New()
	w := newWorld(t, func(cfg *signalbox.Config) {
		cfg.Stores, cfg.SealingKeys = set, []router.Secret{router.Secret(make([]byte, 32))}
	})
	held := func() float64 { return scrape(t, w.registry)["held_usd"] }
	w.ant.Add(routertest.Step{Do: func(context.Context, router.Attempt) (router.Reply, error) {
		assert.InDelta(t, 0.001, held(), 0)
		return router.Reply{}, routertest.Fail(500, 0)
	}})
	w.bee.Add(routertest.Step{Do: func(context.Context, router.Attempt) (router.Reply, error) {
		assert.InDelta(t, 0.002, held(), 0, "the hold was raised")
		return router.Reply{}, routertest.Fail(500, 0)
	}})
	require.Equal(t, 502, w.post(t, w.seeded.Inference, "/api/v1/systemone", asking("acme/first")))
	assert.Zero(t, held())

	ledger := w.metrics.Ledger(set.Ledger)
	hold := router.Hold{
		ID: uuid.New(), Lines: []router.Line{{Owner: "key:x", Window: "ever"}},
		Amount: router.Amount{Credit: router.Dollar, Total: 2 * router.Dollar}, Deadline: w.clock.Now().Add(time.Minute),
	}
	require.NoError(t, ledger.Reserve(t.Context(), hold))
	require.NoError(t, ledger.Reserve(t.Context(), hold), "a repetition")
	assert.InDelta(t, 1, held(), 0)
	hold.Caps = []router.Cap{{Line: hold.Lines[0], Max: 1}}
	refused := hold
	refused.ID = uuid.New()
	require.Error(t, ledger.Reserve(t.Context(), refused))
	assert.InDelta(t, 1, held(), 0, "a refused hold holds nothing")

	_, err := ledger.Expire(t.Context(), hold.Deadline, 10, router.ExpirePost)
	require.NoError(t, err)
	assert.InDelta(t, 1, held(), 0, "not yet")
	_, err = ledger.Expire(t.Context(), hold.Deadline.Add(1), 10, router.ExpirePost)
	require.NoError(t, err)
	assert.Zero(t, held())
	require.NoError(t, ledger.Settle(t.Context(), hold.ID, router.Amount{}), "late")
	assert.Zero(t, held())
}
