package hooks_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/hooks"
)

// BenchmarkIntercept measures what hooks add to a call that is charged.
func BenchmarkIntercept(b *testing.B) {
	s := newSite()
	h, err := hooks.New(hooks.Config{
		Receivers: receivers(&inbox{}), Ledger: s.Ledger, Alerts: s.Alerts, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(b, err)
	leg := &router.Leg{Attempts: []router.AttemptRecord{{Billed: true, Cost: 1}}}
	decide := h.Intercept(func(context.Context, *router.Call) (*router.Result, error) { return nil, errDown })
	c := &router.Call{Principal: ann, Admitted: noon, Budgets: []router.Budget{credits, keyLimit, workspace}}
	c.Report.Legs = []*router.Leg{leg}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = decide(b.Context(), c)
	}
}
