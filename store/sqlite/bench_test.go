package sqlite_test

import (
	"runtime/debug"
	"testing"

	"github.com/signalbox/signalbox/store/storetest"
)

// BenchmarkStore collects garbage as examples/server does: a benchmark alone has
// so little that is live that it would be collected dozens of times a second.
func BenchmarkStore(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	storetest.Bench(b, newSet(b))
}
