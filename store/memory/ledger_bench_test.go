package memory_test

import (
	"encoding/binary"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// BenchmarkHoldAndSettle reserves and settles holds on three lines by 64 concurrent callers
// that share the account's line.
func BenchmarkHoldAndSettle(b *testing.B) {
	ledger := memory.New().Ledger
	deadline := time.Date(2026, 11, 21, 12, 0, 30, 0, time.UTC)
	var callers, ids atomic.Uint64
	b.ReportAllocs()
	b.SetParallelism(32) // callers for each of the processors
	b.RunParallel(func(pb *testing.PB) {
		key := "key:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a" + strconv.FormatUint(callers.Add(1), 10)
		lines := []router.Line{
			{Owner: "account:org_1", Window: "ever"},
			{Owner: "workspace:01900000-0000-7000-8000-000000000001", Window: "2026-11"},
			{Owner: key, Window: "2026-11-21"},
		}
		caps := make([]router.Cap, len(lines))
		for i, line := range lines {
			caps[i] = router.Cap{Line: line, Max: 1_000_000_000 * router.Dollar}
		}
		for pb.Next() {
			h := router.Hold{
				Lines: lines, Caps: caps, Deadline: deadline,
				Amount: router.Amount{Credit: 20_000, Total: 20_000},
			}
			n := ids.Add(1)
			binary.BigEndian.PutUint64(h.ID[8:], n)
			if err := ledger.Reserve(b.Context(), h); err != nil {
				b.Error(err)
				return
			}
			if err := ledger.Settle(b.Context(), h.ID, router.Amount{Credit: 7_000, Total: 7_000}); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
