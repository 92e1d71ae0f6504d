package lease_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/lease"
)

// BenchmarkHotKey has four nodes spend on one key with a limit. Each has its own connections to
// a PostgreSQL that syncs. One operation of "admit" is a hold that is voided later, when its
// caller has many open: slices are drawn until all open holds fit. One of "settle" is a hold
// and its settlement with an event, which uses slices up.
func BenchmarkHotKey(b *testing.B) {
	const nodes = 4
	for _, leases := range []bool{true, false} {
		sets := newNodes(b, pgtest.Config{Synced: true}, nodes)
		ledgers := make([]router.Recorder, nodes)
		for i, set := range sets {
			if leases {
				set.Ledger = node(b, set, lease.Config{Nodes: nodes})
			}
			recorder, ok := set.Ledger.(router.Recorder)
			require.True(b, ok)
			ledgers[i] = recorder
		}
		for _, callers := range []int{64, 512} {
			name := fmt.Sprintf("leases=%v/callers=%d", leases, callers)
			b.Run("admit/"+name, func(b *testing.B) { benchNodes(b, ledgers, callers, admits) })
			b.Run("settle/"+name, func(b *testing.B) { benchNodes(b, ledgers, callers, settles) })
		}
	}
}

// caller makes calls, with a bounded number of open holds.
type caller struct {
	router.Recorder
	router.Ledger

	lines []router.Line
	open  []uuid.UUID
	most  int
}

func benchNodes(b *testing.B, ledgers []router.Recorder, callers int, one func(*testing.B, *caller) error) {
	b.Helper()
	var next atomic.Int64
	b.SetParallelism(callers / 2) // of each of two processors
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		recorder := ledgers[next.Add(1)%int64(len(ledgers))]
		ledger, ok := recorder.(router.Ledger)
		if !ok {
			b.Error("no ledger")
			return
		}
		c := &caller{Recorder: recorder, Ledger: ledger, lines: hotLines(), most: 64_000 / callers}
		for pb.Next() {
			if err := one(b, c); err != nil {
				b.Error(err)
				return
			}
		}
		if err := c.giveBack(b); err != nil {
			b.Error(err)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// hotLines returns the lines of a call: key and account, with their windows.
func hotLines() []router.Line {
	var lines []router.Line
	for _, owner := range []string{"account:0192e4a0-0000-7000-8000-000000000001", "key:" + fmt.Sprintf("%064d", 7)} {
		for _, window := range []string{"2026-11-21", "2026-W47", "2026-11", "ever"} {
			lines = append(lines, router.Line{Owner: owner, Window: window})
		}
	}
	return lines
}

func (c *caller) hold() router.Hold {
	return router.Hold{
		ID: uuid.Must(uuid.NewV7()), Lines: c.lines, Caps: []router.Cap{{Line: c.lines[6], Max: 1 << 60}},
		Amount: usd(2000), Deadline: noon().Add(time.Minute),
	}
}

func admits(b *testing.B, c *caller) error {
	b.Helper()
	h := c.hold()
	if err := c.Reserve(b.Context(), h); err != nil {
		return err
	}
	c.open = append(c.open, h.ID)
	if len(c.open) < c.most {
		return nil
	}
	return c.giveBack(b)
}

func (c *caller) giveBack(b *testing.B) error {
	b.Helper()
	for _, id := range c.open {
		if err := c.Void(b.Context(), id); err != nil {
			return err
		}
	}
	c.open = c.open[:0]
	return nil
}

func settles(b *testing.B, c *caller) error {
	b.Helper()
	h := c.hold()
	h.Event = router.Event{
		ID: h.ID.String() + "/held", Admitted: noon(), Model: "acme/judge", Permaslug: "acme/judge-20260901", Provider: "Ant Cloud",
		Principal: router.Principal{Account: "0192e4a0-0000-7000-8000-000000000001", KeyHash: fmt.Sprintf("%064d", 7)},
		Endpoint:  uuid.UUID{1}, Requests: 1, Prompt: 500, Completion: 20,
	}
	if err := c.Reserve(b.Context(), h); err != nil {
		return err
	}
	event := h.Event
	event.ID, event.Cost = h.ID.String()+"/0", usd(1000)
	return c.SettleWith(b.Context(), h.ID, event.Cost, []router.Event{event})
}
