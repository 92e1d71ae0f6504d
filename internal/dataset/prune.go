package dataset

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

// Old is the size for [BenchPrune]: more than half a million events of the first half of the month,
// and as many of the second. It is also how many calls each caller makes before and after.
func Old() (Size, int) {
	return Size{Accounts: 100, Keys: 10_000, Largest: 1_000, Events: 1_000_000}, 6_000
}

// FewOld is a hundredth of [Old].
func FewOld() (Size, int) {
	return Size{Accounts: 4, Keys: 100, Largest: 40, Events: 10_000}, 50
}

// recorder is a ledger that records.
type recorder interface {
	router.Ledger
	router.Recorder
}

// callers is how many callers work while BenchPrune prunes.
const callers = 8

// BenchPrune measures how long it takes to prune the first half of d's month, in portions of 500
// rows, with pauses of three times each portion's duration. It also measures how long callers wait at
// p99 for a hold and its settlement: before, during and after. The database must hold d. A database
// that was just filled is slower in its first minute, until it has statistics: compare with the
// slower of before and after.
func BenchPrune(b *testing.B, d *Data, set store.Set, calls int) {
	b.Helper()
	ledger, ok := set.Ledger.(recorder)
	if !ok || set.Pruner == nil {
		b.Fatal("dataset: the stores do not record, or do not prune")
	}
	for b.Loop() {
		alone, err := d.waits(b.Context(), ledger, calls, func() error { return nil })
		if err != nil {
			b.Fatal(err)
		}
		dropped, start := 0, time.Now()
		beside, err := d.waits(b.Context(), ledger, calls, func() (err error) {
			dropped, err = prune(b.Context(), set.Pruner, d.day(days/2))
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		took := time.Since(start)
		again, err := d.waits(b.Context(), ledger, calls, func() error { return nil })
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(took.Seconds(), "s")
		b.ReportMetric(float64(dropped), "rows")
		b.ReportMetric(float64(alone)/1e6, "p99-before-ms")
		b.ReportMetric(float64(beside)/1e6, "p99-meanwhile-ms")
		b.ReportMetric(float64(again)/1e6, "p99-after-ms")
	}
}

// prune runs one lap.
func prune(ctx context.Context, p store.Pruner, before time.Time) (dropped int, err error) {
	for place, first := "", true; first || place != ""; first = false {
		began := time.Now()
		pruned, err := p.Prune(ctx, before, place, 500)
		if err != nil {
			return dropped, err
		}
		place, dropped = pruned.Next, dropped+pruned.Dropped
		select {
		case <-time.After(3 * time.Since(began)):
		case <-ctx.Done():
			return dropped, ctx.Err()
		}
	}
	return dropped, nil
}

// waits runs callers while f runs, each for at least a number of calls, and returns their p99.
func (d *Data) waits(ctx context.Context, ledger recorder, least int, f func() error) (time.Duration, error) {
	var over atomic.Bool
	var all sync.WaitGroup
	took, failed := make([][]time.Duration, callers), make([]error, callers)
	for i := range callers {
		all.Go(func() {
			for n := 0; (n < least || !over.Load()) && failed[i] == nil; n++ {
				start := time.Now()
				failed[i] = d.call(ctx, ledger, d.principal(d.scattered(i*least+n)))
				took[i] = append(took[i], time.Since(start))
			}
		})
	}
	err := f()
	over.Store(true)
	all.Wait()
	for _, e := range failed {
		if err == nil {
			err = e
		}
	}
	waits := slices.Concat(took...)
	slices.Sort(waits)
	return waits[len(waits)*99/100], err
}

// call makes a call on the day after the month.
func (d *Data) call(ctx context.Context, ledger recorder, p router.Principal) error {
	at := d.day(days)
	hold := router.Hold{ID: uuid.Must(uuid.NewV7()), Amount: router.Amount{Credit: 2, Total: 2}, Deadline: at.Add(time.Minute)}
	for _, owner := range []router.Owner{router.OwnerAccount, router.OwnerWorkspace, router.OwnerMember, router.OwnerKey} {
		for i := range router.Daily + 1 {
			hold.Lines = append(hold.Lines, owner.Line(p, i.Window(at)))
		}
	}
	cost := router.Amount{Credit: 1, Total: 1}
	event := router.Event{
		ID: fmt.Sprintf("gen-dec-%s/0", hold.ID), Admitted: at, Principal: p, Cost: cost,
		Model: "acme/judge", Permaslug: "acme/judge-20260901", Endpoint: uuid.UUID{1}, Provider: "Ant Cloud", Requests: 1,
	}
	if err := ledger.Reserve(ctx, hold); err != nil {
		return err
	}
	return ledger.SettleWith(ctx, hold.ID, cost, []router.Event{event})
}
