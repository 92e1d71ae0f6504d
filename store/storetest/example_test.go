package storetest_test

import (
	"testing"

	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/store/storetest"
)

func ExampleRun() {
	// A test of the store's own package. A Set may have only the stores that exist.
	_ = func(t *testing.T) {
		t.Helper()
		storetest.Run(t, func(*testing.T) store.Set {
			return store.Set{Ledger: memory.New().Ledger}
		})
	}
	// Output:
}
