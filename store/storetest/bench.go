package storetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

// Bench measures what stands on a request's path. Compare two stores, or two
// commits, with benchstat.
//
// An operation of Ledger is a hold and its settlement, with an event where the
// ledger is a [router.Recorder]; on lines that all callers share ("hot") or on
// those of a thousand keys of one account ("spread"). Of one caller alone the
// median is reported as well.
func Bench(b *testing.B, set store.Set) {
	b.Helper()
	if set.Ledger == nil {
		b.Skip("no Ledger")
	}
	for _, lines := range []int{3, 16} {
		for _, keys := range []int{1, 1000} {
			for _, callers := range []int{1, 64, 512} {
				name := fmt.Sprintf("Ledger/lines=%d/keys=%d/callers=%d", lines, keys, callers)
				b.Run(name, func(b *testing.B) { benchLedger(b, set.Ledger, lines, keys, callers) })
			}
		}
	}
}

func benchLedger(b *testing.B, ledger router.Ledger, lines, keys, callers int) {
	b.Helper()
	ctx := context.Background()
	recorder, records := ledger.(router.Recorder)
	var turn atomic.Int64
	b.SetParallelism(max(callers/2, 1)) // of each processor
	b.ReportAllocs()
	one := func() error {
		h, event := benchHold(int(turn.Add(1)), lines, keys)
		if err := ledger.Reserve(ctx, h); err != nil {
			return err
		}
		if records {
			return recorder.SettleWith(ctx, h.ID, event.Cost, []router.Event{event})
		}
		return ledger.Settle(ctx, h.ID, event.Cost)
	}
	if callers == 1 {
		var took []time.Duration
		for b.Loop() {
			begun := time.Now()
			if err := one(); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(begun))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns/op")
	} else {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := one(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// benchHold is a call as the router makes it: its lines are those of an account
// and of one of its keys, and a limit is on the broadest.
func benchHold(n, lines, keys int) (router.Hold, router.Event) {
	const account = "0192e4a0-0000-7000-8000-000000000001"
	p := router.Principal{
		Account: account, Workspace: "0192e4a0-0000-7000-8000-000000000002",
		Member: "member-" + strconv.Itoa(n%keys%50), KeyHash: fmt.Sprintf("%064d", n%keys),
	}
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	id := uuid.Must(uuid.NewV7()) // as the router does: one after the other
	event := router.Event{
		ID: "gen-dec-" + id.String() + "/0", Admitted: at, Principal: p, Model: "acme/judge", Permaslug: "acme/judge-20260901",
		Endpoint: uuid.UUID{byte(n % 20)}, Provider: "Ant Cloud", Requests: 1, Prompt: 500, Completion: 20,
		Cost: router.Amount{Credit: 1000, Total: 1000},
	}
	h := router.Hold{ID: id, Amount: router.Amount{Credit: 2000, Total: 2000}, Deadline: at.Add(time.Minute), Event: event}
	h.Event.ID = "gen-dec-" + id.String() + "/held"
	for _, owner := range []router.Owner{router.OwnerAccount, router.OwnerKey, router.OwnerWorkspace, router.OwnerMember} {
		for _, window := range []string{"2026-11", "2026-11-21", "2026-W47", "ever"} {
			h.Lines = append(h.Lines, owner.Line(p, window))
		}
	}
	if lines < len(h.Lines) { // the account's month, the key's month and day
		h.Lines = append(h.Lines[:1:1], h.Lines[4:3+lines]...)
	}
	h.Caps = []router.Cap{{Line: h.Lines[0], Max: 1 << 60}}
	return h, event
}
