package postgres_test

import (
	"testing"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/store/storetest"
)

func BenchmarkStore(b *testing.B) {
	storetest.Bench(b, newSet(b, pgtest.Config{Synced: true}))
}
