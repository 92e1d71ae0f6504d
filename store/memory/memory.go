// Package memory keeps everything in the process. It is for tests, for
// examples and for programs that can afford to forget.
package memory

import "github.com/signalbox/signalbox/store"

// New returns an empty storage, safe for concurrent use.
func New() store.Set {
	audit := newAuditStore()
	return store.Set{
		Activity:     newActivityStore(),
		Keys:         newKeyStore(audit.record),
		Guardrails:   newGuardrailStore(audit.record),
		Audit:        audit,
		Presets:      newPresetStore(audit.record),
		Ledger:       newLedger(),
		Organization: newOrganizationStore(audit.record),
		Credentials:  newCredentialStore(audit.record),
	}
}
