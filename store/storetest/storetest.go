// Package storetest is the specification of the stores as tests: each sentence
// of an interface's comment is a test that bears its name. A third party's
// whole conformance test is
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) store.Set {
//			return store.Set{Ledger: myledger.New(t.TempDir())}
//		})
//	}
package storetest

import (
	"testing"

	"github.com/signalbox/signalbox/store"
)

// Open returns empty stores that share nothing with those of an earlier call
// and clean up through t.Cleanup. A nil field skips that field's tests.
type Open func(t *testing.T) store.Set

// Run tests the stores that open returns.
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
	} {
		t.Run(suite.name, func(t *testing.T) { suite.run(t, open) })
	}
}
