// Package storetest is the specification of the stores as tests: each promise of a
// storage interface is a subtest that bears its name. The conformance test of a store
// outside this module is
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) store.Set {
//			return store.Set{Ledger: myledger.New(t.TempDir())}
//		})
//	}
//
// Some subtests run random histories, 100 unless -rapid.checks says otherwise. They log
// their seed, and SIGNALBOX_TEST_SEED repeats it. The suite writes no files.
package storetest

import (
	"testing"

	"github.com/signalbox/signalbox/store"
)

// Open returns empty stores. They share nothing with the stores of an earlier call, whose
// test has ended by then, and are cleaned up by t.Cleanup. A nil field skips that
// field's tests.
type Open func(t *testing.T) store.Set

// Run tests the stores that open returns, in subtests of t that run one after the other.
func Run(t *testing.T, open Open) {
	t.Helper()
	for _, suite := range []struct {
		name string
		run  func(t *testing.T, open Open)
	}{
		{"Keys", testKeys},
		{"Ledger", testLedger},
		{"Recorder", testRecorder},
		{"Parts", testParts},
		{"Replies", testReplies},
		{"Guardrails", testGuardrails},
		{"Limits", testLimits},
		{"Organization", testOrganization},
		{"Audit", testAudit},
		{"Activity", testActivity},
		{"Presets", testPresets},
		{"Credentials", testCredentials},
		{"Pruner", testPruner},
		{"Alerts", testAlerts},
	} {
		t.Run(suite.name, func(t *testing.T) { suite.run(t, open) })
	}
}
