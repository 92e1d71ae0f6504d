package router_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// TestEveryAttemptHasItsOwnTrace: what AttemptTrace returns reaches the provider and
// the report, and the trace that came with the call reaches no provider.
func TestEveryAttemptHasItsOwnTrace(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant bee", nil)
	g.upstreams["ant"].will(fails(t, "503"))
	c := &router.Call{Request: decision(byPrice), Trace: router.TraceContext{Parent: "00-caller"}}
	var clients []router.Provider
	c.AttemptTrace = func(at *router.Endpoint, client router.Provider) router.TraceContext {
		assert.Same(t, g.upstreams[at.Provider], client)
		clients = append(clients, client)
		return router.TraceContext{Parent: "own-" + strconv.Itoa(len(clients))}
	}
	_, err := g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, []router.Provider{g.upstreams["ant"], g.upstreams["bee"]}, clients)
	for i, slug := range []string{"ant", "bee"} {
		want := router.TraceContext{Parent: "own-" + strconv.Itoa(i+1)}
		assert.Equal(t, want, g.upstreams[slug].attempts()[0].Trace)
		assert.Equal(t, want, c.Report.Legs[0].Attempts[i].Trace)
	}

	g = newRig(t, "ant", nil)
	_, err = g.router.Decide(t.Context(), &router.Call{Request: decision(byPrice), Trace: router.TraceContext{Parent: "00-caller"}})
	require.NoError(t, err)
	assert.Zero(t, g.upstreams["ant"].attempts()[0].Trace)
}

// TestKnownModels: an unknown name may be a secret in the wrong place.
func TestKnownModels(t *testing.T) {
	t.Parallel()
	g := newRig(t, "ant bee:N", nil)
	c := staged(nil)
	_, err := g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, "judge, judge-mini", c.Known())

	q := decision(byPrice)
	q.Model = "sk-hunter2"
	c = &router.Call{Request: q}
	_, err = g.router.Decide(t.Context(), c)
	require.Error(t, err)
	assert.Empty(t, c.Known())
}

// TestTheReportSaysWhatWasHeld: the most that one call set aside, and nothing without a
// ledger.
func TestTheReportSaysWhatWasHeld(t *testing.T) {
	t.Parallel()
	const cent = router.Dollar / 100
	g := newRig(t, "ant bee", func(cfg *router.Config) { cfg.Ledger = memory.New().Ledger }, fee(cent, 3*cent))
	g.upstreams["ant"].will(fails(t, "503"))
	c := &router.Call{Request: decision(byPrice), Principal: who()}
	_, err := g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, router.Amount{Credit: 3 * cent, Total: 3 * cent}, c.Report.Held)

	g = newRig(t, "ant", nil)
	c = &router.Call{Request: decision(byPrice), Principal: who()}
	_, err = g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.Zero(t, c.Report.Held)
}
