package sqlite_test

import (
	"runtime/debug"
	"testing"

	"github.com/signalbox/signalbox/store/storetest"
)

// BenchmarkStore sets the garbage collector's target of examples/server. With little
// live memory a benchmark would otherwise collect dozens of times a second.
func BenchmarkStore(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	storetest.Bench(b, newSet(b))
}
