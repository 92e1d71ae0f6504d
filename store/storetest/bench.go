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

// Bench measures what is on the path of a request. Compare two stores, or two commits, with
// benchstat.
//
// An operation of Ledger is a hold and its settlement, with an event if the ledger is a
// [router.Recorder]. The lines are shared by all callers ("hot") or are those of a thousand
// keys of one account ("spread"). For a single caller it also reports the median.
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
	holds := benchHolds(lines, keys)
	var turn atomic.Int64
	b.SetParallelism(max(callers/2, 1)) // of each processor
	b.ReportAllocs()
	b.ResetTimer()
	one := func() error {
		h, event := benchCall(holds[int(turn.Add(1))%len(holds)])
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

// benchHolds returns holds as the router makes them: on lines of an account and a key, with a
// limit on the broadest line.
func benchHolds(lines, keys int) []router.Hold {
	const account = "0192e4a0-0000-7000-8000-000000000001"
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	holds := make([]router.Hold, max(keys, 20)) // on 20 endpoints
	for i := range holds {
		p := router.Principal{
			Account: account, Workspace: "0192e4a0-0000-7000-8000-000000000002",
			Member: "member-" + strconv.Itoa(i%keys%50), KeyHash: fmt.Sprintf("%064d", i%keys),
		}
		h := router.Hold{Amount: router.Amount{Credit: 2000, Total: 2000}, Deadline: at.Add(time.Minute)}
		for _, owner := range []router.Owner{router.OwnerAccount, router.OwnerKey, router.OwnerWorkspace, router.OwnerMember} {
			for _, window := range []string{"2026-11", "2026-11-21", "2026-W47", "ever"} {
				h.Lines = append(h.Lines, owner.Line(p, window))
			}
		}
		if lines < len(h.Lines) { // the account's month, the key's month and day
			h.Lines = append(h.Lines[:1:1], h.Lines[4:3+lines]...)
		}
		h.Caps = []router.Cap{{Line: h.Lines[0], Max: 1 << 60}}
		for _, v := range []router.Version{
			{Line: router.OwnerKey.Line(p, "ever")},
			{Line: router.OwnerAccount.Line(p, "ever")},
			{Line: router.OwnerWorkspace.Line(p, "ever")},
			{Line: router.OwnerWorkspace.Line(p, "ever"), Cover: true},
			{Line: router.OwnerMember.Line(p, "ever"), Cover: true},
			{Line: router.OwnerKey.Line(p, "ever"), Cover: true},
		} {
			if slices.Contains(h.Lines, v.Line) {
				h.Versions = append(h.Versions, v)
			}
		}
		h.Event = router.Event{
			Admitted: at, Principal: p, Model: "acme/judge", Permaslug: "acme/judge-20260901",
			Endpoint: uuid.UUID{byte(i % 20)}, Provider: "Ant Cloud", Requests: 1,
		}
		holds[i] = h
	}
	return holds
}

// benchCall returns a hold with a new ID, and the event of its settlement.
func benchCall(h router.Hold) (router.Hold, router.Event) {
	h.ID = uuid.Must(uuid.NewV7()) // ascending in time, as the router's
	name := "gen-dec-" + h.ID.String()
	event := h.Event
	event.ID, h.Event.ID = name+"/0", name+"/held"
	event.Prompt, event.Completion, event.Cost = 500, 20, router.Amount{Credit: 1000, Total: 1000}
	return h, event
}
